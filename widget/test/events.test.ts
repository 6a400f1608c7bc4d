import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventReader, type ServerEvent } from '../src/core/events';

const STREAM = [
  ': a comment keeps it open',
  'event: token',
  'data: {"token":"کتاب — 🌱 é"}',
  '',
  'event:token',
  'data:no space',
  '',
  'data: first',
  'data:  second, with a space of its own',
  'data',
  '',
  'event: without data',
  '',
  'id: 7',
  'retry: 10',
  'unknown: field',
  'event: done',
  'data: {}',
  '',
  'event: token',
  'data: never ended',
];

const EVENTS: ServerEvent[] = [
  { name: 'token', data: '{"token":"کتاب — 🌱 é"}' },
  { name: 'token', data: 'no space' },
  { name: 'message', data: 'first\n second, with a space of its own\n' },
  { name: 'done', data: '{}' },
];

function read(...pieces: Uint8Array[]): ServerEvent[] {
  const reader = new EventReader();
  return pieces.flatMap((piece) => reader.push(piece));
}

for (const [name, lineBreak] of [['LF', '\n'], ['CR LF', '\r\n'], ['CR', '\r']] as const) {
  const bytes = new TextEncoder().encode('\uFEFF' + STREAM.join(lineBreak));

  test(`events do not depend on where a stream with ${name} is split`, () => {
    for (let at = 0; at <= bytes.length; at++) {
      assert.deepEqual(read(bytes.subarray(0, at), bytes.subarray(at)), EVENTS, `cut at byte ${at}`);
    }
  });

  test(`events do not depend on the size of pieces of a stream with ${name}`, () => {
    for (let size = 1; size <= 16; size++) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      assert.deepEqual(read(...pieces), EVENTS, `pieces of ${size}`);
    }
  });
}

test('an event is emitted with its last byte', () => {
  const reader = new EventReader();
  const encode = (text: string) => new TextEncoder().encode(text);
  assert.deepEqual(reader.push(encode('data: a\n')), []);
  assert.deepEqual(reader.push(encode('\n')), [{ name: 'message', data: 'a' }]);
});
