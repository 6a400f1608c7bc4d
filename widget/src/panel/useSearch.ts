import { useEffect, useState } from 'react';
import { type Failure, failureOf } from '../core/failure';
import type { SearchResult } from '../core/types';
import { useSite } from './site';

/** A pause in typing: fast typists make several keystrokes in it. */
const PAUSE_MS = 250;
const MIN_CHARACTERS = 2;

export interface Search {
  /** What the results are of; absent before the first. */
  query?: string;
  results: SearchResult[];
  failure?: Failure;
}

const NOTHING: Search = { results: [] };

/** The pages that a text is found on, as it is typed. */
export function useSearch(draft: string): Search {
  const { api, searches, pageUrl } = useSite();
  const [search, setSearch] = useState(NOTHING);
  const query = draft.trim().replace(/\s+/g, ' ');
  const isAsked = searches && query.length >= MIN_CHARACTERS;

  useEffect(() => {
    if (!isAsked) {
      setSearch(NOTHING);
      return;
    }
    const waits = (search.failure?.retryAt ?? 0) - Date.now();
    const controller = new AbortController();
    const timer = setTimeout(() => {
      api.search(query, pageUrl(), controller.signal).then(
        (results) => setSearch({ query, results }),
        // Results that are there stay while new ones cannot be had.
        (error) => controller.signal.aborted || setSearch((before) => ({ ...before, query, failure: failureOf(error) })),
      );
    }, Math.max(PAUSE_MS, waits));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // A failure only tells how long the next search has to wait.
  }, [query, isAsked, api]);

  return isAsked ? search : NOTHING;
}
