// The panel itself, loaded when it is first opened.

import { useCallback, useMemo, useState } from 'react';
import type { PanelModule, PanelProps } from '../client/settings';
import { createApi } from '../core/api';
import { NARROW } from '../core/narrow';
import { History } from '../core/history';
import { Session } from '../core/session';
import { cut } from '../core/text';
import { Dialog } from '../panel/Dialog';
import { Formula } from '../panel/Formula';
import css from '../panel/panel.css';
import { type Passage, type Site, SiteContext } from '../panel/site';
import { follow, showFollowed } from './passage';
import type { ScriptSettings } from './settings';

let module: PanelModule | undefined;

/** Returns the panel; every call returns the same one. */
export function panelFor(settings: ScriptSettings): PanelModule {
  module ??= makePanel(settings);
  return module;
}

function makePanel({ url, books, bookUrl, locale, history: keeps, strings }: ScriptSettings): PanelModule {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  // The page may not belong to the book, so its path says nothing about the reader's version and locale.
  const pageUrl = () => undefined;
  const api = createApi(url, () => window.bookrag?.token?.(), books);
  const storageKey = ['bookrag', url, ...(books ?? [])].join(':');
  const history = keeps ? new History(() => localStorage, storageKey) : undefined;
  const session = new Session({ api, pageUrl, storageKey, history, hooks: () => window.bookrag });

  void showFollowed();

  function ScriptPanel({ onClose, ...props }: PanelProps) {
    const [isWide, setWide] = useState(session.isWide);
    const widen = useCallback((wide: boolean) => {
      session.isWide = wide;
      setWide(wide);
    }, []);
    const site = useMemo<Site>(() => {
      const go = (passage: Passage) => {
        if (passage.href.startsWith('/')) {
          // A panel that covers the page closes; the passage gets the focus.
          if (matchMedia(NARROW).matches) onClose('focus stays');
          else widen(false);
          if (passage.quote) follow(passage);
        }
        return false;
      };
      return { api, session, strings, locale, pageUrl, ...(books && { books }), bookUrl, examples: [], searches: true, go, mcp: { name: 'docs', url: `${url}/mcp` }, Formula };
    }, [onClose]);
    return (
      <SiteContext.Provider value={site}>
        <Dialog {...props} isWide={isWide} onWiden={widen} onClose={() => onClose()} />
      </SiteContext.Provider>
    );
  }

  return { default: ScriptPanel, ask: (question) => void session.ask({ text: cut(question) }) };
}
