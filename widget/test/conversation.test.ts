import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Action, type Conversation, EMPTY, historyBefore, MAX_HISTORY_MESSAGES, reduce, restored } from '../src/core/conversation';
import { cut, MAX_CHARACTERS } from '../src/core/text';
import type { Citation, Done } from '../src/core/types';

const PLACE = { title: '', section: '', chapter: '', source: 'docs/a.md', start_line: 1, end_line: 2 };
const cite = (n: number, quote = ''): Citation => ({ n, url: `/docs/${n}`, quote, ...PLACE });
const done = (citations: Citation[] = [], more: Partial<Done> = {}): Done => ({
  message_id: 'm',
  outcome: 'answered',
  citations,
  unsupported: [],
  adapted: [],
  suggestions: [],
  follow_ups: [],
  degraded: [],
  ...more,
});
const asked = (id: string, text = 'why?'): Action => ({ type: 'asked', id, question: { text } });
const token = (id: string, text: string): Action => ({ type: 'token', id, token: text });
const after = (...actions: Action[]): Conversation => actions.reduce(reduce, EMPTY);
const answered = (id: string, question: string, answer: string): Action[] => [
  asked(id, question),
  token(id, answer),
  { type: 'done', id, done: done() },
];

test('the text does not depend on how it is split into tokens', () => {
  const text = 'Wash the probe, dry it. 🌱 [1]';
  const whole = after(asked('a'), token('a', text));
  for (let at = 0; at <= text.length; at++) {
    assert.deepEqual(after(asked('a'), token('a', text.slice(0, at)), token('a', text.slice(at))), whole);
  }
});

test('citations are sorted by number, and the last one of a number wins', () => {
  const orders = [[1, 2, 3], [3, 2, 1], [2, 3, 1]];
  for (const order of orders) {
    const actions = order.map((n): Action => ({ type: 'citation', id: 'a', citation: cite(n) }));
    const { turns } = after(asked('a'), ...actions, { type: 'done', id: 'a', done: done([cite(2, 'last')]) });
    assert.deepEqual(turns[0]?.citations, [cite(1), cite(2, 'last'), cite(3)]);
  }
});

test('a turn that has ended does not change', () => {
  const endings: Action[] = [
    { type: 'done', id: 'a', done: done() },
    { type: 'stopped', id: 'a' },
    { type: 'failed', id: 'a', failure: { kind: 'broken' } },
  ];
  for (const ending of endings) {
    const ended = after(asked('a'), token('a', 'half'), ending);
    const late: Action[] = [token('a', ' more'), { type: 'citation', id: 'a', citation: cite(1) }, ...endings];
    for (const action of late) assert.equal(reduce(ended, action), ended);
  }
});

test('a turn says how many sections are read until it is asked again', () => {
  const reading = after(asked('a'), { type: 'reading', id: 'a', sections: 5 });
  assert.equal(reading.turns[0]?.sections, 5);
  const looking = reduce(reading, { type: 'looking-up', id: 'a', subject: 'soil' });
  assert.equal(looking.turns[0]?.subject, 'soil');
  assert.equal(reduce(looking, asked('a')).turns[0]?.sections, undefined);
});

test('events of other turns change nothing', () => {
  const conversation = after(asked('a'));
  assert.equal(reduce(conversation, token('b', 'x')), conversation);
  assert.equal(reduce(EMPTY, { type: 'stopped', id: 'a' }), EMPTY);
});

test('a conversation is never changed in place', () => {
  const freeze = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  const actions: Action[] = [
    ...answered('a', 'why?', 'so.'),
    asked('b'),
    token('b', 'x'),
    { type: 'citation', id: 'b', citation: cite(1) },
    { type: 'rated', id: 'a', rating: 'up' },
    { type: 'stopped', id: 'b' },
    asked('b'),
    { type: 'cleared' },
  ];
  actions.reduce((conversation, action) => {
    freeze(conversation);
    return reduce(conversation, action);
  }, EMPTY);
});

test('a question that is asked again begins anew, at the end', () => {
  const { turns } = after(...answered('a', 'one', 'x'), ...answered('b', 'two', 'y'), asked('a', 'one'));
  assert.deepEqual(turns.map(({ id, text, state }) => [id, text, state]), [['b', 'y', 'complete'], ['a', '', 'answering']]);
});

test('the history is the last complete turns before a question', () => {
  const actions = Array.from({ length: 8 }, (_, n) => answered(`${n}`, `q${n}`, `a${n}`)).flat();
  const conversation = after(...actions, asked('broken', 'lost'), { type: 'stopped', id: 'broken' }, asked('now'));
  const history = historyBefore(conversation, 'now');
  assert.equal(history.length, MAX_HISTORY_MESSAGES);
  assert.deepEqual(history.at(-1), { role: 'assistant', content: 'a7' });
  assert.deepEqual(history[0], { role: 'user', content: 'q3' });
  assert.deepEqual(historyBefore(conversation, '1'), [{ role: 'user', content: 'q0' }, { role: 'assistant', content: 'a0' }]);
});

test('a question about selected text is followed by the text in the history, and both are cut together', () => {
  const about = (selection: string, more: Partial<Done>): Action[] => [
    { type: 'asked', id: 'a', question: { text: 'Explain this.', selection } },
    token('a', 'so.'),
    { type: 'done', id: 'a', done: done([], more) },
  ];
  const before = (selection: string, more: Partial<Done> = {}) => historyBefore(after(...about(selection, more), asked('b', 'why not?')), 'b');
  assert.deepEqual(before('Wash the probe.'), [{ role: 'user', content: 'Explain this.\nWash the probe.' }, { role: 'assistant', content: 'so.' }]);
  const long = before('🌱'.repeat(1500))[0]?.content ?? '';
  assert.ok(long.startsWith('Explain this.\n🌱') && long.length <= MAX_CHARACTERS);
  encodeURIComponent(long);
  assert.equal(before('Wash the probe.', { outcome: 'not_covered' })[0]?.content, 'Explain this.', 'a selection that did not answer');
});

test('texts are cut to what the API takes, and never within a character', () => {
  const [, answer] = historyBefore(after(...answered('a', 'q', '🌱'.repeat(1500)), asked('b')), 'b');
  assert.ok(answer && answer.content.length <= 2000);
  // It throws on half of a surrogate pair.
  for (let most = 0; most <= 5; most++) encodeURIComponent(cut('🌱a🌱', most));
});

test('the server may name the conversation; clearing forgets it', () => {
  const named = after(asked('a'), { type: 'done', id: 'a', done: done([], { conversation_id: 'c' }) });
  assert.equal(named.id, 'c');
  assert.deepEqual(reduce(named, { type: 'cleared' }), EMPTY);
});

test('a restored turn is never still answering', () => {
  const stored: unknown = JSON.parse(JSON.stringify(after(...answered('a', 'q', 'x'), asked('b'))));
  const { turns } = restored(stored);
  assert.deepEqual(turns.map(({ state }) => state), ['complete', 'failed']);
  for (const broken of [undefined, null, 7, {}, { turns: 'no' }]) assert.equal(restored(broken), EMPTY);
});

test('an invalid stored turn is left out', () => {
  const { turns } = restored({ turns: [null, 7, {}, { id: 'a', question: null }, { ...after(asked('a')).turns[0], citations: null }] });
  assert.deepEqual(turns, []);
});

test('half of a character is not sent', () => {
  assert.equal(cut('a\u{1F331}b', 2), 'a');
  assert.equal(cut('a\ud83cb\udf31c'), 'a\ufffdb\ufffdc');
  assert.equal(cut('\u{1F331}'), '\u{1F331}');
});

const SOIL = { id: 'soil', title: 'Soil', url: 'https://soil.example' };

test('a turn keeps its book, which is known before the first words', () => {
  const begun = after(asked('a'), { type: 'book', id: 'a', book: SOIL });
  assert.deepEqual(begun.turns[0]?.book, SOIL);
  const ended = reduce(begun, { type: 'done', id: 'a', done: done() });
  assert.deepEqual(ended.turns[0]?.book, SOIL);
  const named = after(asked('a'), { type: 'done', id: 'a', done: done([], { book: SOIL }) });
  assert.deepEqual(named.turns[0]?.book, SOIL);
  assert.deepEqual(restored(JSON.parse(JSON.stringify(ended))), ended);
});

test('a stored turn without a book, or with something else in its place, has none', () => {
  for (const book of [undefined, null, 7, 'soil', {}, { id: '../x' }, { id: 'Soil' }]) {
    const [turn] = restored(JSON.parse(JSON.stringify({ turns: [{ ...after(...answered('a', 'why?', 'so')).turns[0], book }] }))).turns;
    assert.deepEqual([turn?.text, turn?.book], ['so', undefined], JSON.stringify(book));
  }
});
