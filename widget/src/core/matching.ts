// What matches a text while it is typed.

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

/** A piece of a text. */
export interface Piece {
  text: string;
  isMatch: boolean;
}

/** Shorter words are mostly such as `how` and `the`. */
const MIN_LETTERS = 4;
/** How much of a typed word another word begins with if both are forms of one: `calibrate`, `calibrating`. */
const MIN_COMMON_LETTERS = 5;
const MIN_COMMON_SHARE = 0.75;

/** Cuts a text into pieces, so that those that the typed words match can be marked. */
export function matchingPieces(text: string, typed: string): Piece[] {
  const all = wordsOf(typed);
  const long = all.filter((part) => part.length >= MIN_LETTERS || WITHOUT_SPACES.test(part));
  const parts = long.length > 0 ? long : all;
  const words = text.split(/([\p{L}\p{M}\p{N}'’]+)/u);
  return words.flatMap((word) => cut(word, parts)).filter((piece) => piece.text);
}

function cut(word: string, parts: string[]): Piece[] {
  const plain = wordsOf(word).join('');
  if (parts.some((part) => isForm(plain, part))) return [{ text: word, isMatch: true }];
  const part = parts.find((other) => WITHOUT_SPACES.test(other) && word.includes(other));
  if (!part) return [{ text: word, isMatch: false }];
  const at = word.indexOf(part);
  const rest = cut(word.slice(at + part.length), parts);
  return [{ text: word.slice(0, at), isMatch: false }, { text: part, isMatch: true }, ...rest];
}

/** True if a word is the typed one, begins with it, or is likely another form of it. */
function isForm(word: string, typed: string): boolean {
  let common = 0;
  while (common < typed.length && word[common] === typed[common]) common += 1;
  if (common === typed.length) return word.length === common || common >= MIN_LETTERS;
  return common >= Math.max(MIN_COMMON_LETTERS, typed.length * MIN_COMMON_SHARE);
}

/** Apostrophes are part of their word: `don't`, also typed without. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/['’]/g, '');
  return plain.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
}
