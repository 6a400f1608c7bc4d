import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchingPieces, matchingQuestions } from '../src/core/matching';
import type { SearchResult } from '../src/core/types';

const result = (questions: string[]): SearchResult => ({ chunk_id: '', title: '', section: '', chapter: '', url: '', preview: '', questions });
const matching = (typed: string, ...questions: string[]) => matchingQuestions(typed, [result(questions)]);

test('a question matches if each typed word begins one of its words', () => {
  const charge = 'Why doesn’t the robot charge in its dock?';
  for (const typed of ['robot', 'ROB', 'charge rob', 'why doesnt', "why doesn't th", 'dock?', '  dock  ']) assert.deepEqual(matching(typed, charge), [charge], typed);
  for (const typed of ['obot', 'robots', 'robot battery', '', ' ', '?', '***']) assert.deepEqual(matching(typed, charge), [], typed);
});

test('words of other scripts match, also within texts without spaces', () => {
  assert.deepEqual(matching('ladest', 'Wie lädst du den Roboter?'), []);
  assert.deepEqual(matching('lädst', 'Wie lädst du den Roboter?'), ['Wie lädst du den Roboter?']);
  assert.deepEqual(matching('روبوٹ', 'میرا روبوٹ کیوں نہیں چلتا؟'), ['میرا روبوٹ کیوں نہیں چلتا؟']);
  assert.deepEqual(matching('充电', '机器人怎么充电？'), ['机器人怎么充电？']);
  assert.deepEqual(matching('機械 充電', 'ロボットの充電方法は？'), []);
});

test('three questions at most are offered, each once, in the order of the results', () => {
  const results = [result(['a 1', 'b', 'a 2']), result([]), result(['a 2', 'a 3', 'a 4'])];
  assert.deepEqual(matchingQuestions('a', results), ['a 1', 'a 2', 'a 3']);
  assert.deepEqual(matchingQuestions('a', []), []);
});

test('signs of a pattern are text', () => {
  for (const typed of ['.*', '(', '[a', '\\d', '$&']) assert.doesNotThrow(() => matching(typed, 'a (b) [c]?'));
  assert.deepEqual(matching('<img', '<img src=x onerror=alert(1)>'), ['<img src=x onerror=alert(1)>']);
});

test('the typed words are marked in a text, with the words that they begin', () => {
  const marked = (text: string, typed: string) => matchingPieces(text, typed).map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text)).join('');
  assert.equal(marked('Calibrate the probe: calibration', 'calib'), '[Calibrate] the probe: [calibration]');
  assert.equal(marked('Calibrating a problem of the probe', 'how do I calibrate the probe'), '[Calibrating] a problem of the [probe]');
  assert.equal(marked('Do not use Docker', 'do'), '[Do] not use Docker');
  assert.equal(marked('It doesn’t charge', "doesn't"), 'It [doesn’t] charge');
  assert.equal(marked('机器人怎么充电？充电', '充电'), '机器人怎么[充电]？[充电]');
  assert.equal(marked('a (b) <img>', '( .*'), 'a (b) <img>');
  assert.equal(marked('', 'a'), '');
});
