import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { createApi } from '../src/core/api';
import { failureOf } from '../src/core/failure';
import type { ChatEvent, ChatRequest } from '../src/core/types';

const REQUEST: ChatRequest = { query: 'why?', mode: 'global_book', history: [], session_id: 's' };
const DONE = { message_id: 'm', answered: true, outcome: 'answered', citations: [], unsupported: [], adapted: [], suggestions: [], follow_ups: [], degraded: [] };

const STREAM = `event: token
data: {"token":"Wash it \u{1F331}"}

event: citation
data: {"n":1,"url":"/docs/a#b","title":"A","section":"B","chapter":"C","quote":"Wash"}

event: token
data: {"token":" [1]"}

event: done
data: ${JSON.stringify(DONE)}

`;

afterEach(() => mock.restoreAll());

function answerWith(response: () => Response) {
  return mock.method(globalThis, 'fetch', async () => response());
}

function streamOf(...pieces: Uint8Array[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

async function events(): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of createApi('https://api.example/prod/').chat(REQUEST, new AbortController().signal)) all.push(event);
  return all;
}

test('an answer does not depend on how its bytes are split', async () => {
  const bytes = new TextEncoder().encode(STREAM);
  answerWith(() => streamOf(bytes));
  const whole = await events();
  assert.deepEqual(whole.map(({ type }) => type), ['token', 'citation', 'token', 'done']);
  for (let at = 0; at <= bytes.length; at++) {
    mock.restoreAll();
    answerWith(() => streamOf(bytes.slice(0, at), bytes.slice(at)));
    assert.deepEqual(await events(), whole, `cut at byte ${at}`);
  }
});

test('progress reports the sections read and what is looked up, and unknown kinds are ignored', async () => {
  const progress = (value: unknown) => `event: progress\ndata: ${JSON.stringify(value)}\n\n`;
  const sent = [{ stage: 'reading', sections: 5 }, { stage: 'thinking', sections: 1 }, { stage: 'reading' }, { stage: 'looking_up', subject: 'soil' }, { stage: 'looking_up', subject: 1 }, null].map(progress);
  answerWith(() => streamOf(new TextEncoder().encode(sent.join(''))));
  assert.deepEqual(await events(), [{ type: 'reading', sections: 5 }, { type: 'looking-up', subject: 'soil' }]);
});

test('a question is sent to the API without cookies', async () => {
  const fetched = answerWith(() => streamOf());
  await events();
  const [url, init] = fetched.mock.calls[0]!.arguments as unknown as [string, RequestInit];
  assert.equal(url, 'https://api.example/prod/api/v1/chat');
  assert.equal(init.credentials, 'omit');
  assert.deepEqual(JSON.parse(String(init.body)), REQUEST);
});

test('a gateway that does not stream is understood', async () => {
  answerWith(() => Response.json({ success: true, data: { ...DONE, answer: 'Wash it.' }, meta: { degraded: ['memory'] } }));
  const [token, done] = await events();
  assert.deepEqual(token, { type: 'token', token: 'Wash it.' });
  assert.ok(done?.type === 'done' && done.done.degraded[0] === 'memory');
});

const failure = () => events().then(() => assert.fail('nothing failed'), failureOf);

test('an error within the stream breaks the answer', async () => {
  answerWith(() => streamOf(new TextEncoder().encode('event: error\ndata: {"code":"internal_error","message":"x"}\n\n')));
  assert.equal((await failure()).kind, 'broken');
});

test('errors are told by their status, with the time to wait', async () => {
  const cases: [number, object | string, Record<string, string>, string][] = [
    [429, { error: { code: 'rate_limited', retry_after: 7 } }, {}, 'limited'],
    [429, { message: 'Too Many Requests' }, { 'Retry-After': '7' }, 'limited'],
    [401, {}, {}, 'unauthorized'],
    [413, {}, {}, 'rejected'],
    [503, '<html>', { 'Retry-After': '7' }, 'unavailable'],
    [500, '', {}, 'unexpected'],
    [404, {}, {}, 'unexpected'],
  ];
  for (const [status, body, headers, kind] of cases) {
    mock.restoreAll();
    answerWith(() => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }));
    const { kind: told, retryAt } = await failure();
    assert.equal(told, kind, String(status));
    const waits = status === 429 || status === 503;
    assert.equal(retryAt !== undefined && Math.abs(retryAt - Date.now() - 7000) < 1000, waits, String(status));
  }
});

test('a refused question says why', async () => {
  answerWith(() => Response.json({ error: { code: 'invalid_request', message: 'query is too long' } }, { status: 400 }));
  assert.deepEqual(await failure(), { kind: 'rejected', message: 'query is too long' });
});

test('a missing server is unreachable', async () => {
  mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('fetch failed')));
  assert.equal((await failure()).kind, 'unreachable');
});

test('a server that does not answer times out', async () => {
  const never = () => new Promise<never>(() => {});
  const silent: [() => Promise<Response>, string][] = [
    [never, 'unavailable'],
    [async () => new Response(new ReadableStream({ pull: never })), 'broken'],
  ];
  for (const [answers, kind] of silent) {
    mock.restoreAll();
    mock.method(globalThis, 'fetch', answers);
    mock.timers.enable({ apis: ['setTimeout'] });
    const told = failure();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    mock.timers.tick(60_000);
    assert.equal((await told).kind, kind);
    mock.timers.reset();
  }
});

test('values that violate the API description are treated as absent', async () => {
  const hostile = [null, 7, 'x', [], {}, { n: '__proto__', url: {} }, { n: 1, url: null, title: 7, quote: [], kind: 'poem', date: 7 }];
  const sent = hostile.map((value) => `event: token\ndata: ${JSON.stringify({ token: value })}\n\nevent: citation\ndata: ${JSON.stringify(value)}\n\n`);
  const done = { citations: hostile, suggestions: hostile, degraded: hostile, answered: null, message_id: {}, index: { updated_at: 'yesterday', commit: 7 } };
  answerWith(() => streamOf(new TextEncoder().encode(`${sent.join('')}event: done\ndata: ${JSON.stringify(done)}\n\n`)));
  const read = await events();
  const citation = { n: 1, url: '', title: '', section: '', chapter: '', quote: '', source: '', start_line: 0, end_line: 0, supported: null, support: [], kind: 'docs', date: null };
  assert.equal(read.map((event) => (event.type === 'token' ? event.token : '')).join(''), 'x');
  assert.deepEqual(read.filter(({ type }) => type === 'citation'), [{ type: 'citation', citation }]);
  assert.deepEqual(read.at(-1), {
    type: 'done',
    done: { message_id: '', conversation_id: '', outcome: 'answered', citations: [citation], unsupported: [], adapted: [], suggestions: [], follow_ups: [], degraded: ['x'] },
  });
});

test('a suggestion has a sentence only if the server sends one', async () => {
  const place = { title: 'A', url: '/docs/a' };
  const sent = [{ ...place, text: 'Wash it.' }, place, { ...place, text: '' }, { ...place, text: null }, { ...place, text: ['x'] }];
  answerWith(() => Response.json({ data: { ...DONE, answer: 'So.', suggestions: sent } }));
  const done = (await events()).at(-1);
  assert.deepEqual(done?.type === 'done' && done.done.suggestions, [{ ...place, text: 'Wash it.' }, place, place, place, place]);
});

test('the outcome is read as sent, also from servers without uncertain answers', async () => {
  const outcomes = [
    [{ answered: false, outcome: 'uncertain' }, 'uncertain'],
    [{ answered: false, outcome: 'not_covered' }, 'not_covered'],
    [{ answered: true, outcome: 'answered' }, 'answered'],
    [{ answered: true }, 'answered'],
    [{ answered: false }, 'not_covered'],
    [{ answered: false, outcome: 'of a later release' }, 'not_covered'],
  ] as const;
  for (const [fields, outcome] of outcomes) {
    mock.restoreAll();
    answerWith(() => streamOf(new TextEncoder().encode(`event: done\ndata: ${JSON.stringify({ ...DONE, outcome: undefined, ...fields })}\n\n`)));
    const last = (await events()).at(-1);
    assert.equal(last?.type === 'done' && last.done.outcome, outcome, JSON.stringify(fields));
  }
});

test('invalid JSON does not count as an outage', async () => {
  for (const type of ['text/event-stream', 'application/json']) {
    mock.restoreAll();
    answerWith(() => new Response('event: token\ndata: {"token\n\n', { headers: { 'Content-Type': type } }));
    assert.equal((await failure()).kind, 'unexpected');
  }
});

test('each request has a token, and a failed token does not block requests', async () => {
  const sent = async (readToken: () => Promise<string>) => {
    mock.restoreAll();
    const fetched = answerWith(() => Response.json({ data: { results: [] } }));
    await createApi('', readToken).search('probe', undefined, new AbortController().signal);
    const [, init] = fetched.mock.calls[0]!.arguments as unknown as [string, RequestInit];
    return (init.headers as Record<string, string>).Authorization;
  };
  assert.equal(await sent(async () => 'abc'), 'Bearer abc');
  assert.equal(await sent(() => Promise.reject(new Error('signed out'))), undefined);
  assert.equal(await sent(async () => '<!doctype html>\n<title>Sign in</title>'), undefined);
});

test('questions are read for the open page, and what is none is left out', async () => {
  const given = [{ question: 'Is **it** <b>?', title: 'A', section: 'B', url: '/a#b' }, { question: '' }, { question: 1 }, null, 'x'];
  const ask = async (page: string | undefined, data: unknown) => {
    mock.restoreAll();
    const fetched = answerWith(() => Response.json({ data }));
    const questions = await createApi('https://api.example/').questions(page, new AbortController().signal);
    return [questions, fetched.mock.calls[0]!.arguments[0 as never]];
  };
  const base = 'https://api.example/api/v1/questions?limit=4';
  assert.deepEqual(await ask('/docs/a b', { questions: given }), [['Is **it** <b>?'], `${base}&page_url=%2Fdocs%2Fa+b`]);
  for (const data of [undefined, null, {}, { questions: {} }]) assert.deepEqual(await ask(undefined, data), [[], base]);
});

test('an address without an API is named in the console', async () => {
  const warn = mock.method(console, 'warn', () => {});
  answerWith(() => new Response('Not Found', { status: 404 }));
  await assert.rejects(events(), (error) => failureOf(error).kind === 'unexpected');
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /no API at https:\/\/api\.example\/prod\/api\/v1.*option url/);
  await assert.rejects(createApi('https://api.example').questions(undefined, new AbortController().signal));
  assert.equal(warn.mock.callCount(), 1, 'older servers have no questions');
});

const SOIL = { id: 'soil', title: 'Soil', url: 'https://soil.example' };
const bodyOf = (init: RequestInit | undefined) => JSON.parse(String(init?.body));

test('the book of an answer is told before its words, streamed or not', async () => {
  const rest = `event: token\ndata: {"token":"So."}\n\nevent: done\ndata: ${JSON.stringify({ ...DONE, book: SOIL })}\n\n`;
  answerWith(() => streamOf(new TextEncoder().encode(`event: book\ndata: ${JSON.stringify(SOIL)}\n\n${rest}`)));
  const streamed = await events();
  mock.restoreAll();
  answerWith(() => Response.json({ success: true, data: { ...DONE, answer: 'So.', book: SOIL } }));
  for (const read of [streamed, await events()]) {
    assert.deepEqual(read.map(({ type }) => type), ['book', 'token', 'done']);
    const [first, , last] = read;
    assert.deepEqual([first?.type === 'book' && first.book, last?.type === 'done' && last.done.book], [SOIL, SOIL]);
  }
});

test('a book without an id that can be one is none', async () => {
  for (const book of [null, 7, 'soil', {}, { id: 7 }, { id: '../api' }, { id: '__proto__' }]) {
    mock.restoreAll();
    answerWith(() => streamOf(new TextEncoder().encode(`event: book\ndata: ${JSON.stringify(book)}\n\nevent: done\ndata: ${JSON.stringify({ ...DONE, book })}\n\n`)));
    const [only] = await events();
    assert.ok(only?.type === 'done' && !only.done.book, JSON.stringify(book));
  }
});

test('the books that a site names are asked and searched', async () => {
  const api = createApi('https://api.example', undefined, ['soil', 'water']);
  const { signal } = new AbortController();
  const fetched = answerWith(() => Response.json({ success: true, data: { ...DONE, answer: 'So.', results: [], questions: [] } }));
  for await (const _ of api.chat(REQUEST, signal));
  await api.search('probe', undefined, signal);
  await api.questions(undefined, signal);
  const calls = fetched.mock.calls.map(({ arguments: given }) => given as unknown as [string, RequestInit]);
  assert.deepEqual(calls.slice(0, 2).map(([, init]) => bodyOf(init).books), [['soil', 'water'], ['soil', 'water']]);
  assert.equal(calls[2]?.[0], 'https://api.example/api/v1/questions?limit=4&books=soil%2Cwater');
});

test('results name their books by their titles, which are read once, or by their ids', async () => {
  const results = [{ url: 'https://soil.example/docs/a', book: 'soil' }, { url: '/b', book: 'air' }, { url: '/c', book: { id: 'soil' } }];
  let books: () => Response = () => Response.json({ success: true, data: { books: [SOIL, { id: '../x' }, null] } });
  const fetched = mock.method(globalThis, 'fetch', async (url: string) => (url.endsWith('/books') ? books() : Response.json({ success: true, data: { results } })));
  const search = (api = createApi('https://api.example')) => api.search('probe', undefined, new AbortController().signal);
  const air = { id: 'air', title: 'air', url: null };
  const api = createApi('https://api.example');
  for (let time = 0; time < 2; time++) assert.deepEqual((await search(api)).map(({ book }) => book), [SOIL, air, undefined]);
  assert.equal(fetched.mock.callCount(), 3);
  books = () => new Response('', { status: 404 });
  assert.deepEqual((await search()).map(({ book }) => book?.title), ['soil', 'air', undefined]);
});

test('a server with one book is not asked for its books', async () => {
  const fetched = answerWith(() => Response.json({ success: true, data: { results: [{ url: '/a' }] } }));
  await createApi('https://api.example').search('probe', undefined, new AbortController().signal);
  assert.equal(fetched.mock.callCount(), 1);
});

test('ratings and deletions go to the book that they are about', async () => {
  const fetched = answerWith(() => Response.json({ success: true }));
  const api = createApi('https://api.example/prod');
  for (const book of [undefined, 'soil']) {
    await api.rate('m', 'up', undefined, book);
    await api.forget('c', 's', book);
  }
  assert.deepEqual(fetched.mock.calls.map(({ arguments: given }) => String((given as unknown[])[0])), [
    'https://api.example/prod/api/v1/feedback',
    'https://api.example/prod/api/v1/conversations/c',
    'https://api.example/prod/books/soil/api/v1/feedback',
    'https://api.example/prod/books/soil/api/v1/conversations/c',
  ]);
});
