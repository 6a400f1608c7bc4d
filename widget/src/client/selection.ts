import type { Selection } from '../core/conversation';

/** Selected text of the book, and the position of the offer to ask about it. */
export interface Offer extends Selection {
  /** Position in the document, in CSS pixels. */
  left: number;
  top: number;
}

/** The fewest characters: a word or two are usually selected to be copied. */
const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 2000;
/** Selects the book's content, without menus. */
const BOOK = 'article, .markdown';
const GAP_PX = 8;
/** The width reserved for the offer at the window's edge. */
const OFFER_PX = 200;

export function readSelection(): Offer | undefined {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  const ancestor = range.commonAncestorContainer;
  const element = ancestor instanceof Element ? ancestor : ancestor.parentElement;
  if (!element?.closest(BOOK) || element.closest('.bookrag-panel')) return undefined;
  const text = selection.toString().trim();
  if (text.length < MIN_CHARACTERS) return undefined;
  const { left, bottom } = range.getBoundingClientRect();
  const most = document.documentElement.clientWidth - OFFER_PX;
  return {
    text: text.slice(0, MAX_CHARACTERS),
    pageUrl: location.pathname,
    left: Math.max(GAP_PX, Math.min(left, most)) + scrollX,
    top: bottom + scrollY + GAP_PX,
  };
}
