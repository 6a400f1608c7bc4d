// The panel as a standalone script for pages not made by Docusaurus, with Preact instead of React.

import { createRoot } from 'react-dom/client';
import PanelLoader from '../client/PanelLoader';
import css from '../client/loader.css';
import { isFollowed } from './followed';
import { readSettings } from './settings';

async function start(element: HTMLScriptElement): Promise<void> {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  const settings = await readSettings(element);
  // An `async` script may run before the page has a body.
  if (!document.body) await new Promise((loaded) => document.addEventListener('DOMContentLoaded', loaded, { once: true }));
  const { url, button, strings } = settings;
  const load = async () => {
    const { panelFor } = await import('./panel');
    return panelFor(settings);
  };
  if (isFollowed()) void load();
  const place = document.body.appendChild(document.createElement('div'));
  // Text selected or searched on this page does not belong to the book.
  const loader = { url, button, shortcut: 'ctrl+.', selection: false, searchEntry: false, strings };
  createRoot(place).render(<PanelLoader settings={loader} search="" load={load} />);
}

const element = document.querySelector<HTMLScriptElement>('script[data-bookrag-url]');
if (element) start(element).catch((error: Error) => console.error(`bookrag: ${error.message}`));
else console.error('bookrag: the script element needs data-bookrag-url, the address of the API without /api/v1');
