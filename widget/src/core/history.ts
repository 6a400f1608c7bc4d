// The reader's earlier conversations, kept on this device.

import { type Conversation, restored } from './conversation';

/** A conversation that can be resumed. */
export interface Earlier {
  /** The id of its first turn. */
  id: string;
  /** When it was last changed, in milliseconds since 1970. */
  changed: number;
  conversation: Conversation;
}

/** Storage that outlives the tab, such as `localStorage`. */
export type Device = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const MAX_CONVERSATIONS = 10;
/** The book's share of the five million characters that browsers keep for a site. */
const MAX_CHARACTERS = 500_000;

/** The earlier conversations about a book, the latest first. Without storage, there are none. */
export class History {
  constructor(
    private readonly device: () => Device,
    private readonly key: string,
  ) {}

  all(): Earlier[] {
    try {
      const stored: unknown = JSON.parse(this.device().getItem(this.key) ?? '[]');
      return Array.isArray(stored) ? stored.flatMap(earlierOf) : [];
    } catch {
      return [];
    }
  }

  /** Keeps a conversation, and forgets the oldest if there are too many. */
  keep(conversation: Conversation): void {
    const id = conversation.turns[0]?.id;
    if (!id || conversation.turns.every(({ state }) => state !== 'complete')) return;
    // The server deletes its own copy when a conversation ends, so its id would lead nowhere.
    const turns = conversation.turns.map(({ conversationId: _, ...turn }) => turn);
    const kept: Earlier = { id, changed: Date.now(), conversation: { turns } };
    const all = [kept, ...this.all().filter((other) => other.id !== id)].slice(0, MAX_CONVERSATIONS);
    while (all.length > 0 && JSON.stringify(all).length > MAX_CHARACTERS) all.pop();
    try {
      this.device().setItem(this.key, JSON.stringify(all));
    } catch {
      // Storage is full or forbidden: the conversation lasts as long as the tab.
    }
  }

  forgetAll(): void {
    try {
      this.device().removeItem(this.key);
    } catch {
      // Without storage there is nothing to forget.
    }
  }
}

/** Validates stored data, which another version of the panel or the site itself may have written. */
function earlierOf(stored: unknown): Earlier[] {
  const { id, changed, conversation } = (stored ?? {}) as Partial<Earlier>;
  const { turns } = restored(conversation);
  if (typeof id !== 'string' || typeof changed !== 'number' || turns[0]?.id !== id) return [];
  return [{ id, changed, conversation: { turns } }];
}
