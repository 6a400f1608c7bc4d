// The topics offered on the page of `serve` if the book has no questions: titles in the list of its pages.

import { spokenText } from '../core/markdown';
import { topicsOfBook } from '../core/topics';

/** A page in the list, or a chapter if there are too many pages for one list; not the list of another edition, nor the file of all pages. */
const ENTRY = /^- \[((?:\\.|[^\\\]])+)\]\(\S+(?:\.md\)|\): \d+ pages$)/gm;

/** Returns topics of the book, out of its `llms.txt`. */
export function topicsOfList(list: string): string[] {
  return topicsOfBook(Array.from(list.matchAll(ENTRY), ([, title = '']) => spokenText(title)));
}

/** Reads the list of an edition, whose URLs begin with `path`. */
export async function readTopics(path: string, signal: AbortSignal): Promise<string[]> {
  const response = await fetch(`${path}llms.txt`, { signal });
  return response.ok ? topicsOfList(await response.text()) : [];
}
