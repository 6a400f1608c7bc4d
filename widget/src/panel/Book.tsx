import type { ReactNode } from 'react';
import { bookUrlOf } from '../core/links';
import type { Book } from '../core/types';
import { BookUrlContext, useSite } from './site';

/** Has all links in it lead to a book, if it is one of several. */
export function InBook({ book, children }: { book: Book | undefined; children: ReactNode }) {
  const url = book?.url ? bookUrlOf(book.url, location.origin) : undefined;
  return <BookUrlContext.Provider value={url}>{children}</BookUrlContext.Provider>;
}

/** Returns a function for the name of a book of several. If only one is asked, it needs no name. */
export function useBookName(): (book: Book | undefined) => string {
  const { books } = useSite();
  return (book) => (book && books?.length !== 1 ? book.title : '');
}
