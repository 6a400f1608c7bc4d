// Settings that the plugin writes for the browser, see plugin/index.ts.

export const PLUGIN = 'docusaurus-plugin-bookrag';

/** What is on every page, hence short. */
export interface LoaderSettings {
  url: string;
  /** `ctrl+.`; absent for none. */
  shortcut?: string;
  /** Whether there is a button. */
  button: boolean;
  /** Whether selected text can be asked about. */
  selection: boolean;
  strings: { open: string; ask: string; askAboutThis: string; loadFailed: string };
}

/** What is loaded with the panel. */
export interface PanelSettings {
  url: string;
  examples: string[];
  search: boolean;
  math: boolean;
  /** Whether the site has its pages as Markdown. */
  markdown: boolean;
  strings: import('../core/strings').Strings;
}
