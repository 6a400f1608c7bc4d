import { useEffect, useState } from 'react';
import { useSite } from './site';

/**
 * Returns the questions to offer on an empty panel: the site's own, else those that the book's sections answer, the open page's first.
 * `undefined` until they are known, so that nothing is replaced under a reader's pointer.
 */
export function useProposals(): string[] | undefined {
  const { api, examples, pageUrl } = useSite();
  const [proposals, setProposals] = useState<string[]>();
  const page = pageUrl();
  const isWanted = examples?.length === 0;

  useEffect(() => {
    if (!isWanted) return;
    const controller = new AbortController();
    // Older servers know no questions, and one that fails reports it when something is asked.
    api.questions(page, controller.signal).catch(() => []).then((questions) => {
      if (!controller.signal.aborted) setProposals(questions);
    });
    return () => controller.abort();
  }, [api, page, isWanted]);

  return isWanted ? proposals : examples;
}
