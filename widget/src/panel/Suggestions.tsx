import type { Suggestion } from '../core/types';
import { PassageLink } from './Link';

interface SuggestionsProps {
  title: string;
  suggestions: Suggestion[];
}

/** Pages or sections that are named beside an answer. */
export function Suggestions({ title, suggestions }: SuggestionsProps) {
  if (suggestions.length === 0) return null;
  return (
    <div className="bookrag-nearest">
      <h4>{title}</h4>
      <ul dir="auto">
        {suggestions.map(({ title: name, url }) => (
          <li key={url}>
            <PassageLink href={url}>{name || url}</PassageLink>
          </li>
        ))}
      </ul>
    </div>
  );
}
