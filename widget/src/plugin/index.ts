// The Docusaurus plugin, which runs at build time.

import path from 'node:path';
import type { LoadContext, Plugin, TranslationFileContent } from '@docusaurus/types';
import { type LoaderSettings, type PanelSettings, PLUGIN } from '../client/settings';
import type { Strings } from '../core/strings';
import { stringsFor } from '../core/strings/languages';
import { topicsOfBook } from '../core/topics';
import { exportMarkdown, listLink } from './markdown';
import { usesMath } from './math';
import type { PluginOptions } from './options';
import { themeFolder } from './theme';
import { sidebarTitles } from './titles';

export type { Hooks } from '../core/hooks';
export { validateOptions } from './options';
export type { ButtonOptions, Options, PluginOptions } from './options';

const DIST = path.join(__dirname, '..');
/** `i18n/<locale>/docusaurus-plugin-bookrag/strings.json`, the file written by `docusaurus write-translations`. */
const TRANSLATIONS = 'strings';
const TOPICS = 'topics.json';

export default function pluginBookrag(context: LoadContext, options: PluginOptions): Plugin<Strings> {
  const { currentLocale } = context.i18n;
  const button = typeof options.button === 'object' ? options.button : {};
  const command = options.markdown === true ? 'bookrag' : options.markdown;
  return {
    name: PLUGIN,

    getThemePath: () => path.join(DIST, themeFolder(context.siteDir)),
    getClientModules: () => [path.join(DIST, 'client/route.js'), path.join(DIST, 'client/loader.css')],

    loadContent: () => ({ ...stringsFor(currentLocale), ...(options.title && { title: options.title }), ...options.strings[currentLocale] }),

    getTranslationFiles: ({ content }) => {
      const entries = Object.entries(content).map(([name, message]) => [name, { message }]);
      return [{ path: TRANSLATIONS, content: Object.fromEntries(entries) as TranslationFileContent }];
    },

    translateContent: ({ content, translationFiles }) => {
      const file = translationFiles.find((translated) => translated.path === TRANSLATIONS);
      const entries = Object.entries(file?.content ?? {}).map(([name, { message }]) => [name, message]);
      return { ...content, ...Object.fromEntries(entries) };
    },

    async contentLoaded({ content, actions }) {
      const { open, ask, askAboutThis, loadFailed } = content;
      const loader: LoaderSettings = {
        url: options.url,
        ...(options.shortcut && { shortcut: options.shortcut }),
        button: options.button !== false,
        ...(button.icon && { icon: /^(?:https?:|\/)/.test(button.icon) ? button.icon : context.baseUrl + button.icon }),
        ...(button.position === 'start' && { start: true }),
        selection: options.selection,
        searchEntry: options.searchEntry,
        strings: { open, ask: button.label ?? ask, askAboutThis, loadFailed },
      };
      const panel: PanelSettings = {
        url: options.url,
        ...(options.books && { books: options.books }),
        examples: questionsFor(options.questions, currentLocale),
        search: options.search,
        history: options.history,
        markdown: Boolean(command),
        ...(options.mcp && { mcp: nameOf(context.siteConfig.title) }),
        ...(options.supportUrl && { supportUrl: options.supportUrl }),
        math: options.math === 'auto' ? usesMath(context.siteConfig) : options.math,
        strings: content,
      };
      actions.setGlobalData(loader);
      // Only the panel reads this, so it is loaded with the panel.
      await actions.createData('panel.json', JSON.stringify(panel));
      await actions.createData(TOPICS, '[]');
    },

    // The first releases of Docusaurus 3 do not call this: there the panel offers the headings of the open page alone.
    async allContentLoaded({ allContent, actions }) {
      await actions.createData(TOPICS, JSON.stringify(topicsOfBook(sidebarTitles(allContent))));
    },

    injectHtmlTags() {
      if (!command || process.env.NODE_ENV !== 'production') return {};
      return { preBodyTags: [listLink(context.siteConfig.url, context.baseUrl)] };
    },

    async postBuild({ siteDir, outDir, baseUrl, siteConfig }) {
      if (command) await exportMarkdown(command, { siteDir, outDir, baseUrl, url: siteConfig.url, locale: currentLocale, api: options.url });
    },
  };
}

/** Converts a site's title to a server name: `Garden Robotics` becomes `garden-robotics`. */
function nameOf(title: string): string {
  return title.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean).join('-') || 'docs';
}

function questionsFor(questions: PluginOptions['questions'], locale: string): string[] {
  return Array.isArray(questions) ? questions : (questions[locale] ?? []);
}
