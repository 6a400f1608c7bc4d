import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ariaShortcut, isPressed, parseShortcut } from '../src/client/shortcut';

const press = (key: string, code: string, modifiers: Partial<KeyboardEvent> = {}) =>
  ({ key, code, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers }) as KeyboardEvent;

test('a shortcut is its key with exactly its modifiers', () => {
  const shortcut = parseShortcut('ctrl+.', false);
  assert.ok(isPressed(shortcut, press('.', 'Period', { ctrlKey: true })));
  assert.ok(!isPressed(shortcut, press('.', 'Period')));
  assert.ok(!isPressed(shortcut, press('.', 'Period', { ctrlKey: true, shiftKey: true })));
  assert.ok(!isPressed(shortcut, press('k', 'KeyK', { ctrlKey: true })));
});

test('a keyboard with other letters has it at the same place', () => {
  assert.ok(isPressed(parseShortcut('ctrl+.', false), press('۔', 'Period', { ctrlKey: true })));
  assert.ok(isPressed(parseShortcut('alt+shift+a', true), press('Å', 'KeyA', { altKey: true, shiftKey: true })));
});

test('a keyboard that has another letter of ours at the place keeps it', () => {
  assert.ok(!isPressed(parseShortcut('ctrl+.', false), press('v', 'Period', { ctrlKey: true })));
});

test('mod is the key that programs use', () => {
  assert.equal(ariaShortcut(parseShortcut('mod+.', true)), 'Meta+.');
  assert.equal(ariaShortcut(parseShortcut('mod+.', false)), 'Control+.');
});
