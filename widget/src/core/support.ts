import type { Turn } from './conversation';
import { safeLink } from './links';

/** The longest answer in an address, in characters: servers refuse longer addresses. */
const LONGEST = 1500;
/** The most sections in an address. */
const SECTIONS = 5;
const PLACEHOLDER = /\{(question|answer|outcome|page|sections)\}/g;

// Nothing is spread but arrays: Docusaurus's bundler may compile other spreads like theirs.

/** Returns the address of a place to ask people, with what it names of a turn: `{question}`, `{answer}`, `{outcome}`, `{page}`, `{sections}`. `page` is an address, too. */
export function supportAddress(address: string, turn: Turn, bookUrl: string, page = ''): string {
  const urls = [...turn.citations, ...turn.suggestions].map(({ url }) => url);
  const parts: Record<string, () => string> = {
    question: () => turn.question.text,
    answer: () => (turn.text.length > LONGEST ? `${turn.text.slice(0, LONGEST)}…` : turn.text),
    outcome: () => turn.outcome ?? '',
    page: () => page,
    sections: () => Array.from(new Set(urls)).slice(0, SECTIONS).map((url) => safeLink(url, bookUrl, '')?.href ?? url).join('\n'),
  };
  return address.replaceAll(PLACEHOLDER, (_, name: string) => encodeURIComponent(parts[name]?.() ?? ''));
}

/** True if the address carries more than the question. */
export function carriesAnswer(address: string): boolean {
  return Array.from(address.matchAll(PLACEHOLDER)).some(([, name]) => name !== 'question');
}
