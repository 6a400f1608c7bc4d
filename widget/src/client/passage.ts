// Highlights the cited words on the page that a citation links to, without changing the page's elements.

import { findQuote, lettersOf } from '../core/quote';
import type { Passage } from '../panel/site';

/** The event's name, as in client/route.ts. Importing it would create a separate chunk that every page loads. */
export const ROUTE_EVENT = 'bookrag:route';
const HIGHLIGHT = 'bookrag-passage';
const BOOK = 'article, main, [role="main"]';
const PARAGRAPH = 'p, li, td, pre, dd';
/** Elements that are not part of the text: copies of formulas, signs of links, buttons, the panel. */
const NOT_TEXT = 'script, style, .hash-link, .headerlink, .katex-html, button, [aria-hidden="true"], .bookrag-panel';

let followed: Passage | undefined;

/** The passage to highlight once its page is shown. */
export function follow(passage: Passage): void {
  followed = passage;
}

function endHighlight(): void {
  if ('highlights' in CSS) CSS.highlights.delete(HIGHLIGHT);
}

addEventListener(ROUTE_EVENT, () => {
  endHighlight();
  const passage = followed;
  followed = undefined;
  if (passage && new URL(passage.href, location.href).pathname === location.pathname) show(find(passage));
});
document.addEventListener('keydown', ({ key }) => key === 'Escape' && endHighlight());
document.addEventListener('click', ({ target }) => {
  // Actions in the panel do not end the highlight.
  if (!(target instanceof Element && target.closest('.bookrag-panel'))) endHighlight();
});

function headingOf({ hash }: URL): HTMLElement | null {
  try {
    return hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
  } catch {
    return null;
  }
}

interface Place {
  heading: HTMLElement | null;
  /** The cited words; absent if the page lacks them. */
  range?: Range;
}

/** Finds a passage on the open page. */
export function find({ href, quote }: Passage): Place {
  const heading = headingOf(new URL(href, location.href));
  return { heading, ...(quote && { range: rangeOf(quote, heading) }) };
}

/** Scrolls to a passage and highlights its words. */
export function show({ heading, range }: Place): void {
  if (heading) {
    // The next Tab continues from the heading.
    if (!heading.hasAttribute('tabindex')) heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView();
  }
  if (!range || !('highlights' in CSS)) return;
  CSS.highlights.set(HIGHLIGHT, new Highlight(range));
  const { top, bottom } = range.getBoundingClientRect();
  if (top > innerHeight * 0.8 || bottom < 0) range.startContainer.parentElement?.scrollIntoView({ block: 'center' });
}

/** Returns the range of the quote after the heading; if it is not there, anywhere on the page. */
function rangeOf(quote: string, heading: HTMLElement | null): Range | undefined {
  const book = heading?.closest(BOOK) ?? document.querySelector(BOOK) ?? document.body;
  const walker = document.createTreeWalker(book, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const isAfter = !heading || heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (isAfter && !node.parentElement?.closest(NOT_TEXT)) nodes.push(node as Text);
  }
  const found = findQuote(lettersOf(nodes.map((node) => node.data)), quote);
  if (!found) return undefined;
  const range = document.createRange();
  const first = nodes[found.start.text];
  const last = nodes[found.end.text];
  if (!first || !last) return undefined;
  range.setStart(first, found.start.offset);
  // A truncated quote extends to the end of its paragraph.
  const paragraph = quote.endsWith('…') ? last.parentElement?.closest(PARAGRAPH) : undefined;
  if (paragraph) range.setEnd(paragraph, paragraph.childNodes.length);
  else range.setEnd(last, found.end.offset);
  return range;
}
