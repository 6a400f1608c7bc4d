// Settings that the plugin writes for the browser, see plugin/index.ts.

import type { ComponentType } from 'react';
import type { Selection } from '../core/conversation';

export const PLUGIN = 'docusaurus-plugin-bookrag';

/** The settings in every page, so they are kept short. */
export interface LoaderSettings {
  url: string;
  /** For example `ctrl+.`; absent if there is no shortcut. */
  shortcut?: string;
  /** True if there is a button. */
  button: boolean;
  /** The address of the button's picture. */
  icon?: string;
  /** True if the button is in the corner where lines start. */
  start?: boolean;
  /** True if readers can ask about selected text. */
  selection: boolean;
  /** True if the site's own search gets an entry that asks the book. */
  searchEntry: boolean;
  strings: { open: string; ask: string; askAboutThis: string; loadFailed: string };
}

/** The settings loaded with the panel. */
export interface PanelSettings {
  url: string;
  /** The ids of the books that are asked; absent if the server chooses. */
  books?: string[];
  examples: string[];
  search: boolean;
  /** True if conversations are kept on the reader's device. */
  history: boolean;
  math: boolean;
  /** The name of the book's server for coding agents; absent if it is not shown. */
  mcp?: string;
  /** True if the site has its pages as Markdown. */
  markdown: boolean;
  /** The address of a place to ask people, such as a forum; `{question}` is replaced by the question. */
  supportUrl?: string;
  strings: import('../core/strings').Strings;
}

export interface PanelProps {
  selection: Selection | undefined;
  onSelectionUsed: () => void;
  onClose: (focus?: 'focus stays') => void;
  summons: number;
}

/** The module loaded when the panel is first opened. */
export interface PanelModule {
  default: ComponentType<PanelProps>;
  /** Asks a question in the panel's conversation. */
  ask: (question: string) => void;
}
