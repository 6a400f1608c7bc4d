import { useEffect, useState } from 'react';
import { useSite } from './site';

/** The same list each time, so that nothing is read again. */
const NONE: string[] = [];

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

/** Returns the headings to offer if there are no questions; none until they are read. */
export function useTopics(isWanted: boolean): string[] {
  const { topics = NONE } = useSite();
  const [read, setRead] = useState(NONE);

  useEffect(() => {
    if (!isWanted || typeof topics !== 'function') return;
    const controller = new AbortController();
    topics(controller.signal).catch(() => NONE).then((found) => {
      if (!controller.signal.aborted) setRead(found);
    });
    return () => controller.abort();
  }, [topics, isWanted]);

  return typeof topics === 'function' ? read : topics;
}
