import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Api } from '../src/core/api';
import { ApiError } from '../src/core/failure';
import { type Device, History } from '../src/core/history';
import type { Hooks } from '../src/core/hooks';
import { Session } from '../src/core/session';
import type { ChatEvent, ChatRequest } from '../src/core/types';

const stored = new Map<string, string>();

// The browser globals that a session needs.
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  },
});

beforeEach(() => stored.clear());

const TOKEN: ChatEvent = { type: 'token', token: 'so' };
const DONE: ChatEvent = {
  type: 'done',
  done: { message_id: 'm', conversation_id: 'c', outcome: 'answered', citations: [], unsupported: [], adapted: [], suggestions: [], follow_ups: [], degraded: [] },
};

let page = '/ur/docs/a';
let isAway = true;

function tab(chat: (request: ChatRequest, signal: AbortSignal) => AsyncGenerator<ChatEvent>, hooks?: Hooks, history?: History) {
  const requests: ChatRequest[] = [];
  const forgotten: unknown[] = [];
  const ratings: unknown[][] = [];
  const api: Api = {
    chat: (request, signal) => {
      requests.push(request);
      return chat(request, signal);
    },
    search: async () => [],
    questions: async () => [],
    books: async () => [],
    rate: async (...rated) => {
      ratings.push(rated);
      if (isAway) throw new Error('away');
    },
    forget: async (id, _session, book) => {
      forgotten.push(book ? [id, book] : id);
    },
  };
  const session = new Session({ api, pageUrl: () => page, storageKey: 'bookrag', hooks: () => hooks, ...(history && { history }) });
  return { session, requests, forgotten, ratings, last: () => session.getConversation().turns.at(-1) };
}

async function* answers(...events: ChatEvent[]): AsyncGenerator<ChatEvent> {
  yield* events;
}

test('a question is sent with its page, and the next one with the history', async () => {
  const { session, requests, last } = tab(() => answers(TOKEN, DONE));
  await session.ask({ text: 'why?', selection: 'this' });
  assert.equal(last()?.state, 'complete');
  await session.ask({ text: 'and then?' });
  const [first, second] = requests;
  assert.deepEqual([first?.mode, first?.selected_text, first?.page_url], ['selected_text', 'this', '/ur/docs/a']);
  assert.deepEqual([second?.mode, second?.conversation_id], ['global_book', 'c']);
  assert.deepEqual(second?.history, [{ role: 'user', content: 'why?\nthis' }, { role: 'assistant', content: 'so' }]);
  assert.equal(first?.session_id, second?.session_id);
});

test('a stream without a last event is broken, and asking again replaces it', async () => {
  let isBroken = true;
  const { session, last } = tab(() => (isBroken ? answers(TOKEN) : answers(TOKEN, DONE)));
  await session.ask({ text: 'why?' });
  assert.deepEqual([last()?.text, last()?.failure?.kind], ['so', 'broken']);
  isBroken = false;
  await session.ask({ text: 'why?' }, last()!.id);
  assert.deepEqual([session.getConversation().turns.length, last()?.state, last()?.failure], [1, 'complete', undefined]);
});

test('a lost network breaks a started answer, and is otherwise unreachable', async () => {
  const away = async function* (...events: ChatEvent[]): AsyncGenerator<ChatEvent> {
    yield* events;
    throw new TypeError('network error');
  };
  const begun = tab(() => away(TOKEN));
  await begun.session.ask({ text: 'why?' });
  assert.equal(begun.last()?.failure?.kind, 'broken');
  const never = tab(() => away());
  await never.session.ask({ text: 'why?' });
  assert.equal(never.last()?.failure?.kind, 'unreachable');
});

test('stopping aborts the request and keeps the text so far', async () => {
  let signal: AbortSignal | undefined;
  const { session, last } = tab(async function* (_, given) {
    signal = given;
    yield TOKEN;
    await new Promise((_, reject) => given.addEventListener('abort', () => reject(new Error('aborted'))));
  });
  const asking = session.ask({ text: 'why?' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  session.stop();
  await asking;
  assert.ok(signal?.aborted);
  assert.deepEqual([last()?.text, last()?.state], ['so', 'stopped']);
});

test('a rating that the server rejects is undone', async () => {
  const { session, last } = tab(() => answers(TOKEN, DONE));
  await session.ask({ text: 'why?' });
  assert.equal(await session.rate(last()!.id, 'up'), false);
  assert.equal(last()?.rating, undefined);
});

test('a site is told of questions, complete answers and judgements that were taken', async () => {
  const told: unknown[] = [];
  const hooks: Hooks = {
    onAsk: (event) => told.push(['asked', event]),
    onAnswer: ({ answer, outcome, messageId }) => told.push([answer, outcome, messageId]),
    onFeedback: (event) => told.push(['rated', event]),
  };
  const { session, ratings, last } = tab(() => answers(TOKEN, DONE), hooks);
  await session.ask({ text: 'why?', selection: 'this' });
  await session.rate(last()!.id, 'up');
  isAway = false;
  await session.rate(last()!.id, 'down', 'the unit');
  isAway = true;
  assert.deepEqual(ratings.at(-1), ['m', 'down', 'the unit', undefined]);
  assert.deepEqual(told, [
    ['asked', { question: 'why?', selection: 'this', pageUrl: '/ur/docs/a' }],
    ['so', 'answered', 'm'],
    ['rated', { question: 'why?', messageId: 'm', rating: 'down', comment: 'the unit' }],
  ]);
  const broken = tab(() => answers(TOKEN), hooks);
  told.length = 0;
  await broken.session.ask({ text: 'why?' });
  assert.equal(told.length, 1, 'an answer that broke off is none');
});

test('a hook that fails keeps no question from being answered', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const { session, last } = tab(() => answers(TOKEN, DONE), { onAsk: () => { throw new Error('the site’s'); } });
  await session.ask({ text: 'why?' });
  assert.equal(last()?.state, 'complete');
  assert.equal(logged.mock.callCount(), 1);
});

test('the tab keeps the conversation; ending it forgets it here and there', async () => {
  const { session, forgotten } = tab(() => answers(TOKEN, DONE));
  await session.ask({ text: 'why?' });
  const next = tab(() => answers());
  assert.deepEqual(next.session.getConversation(), session.getConversation());
  session.clear();
  assert.deepEqual(forgotten, ['c']);
  assert.deepEqual(tab(() => answers()).session.getConversation().turns, []);
});

test('of several books, each is told of its own answers, and forgets its own part of the conversation', async () => {
  const ids = ['soil', 'water', 'soil'];
  const { session, forgotten, ratings } = tab(() => {
    const id = ids.shift() ?? '';
    const book = { id, title: id, url: null };
    return answers({ type: 'begun', conversationId: `c-${id}` }, { type: 'book', book }, TOKEN, { ...DONE, done: { ...DONE.done, conversation_id: `c-${id}`, book } });
  });
  for (const text of ['a', 'b', 'c']) await session.ask({ text });
  const [, second] = session.getConversation().turns;
  isAway = false;
  await session.rate(second!.id, 'up');
  session.followed(second!.id);
  isAway = true;
  assert.deepEqual(ratings, [['m', 'up', undefined, 'water'], ['m', 'citation_clicked', undefined, 'water']]);
  assert.equal(session.getConversation().id, 'c-soil');
  session.clear();
  assert.deepEqual(forgotten, [['c-soil', 'soil'], ['c-water', 'water']]);
});

test('an API error keeps its kind', async () => {
  const { session, last } = tab(async function* () {
    throw new ApiError({ kind: 'limited', retryAt: 5 });
  });
  await session.ask({ text: 'why?' });
  assert.deepEqual(last()?.failure, { kind: 'limited', retryAt: 5 });
});

test('a question that is asked again is about the page it was asked on', async () => {
  const { session, requests, last } = tab(() => answers(TOKEN));
  await session.ask({ text: 'why?', selection: 'this' });
  page = '/ur/docs/b';
  await session.ask(last()!.question, last()!.id);
  assert.deepEqual(requests.map(({ page_url }) => page_url), ['/ur/docs/a', '/ur/docs/a']);
  page = '/ur/docs/a';
});

test('a conversation is forgotten though its first answer was stopped', async () => {
  const { session, forgotten } = tab(async function* (_request, signal) {
    yield { type: 'begun', conversationId: 'c' };
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  });
  const asked = session.ask({ text: 'why?' });
  await new Promise((resolve) => setTimeout(resolve, 1));
  session.stop();
  session.clear();
  await asked;
  assert.deepEqual(forgotten, ['c']);
  assert.equal(session.getConversation().id, undefined);
});

/** Storage of at most this many characters. */
function deviceOf(most = Infinity): Device & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => {
      if (value.length > most) throw new Error('full');
      kept.set(key, value);
    },
    removeItem: (key) => kept.delete(key),
  };
}

test('earlier conversations are kept, resumed with their history and deleted', async () => {
  const device = deviceOf();
  const { session, requests, forgotten, last } = tab(() => answers(TOKEN, DONE), undefined, new History(() => device, 'book'));
  await session.ask({ text: 'why?' });
  assert.deepEqual(session.earlier(), []);
  session.clear();
  assert.deepEqual(forgotten, ['c']);
  await session.ask({ text: 'how?' });
  const [why] = session.earlier();
  assert.equal(why?.conversation.turns[0]?.question.text, 'why?');
  session.resume(why!);
  assert.equal(last()?.text, 'so');
  await session.ask({ text: 'and then?' });
  const [, , request] = requests;
  assert.deepEqual(request?.history?.map(({ content }) => content), ['why?', 'so']);
  assert.equal(request?.conversation_id, undefined);
  assert.deepEqual(session.earlier().map(({ conversation }) => conversation.turns.length), [1]);
  session.forgetEarlier();
  assert.deepEqual([session.earlier(), device.kept.size], [[], 0]);
});

test('the last ten conversations with an answer are kept', async () => {
  const device = deviceOf();
  const { session } = tab(() => answers(TOKEN, DONE), undefined, new History(() => device, 'book'));
  for (let number = 0; number < 12; number++) {
    await session.ask({ text: `${number}` });
    session.clear();
  }
  const questions = session.earlier().map(({ conversation }) => conversation.turns[0]?.question.text);
  assert.deepEqual(questions, ['11', '10', '9', '8', '7', '6', '5', '4', '3', '2']);
  const { session: failing } = tab(() => { throw new Error('away'); }, undefined, new History(() => device, 'other'));
  await failing.ask({ text: 'why?' });
  failing.clear();
  assert.deepEqual(failing.earlier(), []);
});

test('a device that keeps nothing, or something else, changes nothing', async () => {
  const broken: Device = { getItem: () => { throw new Error('denied'); }, setItem: () => { throw new Error('denied'); }, removeItem: () => { throw new Error('denied'); } };
  for (const device of [broken, deviceOf(10)]) {
    const { session, last } = tab(() => answers(TOKEN, DONE), undefined, new History(() => device, 'book'));
    await session.ask({ text: 'why?' });
    assert.equal(last()?.state, 'complete');
    session.clear();
    assert.deepEqual(session.earlier(), []);
    session.forgetEarlier();
  }
  for (const text of ['{', '7', '[null, 1, {"id": "a"}, {"id": "a", "changed": 1, "conversation": {"turns": [{"id": "b"}]}}]']) {
    const device = deviceOf();
    device.setItem('book', text);
    assert.deepEqual(new History(() => device, 'book').all(), [], text);
  }
});
