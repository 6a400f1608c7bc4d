// The panel's environment: provided by Docusaurus in client/, by the page of `serve` in page/.

import { type ComponentType, createContext, useContext } from 'react';
import type { Api } from '../core/api';
import type { Question } from '../core/conversation';
import type { McpServer } from '../core/mcp';
import type { PageMarkdown } from '../core/pageMarkdown';
import type { Session } from '../core/session';
import type { Strings } from '../core/strings';
import type { Citation } from '../core/types';

/** A place in the book, and the words to highlight there. */
export interface Passage {
  href: string;
  quote?: string;
}

export interface Site {
  api: Api;
  session: Session;
  strings: Strings;
  locale: string;
  /** Example questions of the site; absent until they are known. If there are none, questions of the book's sections are offered. */
  examples?: string[];
  /** Headings to offer if there are no questions, or what reads them once that is known. */
  topics?: string[] | ((signal: AbortSignal) => Promise<string[]>);
  /** True if an empty panel has the field above what it proposes. */
  fieldFirst?: boolean;
  /** True to show matching pages while a question is typed. */
  searches: boolean;
  /** The path of the page the reader is on. */
  pageUrl: () => string | undefined;
  /** Returns the address of a page that asks the question when opened; absent if there is none. */
  shareUrl?: (question: Question) => string;
  /** The address of a place to ask people, such as a forum; see `supportAddress`. */
  supportUrl?: string;
  /** Returns the open page as Markdown; absent if the site has no Markdown. */
  pageMarkdown?: () => Promise<PageMarkdown | undefined>;
  /** The server for coding agents; absent if it is not shown. */
  mcp?: McpServer;
  /** The ids of the books that are asked, if the site chooses among those of the server. */
  books?: string[];
  /** Where the book's pages are, if not at the root of this site: an origin, and possibly a path below it. */
  bookUrl?: string;
  /** Navigates to a passage without a reload. Its address is a path if it is on this site. `false` if the browser must follow the link itself. */
  go: (passage: Passage) => boolean;
  /** Returns a passage's position in its file, to be shown to authors together with its words. */
  placeInFile?: (citation: Citation) => string;
  /** Renders code like the site does. */
  CodeBlock?: ComponentType<{ language?: string; title?: string; children: string }>;
  /** Renders a formula; if absent, text between dollar signs is plain text. */
  Formula?: ComponentType<{ tex: string; isBlock: boolean }>;
}

export const SiteContext = createContext<Site | undefined>(undefined);

export function useSite(): Site {
  const site = useContext(SiteContext);
  if (!site) throw new Error('the panel is shown within a SiteContext');
  return site;
}

/** Where the pages of the book are that an answer or a result comes from, if the server has several. */
export const BookUrlContext = createContext<string | undefined>(undefined);

/** Returns the address for paths that begin at the book's root. */
export function useBookUrl(): string {
  const { bookUrl = location.origin } = useSite();
  return useContext(BookUrlContext) ?? bookUrl;
}
