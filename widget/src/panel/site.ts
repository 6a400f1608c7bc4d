// The panel's environment: provided by Docusaurus in client/, by the page of `serve` in page/.

import { type ComponentType, createContext, useContext } from 'react';
import type { Api } from '../core/api';
import type { Question } from '../core/conversation';
import type { McpServer } from '../core/mcp';
import type { PageMarkdown } from '../core/pageMarkdown';
import type { Session } from '../core/session';
import type { Strings } from '../core/strings';
import type { Citation } from '../core/types';

/** A place in the book, and the words to be shown there. */
export interface Passage {
  href: string;
  quote?: string;
}

export interface Site {
  api: Api;
  session: Session;
  strings: Strings;
  locale: string;
  /** Questions to begin with. */
  examples: string[];
  /** Headings to begin with, if there are no such questions. */
  topics?: string[];
  /** Whether pages are searched for while a question is typed. */
  searches: boolean;
  /** The path of the page the reader is on. */
  pageUrl: () => string | undefined;
  /** The address of a page that asks the question when it is opened; absent if there is none. */
  shareUrl?: (question: Question) => string;
  /** Where people can be asked: `{question}` in it stands for the question. */
  supportUrl?: string;
  /** The page that the reader is on as Markdown; absent if the site has no pages as Markdown. */
  pageMarkdown?: () => Promise<PageMarkdown | undefined>;
  /** The server that coding agents reach the book through; absent if it is not shown. */
  mcp?: McpServer;
  /** The origin of the book's site, if the panel is on another one. */
  bookOrigin?: string;
  /** Goes to a passage without loading its page anew. `false`: the browser has to follow the link. */
  go: (passage: Passage) => boolean;
  /** Where in its file a passage stands, for those who write the book; then its words are shown, too. */
  placeInFile?: (citation: Citation) => string;
  /** Shows code as the site does. */
  CodeBlock?: ComponentType<{ language?: string; title?: string; children: string }>;
  /** Shows a formula; without it, what stands between dollars is text. */
  Formula?: ComponentType<{ tex: string; isBlock: boolean }>;
}

export const SiteContext = createContext<Site | undefined>(undefined);

export function useSite(): Site {
  const site = useContext(SiteContext);
  if (!site) throw new Error('the panel is shown within a SiteContext');
  return site;
}

/** The origin that addresses from the book's root belong to. */
export function useBookOrigin(): string {
  return useSite().bookOrigin ?? location.origin;
}
