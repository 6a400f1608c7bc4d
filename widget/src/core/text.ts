/** The longest question, selection and message that the API takes, in characters. */
export const MAX_CHARACTERS = 2000;

/** The beginning of a text, without halves of surrogate pairs: the API refuses JSON that has them. */
export function cut(text: string, most = MAX_CHARACTERS): string {
  const start = text.slice(0, most);
  return start.replace(/[\uD800-\uDBFF]$/, '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** What the API calls a chapter and a lesson that have no name. */
const NAMELESS = ['', 'Unknown', 'N/A'];

/** Where a section stands: the names around it, each once, without its own. */
export function placeOf(names: string[], own: string): string {
  return names.filter((name, at) => !NAMELESS.includes(name) && name !== own && names.indexOf(name) === at).join(' · ');
}

/** Text with its `{names}` replaced. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
