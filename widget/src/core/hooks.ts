// The hooks that a site may define in `window.bookrag`: the reader's token, and callbacks for what readers do.

import type { Outcome } from './types';

export interface AskEvent {
  question: string;
  /** The text that the reader selected, if the question is about it. */
  selection?: string;
  /** The path of the page that the reader is on. */
  pageUrl?: string;
}

export interface AnswerEvent {
  question: string;
  /** Markdown, with the numbers of its citations in brackets. */
  answer: string;
  outcome: Outcome;
  citations: { url: string; title: string; section: string }[];
  messageId: string;
}

export interface FeedbackEvent {
  question: string;
  messageId: string;
  rating: 'up' | 'down';
  comment?: string;
}

export interface Hooks {
  /** Returns the token of a reader who has signed in. */
  token?: () => string | undefined | Promise<string | undefined>;
  /** Called with each question when it is sent. */
  onAsk?: (event: AskEvent) => void;
  /** Called with each answer when it is complete. */
  onAnswer?: (event: AnswerEvent) => void;
  /** Called with each rating, and again with the reader's comment, after the server has stored it. */
  onFeedback?: (event: FeedbackEvent) => void;
}

type EventHook = 'onAsk' | 'onAnswer' | 'onFeedback';

/** Calls a hook if the site has it. Errors in it are logged for the site's author. */
export function callHook<Name extends EventHook>(hooks: Hooks | undefined, name: Name, event: Parameters<NonNullable<Hooks[Name]>>[0]): void {
  try {
    (hooks?.[name] as ((event: unknown) => void) | undefined)?.(event);
  } catch (error) {
    console.error(`window.bookrag.${name} failed`, error);
  }
}
