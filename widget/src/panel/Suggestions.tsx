import type { Question } from '../core/conversation';
import type { Suggestion } from '../core/types';
import { PassageLink } from './Link';
import { useSite } from './site';

interface SuggestionsProps {
  title: string;
  suggestions: Suggestion[];
  onAsk: (question: Question) => void;
}

/** Lists pages or sections beside an answer. Each can be opened, or asked about in the same conversation. */
export function Suggestions({ title, suggestions, onAsk }: SuggestionsProps) {
  const { strings } = useSite();
  if (suggestions.length === 0) return null;
  return (
    <div className="bookrag-nearest">
      <h4>{title}</h4>
      <ul dir="auto">
        {suggestions.map(({ title: name, url }) => (
          <li key={url}>
            <PassageLink href={url}>{name || url}</PassageLink>{' '}
            {name && (
              <button
                type="button"
                className="bookrag-follow-up"
                aria-label={`${strings.askAboutThis}: ${name}`}
                onClick={() => onAsk({ text: name })}>
                {strings.askAboutThis}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
