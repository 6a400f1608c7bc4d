import type { Page } from '@playwright/test';
import { words } from '../harness/chatModel';
import { BOOK, expect, NOT_IN_BOOK, QUESTION, test } from '../support/test';

/** Notes each text that the live regions hold, as a screen reader would say it. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    const heard = new Map<Element, string>();
    const look = () => {
      for (const region of document.querySelectorAll('[role=status], [role=alert], [role=log], [aria-live]:not([aria-live=off])')) {
        const text = region.textContent ?? '';
        if (text !== (heard.get(region) ?? '') && text) said.push(text);
        heard.set(region, text);
      }
    };
    look();
    said.length = 0;
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
    Object.assign(window, { said });
  });
  return () => page.evaluate(() => (window as unknown as { said: string[] }).said);
}

test('a long answer is announced once, when it is complete', async ({ panel, page, model }) => {
  // Shown while it is written, because a passage says its first sentence.
  const supported = 'Wash the probe, dry it with a cloth and leave it hanging free for two minutes.';
  const text = `${supported} And so ${Array.from({ length: 200 }, (_, n) => `word${n}`).join(' ')}`;
  model.writes(async function* ({ passages }) {
    for (const word of words(`${text} `)) {
      yield word;
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield `[${passages[0]?.n}]`;
  });
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  await panel.ask(QUESTION);
  const texts = (await said()).filter((said) => !/^Pages found/.test(said));
  expect(texts.length).toBeLessThanOrEqual(3);
  expect(texts[0]).toBe('Answering');
  expect(texts.at(-1)).toMatch(/^Answer complete\./);
  expect(texts.at(-1)).toContain(text);
  expect(texts.at(-1), 'markers are no words').not.toMatch(/word199\s*\[/);
});

test('a refusal is announced once', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  await panel.ask(NOT_IN_BOOK);
  expect((await said()).filter((text) => text.includes('does not cover that'))).toHaveLength(1);
});

test('a failure is announced once', async ({ panel, page }) => {
  await page.route('**/api/v1/chat', (route) => route.abort('connectionrefused'));
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  await panel.send(QUESTION);
  await expect(panel.failure).toBeVisible();
  expect((await said()).filter((text) => text.includes('cannot be reached'))).toHaveLength(1);
});

test('the seconds of a wait are not announced one by one', async ({ panel, page }) => {
  await page.clock.install();
  await page.route('**/api/v1/chat', (route) =>
    route.fulfill({ status: 429, headers: { 'Access-Control-Allow-Origin': '*' }, json: { error: { code: 'rate_limited', retry_after: 9 } } }),
  );
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('in 9 s');
  await page.clock.runFor(5_000);
  await expect(panel.failure).toContainText('in 4 s');
  expect((await said()).filter((text) => text.includes('Too many questions'))).toHaveLength(1);
});

test('missing dependencies are announced with the answer, and the wait with a failure', async ({ panel, page, model }) => {
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  model.fails(500);
  await panel.ask(QUESTION);
  await expect.poll(async () => (await said()).at(-1)).toMatch(/^Answer complete\..*the language model did not answer\.$/s);
  await page.route('**/api/v1/chat', (route) =>
    route.fulfill({ status: 429, headers: { 'Access-Control-Allow-Origin': '*' }, json: { error: { code: 'rate_limited', retry_after: 9 } } }),
  );
  await panel.send('And why?');
  await expect.poll(async () => (await said()).at(-1)).toBe('Too many questions in a short time. You can ask again in 9 s.');
});

test('search results are counted once for each pause in typing', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  const said = await listen(page);
  await panel.field.pressSequentially('battery');
  await expect(panel.results.first()).toBeVisible();
  const texts = await said();
  expect(texts.filter((text) => /^Pages found: \d+$/.test(text))).toHaveLength(1);
});
