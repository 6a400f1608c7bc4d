// Says whether a citation led to this page. Apart from passage.ts, because every page loads it.

/** The key of the passage that was followed, in the tab's storage until its page is loaded. */
export const FOLLOWED = 'bookrag.followed';

export function isFollowed(): boolean {
  try {
    return sessionStorage.getItem(FOLLOWED) !== null;
  } catch {
    return false;
  }
}
