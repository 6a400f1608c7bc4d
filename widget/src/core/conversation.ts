// The conversation's state and its transitions, as pure functions.

import type { Failure } from './failure';
import { cut } from './text';
import type { Book, Citation, Done, HistoryMessage, Index, Outcome, Rating, Suggestion } from './types';
import { bookOf } from './wire';

/** The most messages that the API accepts as history. */
export const MAX_HISTORY_MESSAGES = 10;
/** The most turns kept: more than a reader scrolls through, less than a tab's storage holds. */
const MAX_TURNS = 40;

/** Text that the reader selected, and the path of its page. */
export interface Selection {
  text: string;
  pageUrl: string;
}

export interface Question {
  text: string;
  /** The text that the reader selected, and asks about. */
  selection?: string;
  /** The path of the page that the reader was on. */
  pageUrl?: string;
}

export interface Turn {
  id: string;
  question: Question;
  text: string;
  /** The book that answers, if it is one of several. */
  book?: Book;
  /** The id of the conversation that stores the turn; each book of several has its own. */
  conversationId?: string;
  /** The number of sections that a slow model is reading. */
  sections?: number;
  /** What the model is looking up. */
  subject?: string;
  citations: Citation[];
  /** The sentences that no passage supports; absent before the end. */
  unsupported?: string[];
  /** Lines of code that no passage has, in blocks whose other lines one has; absent before the end. */
  adapted?: string[];
  state: 'answering' | 'complete' | 'stopped' | 'failed';
  failure?: Failure;
  /** The outcome; before the end, assumed to be answered. */
  outcome: Outcome;
  suggestions: Suggestion[];
  /** Questions to ask next; absent in stored conversations of earlier versions. */
  followUps?: string[];
  /** The locale of the book's text, if the question is in a language that the book does not have. */
  bookLanguage?: string;
  degraded: string[];
  /** When the index was made that the answer is from. */
  index?: Index;
  messageId?: string;
  rating?: Rating;
}

export interface Conversation {
  turns: Turn[];
  /** The id of the conversation, if the server stores conversations. */
  id?: string;
}

export type Action =
  | { type: 'asked'; id: string; question: Question }
  | { type: 'begun'; id: string; conversationId: string }
  | { type: 'book'; id: string; book: Book }
  | { type: 'reading'; id: string; sections: number }
  | { type: 'looking-up'; id: string; subject: string }
  | { type: 'token'; id: string; token: string }
  | { type: 'citation'; id: string; citation: Citation }
  | { type: 'done'; id: string; done: Done }
  | { type: 'failed'; id: string; failure: Failure }
  | { type: 'stopped'; id: string }
  | { type: 'rated'; id: string; rating: Rating | undefined }
  | { type: 'resumed'; conversation: Conversation }
  | { type: 'cleared' };

export const EMPTY: Conversation = { turns: [] };

export function reduce(conversation: Conversation, action: Action): Conversation {
  if (action.type === 'cleared') return EMPTY;
  if (action.type === 'resumed') return action.conversation;
  if (action.type === 'asked') return asked(conversation, action.id, action.question);
  const turn = conversation.turns.find(({ id }) => id === action.id);
  const changed = turn && changedTurn(turn, action);
  if (!changed || changed === turn) return conversation;
  const next: Conversation = { ...conversation, turns: conversation.turns.map((other) => (other === turn ? changed : other)) };
  if (changed.conversationId && changed.conversationId !== turn.conversationId) next.id = changed.conversationId;
  return next;
}

/** Adds a turn; a repeated question replaces its earlier turn. */
function asked(conversation: Conversation, id: string, question: Question): Conversation {
  const turn: Turn = {
    id,
    question,
    text: '',
    citations: [],
    state: 'answering',
    outcome: 'answered',
    suggestions: [],
    degraded: [],
  };
  const turns = conversation.turns.filter((other) => other.id !== id);
  return { ...conversation, turns: [...turns, turn].slice(-MAX_TURNS) };
}

function changedTurn(turn: Turn, action: Exclude<Action, { type: 'asked' | 'resumed' | 'cleared' }>): Turn {
  if (action.type === 'rated') return { ...turn, rating: action.rating };
  if (action.type === 'begun') return { ...turn, conversationId: action.conversationId };
  // Later events are ignored: the reader has stopped the answer or asked again.
  if (turn.state !== 'answering') return turn;
  switch (action.type) {
    case 'book':
      return { ...turn, book: action.book };
    case 'reading':
      return { ...turn, sections: action.sections };
    case 'looking-up':
      return { ...turn, subject: action.subject };
    case 'token':
      return { ...turn, text: turn.text + action.token };
    case 'citation':
      return { ...turn, citations: withCitation(turn.citations, action.citation) };
    case 'stopped':
      return { ...turn, state: 'stopped' };
    case 'failed':
      return { ...turn, state: 'failed', failure: action.failure };
    case 'done': {
      const { done } = action;
      return {
        ...turn,
        state: 'complete',
        // Support for a passage may only be known at the end.
        citations: done.citations.reduce(withCitation, turn.citations),
        unsupported: done.unsupported,
        adapted: done.adapted,
        outcome: done.outcome,
        suggestions: done.suggestions,
        followUps: done.follow_ups,
        ...(done.book && { book: done.book }),
        ...(done.index && { index: done.index }),
        ...(done.conversation_id && { conversationId: done.conversation_id }),
        ...(done.book_language && { bookLanguage: done.book_language }),
        degraded: done.degraded,
        messageId: done.message_id,
      };
    }
  }
}

function withCitation(citations: Citation[], citation: Citation): Citation[] {
  const others = citations.filter(({ n }) => n !== citation.n);
  return [...others, citation].sort((a, b) => a.n - b.n);
}

/** Returns the messages before a turn in the API's format: the last ones, truncated to the maximum length. */
export function historyBefore(conversation: Conversation, id: string): HistoryMessage[] {
  const at = conversation.turns.findIndex((turn) => turn.id === id);
  const before = conversation.turns.slice(0, at < 0 ? undefined : at);
  return before
    .filter(({ state, text }) => state === 'complete' && text)
    .flatMap((turn): HistoryMessage[] => [
      { role: 'user', content: cut(questionIn(turn)) },
      { role: 'assistant', content: cut(turn.text) },
    ])
    .slice(-MAX_HISTORY_MESSAGES);
}

/**
 * Returns a turn's question with the selected text that it is about. The API joins a short question with the one before, whose selection it does not know.
 * A selection that did not answer is left out: the reader may ask the whole book instead.
 */
function questionIn({ question: { text, selection }, outcome }: Turn): string {
  return selection && outcome !== 'not_covered' ? `${text}\n${selection}` : text;
}

/** Reads a conversation from the tab's storage. An answer in progress when the page was closed becomes interrupted. */
export function restored(stored: unknown): Conversation {
  const { turns, id } = (stored ?? {}) as { turns?: unknown; id?: string };
  if (!Array.isArray(turns)) return EMPTY;
  const settled = turns.filter(isTurn).map(settledTurn);
  return id ? { turns: settled, id } : { turns: settled };
}

function settledTurn({ book: stored, ...turn }: Turn): Turn {
  const book = bookOf(stored);
  const settled: Turn = book ? { ...turn, book } : turn;
  return settled.state === 'answering' ? { ...settled, state: 'failed', failure: { kind: 'broken' } } : settled;
}

/** Returns the stored conversations that a conversation consists of: one for each book that answered. */
export function storedAs({ turns, id }: Conversation): { id: string; book?: string }[] {
  const stored = new Map<string, string | undefined>();
  if (id) stored.set(id, undefined);
  for (const { conversationId, book } of turns) if (conversationId) stored.set(conversationId, book?.id);
  return Array.from(stored, ([id, book]) => ({ id, ...(book && { book }) }));
}

/** Validates stored data, which another version of the panel or the site itself may have written. */
function isTurn(stored: unknown): stored is Turn {
  const turn = stored as Partial<Turn> | null | undefined;
  const texts = [turn?.id, turn?.text, turn?.state, turn?.question?.text];
  const lists = [turn?.citations, turn?.suggestions, turn?.degraded];
  return texts.every((text) => typeof text === 'string') && lists.every((list) => Array.isArray(list));
}
