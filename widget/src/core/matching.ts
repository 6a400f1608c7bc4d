// The questions that match a text while it is typed.

import type { SearchResult } from './types';

const MAX_QUESTIONS = 3;
/** Scripts that write words without spaces: a typed word may begin anywhere. */
const WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Returns the questions of the results in which each typed word begins a word, each question once, in the results' order. */
export function matchingQuestions(typed: string, results: SearchResult[]): string[] {
  const parts = wordsOf(typed);
  if (parts.length === 0) return [];
  const all = results.flatMap(({ questions }) => questions);
  return all.filter((question, at) => all.indexOf(question) === at && matches(question, parts)).slice(0, MAX_QUESTIONS);
}

function matches(question: string, parts: string[]): boolean {
  const words = wordsOf(question);
  return parts.every((part) =>
    words.some((word) => (WITHOUT_SPACES.test(part) ? word.includes(part) : word.startsWith(part))),
  );
}

/** Apostrophes are part of their word: `don't`, also typed without. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/['’]/g, '');
  return plain.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
}
