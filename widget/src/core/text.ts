import type { Strings } from './strings';
import type { Origin } from './types';

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

/** Replaces `{names}` in a text. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
