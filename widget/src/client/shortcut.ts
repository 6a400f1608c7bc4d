/** Keys such as `ctrl+.` or `alt+shift+a`; `mod` is Ctrl, and Cmd on Apple's machines. */
export interface Shortcut {
  ctrl: boolean;
  meta: boolean;
  alt: boolean;
  shift: boolean;
  key: string;
}

/** The physical key of a character, for layouts with another character on it. */
const CODES: Record<string, string> = { '.': 'Period', ',': 'Comma', ';': 'Semicolon', '/': 'Slash' };

export function parseShortcut(text: string, isApple: boolean): Shortcut {
  const parts = text.toLowerCase().split('+');
  const has = (name: string) => parts.includes(name);
  return {
    ctrl: has('ctrl') || (has('mod') && !isApple),
    meta: has('meta') || (has('mod') && isApple),
    alt: has('alt'),
    shift: has('shift'),
    key: parts.at(-1) ?? '',
  };
}

export function isPressed({ key, ...modifiers }: Shortcut, event: KeyboardEvent): boolean {
  const code = CODES[key] ?? (/^[a-z]$/.test(key) ? `Key${key.toUpperCase()}` : '');
  return (
    event.ctrlKey === modifiers.ctrl &&
    event.metaKey === modifiers.meta &&
    event.altKey === modifiers.alt &&
    event.shiftKey === modifiers.shift &&
    // Layouts without Latin letters match by position. Others must not: on Dvorak the position of the full stop has a V.
    (event.key.toLowerCase() === key || (!/^[ -~]$/.test(event.key) && event.code === code))
  );
}

/** Returns the keys in the notation of `aria-keyshortcuts`. */
export function ariaShortcut({ ctrl, meta, alt, shift, key }: Shortcut): string {
  const names = [ctrl && 'Control', meta && 'Meta', alt && 'Alt', shift && 'Shift', key.toUpperCase()];
  return names.filter(Boolean).join('+');
}

/** True if the element accepts typed text. */
export function isField(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return Boolean(element?.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element?.tagName ?? ''));
}
