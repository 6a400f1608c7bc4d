import { type RefObject, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Turn as TurnState } from '../core/conversation';
import type { Strings } from '../core/strings';
import { spokenText } from '../core/markdown';
import { Boundary } from './Boundary';
import { Composer } from './Composer';
import { Results } from './Results';
import { useSite } from './site';
import { Turn } from './Turn';
import { useSearch } from './useSearch';

interface AskPanelProps {
  field: RefObject<HTMLTextAreaElement | null>;
  /** The text that the reader selected, and is about to ask about. */
  selection?: string;
  onSelectionUsed?: () => void;
}

/** The conversation, what is found while a question is typed, and the field for the next one. */
export function AskPanel({ field, selection, onSelectionUsed = () => {} }: AskPanelProps) {
  const { session, strings, examples } = useSite();
  const { turns } = useConversation();
  const [draft, setDraft] = useState('');
  const [status, setStatus] = useState('');
  const announce = useCallback((message: string) => setStatus(message), []);
  const search = useSearch(draft);
  const last = turns.at(-1);
  const log = useNewestInView(last?.id);
  useTold(last, strings, announce);

  const ask = (text: string) => {
    setDraft('');
    onSelectionUsed();
    void session.ask(selection ? { text, selection } : { text });
  };

  return (
    <div className="bookrag-ask">
      <div className="bookrag-log" ref={log} role="region" aria-label={strings.conversation} tabIndex={0}>
        {turns.length === 0 && (
          <div className="bookrag-welcome">
            <p>{strings.welcome}</p>
            {examples.length > 0 && (
              <>
                <h3>{strings.examples}</h3>
                <ul>
                  {examples.map((example) => (
                    <li key={example}>
                      <button type="button" className="bookrag-example" dir="auto" onClick={() => ask(example)}>
                        {example}
                      </button>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </div>
        )}
        {turns.map((turn) => (
          <Boundary key={turn.id} fallback={<p className="bookrag-note">{strings.notShown}</p>}>
            <Turn turn={turn} announce={announce} />
          </Boundary>
        ))}
      </div>
      <Results search={search} announce={announce} />
      <Composer
        field={field}
        draft={draft}
        onDraft={setDraft}
        selection={selection}
        onSelectionRemoved={onSelectionUsed}
        isAnswering={last?.state === 'answering'}
        onAsk={ask}
      />
      <p className="bookrag-hidden" role="status">
        {status}
      </p>
    </div>
  );
}

export function useConversation() {
  const { session } = useSite();
  return useSyncExternalStore(session.subscribe, session.getConversation, session.getConversation);
}

/** A new question goes to the top, where its answer is read from; nothing moves while it grows. */
function useNewestInView(id: string | undefined): RefObject<HTMLDivElement | null> {
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (id) log.current?.lastElementChild?.scrollIntoView({ block: 'start' });
  }, [id]);
  return log;
}

/** A screen reader is told that an answer is coming, and then the answer, once. */
function useTold(turn: TurnState | undefined, strings: Strings, announce: (message: string) => void): void {
  const state = turn?.state;
  const before = useRef(state);
  useEffect(() => {
    const wasAnswering = before.current === 'answering';
    before.current = state;
    if (!turn) return;
    if (state === 'answering') announce(strings.answering);
    else if (!wasAnswering) return;
    else if (state === 'complete') announce(`${strings.answerComplete} ${spokenText(turn.text)}`);
    else if (state === 'stopped') announce(strings.stopped);
    else if (turn.failure) announce(strings[turn.failure.kind]);
  }, [turn?.id, state]);
}
