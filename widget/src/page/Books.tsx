import { useEffect, useState } from 'react';
import type { Book } from '../core/types';
import { useSite } from '../panel/site';
import { Picker } from './Editions';
import { addressFor, allBooks, type ChosenBook } from './choice';
import { pageStringsFor } from './strings';

/** Lets the reader choose one of the books of a server that has several, or all. Choosing loads the page anew. */
export function Books({ chosen }: { chosen: ChosenBook }) {
  const { locale } = useSite();
  const { allDocs, docs } = pageStringsFor(locale);
  const [books, setBooks] = useState<Book[]>([]);
  useEffect(() => {
    allBooks().then(setBooks, () => {});
  }, []);
  if (books.length < 2) return null;
  const titles = new Map(books.map(({ id, title }) => [id, title]));
  return (
    <p className="bookrag-editions">
      <Picker
        label={docs}
        names={['', ...titles.keys()]}
        chosen={chosen.id ?? ''}
        choose={(id) => location.assign(addressFor(id))}
        nameOf={(id) => titles.get(id) ?? allDocs}
      />
    </p>
  );
}
