import type { Strings } from './strings';
import type { Index, Origin } from './types';

/** The longest question, selection and message that the API accepts, in characters. */
export const MAX_CHARACTERS = 2000;

/** Returns the beginning of a text without split surrogate pairs, which the API rejects in JSON. */
export function cut(text: string, most = MAX_CHARACTERS): string {
  const start = text.slice(0, most);
  return start.replace(/[\uD800-\uDBFF]$/, '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The API's placeholder for a chapter or lesson without a name. */
const NAMELESS = ['', 'Unknown', 'N/A'];

/** Returns the names around a section, each once, without its own. */
export function placeOf(names: string[], own: string): string {
  return names.filter((name, at) => !NAMELESS.includes(name) && name !== own && names.indexOf(name) === at).join(' · ');
}

/** Returns the kind of a passage outside the docs: `Blog · 3 May 2024` in the reader's language. */
export function kindOf({ kind, date }: Origin, strings: Strings, locale: string): string {
  if (kind !== 'blog' && kind !== 'page') return '';
  const day = date ? new Date(`${date}T00:00:00Z`) : undefined;
  // A server of another version may format dates differently.
  if (!day || Number.isNaN(day.getTime())) return strings[kind];
  return `${strings[kind]} · ${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(day)}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns how long ago something was, in words of a language: `5 minutes ago`, `yesterday`; the date if that was more than a week ago. */
export function timeSince(time: number, now: number, locale: string): string {
  const past = Math.max(0, now - time);
  if (past > 7 * DAY_MS) return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(time);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  if (past < MINUTE_MS) return format.format(0, 'second');
  if (past < HOUR_MS) return format.format(-Math.floor(past / MINUTE_MS), 'minute');
  if (past < DAY_MS) return format.format(-Math.floor(past / HOUR_MS), 'hour');
  return format.format(-Math.floor(past / DAY_MS), 'day');
}

/** Returns how old an index is, and from which commit: `From 7f3c2a1 · 5 minutes ago`. */
export function madeWhen({ updated_at, commit }: Index, strings: Strings, locale: string): string {
  const age = timeSince(Date.parse(updated_at), Date.now(), locale);
  return commit ? `${fill(strings.from, { title: commit })} · ${age}` : age;
}

/** Replaces `{names}` in a text. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
