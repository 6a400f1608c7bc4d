import { expectHarmless, setTrap } from '../support/harmless';
import { done, event, replyWith, token } from '../support/reply';
import { BOOK, expect, ports, QUESTION, test } from '../support/test';

test.beforeEach(async ({ page, panel }) => {
  await setTrap(page);
  await panel.openOn(`${BOOK}/docs`);
});

test.afterEach(async ({ panel, page, watched }) => {
  expect(watched.dialogs).toEqual([]);
  await page.unrouteAll();
  await panel.ask(QUESTION);
  await expect(panel.sources.first()).toBeVisible();
});

const HTML = '<img src=x onerror=pwned()>';
const citation = (fields: Record<string, unknown>) => ({ n: 1, url: '/garden-robotics/docs', title: 'Title', section: 'Section', chapter: '', quote: 'Quote', ...fields });

const CITATIONS: Record<string, unknown> = {
  'an address that is a script': citation({ url: 'javascript:pwned()' }),
  'an address of another host': citation({ url: '//evil.example/x' }),
  'an address with a backslash': citation({ url: '/\\evil.example/x' }),
  'an address that is no address': citation({ url: 'http://[' }),
  'HTML in every text': citation({ title: HTML, section: HTML, chapter: HTML, quote: HTML }),
  'no fields': {},
  'fields of other types': citation({ url: 7, title: {}, section: [], chapter: true, quote: 3, supported: 'no' }),
  'fields that are null': citation({ url: null, title: null, section: null, chapter: null, quote: null, n: null }),
  'a number that every object has': citation({ n: '__proto__' }),
  'a number that is an object': citation({ n: { toString: 'x' } }),
  'null in its place': null,
  'a list in its place': [citation({})],
};

test('a hostile citation links to nothing that it should not', async ({ panel, page }) => {
  for (const [what, value] of Object.entries(CITATIONS)) {
    await replyWith(page, token('So it is. [1]') + event('citation', value) + done({ citations: [value] }));
    await panel.ask(what);
    await expect(panel.answer, what).toContainText('So it is.');
    await expectHarmless(panel, what);
    await page.unrouteAll();
  }
});

const ENDS: Record<string, unknown> = {
  'no fields': {},
  'fields that are null': { message_id: null, conversation_id: null, answered: null, citations: null, suggestions: null, degraded: null },
  'fields of other types': { message_id: {}, conversation_id: 7, answered: 'no', citations: 'x', suggestions: 7, degraded: {} },
  'lists of other things': { message_id: 'm', answered: false, citations: [null, 7, 'x', []], suggestions: [null, 7, {}, { url: 7, title: {} }, { url: '/x', title: 'x', text: {} }], degraded: [null, 7, {}, '__proto__', 'constructor', HTML] },
  'hostile suggestions': { message_id: 'm', answered: false, suggestions: [{ title: HTML, url: 'javascript:pwned()', text: HTML }, { title: 'x', url: '//evil.example', text: '[x](javascript:pwned()) [1]' }] },
  'a string in its place': 'x',
};

test('a hostile last event ends the answer', async ({ panel, page }) => {
  for (const [what, value] of Object.entries(ENDS)) {
    await replyWith(page, token('So it is.') + event('done', value));
    await panel.ask(what);
    await expect(panel.answer, what).toContainText('So it is.');
    await expectHarmless(panel, what);
    await page.unrouteAll();
  }
});

const STREAMS: Record<string, string> = {
  'JSON that is none': 'event: token\ndata: {"token": "x\n\n',
  'an event of null': event('token', null),
  'an event without data': 'event: token\n\nevent: done\n\n',
  'HTML': '<!doctype html><title>Sign in</title><script>pwned()</script>',
  'an event without end': `event: token\ndata: ${'x'.repeat(200_000)}`,
  'nothing': '',
};

test('an invalid stream is a server failure, and can be retried', async ({ panel, page }) => {
  for (const [what, body] of Object.entries(STREAMS)) {
    await replyWith(page, body);
    await panel.send(what);
    await expect(panel.again, what).toBeVisible();
    await expect(panel.failure, what).not.toContainText('cannot be reached');
    await page.unrouteAll();
  }
});

test('tokens of other types are not shown', async ({ panel, page }) => {
  await replyWith(page, [null, 7, {}, [], undefined].map((value) => event('token', { token: value })).join('') + token('So it is.') + done());
  await panel.ask(QUESTION);
  await expect(panel.answer).toHaveText('So it is.');
});

test('unknown events are passed over', async ({ panel, page }) => {
  await replyWith(page, event('__proto__', {}) + event('tool', { x: 1 }) + ': comment\n\n' + token('So it is.') + done());
  await panel.ask(QUESTION);
  await expect(panel.answer).toHaveText('So it is.');
});

test('JSON that is not an answer is a server failure', async ({ panel, page }) => {
  for (const body of ['null', '{"success": true}', '{"data": {"answer": 7}}', '{"data": {"answ']) {
    await replyWith(page, body, 'application/json');
    await panel.send(`What is ${body}?`);
    await expect(panel.again, body).toBeVisible();
    await expect(panel.failure, body).not.toContainText('cannot be reached');
    await page.unrouteAll();
  }
});

const RESULTS: Record<string, unknown> = {
  'hostile fields': { data: { results: [{ chunk_id: 'a', title: HTML, section: HTML, chapter: HTML, url: 'javascript:pwned()', preview: HTML }, { chunk_id: 'b', title: 'x', section: '', chapter: '', url: '//evil.example/x', preview: '' }] } },
  'fields of other types': { data: { results: [null, 7, {}, { chunk_id: {}, title: 7, section: null, url: [], preview: {} }] } },
  'no list': { data: { results: 'x' } },
  'null in its place': null,
};

test('hostile search results do no harm', async ({ panel, page }) => {
  for (const [what, json] of Object.entries(RESULTS)) {
    await page.route('**/api/v1/search', (route) => route.fulfill({ json, headers: { 'Access-Control-Allow-Origin': '*' } }));
    const results = panel.root.locator('.bookrag-results');
    await panel.field.fill(what);
    await expect(results, what).toBeVisible();
    for (const link of await panel.results.all()) expect(await link.getAttribute('href'), what).toMatch(/^(?:\/[^/\\]|https?:)/);
    expect(await results.locator('img, script, iframe').count(), what).toBe(0);
    await panel.field.fill('');
    await expect(results).toHaveCount(0);
    await page.unrouteAll();
  }
});

test('a conversation that somebody else left in the tab does not break the panel', async ({ panel, page }) => {
  await panel.ask(QUESTION);
  await page.reload();
  await expect(panel.turns, 'a conversation of its own is found again').toHaveCount(1);
  for (const stored of ['{"conversation":{"turns":[null,7,{}]}}', '{"conversation":7,"sessionId":{}}', '[]', 'x', '{"conversation":{"turns":[{"id":"a","question":null,"citations":null,"suggestions":7,"degraded":{}}]}}']) {
    await page.evaluate(([key = '', value = '']) => sessionStorage.setItem(key, value), [`bookrag:http://127.0.0.1:${ports.bookApi}`, stored]);
    await page.reload();
    await expect(panel.field).toBeVisible();
    await expect(panel.turns).toHaveCount(0);
  }
});
