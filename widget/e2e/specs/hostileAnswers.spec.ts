import { expectHarmless, setTrap } from '../support/harmless';
import { A_MEGABYTE, HEAVY_TEXTS, HOSTILE_TEXTS } from '../support/hostile';
import { done, replyWith, token } from '../support/reply';
import { BOOK, expect, QUESTION, test } from '../support/test';

test.beforeEach(({ page }) => setTrap(page));

test.afterEach(async ({ panel, page, watched }) => {
  expect(watched.dialogs).toEqual([]);
  // The next question must be answered.
  await page.unrouteAll();
  await panel.ask(QUESTION);
  await expect(panel.sources.first()).toBeVisible();
});

const CITATION = { n: 1, url: '/garden-robotics/docs#what-sprig-is', title: 'T', section: 'S', chapter: 'C', quote: 'Q', supported: true };

test('a hostile text is shown as text', async ({ panel, page }) => {
  test.setTimeout(120_000);
  await panel.openOn(`${BOOK}/docs`);
  for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
    // In halves, like a split stream.
    const middle = Math.floor(text.length / 2);
    const tokens = token(text.slice(0, middle)) + token(text.slice(middle));
    await replyWith(page, tokens + done({ citations: [CITATION] }));
    await panel.ask(what);
    await expect(panel.answer, what).not.toBeEmpty();
    await expectHarmless(panel, what);
    await page.unrouteAll();
  }
});

test('a text cannot give a citation’s number another address', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await replyWith(page, token(HOSTILE_TEXTS['a definition that takes a citation’s number'] ?? '') + done({ citations: [CITATION] }));
  await panel.ask('?');
  await expect(panel.markers.first()).toHaveAttribute('href', CITATION.url);
});

test('a formula is a formula, and links nowhere', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await replyWith(page, token('$\\href{javascript:pwned()}{x} + \\frac{1}{2}$') + done());
  await panel.ask('?');
  await expect(panel.answer.locator('math mfrac')).toBeVisible();
  await expect(panel.answer.locator('a')).toHaveCount(0);
});

test('a text designed to be slow neither blocks nor breaks the page', async ({ panel, page }) => {
  test.setTimeout(60_000);
  await panel.openOn(`${BOOK}/docs`);
  for (const [what, text] of Object.entries(HEAVY_TEXTS)) {
    await replyWith(page, token(text) + done());
    await panel.ask(what);
    await expectHarmless(panel, what);
    await page.unrouteAll();
  }
});

test('a megabyte of text is shown', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await replyWith(page, token(A_MEGABYTE) + done());
  await panel.ask('?');
  await expect(panel.answer).toContainText('line for line');
});

const THROUGH_THE_SERVER = ['a script element', 'an image that fails', 'a link to a script', 'an image', 'a definition that takes a citation’s number', 'a formula that links'];

test('a hostile text that comes through the real server is shown as text, or taken out', async ({ panel, model }) => {
  await panel.openOn(`${BOOK}/docs`);
  for (const what of THROUGH_THE_SERVER) {
    model.says(`Wash the probe. [1] ${HOSTILE_TEXTS[what]}`);
    await panel.ask(QUESTION);
    await expect(panel.answer, what).toContainText('Wash the probe.');
    await expectHarmless(panel, what);
    await expect(panel.markers.first(), what).toHaveAttribute('href', /^\/garden-robotics\/docs/);
    await panel.root.getByRole('button', { name: 'New conversation' }).click();
  }
});

test('a hostile selection and a hostile question are shown as text', async ({ panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  const question = '<img src=x onerror=pwned()> [x](javascript:pwned())';
  await panel.ask(question);
  await expectHarmless(panel, question);
});
