import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ariaShortcut, isPressed, parseShortcut } from '../src/client/shortcut';

const press = (key: string, code: string, modifiers: Partial<KeyboardEvent> = {}) =>
  ({ key, code, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers }) as KeyboardEvent;

test('a shortcut needs its key and exactly its modifiers', () => {
  const shortcut = parseShortcut('ctrl+.', false);
  assert.ok(isPressed(shortcut, press('.', 'Period', { ctrlKey: true })));
  assert.ok(!isPressed(shortcut, press('.', 'Period')));
  assert.ok(!isPressed(shortcut, press('.', 'Period', { ctrlKey: true, shiftKey: true })));
  assert.ok(!isPressed(shortcut, press('k', 'KeyK', { ctrlKey: true })));
});

test('a keyboard without Latin letters has it at the same position', () => {
  assert.ok(isPressed(parseShortcut('ctrl+.', false), press('۔', 'Period', { ctrlKey: true })));
  assert.ok(isPressed(parseShortcut('alt+shift+a', true), press('Å', 'KeyA', { altKey: true, shiftKey: true })));
});

test('a keyboard with another Latin letter at the position does not', () => {
  assert.ok(!isPressed(parseShortcut('ctrl+.', false), press('v', 'Period', { ctrlKey: true })));
});

test('mod is the platform’s modifier', () => {
  assert.equal(ariaShortcut(parseShortcut('mod+.', true)), 'Meta+.');
  assert.equal(ariaShortcut(parseShortcut('mod+.', false)), 'Control+.');
});
