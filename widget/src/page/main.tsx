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
import { MoonIcon, NewIcon, SunIcon } from '../panel/icons';
import { type Passage, type Site, SiteContext } from '../panel/site';
import { CodeBlock } from './CodeBlock';
import { Books } from './Books';
import { addressFor, chosenBook, showLook } from './choice';
import { type Edition, Editions } from './Editions';
import { pageStringsFor } from './strings';
import { readTopics } from './topics';
import { useColorMode } from './useColorMode';

/** The response of `GET /local/book`. */
interface Book {
  title: string;
  /** What stands beside the logo on the site; the title if it has no logo, either. */
  navbar_title: string | null;
  has_logo: boolean;
  /** True if the site has one colour mode. */
  is_mode_fixed: boolean;
  /** True if this server shows what readers asked. */
  has_insights: boolean;
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
  /** The number of books of a server that has several; absent below `/books/ID`, and if there is only one. */
  books_count?: number;
}

/** The delay before the state of a book that is being indexed is requested again. */
const INDEXING_POLL_MS = 2_000;

const locale = languageOf(navigator.language);
document.documentElement.lang = locale;
document.documentElement.dir = locale === 'ur' ? 'rtl' : 'ltr';

const pageStrings = pageStringsFor(locale);
const strings = { ...stringsFor(locale), ...pageStrings };
/** The beginning of the URLs of the chosen edition; `undefined` for the default one. Questions are asked outside of the view, too. */
let edition: string | undefined;
const pageUrl = () => edition;
const chosen = chosenBook();
showLook(chosen);
const api = createApi(chosen.place);
const session = new Session({ api, pageUrl, storageKey: chosen.id ? `bookrag:${chosen.id}` : 'bookrag' });
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
  const response = await fetch(`${chosen.place}/local/book`).catch(() => undefined);
  if (response?.status === 404 && chosen.id) {
    // A link may name a book that is gone. Nothing is shown or asked until the page of all books is loaded.
    location.replace(addressFor(''));
    return new Promise(() => {});
  }
  return response?.ok ? response.json() : undefined;
}

function Page() {
  const [book, setBook] = useState<Book | 'not reached'>();
  const [path, setEdition] = useState(edition);
  const choose = useCallback((path: string | undefined) => {
    edition = path;
    setEdition(path);
  }, []);
  const topics = useCallback((signal: AbortSignal) => readTopics(chosen.place + (path ?? '/'), signal), [path]);
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
    ...(chosen.place && { bookUrl: location.origin + chosen.place }),
    ...(examples && { examples }),
    topics,
    searches: true,
    fieldFirst: true,
    go: openBeside,
    placeInFile,
    CodeBlock,
    ...(math && { Formula }),
  };

  return (
    <SiteContext.Provider value={site}>
      <Bar book={book} onChoose={choose} />
      <Conversation book={book} />
      <footer className="bookrag-foot">
        <Facts book={book} />
        {typeof book === 'object' && book.has_insights && <a href={`${chosen.place}/insights`}>{pageStrings.insights}</a>}
        <a href="/api/reference">{pageStrings.api}</a>
      </footer>
    </SiteContext.Provider>
  );
}

/** What the page knows of the book: nothing until it is read. */
interface BookProps {
  book: Book | 'not reached' | undefined;
}

/** The head of the page, like the site's own. */
function Bar({ book, onChoose }: BookProps & { onChoose: (path: string | undefined) => void }) {
  const { turns } = useConversation();
  const [mode, setMode] = useColorMode();
  const { title = document.title, navbar_title, has_logo, is_mode_fixed = true } = typeof book === 'object' ? book : {};
  const name = navbar_title ?? (has_logo ? '' : title);
  const other = mode === 'dark' ? 'light' : 'dark';
  return (
    <header className="bookrag-bar">
      <h1>
        {has_logo && <img className="bookrag-logo" src={`${chosen.place}/assets/logo/${mode}`} alt={name ? '' : title} />}
        <bdi>{name}</bdi>
      </h1>
      {(chosen.id || (typeof book === 'object' && (book.books_count ?? 1) > 1)) && <Books chosen={chosen} />}
      {typeof book === 'object' && <Editions locales={book.locales} versions={book.versions} onChoose={onChoose} />}
      {turns.length > 0 && (
        <button
          type="button"
          className="bookrag-new"
          onClick={() => {
            session.clear();
            field.current?.focus();
          }}>
          <NewIcon />
          <span>{strings.newConversation}</span>
        </button>
      )}
      {!is_mode_fixed && (
        <button type="button" className="bookrag-tool" aria-label={pageStrings[other]} title={pageStrings[other]} onClick={() => setMode(other)}>
          {other === 'dark' ? <MoonIcon /> : <SunIcon />}
        </button>
      )}
    </header>
  );
}

function Conversation({ book }: BookProps) {
  const { turns } = useConversation();
  const isEmpty = turns.length === 0;
  return (
    <main className={isEmpty ? 'bookrag-empty' : undefined}>
      <Trouble book={book} />
      {isEmpty ? <h2>{strings.title}</h2> : <h2 className="bookrag-hidden">{strings.conversation}</h2>}
      <AskPanel field={field} />
    </main>
  );
}

const count = (number: number) => number.toLocaleString(locale);

/** How many pages can be asked. */
function Facts({ book }: BookProps) {
  if (typeof book !== 'object' || troubleOf(book)) return null;
  return <span className="bookrag-facts">{fill(pageStrings.facts, { pages: count(book.pages), passages: count(book.chunks) })}</span>;
}

/** Why answers may lack something now. */
function Trouble({ book }: BookProps) {
  const trouble = troubleOf(book);
  return trouble ? <p className="bookrag-facts bookrag-trouble">{trouble}</p> : null;
}

function troubleOf(book: BookProps['book']): string | undefined {
  if (book === undefined) return undefined;
  if (book === 'not reached') return pageStrings.notReached;
  if (!book.indexing) return book.chunks ? undefined : pageStrings.nothingIndexed;
  const { done, total } = book.indexing;
  return total ? fill(pageStrings.indexing, { done: count(done), total: count(total) }) : pageStrings.indexingBegins;
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
