// The panel's texts by language. A site overrides or adds to them in the plugin's options or its `i18n` folder.

import { fill } from '../text';

export interface Strings {
  title: string;
  ask: string;
  askAboutThis: string;
  open: string;
  loadFailed: string;
  close: string;
  widen: string;
  narrow: string;
  newConversation: string;
  welcome: string;
  examples: string;
  topics: string;
  earlier: string;
  earlierHint: string;
  forgetEarlier: string;
  question: string;
  placeholder: string;
  keys: string;
  charactersLeft: string;
  stop: string;
  aboutSelection: string;
  removeSelection: string;
  conversation: string;
  waiting: string;
  reading: string;
  lookingUp: string;
  answering: string;
  answerComplete: string;
  stopped: string;
  notShown: string;
  askAgain: string;
  askWholeBook: string;
  source: string;
  sources: string;
  /** Names the docs that an answer comes from, if there are several. */
  from: string;
  /** Label of a blog post. */
  blog: string;
  /** Label of a page outside docs and blog. */
  page: string;
  unsupported: string;
  unsupportedHint: string;
  unverified: string;
  unverifiedHint: string;
  adapted: string;
  adaptedHint: string;
  nearest: string;
  support: string;
  /** Shown if the address of `support` carries more than the question. */
  supportCarries: string;
  seeAlso: string;
  results: string;
  resultsFound: string;
  noResults: string;
  searchFailed: string;
  searchLimited: string;
  helpful: string;
  notHelpful: string;
  comment: string;
  send: string;
  rated: string;
  notRated: string;
  copy: string;
  share: string;
  copyPage: string;
  tools: string;
  thisPage: string;
  viewMarkdown: string;
  openIn: string;
  readPage: string;
  mcp: string;
  copyText: string;
  copied: string;
  notCopied: string;
  leavesSite: string;
  table: string;
  waitSeconds: string;
  offline: string;
  unreachable: string;
  limited: string;
  unavailable: string;
  unauthorized: string;
  rejected: string;
  broken: string;
  unexpected: string;
  bookLanguage: string;
  degradedIndexing: string;
  degradedSearch: string;
  degradedMemory: string;
  degradedModel: string;
  degradedBudget: string;
  degradedTruncated: string;
  degradedFilter: string;
  degradedCitations: string;
  degradedOther: string;
}

/** Says which language the book is in, with the language's name in the panel's language. */
export function bookLanguageNote(strings: Strings, locale: string, bookLocale: string): string {
  let language = bookLocale;
  try {
    language = new Intl.DisplayNames([locale], { type: 'language' }).of(bookLocale) ?? bookLocale;
  } catch {
    // Not a standard locale, so the book's own name for it is shown.
  }
  return fill(strings.bookLanguage, { language });
}

/** Describes bypassed dependencies, by their names in the API. */
const DEGRADED: Record<string, keyof Strings> = {
  indexing: 'degradedIndexing',
  vector_store: 'degradedSearch',
  catalog: 'degradedSearch',
  embedder: 'degradedSearch',
  reranker: 'degradedSearch',
  memory: 'degradedMemory',
  generator: 'degradedModel',
  budget: 'degradedBudget',
  truncated: 'degradedTruncated',
  content_filter: 'degradedFilter',
  citations: 'degradedCitations',
};

/** Returns the degradations of an answer in plain words, each once. */
export function degradedNotes(strings: Strings, names: string[]): string[] {
  const notes = names.map((name) => strings[(Object.hasOwn(DEGRADED, name) && DEGRADED[name]) || 'degradedOther']);
  return notes.filter((note, at) => notes.indexOf(note) === at);
}
