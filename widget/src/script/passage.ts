// Highlights the cited words on the page of the site that a citation leads to.

import { find, show } from '../client/passage';
import type { Passage } from '../panel/site';
import { FOLLOWED } from './followed';

/** A router changes the address before it shows the page, so the page may lack the passage for a while. */
const LONGEST_WAIT_MS = 10_000;
const PAUSE_MS = 100;

/** Remembers the passage of a link that the reader follows. Either the browser loads its page, or a router of the site shows it without a load. */
export function follow(passage: Passage): void {
  try {
    sessionStorage.setItem(FOLLOWED, JSON.stringify(passage));
    void showFollowed();
  } catch {
    // Storage is forbidden, so the passage is not highlighted.
  }
}

/** Highlights the passage that was followed, once its page is open. */
export async function showFollowed(): Promise<void> {
  const followed = sessionStorage.getItem(FOLLOWED);
  if (!followed) return;
  const passage = JSON.parse(followed) as Passage;
  const end = Date.now() + LONGEST_WAIT_MS;
  while (Date.now() < end) {
    await new Promise((passed) => setTimeout(passed, PAUSE_MS));
    if (sessionStorage.getItem(FOLLOWED) !== followed) return;
    const place = isHere(passage.href) ? find(passage) : undefined;
    if (!place?.range) continue;
    show(place);
    break;
  }
  sessionStorage.removeItem(FOLLOWED);
}

/** True if the address is that of the open page. Hosts show a page with or without `index.html`, `.html` and a slash at the end. */
function isHere(href: string): boolean {
  const name = ({ pathname }: URL | Location) => pathname.replace(/(\/index)?(\.html)?\/?$/, '');
  return name(new URL(href, location.href)) === name(location);
}
