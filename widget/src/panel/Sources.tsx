import { kindOf, placeOf } from '../core/text';
import type { Citation } from '../core/types';
import { PassageLink } from './Link';
import { useSite } from './site';

interface SourcesProps {
  citations: Citation[];
  onFollow: () => void;
}

/** The passages that an answer cites, by their numbers. */
export function Sources({ citations, onFollow }: SourcesProps) {
  const { strings } = useSite();
  if (citations.length === 0) return null;
  return (
    // Not a landmark, since every answer has one.
    <div className="bookrag-sources">
      <h4>{strings.sources}</h4>
      <ol dir="auto">
        {citations.map((citation) => (
          <li key={citation.n} value={citation.n}>
            <Source citation={citation} onFollow={onFollow} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Source({ citation, onFollow }: { citation: Citation; onFollow: () => void }) {
  const { strings, locale, placeInFile } = useSite();
  const { url, section, title, chapter, quote, supported } = citation;
  const name = section || title || url;
  const place = placeOf([kindOf(citation, strings, locale), chapter, title], name);
  return (
    <>
      <PassageLink href={url} quote={quote} onFollow={onFollow}>
        {name}
      </PassageLink>
      {supported === false && (
        <span className="bookrag-doubt" title={strings.unsupportedHint}>
          {strings.unsupported}
        </span>
      )}
      {place && <p className="bookrag-place">{place}</p>}
      {placeInFile && <p className="bookrag-file">{placeInFile(citation)}</p>}
    </>
  );
}
