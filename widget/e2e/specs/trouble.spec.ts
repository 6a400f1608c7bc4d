import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { done, replyWith, token } from '../support/reply';
import { BOOK, expect, QUESTION, test } from '../support/test';

test.beforeEach(async ({ panel }) => {
  await panel.openOn(`${BOOK}/docs`);
});

test.describe('with a limit of two questions a minute', () => {
  test.beforeAll(({ server }) => server.restart({ BOOKRAG_CHAT_PER_MINUTE: '2' }));
  test.afterAll(({ server }) => server.restart());

  test('a reader is told how long to wait, and can ask again then', async ({ panel, page }) => {
    await page.clock.install();
    await panel.ask(QUESTION);
    await panel.ask(QUESTION);
    const [response] = await Promise.all([page.waitForResponse('**/api/v1/chat'), panel.send(QUESTION)]);
    expect(response.status()).toBe(429);
    await expect(panel.failure).toContainText('Too many questions in a short time.');
    await expect(panel.again).toHaveAttribute('aria-disabled', 'true');
    await expectAccessible(page, '.bookrag-panel');
    const secondsLeft = async () => Number(/in (\d+) s/.exec((await panel.failure.textContent()) ?? '')?.[1]);
    const seconds = await secondsLeft();
    expect(seconds).toBeGreaterThan(1);

    await page.clock.runFor(1_000);
    expect(await secondsLeft()).toBeLessThan(seconds);
    await panel.again.click({ force: true });
    await expect(panel.failure, 'asking too early does nothing').toBeVisible();
    await page.clock.runFor(seconds * 1_000);
    await expect(panel.failure).not.toContainText(/in \d+ s/);
    await expect(panel.again).toHaveAttribute('aria-disabled', 'false');
  });
});

test('after the wait, asking again is answered', async ({ panel, page }) => {
  let isLimited = true;
  await page.route('**/api/v1/chat', (route) =>
    isLimited
      ? route.fulfill({ status: 429, headers: { 'Access-Control-Allow-Origin': '*' }, json: { error: { code: 'rate_limited', retry_after: 1 } } })
      : route.continue(),
  );
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('Too many questions');
  isLimited = false;
  await expect(panel.again).toHaveAttribute('aria-disabled', 'false');
  await panel.again.click();
  await panel.answered();
  await expect(panel.turns).toHaveCount(1);
});

test('a server outage is reported, and asking again works after it', async ({ panel, page, server }) => {
  await server.stop();
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('The server cannot be reached.');
  await expectAccessible(page, '.bookrag-panel');
  await server.start();
  await panel.again.click();
  await panel.answered();
  await expect(panel.failure).toHaveCount(0);
  await expect(panel.turns).toHaveCount(1);
});

test('a server that dies during an answer leaves the text, and can be asked again', async ({ panel, server, model }) => {
  const rest = gate();
  model.writes(async function* () {
    yield 'The first half ';
    yield 'of an answer. ';
    await rest.opened;
  });
  await panel.send(QUESTION);
  await expect(panel.answer).toContainText('The first half');
  await server.stop();
  await expect(panel.failure).toContainText('The answer stopped before its end.');
  await expect(panel.answer).toContainText('The first half');
  rest.open();
  await server.start();
  model.reset();
  await panel.again.click();
  await panel.answered();
  await expect(panel.answer).not.toContainText('The first half');
});

test('a reader who is offline is told so before and after asking', async ({ panel, page, context }) => {
  await context.setOffline(true);
  await expect(panel.root.locator('.bookrag-keys')).toContainText('You are offline.');
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('You are offline. Ask again once there is a connection.');
  await expectAccessible(page, '.bookrag-panel');
  await context.setOffline(false);
  await panel.again.click();
  await panel.answered();
});

test('a model that breaks off in the middle is asked again in the same place', async ({ panel, model }) => {
  const shown = gate();
  model.writes(async function* () {
    yield 'The first half ';
    yield 'of an answer. ';
    // A failure before the first word would give an extractive answer instead.
    await shown.opened;
    throw new Error('the connection is cut');
  });
  await panel.send(QUESTION);
  await expect(panel.answer).toContainText('The first half');
  shown.open();
  await expect(panel.failure).toContainText('The answer stopped before its end.');
  model.says('All of the answer. [1]');
  await panel.again.click();
  await expect(panel.answer).toContainText('All of the answer.');
  await panel.answered();
  await expect(panel.turns).toHaveCount(1);
});

test('an outage of the model is reported, and the answer is extractive', async ({ panel, page, model }) => {
  model.fails(500);
  await panel.ask(QUESTION);
  await expect(panel.notes).toHaveText('These are the docs’ own sentences: the language model did not answer.');
  await expect(panel.sources.first()).toBeVisible();
  await expectAccessible(page, '.bookrag-panel');
});

test('a truncated answer is reported as such', async ({ panel, model }) => {
  model.says('Wash the probe, dry it with a cloth and leave it [1]', { finish: 'length' });
  await panel.ask(QUESTION);
  await expect(panel.notes.filter({ hasText: 'The answer was cut off.' })).toBeVisible();
});

test('an answer without a source says so', async ({ panel, model }) => {
  // The sentence is too short to be checked against the book.
  model.says('It is so.');
  await panel.ask(QUESTION);
  await expect(panel.notes.filter({ hasText: 'names no source' })).toBeVisible();
});

test('the stop button ends an answer, which can be asked for again', async ({ panel, page, model }) => {
  const rest = gate();
  model.writes(async function* () {
    yield 'Half an answer. ';
    await rest.opened;
  });
  await panel.send(QUESTION);
  await expect(panel.answer).toContainText('Half an answer.');
  await panel.stop.click();
  await expect(panel.notes).toHaveText('Stopped.');
  await expect(panel.stop).toHaveCount(0);
  await expectAccessible(page, '.bookrag-panel');
  rest.open();
  model.reset();
  await panel.again.click();
  await panel.answered();
  await expect(panel.notes.filter({ hasText: 'Stopped.' })).toHaveCount(0);
});

test.describe('where conversations are stored', () => {
  test.beforeAll(({ server }) => server.restart({ BOOKRAG_STORE_CONVERSATIONS: '24' }));
  test.afterAll(({ server }) => server.restart());

  test('a conversation is deleted there, though its first answer was stopped', async ({ panel, page, model }) => {
    const rest = gate();
    model.writes(async function* () {
      yield 'Half an answer. ';
      await rest.opened;
    });
    await panel.send(QUESTION);
    await expect(panel.answer).toContainText('Half an answer.');
    await panel.stop.click();
    const isDelete = (response: { request(): { method(): string } }) => response.request().method() === 'DELETE';
    const [response] = await Promise.all([page.waitForResponse(isDelete), panel.root.getByRole('button', { name: 'New conversation' }).click()]);
    expect(response.status()).toBe(200);
    rest.open();
  });
});

async function failWith(page: Page, status: number, error: Record<string, unknown> | null): Promise<void> {
  await page.route('**/api/v1/chat', (route) =>
    route.fulfill({ status, headers: { 'Access-Control-Allow-Origin': '*' }, json: { success: false, data: null, error } }),
  );
}

const STATUSES = [
  [503, { code: 'unavailable', message: 'busy', retry_after: 30 }, 'The server cannot answer right now. You can ask again in 30 s.'],
  [502, null, 'The server cannot answer right now.'],
  [500, { code: 'internal', message: 'a secret of the server' }, 'Something went wrong on the server.'],
  [401, { code: 'unauthorized', message: 'no token' }, 'Questions are for readers who have signed in.'],
  [400, { code: 'invalid', message: 'query: at most 2000 characters' }, 'The server did not accept the question. query: at most 2000 characters'],
] as const;

test('a server error is reported in plain words', async ({ panel, page }) => {
  for (const [status, error, says] of STATUSES) {
    await failWith(page, status, error);
    await panel.send(`What is ${status}?`);
    await expect(panel.failure.locator('p')).toHaveText(says);
    await page.unrouteAll();
  }
});

test('a stream that ends without its last event broke off', async ({ panel, page }) => {
  await replyWith(page, token('The first half'));
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('The answer stopped before its end.');
  await page.unroute('**/api/v1/chat');
  await panel.again.click();
  await panel.answered();
});

test('several missing dependencies are reported in one sentence', async ({ panel, page }) => {
  await replyWith(page, token('An answer.') + done({ degraded: ['vector_store', 'embedder', 'reranker', 'memory', 'new_part'] }));
  await panel.ask(QUESTION);
  await expect(panel.notes).toHaveText([
    'Part of the search was unavailable: passages may have been missed.',
    'The questions before this one could not be taken into account.',
    'Something was unavailable while this was answered.',
  ]);
});

test('a panel that cannot be loaded says so, and can be opened when it can', async ({ panel, page }) => {
  await panel.root.getByRole('button', { name: 'Close' }).click();
  await page.reload();
  await page.waitForLoadState('networkidle');
  await page.route('**/assets/js/**', (route) => route.abort());
  await panel.button.click();
  await expect(page.getByText('The panel could not be loaded. Is there a connection?')).toBeVisible();
  await page.unroute('**/assets/js/**');
  await panel.open();
});

test('an API that does not allow the site is explained in the console, with the origin to allow', async ({ panel, page }) => {
  const hints: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && hints.push(message.text()));
  await page.route('**/api/v1/chat', (route) => route.fulfill({ status: 200, body: '{}', headers: { 'Access-Control-Allow-Origin': 'https://other.example' } }));
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('The server cannot be reached.');
  expect(hints.join('\n')).toContain(`has to contain ${new URL(BOOK).origin}`);
});
