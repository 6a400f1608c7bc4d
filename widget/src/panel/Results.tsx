import { useEffect } from 'react';
import { matchingPieces, matchingQuestions } from '../core/matching';
import { fill, kindOf, placeOf } from '../core/text';
import { InBook, useBookName } from './Book';
import { Examples } from './Examples';
import { useSecondsUntil } from './FailureNote';
import { PassageLink } from './Link';
import { useSite } from './site';
import type { Search } from './useSearch';

interface ResultsProps {
  search: Search;
  isAnswering: boolean;
  onAsk: (text: string) => void;
  announce: (message: string) => void;
}

/** Lists the questions and pages found while a question is typed. */
export function Results({ search, isAnswering, onAsk, announce }: ResultsProps) {
  const { strings, locale } = useSite();
  const nameOf = useBookName();
  const { query, results, failure } = search;
  const seconds = useSecondsUntil(failure?.retryAt);
  const found = results.length > 0
    ? fill(strings.resultsFound, { count: results.length.toLocaleString(locale) })
    : strings.noResults;
  const trouble = failure && (seconds > 0
    ? fill(strings.searchLimited, { seconds: seconds.toLocaleString(locale) })
    : strings.searchFailed);

  useEffect(() => {
    // Without the remaining seconds, which would be announced one by one.
    if (query) announce(failure ? strings.searchFailed : found);
  }, [query, failure, found]);

  if (!query) return null;
  return (
    <section className="bookrag-results" aria-label={strings.results}>
      {/* A question that is asked now would stop the answer that is being written. */}
      {!isAnswering && <Examples title={<h3>{strings.examples}</h3>} texts={matchingQuestions(query, results)} onChoose={onAsk} />}
      <h3>{strings.results}</h3>
      {(trouble || results.length === 0) && <p className="bookrag-note">{trouble ?? found}</p>}
      <ul dir="auto">
        {results.map((result) => (
          <li key={result.chunk_id}>
            <InBook book={result.book}>
              <PassageLink href={result.url} quote={result.preview}>
                <Marked text={result.section || result.title} typed={query} />
              </PassageLink>
            </InBook>
            <p className="bookrag-place">
              {placeOf([nameOf(result.book), kindOf(result, strings, locale), result.chapter, result.title], result.section)}
            </p>
            {result.preview && (
              <p className="bookrag-excerpt" dir="auto">
                <Marked text={result.preview} typed={query} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A text with the typed words marked. */
function Marked({ text, typed }: { text: string; typed: string }) {
  return matchingPieces(text, typed).map((piece, at) => (piece.isMatch ? <mark key={at}>{piece.text}</mark> : piece.text));
}
