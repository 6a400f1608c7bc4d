// The book that the page asks, if the server has several: named in the page's address, `/?books=ID`.

import { BOOK_ID } from '../core/bookId';
import { createApi } from '../core/api';
import type { Book } from '../core/types';

const PARAMETER = 'books';
/** The parameters that belong to one book. */
const EDITION = ['locale', 'version'];

export interface ChosenBook {
  /** The id of the book; absent if all are asked, or if the server has only one. */
  id?: string;
  /** The path below which its routes and pages are: empty if all are asked. */
  place: string;
}

/** Returns the reader's choice. */
export function chosenBook(): ChosenBook {
  const id = new URLSearchParams(location.search).get(PARAMETER) ?? '';
  return BOOK_ID.test(id) ? { id, place: `/books/${id}` } : { place: '' };
}

/** Returns the page's address for a book, or for all. */
export function addressFor(id: string): URL {
  const address = new URL(location.href);
  for (const name of [PARAMETER, ...EDITION]) address.searchParams.delete(name);
  if (id) address.searchParams.set(PARAMETER, id);
  return address;
}

/** Returns the books of a server that has several. */
export function allBooks(): Promise<Book[]> {
  return createApi('').books();
}

/** Gives the page the colours and the icon of the chosen book. */
export function showLook({ place }: ChosenBook): void {
  if (!place) return;
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[href="/assets/look.css"], link[href="/favicon.ico"]')) {
    link.href = place + link.getAttribute('href');
  }
}
