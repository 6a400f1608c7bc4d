// The panel itself, loaded when it is first opened.

import { useCallback, useMemo, useState } from 'react';
import type { PanelModule, PanelProps } from '../client/settings';
import { createApi } from '../core/api';
import { Session } from '../core/session';
import { cut } from '../core/text';
import { Dialog } from '../panel/Dialog';
import { Formula } from '../panel/Formula';
import css from '../panel/panel.css';
import { type Site, SiteContext } from '../panel/site';
import type { ScriptSettings } from './settings';

let module: PanelModule | undefined;

/** Returns the panel; every call returns the same one. */
export function panelFor(settings: ScriptSettings): PanelModule {
  module ??= makePanel(settings);
  return module;
}

function makePanel({ url, bookOrigin, locale, strings }: ScriptSettings): PanelModule {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  // The page does not belong to the book, so its path says nothing about the reader's version and locale.
  const pageUrl = () => undefined;
  const api = createApi(url, () => window.bookrag?.token?.());
  const session = new Session({ api, pageUrl, storageKey: `bookrag:${url}`, hooks: () => window.bookrag });

  function ScriptPanel({ onClose, ...props }: PanelProps) {
    const [isWide, setWide] = useState(session.isWide);
    const widen = useCallback((wide: boolean) => {
      session.isWide = wide;
      setWide(wide);
    }, []);
    const site = useMemo<Site>(
      () => ({ api, session, strings, locale, pageUrl, bookOrigin, examples: [], searches: true, go: () => false, mcp: { name: 'book', url: `${url}/mcp` }, Formula }),
      [],
    );
    return (
      <SiteContext.Provider value={site}>
        <Dialog {...props} isWide={isWide} onWiden={widen} onClose={() => onClose()} />
      </SiteContext.Provider>
    );
  }

  return { default: ScriptPanel, ask: (question) => void session.ask({ text: cut(question) }) };
}
