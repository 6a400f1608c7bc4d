// Validates API responses: values that do not match docs/openapi.json are treated as absent, so that views need no checks.

import { BOOK_ID } from './bookId';
import type { Book, Citation, Done, Index, Origin, Outcome, SearchResult, Suggestion } from './types';

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textsOf = (value: unknown): string[] => listOf(value).filter((text) => typeof text === 'string');

const KINDS: readonly unknown[] = ['docs', 'blog', 'page'] satisfies Origin['kind'][];

/** Older servers send no kind, because they only read docs. */
function originOf({ kind, date }: Fields): Origin {
  return { kind: KINDS.includes(kind) ? (kind as Origin['kind']) : 'docs', date: textOf(date) || null };
}

export function bookOf(value: unknown): Book | undefined {
  const { id, title, url } = fieldsOf(value);
  if (!BOOK_ID.test(textOf(id))) return undefined;
  return { id: textOf(id), title: textOf(title) || textOf(id), url: textOf(url) || null };
}

export function booksOf(value: unknown): Book[] {
  return listOf(value).flatMap((book) => bookOf(book) ?? []);
}

export function citationOf(value: unknown): Citation | undefined {
  const fields = fieldsOf(value);
  const { n, url, title, section, chapter, quote, source, start_line, end_line, supported, support } = fields;
  if (typeof n !== 'number' || !Number.isInteger(n)) return undefined;
  return {
    n,
    url: textOf(url),
    title: textOf(title),
    section: textOf(section),
    chapter: textOf(chapter),
    quote: textOf(quote),
    source: textOf(source),
    start_line: numberOf(start_line),
    end_line: numberOf(end_line),
    supported: typeof supported === 'boolean' ? supported : null,
    support: listOf(support).map((sentence) => textOf(sentence) || null),
    ...originOf(fields),
  };
}

function suggestionOf(value: unknown): Suggestion[] {
  const { title, url, text } = fieldsOf(value);
  return textOf(url) ? [{ title: textOf(title), url: textOf(url), ...(textOf(text) && { text: textOf(text) }) }] : [];
}

const OUTCOMES: readonly unknown[] = ['answered', 'uncertain', 'not_covered', 'small_talk'] satisfies Outcome[];

/** Older servers only send `answered`. */
function outcomeOf(outcome: unknown, answered: unknown): Outcome {
  if (OUTCOMES.includes(outcome)) return outcome as Outcome;
  return answered === false ? 'not_covered' : 'answered';
}

function indexOf(value: unknown): Index | undefined {
  const { updated_at, commit } = fieldsOf(value);
  return Number.isNaN(Date.parse(textOf(updated_at))) ? undefined : { updated_at: textOf(updated_at), commit: textOf(commit) || null };
}

export function doneOf(value: unknown): Done {
  const book = bookOf(fieldsOf(value).book);
  const index = indexOf(fieldsOf(value).index);
  const { message_id, conversation_id, answered, outcome, citations, unsupported, adapted, suggestions, follow_ups, book_language, degraded } = fieldsOf(value);
  return {
    message_id: textOf(message_id),
    conversation_id: textOf(conversation_id),
    outcome: outcomeOf(outcome, answered),
    citations: listOf(citations).flatMap((citation) => citationOf(citation) ?? []),
    unsupported: textsOf(unsupported),
    adapted: textsOf(adapted),
    suggestions: listOf(suggestions).flatMap(suggestionOf),
    follow_ups: textsOf(follow_ups),
    ...(textOf(book_language) && { book_language: textOf(book_language) }),
    degraded: textsOf(degraded),
    ...(book && { book }),
    ...(index && { index }),
  };
}

/** Reads search results. `books` are those of a server with several; a book that is not among them is known by its id alone. */
export function searchResultsOf(value: unknown, books: Book[]): SearchResult[] {
  return listOf(value).map((result) => {
    const fields = fieldsOf(result);
    const { chunk_id, title, section, chapter, url, preview, questions } = fields;
    const book = books.find(({ id }) => id === fields.book) ?? bookOf({ id: fields.book });
    return {
      chunk_id: textOf(chunk_id),
      title: textOf(title),
      section: textOf(section),
      chapter: textOf(chapter),
      url: textOf(url),
      preview: textOf(preview),
      questions: textsOf(questions),
      ...originOf(fields),
      ...(book && { book }),
    };
  });
}

export function proposalsOf(value: unknown): string[] {
  return listOf(value).flatMap((proposal) => textOf(fieldsOf(proposal).question) || []);
}
