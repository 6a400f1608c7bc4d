import { useEffect, useState } from 'react';
import { type Failure, failureOf } from '../core/failure';
import type { SearchResult } from '../core/types';
import { useSite } from './site';

/** The pause in typing after which a search begins. Fast typists make several keystrokes in this time. */
const PAUSE_MS = 250;
const MIN_CHARACTERS = 2;

export interface Search {
  /** The query of the results; absent before the first results. */
  query?: string;
  results: SearchResult[];
  failure?: Failure;
}

const NOTHING: Search = { results: [] };

/** Finds the pages that match a text while it is typed. */
export function useSearch(draft: string): Search {
  const { api, searches, pageUrl } = useSite();
  const [search, setSearch] = useState(NOTHING);
  const [retryAt, setRetryAt] = useState(0);
  const query = draft.trim().replace(/\s+/g, ' ');
  const isAsked = searches && query.length >= MIN_CHARACTERS;

  useEffect(() => {
    if (!isAsked) {
      setSearch(NOTHING);
      return;
    }
    const controller = new AbortController();
    const failed = (failure: Failure) => {
      if (controller.signal.aborted) return;
      // Earlier results remain while a search fails.
      setSearch((before) => ({ ...before, query, failure }));
      // The search is repeated after the wait.
      if (failure.retryAt) setRetryAt(failure.retryAt);
    };
    const timer = setTimeout(() => {
      api.search(query, pageUrl(), controller.signal).then(
        (results) => setSearch({ query, results }),
        (error) => failed(failureOf(error)),
      );
    }, Math.max(PAUSE_MS, retryAt - Date.now()));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query, isAsked, api, retryAt]);

  return isAsked ? search : NOTHING;
}
