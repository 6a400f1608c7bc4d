// The client of the API. It sends no cookie and no referrer, and keeps nothing.

import { EventReader } from './events';
import { ApiError, failureIn, type FailureKind } from './failure';
import type { ChatEvent, ChatRequest, Citation, Done, Rating, SearchResult } from './types';

/** The server begins within some 20 s, and then sends a comment every ten: after twice and four times as long, nothing will come. */
const MAX_SILENCE_MS = 40_000;
const SEARCH_RESULTS = 6;

export interface Api {
  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent>;
  search(query: string, pageUrl: string | undefined, signal: AbortSignal): Promise<SearchResult[]>;
  rate(messageId: string, rating: Rating): Promise<void>;
  forget(conversationId: string, sessionId: string): Promise<void>;
}

export function createApi(url: string): Api {
  const base = url.replace(/\/+$/, '') + '/api/v1';

  async function send(path: string, init: RequestInit): Promise<Response> {
    const asked = fetch(base + path, { credentials: 'omit', referrerPolicy: 'no-referrer', ...init });
    const response = await unlessSilent(asked, 'unavailable');
    if (!response.ok) throw new ApiError(await failureIn(response));
    return response;
  }

  const post = (path: string, accept: string, body: unknown, init: RequestInit = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: accept },
      body: JSON.stringify(body),
      ...init,
    });

  return {
    async *chat(request, signal) {
      const response = await post('/chat', 'text/event-stream', request, { signal });
      // A gateway that does not stream may have asked for JSON in our place.
      if (response.headers.get('Content-Type')?.includes('json')) yield* wholeAnswer(await response.json());
      else yield* streamedAnswer(response);
    },

    async search(query, pageUrl, signal) {
      const filled = { query, page_url: pageUrl, top_k: SEARCH_RESULTS };
      const response = await post('/search', 'application/json', filled, { signal });
      const envelope: { data?: { results?: SearchResult[] } } = await response.json();
      return envelope.data?.results ?? [];
    },

    async rate(messageId, rating) {
      // A citation that is clicked may take the reader to another document.
      await post('/feedback', 'application/json', { message_id: messageId, rating }, { keepalive: true });
    },

    async forget(conversationId, sessionId) {
      const path = `/conversations/${encodeURIComponent(conversationId)}`;
      await send(path, { method: 'DELETE', headers: { 'X-Session-Id': sessionId } });
    },
  };
}

function* wholeAnswer(envelope: { data: Done & { answer: string }; meta?: { degraded?: string[] } }): Generator<ChatEvent> {
  const { data, meta } = envelope;
  yield { type: 'token', token: data.answer };
  yield { type: 'done', done: { ...data, degraded: meta?.degraded ?? [] } };
}

async function* streamedAnswer(response: Response): AsyncGenerator<ChatEvent> {
  const reader = new EventReader();
  for await (const bytes of chunks(response)) {
    for (const { name, data } of reader.push(bytes)) {
      const value: unknown = JSON.parse(data);
      if (name === 'error') throw new ApiError({ kind: 'broken' });
      if (name === 'token') yield { type: 'token', token: String((value as { token: string }).token) };
      if (name === 'citation') yield { type: 'citation', citation: value as Citation };
      if (name === 'done') yield { type: 'done', done: value as Done };
    }
  }
}

/** The body's chunks to its end: what follows the last event is the server writing the answer down. */
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
    // Whoever leaves early wants no more of it.
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
