// The API client. It sends no cookies and no referrer, and stores nothing.

import { EventReader } from './events';
import { ApiError, failureIn, type FailureKind } from './failure';
import type { Book, ChatEvent, ChatRequest, Rating, SearchResult } from './types';
import { bookOf, booksOf, citationOf, doneOf, fieldsOf, listOf, proposalsOf, searchResultsOf, textOf } from './wire';

/** The server begins within about 20 s and then sends a comment every ten. After these times, no response is expected any more. */
const MAX_SILENCE_MS = 40_000;
const SEARCH_RESULTS = 6;
const PROPOSALS = 4;

export interface Api {
  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent>;
  search(query: string, pageUrl: string | undefined, signal: AbortSignal): Promise<SearchResult[]>;
  /** Returns questions that the book answers, those of the page first. */
  questions(pageUrl: string | undefined, signal: AbortSignal): Promise<string[]>;
  /** Returns the books of a server that has several. Fails if it has only one. */
  books(): Promise<Book[]>;
  /** Rates an answer, of a book of several if one is given. Repeating the rating replaces the first one with its comment. */
  rate(messageId: string, rating: Rating, comment?: string, book?: string): Promise<void>;
  forget(conversationId: string, sessionId: string, book?: string): Promise<void>;
}

/** The responses of a server that is not the API. */
const NOT_FOUND = [404, 405];
/** What each version of the API has. */
const ALWAYS_THERE = ['/chat', '/search'];

/** The characters allowed in a header. A sign-in page returned by mistake is not a token. */
const TOKEN = /^[!-~]+$/;

/** Returns the reader's token, if the site requires sign-in. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;

/** Creates the client of a server. `asked` are the ids of the books that questions are put to, if the server has several: by default, those that it chooses. */
export function createApi(url: string, readToken: TokenSource = () => undefined, asked?: string[]): Api {
  const server = url.replace(/\/+$/, '');
  const base = `${server}/api/v1`;
  const chosen = asked && { books: asked };
  let known: Promise<Book[]> | undefined;

  async function send(path: string, init: Omit<RequestInit, 'headers'> & { headers: Record<string, string> }, from = base): Promise<Response> {
    // If the site's token function fails, the reader counts as not signed in; the API then decides.
    const token = await unlessSilent(Promise.resolve().then(readToken), 'unavailable').catch(() => undefined);
    const headers = token && TOKEN.test(token) ? { ...init.headers, Authorization: `Bearer ${token}` } : init.headers;
    const answered = fetchOrHint(from + path, { credentials: 'omit', referrerPolicy: 'no-referrer', ...init, headers });
    const response = await unlessSilent(answered, 'unavailable');
    if (NOT_FOUND.includes(response.status) && ALWAYS_THERE.includes(path)) hintAtUrl(base);
    if (!response.ok) throw new ApiError(await failureIn(response));
    return response;
  }

  /** The address of a book's own routes. */
  const baseOf = (book: string | undefined) => (book ? `${server}/books/${book}/api/v1` : base);

  const post = (path: string, accept: string, body: unknown, init: Pick<RequestInit, 'signal' | 'keepalive'> = {}, from?: string) =>
    send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: accept },
      body: JSON.stringify(body),
      ...init,
    }, from);

  async function books(): Promise<Book[]> {
    const response = await send('/books', { headers: { Accept: 'application/json' } });
    const { data } = fieldsOf(parsed(await response.text()));
    return booksOf(fieldsOf(data).books);
  }

  /** The books are read once; without them, results name the ids of theirs. */
  const knownBooks = () => (known ??= books().catch(() => []));

  return {
    async *chat(request, signal) {
      const response = await post('/chat', 'text/event-stream', { ...request, ...chosen }, { signal });
      const conversationId = response.headers.get('X-Conversation-Id');
      if (conversationId) yield { type: 'begun', conversationId };
      // A gateway without streaming may have requested JSON for us.
      if (response.headers.get('Content-Type')?.includes('json')) yield* wholeAnswer(parsed(await response.text()));
      else yield* streamedAnswer(response);
    },

    async search(query, pageUrl, signal) {
      const filled = { query, page_url: pageUrl, top_k: SEARCH_RESULTS, ...chosen };
      const response = await post('/search', 'application/json', filled, { signal });
      const { data } = fieldsOf(parsed(await response.text()));
      const { results } = fieldsOf(data);
      const isOfSeveral = listOf(results).some((result) => fieldsOf(result).book);
      return searchResultsOf(results, isOfSeveral ? await knownBooks() : []);
    },

    async questions(pageUrl, signal) {
      const wanted = new URLSearchParams({ limit: String(PROPOSALS), ...(pageUrl && { page_url: pageUrl }), ...(asked && { books: asked.join(',') }) });
      const response = await send(`/questions?${wanted}`, { headers: { Accept: 'application/json' }, signal });
      const { data } = fieldsOf(parsed(await response.text()));
      return proposalsOf(fieldsOf(data).questions);
    },

    books,

    async rate(messageId, rating, comment, book) {
      // Following a citation may navigate to another document.
      await post('/feedback', 'application/json', { message_id: messageId, rating, comment }, { keepalive: true }, baseOf(book));
    },

    async forget(conversationId, sessionId, book) {
      const path = `/conversations/${encodeURIComponent(conversationId)}`;
      await send(path, { method: 'DELETE', keepalive: true, headers: { 'X-Session-Id': sessionId } }, baseOf(book));
    },
  };
}

/** Sends a request. If the browser withholds the response, logs what the site's owner should check. */
async function fetchOrHint(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!init.signal?.aborted && navigator.onLine !== false) hint(url);
    throw error;
  }
}

function hint(url: string): void {
  const { origin } = new URL(url, location.href);
  if (origin === location.origin) return;
  console.warn(
    `bookrag: no answer from ${origin}. Check that the API runs there, that it allows this site: BOOKRAG_ORIGINS (the stack's parameter SiteOrigins) has to contain ${location.origin}, and that connect-src of the site's Content Security Policy, if there is one, has ${origin}`,
  );
}

function hintAtUrl(base: string): void {
  console.warn(`bookrag: there is no API at ${base}. Check the plugin's option url (data-bookrag-url of the script): it is the API's address without /api/v1`);
}

/** Parses JSON. Invalid JSON comes from a proxy or another program in front of the server. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new ApiError({ kind: 'unexpected' });
  }
}

function* wholeAnswer(envelope: unknown): Generator<ChatEvent> {
  const { data, meta } = fieldsOf(envelope);
  const answer = textOf(fieldsOf(data).answer);
  if (!answer) throw new ApiError({ kind: 'unexpected' });
  const book = bookOf(fieldsOf(data).book);
  if (book) yield { type: 'book', book };
  yield { type: 'token', token: answer };
  const { degraded, index } = fieldsOf(meta);
  yield { type: 'done', done: doneOf({ ...fieldsOf(data), degraded, index }) };
}

async function* streamedAnswer(response: Response): AsyncGenerator<ChatEvent> {
  const reader = new EventReader();
  for await (const bytes of chunks(response)) {
    for (const { name, data } of reader.push(bytes)) {
      if (name === 'error') throw new ApiError({ kind: 'broken' });
      const value = parsed(data);
      const book = name === 'book' && bookOf(value);
      const citation = name === 'citation' && citationOf(value);
      const { stage, sections, subject } = fieldsOf(name === 'progress' ? value : undefined);
      if (book) yield { type: 'book', book };
      if (stage === 'reading' && typeof sections === 'number') yield { type: 'reading', sections };
      if (stage === 'looking_up' && textOf(subject)) yield { type: 'looking-up', subject: textOf(subject) };
      if (name === 'token') yield { type: 'token', token: textOf(fieldsOf(value).token) };
      if (citation) yield { type: 'citation', citation };
      if (name === 'done') yield { type: 'done', done: doneOf(value) };
    }
  }
}

/** Yields the chunks of a body to its end: the server records the answer after the last event. */
async function* chunks(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { value, done } = await unlessSilent(reader.read(), 'broken');
      if (done) return;
      yield value;
    }
  } finally {
    // A consumer that stops early needs no more of the response.
    void reader.cancel().catch(() => {});
  }
}

function unlessSilent<T>(awaited: Promise<T>, kind: FailureKind): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ApiError({ kind })), MAX_SILENCE_MS);
  });
  return Promise.race([awaited, silence]).finally(() => clearTimeout(timer));
}
