// The parts of API responses that are shown. docs/openapi.json describes all of them.

/** A book of a server that has several. */
export interface Book {
  /** The id, which is part of the addresses of its routes. */
  id: string;
  title: string;
  /** Where its pages are, such as `https://book.example`; `null` if that is not known. */
  url: string | null;
}

/** The kind of page that a passage belongs to. */
export interface Origin {
  /** Absent in stored conversations of earlier versions, which only had docs. */
  kind?: 'docs' | 'blog' | 'page';
  /** The day of a blog post: `2024-05-03`. */
  date?: string | null;
}

export interface Citation extends Origin {
  /** The number in the text's citation markers. */
  n: number;
  url: string;
  title: string;
  section: string;
  chapter: string;
  /** The beginning of the cited text. */
  quote: string;
  /** The source file, and the first and last line in it, from 1. */
  source: string;
  start_line: number;
  end_line: number;
  /** True if the passage supports the sentences that cite it; absent until it was checked. */
  supported?: boolean | null;
  /** For each of its markers, the sentence that supports what stands before it; empty until the end. */
  support?: (string | null)[];
}

/** The state of the book that an answer is from. */
export interface Index {
  /** When it was last changed, or found equal to the book's files; RFC 3339. */
  updated_at: string;
  /** The beginning of the hash of their commit; `null` if it is not known. */
  commit: string | null;
}

export interface Suggestion {
  title: string;
  url: string;
  /** The section's sentence that fits the question best; absent for whole pages and from older servers. */
  text?: string;
}

export interface SearchResult extends Origin {
  chunk_id: string;
  title: string;
  section: string;
  chapter: string;
  url: string;
  preview: string;
  /** The questions that the section answers; empty from older servers. */
  questions: string[];
  /** The book that the section is in; absent if the server has only one. */
  book?: Book;
}

export type Rating = 'up' | 'down' | 'citation_clicked';

/** Whether the book answers a question. */
export type Outcome = 'answered' | 'uncertain' | 'not_covered' | 'small_talk';

/** The end of an answer. */
export interface Done {
  message_id: string;
  conversation_id?: string | null;
  outcome: Outcome;
  citations: Citation[];
  /** The sentences that no passage supports, as they appear in the answer. */
  unsupported: string[];
  /** Lines of code that no passage has, in blocks whose other lines one has. */
  adapted: string[];
  suggestions: Suggestion[];
  /** Questions that sections next to the sources answer; empty from older servers. */
  follow_ups: string[];
  /** The locale of the book's text, if the question is in a language that the book does not have. */
  book_language?: string;
  /** The dependencies that were bypassed. */
  degraded: string[];
  /** The book that answered, if it is one of several. */
  book?: Book;
  /** When the index was made; absent from older servers. */
  index?: Index;
}

export type ChatEvent =
  /** The id of the stored conversation, sent before the answer begins. */
  | { type: 'begun'; conversationId: string }
  /** The book that answers, if it is one of several. */
  | { type: 'book'; book: Book }
  /** The number of sections that a model is reading before it begins to write. */
  | { type: 'reading'; sections: number }
  /** The words, or the page's title or path, that a model looks up before it writes. */
  | { type: 'looking-up'; subject: string }
  | { type: 'token'; token: string }
  | { type: 'citation'; citation: Citation }
  | { type: 'done'; done: Done };

export interface HistoryMessage {
  role: 'user' | 'assistant';
  content: string;
}

export interface ChatRequest {
  query: string;
  mode: 'global_book' | 'selected_text';
  selected_text?: string;
  page_url?: string;
  history: HistoryMessage[];
  session_id: string;
  conversation_id?: string;
}
