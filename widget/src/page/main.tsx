// The page of `bookrag serve`: the panel at full page width. `npm run page` bundles it with Preact instead of React.

import { createRef, useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { isField } from '../client/shortcut';
import { createApi } from '../core/api';
import { Session } from '../core/session';
import { languageOf, stringsFor } from '../core/strings/languages';
import { fill } from '../core/text';
import type { Citation } from '../core/types';
import { AskPanel, useConversation } from '../panel/AskPanel';
import { Formula } from '../panel/Formula';
import { type Passage, type Site, SiteContext } from '../panel/site';
import { CodeBlock } from './CodeBlock';
import { type Edition, Editions } from './Editions';
import { pageStringsFor } from './strings';

/** The response of `GET /local/book`. */
interface Book {
  title: string;
  pages: number;
  chunks: number;
  /** Only during the first indexing: pages that can be found, and all pages, 0 until they are counted. */
  indexing: { done: number; total: number } | null;
  example_questions: string[];
  /** True if the book has formulas between dollar signs. */
  math: boolean;
  /** The book's languages and versions, the default ones first. */
  locales: Edition[];
  versions: Edition[];
}

/** The delay before the state of a book that is being indexed is requested again. */
const INDEXING_POLL_MS = 2_000;

const locale = languageOf(navigator.language);
document.documentElement.lang = locale;
document.documentElement.dir = locale === 'ur' ? 'rtl' : 'ltr';

const pageStrings = pageStringsFor(locale);
const strings = { ...stringsFor(locale), keys: pageStrings.keys, sources: pageStrings.sources };
/** The beginning of the URLs of the chosen edition; `undefined` for the default one. Questions are asked outside of the view, too. */
let edition: string | undefined;
const pageUrl = () => edition;
const api = createApi('');
const session = new Session({ api, pageUrl, storageKey: 'bookrag' });
const field = createRef<HTMLTextAreaElement>();

/** The name of the tab for citations, which is reused so that the answer stays open in this one. */
const BOOK_TAB = 'bookrag-book';

/** Opens a page of the book in that tab; `false` if the browser blocks it. */
function openBeside({ href }: Passage): boolean {
  const tab = window.open(href, BOOK_TAB);
  // The built site may be on another origin and must not control this page.
  if (tab) tab.opener = null;
  tab?.focus();
  return tab !== null;
}

/** A link may contain a question: `/?ask=…`, or `/?q=…` from a search field. It is removed from the address, so that a reload does not ask it again. */
function askFromAddress(): void {
  const address = new URL(location.href);
  const text = (address.searchParams.get('ask') ?? address.searchParams.get('q'))?.trim();
  if (!text) return;
  address.searchParams.delete('ask');
  address.searchParams.delete('q');
  history.replaceState(null, '', address);
  void session.ask({ text });
}

async function readBook(): Promise<Book | undefined> {
  const response = await fetch('/local/book').catch(() => undefined);
  return response?.ok ? response.json() : undefined;
}

function Page() {
  const [book, setBook] = useState<Book | 'not reached'>();
  const [, setEdition] = useState(edition);
  const choose = useCallback((path: string | undefined) => {
    edition = path;
    setEdition(path);
  }, []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const now = (await readBook()) ?? 'not reached';
      setBook(now);
      if (now !== 'not reached' && now.indexing) timer = setTimeout(read, INDEXING_POLL_MS);
    };
    void read();
    return () => clearTimeout(timer);
  }, []);
  const { title, math, example_questions, indexing } = typeof book === 'object' ? book : {};
  // A book has all its questions only once it is indexed.
  const examples = indexing ? undefined : example_questions;
  useEffect(() => {
    if (title) document.title = title;
  }, [title]);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, []);
  // Runs once the locale and version in the address are known.
  useEffect(() => {
    if (book) askFromAddress();
  }, [book !== undefined]);
  const site: Site = {
    api,
    session,
    strings,
    locale,
    pageUrl,
    ...(examples && { examples }),
    searches: true,
    go: openBeside,
    placeInFile,
    CodeBlock,
    ...(math && { Formula }),
  };

  return (
    <SiteContext.Provider value={site}>
      <header className="bookrag-masthead">
        <h1>
          <bdi>{title ?? strings.title}</bdi>
        </h1>
        <Facts book={book} />
        {typeof book === 'object' && <Editions locales={book.locales} versions={book.versions} onChoose={choose} />}
      </header>
      <main>
        <h2 className="bookrag-hidden">{strings.conversation}</h2>
        <AskPanel field={field} />
      </main>
    </SiteContext.Provider>
  );
}

function Facts({ book }: { book: Book | 'not reached' | undefined }) {
  const { turns } = useConversation();
  const count = (number: number) => number.toLocaleString(locale);
  const facts = ({ pages, chunks, indexing }: Book) => {
    if (indexing) {
      const { done, total } = indexing;
      return total ? fill(pageStrings.indexing, { done: count(done), total: count(total) }) : pageStrings.indexingBegins;
    }
    return chunks ? fill(pageStrings.facts, { pages: count(pages), passages: count(chunks) }) : pageStrings.nothingIndexed;
  };
  return (
    <p className="bookrag-facts">
      <span>{book === 'not reached' ? pageStrings.notReached : book && facts(book)}</span>
      {turns.length > 0 && (
        <button
          type="button"
          onClick={() => {
            session.clear();
            field.current?.focus();
          }}>
          {strings.newConversation}
        </button>
      )}
      <a href="/api/reference">{pageStrings.api}</a>
    </p>
  );
}

function placeInFile({ source, start_line, end_line }: Citation): string {
  // Nobody reads the lines of HTML.
  if (source.endsWith('.html')) return source;
  const [from, to] = [start_line, end_line].map((line) => line.toLocaleString(locale, { useGrouping: false }));
  return fill(pageStrings.lines, { file: source, from: from ?? '', to: to ?? '' });
}

const root = document.getElementById('bookrag');
if (root) createRoot(root).render(<Page />);

document.addEventListener('keydown', (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === 'Escape') session.stop();
  if (event.key !== '/' || isField(event.target)) return;
  event.preventDefault();
  field.current?.focus();
});
