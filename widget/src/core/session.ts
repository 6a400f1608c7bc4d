// A reader's conversation in a tab: asks, stops, stores. Views subscribe to it.

import type { Api } from './api';
import { type Action, type Conversation, EMPTY, historyBefore, type Question, reduce, restored, storedAs } from './conversation';
import { ApiError, failureOf } from './failure';
import type { Earlier, History } from './history';
import { callHook, type Hooks } from './hooks';
import { cut } from './text';
import type { ChatRequest, Rating } from './types';

/** How often a growing answer is rendered. Readers would not notice more, and rendering costs more than the tokens. */
const SHOWN_EVERY_MS = 50;

interface Stored {
  conversation: Conversation;
  sessionId: string;
}

export interface SessionOptions {
  api: Api;
  /** The path of the page the reader is on, which determines locale and version. */
  pageUrl: () => string | undefined;
  /** The key under which the tab stores the conversation. Each book has its own, because books may share an origin. */
  storageKey: string;
  /** Keeps conversations on this device; absent if the site does not want that. */
  history?: History;
  /** The site's hooks, read before each call. */
  hooks?: () => Hooks | undefined;
}

export class Session {
  private conversation: Conversation = EMPTY;
  /** The text being typed, kept because the panel may be remounted between pages. */
  draft = '';
  /** True if the panel is as wide as the window. */
  isWide = false;
  private readonly listeners = new Set<() => void>();
  private readonly sessionId: string;
  private running: { id: string; controller: AbortController } | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private toldAt = 0;

  constructor(private readonly options: SessionOptions) {
    const stored = readStored(options.storageKey);
    this.conversation = restored(stored?.conversation);
    this.sessionId = typeof stored?.sessionId === 'string' ? stored.sessionId : randomId();
  }

  readonly getConversation = (): Conversation => this.conversation;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Asks a question; replaces an earlier turn if one is given. */
  async ask(asked: Question, id: string = randomId()): Promise<void> {
    // A repeated question still refers to its original page.
    const question = { pageUrl: this.options.pageUrl(), ...asked };
    this.stop();
    const controller = new AbortController();
    this.running = { id, controller };
    this.change({ type: 'asked', id, question });
    const { text, selection, pageUrl } = question;
    callHook(this.hooks, 'onAsk', { question: text, ...(selection && { selection }), ...(pageUrl && { pageUrl }) });
    try {
      let isDone = false;
      for await (const event of this.options.api.chat(this.request(question, id), controller.signal)) {
        if (event.type === 'done') isDone = true;
        this.change({ ...event, id }, event.type === 'done' ? 'now' : 'soon');
      }
      if (!isDone) throw new ApiError({ kind: 'broken' });
      this.tellAnswer(id);
    } catch (error) {
      const hasBegun = this.conversation.turns.some((turn) => turn.id === id && turn.text);
      const failure = failureOf(error);
      // After the first text, a failure means that the stream broke.
      const told = hasBegun && failure.kind === 'unreachable' ? { ...failure, kind: 'broken' as const } : failure;
      if (!controller.signal.aborted) this.change({ type: 'failed', id, failure: told });
      // Cancels the rest of an abandoned request.
      controller.abort();
    } finally {
      if (this.running?.controller === controller) this.running = undefined;
      this.tell();
    }
  }

  stop(): void {
    if (!this.running) return;
    const { id, controller } = this.running;
    this.running = undefined;
    this.change({ type: 'stopped', id });
    controller.abort();
  }

  /** Returns the earlier conversations on this device, without the current one. */
  earlier(): Earlier[] {
    const current = this.conversation.turns[0]?.id;
    return this.options.history?.all().filter(({ id }) => id !== current) ?? [];
  }

  /** Continues an earlier conversation. */
  resume({ conversation }: Earlier): void {
    this.clear();
    this.change({ type: 'resumed', conversation });
  }

  /** Deletes the earlier conversations from this device. */
  forgetEarlier(): void {
    this.options.history?.forgetAll();
  }

  /** Ends the conversation, and deletes it in this tab and on the server. */
  clear(): void {
    this.stop();
    for (const { id, book } of storedAs(this.conversation)) {
      void this.options.api.forget(id, this.sessionId, book).catch(() => {});
    }
    this.change({ type: 'cleared' });
  }

  /** Sends a rating to the server; undoes it if that fails. */
  async rate(id: string, rating: 'up' | 'down', comment?: string): Promise<boolean> {
    const turn = this.conversation.turns.find((other) => other.id === id);
    if (!turn?.messageId) return false;
    this.change({ type: 'rated', id, rating });
    const isTaken = await this.options.api.rate(turn.messageId, rating, comment && cut(comment), turn.book?.id).then(() => true, () => false);
    const given = { question: turn.question.text, messageId: turn.messageId, rating, ...(comment && { comment }) };
    if (isTaken) callHook(this.hooks, 'onFeedback', given);
    else this.change({ type: 'rated', id, rating: turn.rating });
    return isTaken;
  }

  /** Reports an opened citation for operators. Failures are ignored. */
  followed(id: string): void {
    const turn = this.conversation.turns.find((other) => other.id === id);
    const rating: Rating = 'citation_clicked';
    if (turn?.messageId) void this.options.api.rate(turn.messageId, rating, undefined, turn.book?.id).catch(() => {});
  }

  private get hooks(): Hooks | undefined {
    return this.options.hooks?.();
  }

  private tellAnswer(id: string): void {
    const turn = this.conversation.turns.find((other) => other.id === id);
    if (turn?.state !== 'complete') return;
    const { question, text, outcome, messageId = '' } = turn;
    const citations = turn.citations.map(({ url, title, section }) => ({ url, title, section }));
    callHook(this.hooks, 'onAnswer', { question: question.text, answer: text, outcome, citations, messageId });
  }

  private request({ text, selection, pageUrl }: Question, id: string): ChatRequest {
    return {
      query: cut(text),
      mode: selection ? 'selected_text' : 'global_book',
      ...(selection && { selected_text: cut(selection) }),
      ...(pageUrl && { page_url: cut(pageUrl) }),
      history: historyBefore(this.conversation, id),
      session_id: this.sessionId,
      ...(this.conversation.id && { conversation_id: this.conversation.id }),
    };
  }

  /** Tokens come faster than they are read, so several are rendered together. */
  private change(action: Action, when: 'now' | 'soon' = 'now'): void {
    this.conversation = reduce(this.conversation, action);
    if (when === 'now') {
      if (this.conversation.turns.at(-1)?.state !== 'answering') this.options.history?.keep(this.conversation);
      this.store();
      this.tell();
    } else {
      this.timer ??= setTimeout(() => this.tell(), this.toldAt + SHOWN_EVERY_MS - performance.now());
    }
  }

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.toldAt = performance.now();
    for (const listener of this.listeners) listener();
  }

  private store(): void {
    const stored: Stored = { conversation: this.conversation, sessionId: this.sessionId };
    try {
      sessionStorage.setItem(this.options.storageKey, JSON.stringify(stored));
    } catch {
      // Storage is full or forbidden: the conversation lasts until the page is closed.
    }
  }
}

function readStored(storageKey: string): Partial<Stored> | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** `randomUUID` exists only on secure origins, which a book served to the local network is not. */
function randomId(): string {
  return crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
}
