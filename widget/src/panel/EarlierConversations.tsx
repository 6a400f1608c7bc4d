import { useState } from 'react';
import { timeSince } from '../core/text';
import { useSite } from './site';

/** Lists the conversations that are kept on this device. Each can be continued. */
export function EarlierConversations({ onResume }: { onResume: () => void }) {
  const { session, strings, locale } = useSite();
  const [earlier, setEarlier] = useState(() => session.earlier());
  if (earlier.length === 0) return null;
  return (
    <div className="bookrag-earlier">
      <h3>{strings.earlier}</h3>
      <ul>
        {earlier.map((kept) => (
          <li key={kept.id}>
            <button
              type="button"
              className="bookrag-example"
              dir="auto"
              onClick={() => {
                session.resume(kept);
                onResume();
              }}>
              {kept.conversation.turns[0]?.question.text}
            </button>{' '}
            <time dateTime={new Date(kept.changed).toISOString()}>{timeSince(kept.changed, Date.now(), locale)}</time>
          </li>
        ))}
      </ul>
      <p>
        {strings.earlierHint}{' '}
        <button
          type="button"
          className="bookrag-quiet"
          onClick={() => {
            session.forgetEarlier();
            setEarlier([]);
            onResume();
          }}>
          {strings.forgetEarlier}
        </button>
      </p>
    </div>
  );
}
