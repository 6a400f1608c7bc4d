// The panel in a Docusaurus site, with the site's router, code blocks and settings. Loaded when it is first opened.

import settings from '@generated/docusaurus-plugin-bookrag/default/panel.json';
import bookTopics from '@generated/docusaurus-plugin-bookrag/default/topics.json';
import { useHistory, useLocation } from '@docusaurus/router';
import useDocusaurusContext from '@docusaurus/useDocusaurusContext';
import CodeBlock from '@theme/CodeBlock';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { createApi } from '../core/api';
import { NARROW } from '../core/narrow';
import { fetchMarkdown } from '../core/pageMarkdown';
import { History } from '../core/history';
import { Session } from '../core/session';
import { cut } from '../core/text';
import { topicsOfPage } from '../core/topics';
import { Dialog } from '../panel/Dialog';
import css from '../panel/panel.css';
import { type Passage, type Site, SiteContext } from '../panel/site';
import { Formula } from '../panel/Formula';
import { follow, ROUTE_EVENT } from './passage';
import type { PanelProps } from './settings';

// Docusaurus combines all style sheets into one that every page loads, so the panel brings its own. A constructed sheet is allowed by
// `style-src 'self'`.
const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

interface DocusaurusPanelProps extends PanelProps {
  /** True if the panel is mounted outside the site's layout. The site's code blocks need the layout's colour mode. */
  isOutsideLayout?: boolean;
}

const pageUrl = () => location.pathname;
const api = createApi(settings.url, () => window.bookrag?.token?.(), settings.books);
const storageKey = ['bookrag', settings.url, ...(settings.books ?? [])].join(':');
const history = settings.history ? new History(() => localStorage, storageKey) : undefined;
const session = new Session({ api, pageUrl, storageKey, history, hooks: () => window.bookrag });

export function ask(question: string): void {
  void session.ask({ text: cut(question) });
}

export default function DocusaurusPanel({ onClose, isOutsideLayout, ...props }: DocusaurusPanelProps) {
  const { siteConfig, i18n } = useDocusaurusContext();
  const { baseUrl } = siteConfig;
  const router = useHistory();
  const { pathname, search, hash } = useLocation();
  const [isWide, setWide] = useState(session.isWide);
  const [topics, setTopics] = useState<string[]>([]);
  useEffect(() => {
    const read = () => setTopics(topicsOfPage(document, bookTopics));
    read();
    addEventListener(ROUTE_EVENT, read);
    return () => removeEventListener(ROUTE_EVENT, read);
  }, []);

  useEffect(() => {
    const parameters = new URLSearchParams(search);
    const question = parameters.get('ask')?.trim();
    if (!question) return;
    parameters.delete('ask');
    // A reload does not ask again.
    const rest = parameters.toString();
    router.replace(`${pathname}${rest && `?${rest}`}${hash}`);
    ask(question);
  }, [search]);

  const widen = useCallback((wide: boolean) => {
    session.isWide = wide;
    setWide(wide);
  }, []);

  const site = useMemo<Site>(() => {
    const go = (passage: Passage) => {
      // Another site opens in a tab of its own.
      if (!passage.href.startsWith('/')) return false;
      // A panel that covers the page closes; the passage gets the focus.
      if (matchMedia(NARROW).matches) onClose('focus stays');
      else widen(false);
      if (!isHere(passage.href, baseUrl, i18n)) return false;
      follow(passage);
      router.push(passage.href);
      return true;
    };
    return {
      api,
      session,
      pageUrl,
      go,
      ...(!isOutsideLayout && { CodeBlock }),
      locale: i18n.localeConfigs[i18n.currentLocale]?.htmlLang ?? 'en',
      strings: settings.strings,
      examples: settings.examples,
      topics,
      shareUrl: ({ text, pageUrl }) => `${location.origin}${pageUrl ?? location.pathname}?ask=${encodeURIComponent(text)}`,
      searches: settings.search,
      ...(settings.books && { books: settings.books }),
      ...(settings.supportUrl && { supportUrl: settings.supportUrl }),
      ...(settings.mcp && { mcp: { name: settings.mcp, url: `${settings.url.replace(/\/+$/, '')}/mcp` } }),
      ...(settings.math && { Formula }),
      ...(settings.markdown && { pageMarkdown: () => fetchMarkdown(location.pathname) }),
    };
  }, [baseUrl, router, i18n, onClose, topics]);

  return (
    <SiteContext.Provider value={site}>
      <Dialog {...props} isWide={isWide} onWiden={widen} onClose={() => onClose()} />
    </SiteContext.Provider>
  );
}

/**
 * Whether this build has the page. Other sites may share the origin, each locale is a build of its own, and a book may be shown
 * under another path than it was indexed with.
 */
function isHere(href: string, baseUrl: string, { locales, currentLocale }: { locales: string[]; currentLocale: string }): boolean {
  if (!href.startsWith(baseUrl)) return false;
  const first = href.slice(baseUrl.length).split(/[/?#]/)[0] ?? '';
  return first === currentLocale || !locales.includes(first);
}
