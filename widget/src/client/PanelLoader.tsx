// Included in every page: a button, a shortcut, and an offer at selected text. The panel itself is loaded on first use.

import { type ComponentType, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Selection } from '../core/conversation';
import { NARROW } from '../core/narrow';
import { type Offer, readSelection } from './selection';
import type { LoaderSettings, PanelModule, PanelProps } from './settings';
import { ariaShortcut, isField, isPressed, parseShortcut } from './shortcut';

/** The wait before selected text is read, because it changes while the mouse moves. */
const SELECTION_PAUSE_MS = 250;
/** The key contains the API's address, because books may share an origin. */
const OPEN_KEY = 'bookrag.open:';
/** The parameter of a link that asks a question: `?ask=…`. The panel reads it. */
const ASKS = /[?&]ask=./;
/** The fields of Algolia's search and of the local search plugins. */
const SEARCH_FIELD = '.DocSearch-Input,.navbar__search-input,.aa-Input';
/** An element of the site that also opens the panel: `<button data-bookrag-open>`. */
const OPENER = '[data-bookrag-open]';

// Module state, so that the panel stays open when Docusaurus remounts its layout, for example between blog and docs.
let Panel: ComponentType<PanelProps> | undefined;

interface PanelLoaderProps {
  settings: LoaderSettings;
  /** The query of the page's address. */
  search: string;
  load: () => Promise<PanelModule>;
}

export default function PanelLoader({ settings, search, load }: PanelLoaderProps) {
  const { url, shortcut, button, icon, start, selection, searchEntry, strings } = settings;
  const keys = shortcut ? parseShortcut(shortcut, /mac|iphone|ipad/i.test(navigator.platform)) : undefined;
  const [isOpen, setOpen] = useState(() => wasOpen(url));
  const [summons, setSummons] = useState(0);
  const [isLoaded, setLoaded] = useState(Panel !== undefined);
  const [hasFailed, setFailed] = useState(false);
  const [about, setAbout] = useState<Selection>();
  const [offer, setOffer] = useState<Offer>();
  const ask = useRef<HTMLButtonElement>(null);
  const opener = useRef<Element | null>(null);
  const returnsFocus = useRef(false);

  const open = useCallback((selected?: Selection) => {
    const active = document.activeElement;
    if (!active?.closest('.bookrag-panel')) opener.current = active;
    if (selected) setAbout(selected);
    setOffer(undefined);
    setOpen(true);
    setSummons((count) => count + 1);
  }, []);
  const close = useCallback((focus?: 'focus stays') => {
    returnsFocus.current = focus === undefined;
    setOpen(false);
  }, []);

  useEffect(() => {
    if (ASKS.test(search)) open();
  }, [search]);

  useEffect(() => {
    remember(url, isOpen);
    if (!isOpen || isLoaded) return;
    setFailed(false);
    load().then(
      (module) => {
        Panel = module.default;
        setLoaded(true);
      },
      () => {
        setFailed(true);
        setOpen(false);
      },
    );
  }, [isOpen, isLoaded]);

  useEffect(() => {
    if (isOpen || !returnsFocus.current) return;
    returnsFocus.current = false;
    // Focus returns to where it was, else to the button.
    const before = opener.current;
    if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
    else ask.current?.focus();
  }, [isOpen]);

  // Runs before the button is painted, so that no key or click is missed.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!keys || isField(event.target) || !isPressed(keys, event)) return;
      event.preventDefault();
      open(selection ? readSelection() : undefined);
    };
    const onInput = ({ target }: Event) => {
      if (!searchEntry || !(target instanceof HTMLInputElement && target.matches(SEARCH_FIELD))) return;
      void import('./searchEntry').then(({ offerToAsk }) => {
        offerToAsk(target, strings.ask, (question) => {
          open();
          void load().then((module) => module.ask(question));
        });
      });
    };
    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest(OPENER)) open();
    };
    document.addEventListener('keydown', onKeyDown);
    document.addEventListener('click', onClick);
    document.addEventListener('input', onInput);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      document.removeEventListener('click', onClick);
      document.removeEventListener('input', onInput);
    };
  }, []);

  useLayoutEffect(() => {
    if (!selection) return;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      clearTimeout(timer);
      timer = setTimeout(() => setOffer(readSelection()), SELECTION_PAUSE_MS);
    };
    document.addEventListener('selectionchange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('selectionchange', look);
    };
  }, []);

  return (
    <aside className="bookrag-loader" aria-label={strings.open}>
      {offer && (
        <button
          type="button"
          className="bookrag-offer"
          ref={(element) => {
            // Set by script: a style attribute would need permission from the site's content security policy.
            element?.style.setProperty('left', `${offer.left}px`);
            element?.style.setProperty('top', `${offer.top}px`);
          }}
          // A click would clear the selection before it is read.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => open(offer)}>
          {strings.askAboutThis}
        </button>
      )}
      {button && (
        <button
          type="button"
          className={start ? 'bookrag-button bookrag-start' : 'bookrag-button'}
          ref={ask}
          hidden={isOpen && isLoaded}
          aria-haspopup="dialog"
          aria-busy={isOpen && !isLoaded}
          aria-keyshortcuts={keys && ariaShortcut(keys)}
          title={keys && `${strings.open} (${ariaShortcut(keys)})`}
          onClick={() => open()}>
          {icon && <img src={icon} alt="" />}
          {strings.ask}
        </button>
      )}
      <p className="bookrag-trouble" role="status">
        {hasFailed && strings.loadFailed}
      </p>
      {isOpen && Panel && (
        <Panel selection={about} onSelectionUsed={() => setAbout(undefined)} onClose={close} summons={summons} />
      )}
    </aside>
  );
}

/** Restores the panel's state after a reload, unless the panel would hide the page. */
function wasOpen(url: string): boolean {
  try {
    return sessionStorage.getItem(OPEN_KEY + url) === 'yes' && !matchMedia(NARROW).matches;
  } catch {
    return false;
  }
}

function remember(url: string, isOpen: boolean): void {
  try {
    if (isOpen) sessionStorage.setItem(OPEN_KEY + url, 'yes');
    else sessionStorage.removeItem(OPEN_KEY + url);
  } catch {
    // Storage is forbidden, so the state is not saved.
  }
}
