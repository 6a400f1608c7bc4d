// Settings that the plugin writes for the browser, see plugin/index.ts.

import type { ComponentType } from 'react';
import type { Selection } from '../core/conversation';

export const PLUGIN = 'docusaurus-plugin-bookrag';

/** What is on every page, hence short. */
export interface LoaderSettings {
  url: string;
  /** `ctrl+.`; absent for none. */
  shortcut?: string;
  /** Whether there is a button. */
  button: boolean;
  /** The address of the button's picture. */
  icon?: string;
  /** Whether the button is in the corner where lines start. */
  start?: boolean;
  /** Whether selected text can be asked about. */
  selection: boolean;
  /** Whether the site's own search has an entry that asks. */
  searchEntry: boolean;
  strings: { open: string; ask: string; askAboutThis: string; loadFailed: string };
}

/** What is loaded with the panel. */
export interface PanelSettings {
  url: string;
  examples: string[];
  search: boolean;
  math: boolean;
  /** The name of the book's server for coding agents; absent if it is not shown. */
  mcp?: string;
  /** Whether the site has its pages as Markdown. */
  markdown: boolean;
  /** Where readers may ask people: `{question}` in it stands for the question. */
  supportUrl?: string;
  strings: import('../core/strings').Strings;
}

export interface PanelProps {
  selection: Selection | undefined;
  onSelectionUsed: () => void;
  onClose: (focus?: 'focus stays') => void;
  summons: number;
}

/** The module that the loader loads when the panel is first opened. */
export interface PanelModule {
  default: ComponentType<PanelProps>;
  /** Asks in the panel's conversation. */
  ask: (question: string) => void;
}
