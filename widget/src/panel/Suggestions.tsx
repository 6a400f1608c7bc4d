import type { Question } from '../core/conversation';
import type { Citation, Suggestion } from '../core/types';
import { PassageLink } from './Link';
import { useSite } from './site';

interface SuggestionsProps {
  title: string;
  suggestions: Suggestion[];
  /** The answer's sources, which have a list of their own. */
  citations: Citation[];
  onAsk: (question: Question) => void;
}

/** Lists pages or sections beside an answer, each once and without the sources. Each can be opened, or asked about in the same conversation. */
export function Suggestions({ title, suggestions, citations, onAsk }: SuggestionsProps) {
  const { strings } = useSite();
  const isSource = (url: string) => citations.some((citation) => citation.url === url);
  const others = suggestions.filter(({ url }, at) => !isSource(url) && suggestions.findIndex((other) => other.url === url) === at);
  if (others.length === 0) return null;
  return (
    <div className="bookrag-nearest">
      <h4>{title}</h4>
      <ul dir="auto">
        {others.map(({ title: name, url, text }) => (
          <li key={url}>
            <PassageLink href={url} quote={text}>
              {name || url}
            </PassageLink>{' '}
            {name && (
              <button
                type="button"
                className="bookrag-follow-up"
                aria-label={`${strings.askAboutThis}: ${name}`}
                onClick={() => onAsk({ text: name })}>
                {strings.askAboutThis}
              </button>
            )}
            {text && (
              <p className="bookrag-sentence" dir="auto">
                {text}
              </p>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
