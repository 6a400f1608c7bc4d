import { type FormEvent, type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useId, useState } from 'react';
import { fill, MAX_CHARACTERS } from '../core/text';
import { CloseIcon } from './icons';
import { useSite } from './site';

/** From here on a writer is told how much room is left. */
const COUNTED_FROM = MAX_CHARACTERS - 200;

interface ComposerProps {
  field: RefObject<HTMLTextAreaElement | null>;
  draft: string;
  onDraft: (draft: string) => void;
  selection: string | undefined;
  onSelectionRemoved: () => void;
  isAnswering: boolean;
  onAsk: (text: string) => void;
  announce: (message: string) => void;
}

export function Composer({ field, draft, onDraft, selection, onSelectionRemoved, isAnswering, onAsk, announce }: ComposerProps) {
  const { strings, session, locale } = useSite();
  const isOnline = useOnline();
  const id = useId();

  useEffect(() => {
    if (!isOnline) announce(strings.offline);
  }, [isOnline]);

  const ask = (event?: FormEvent) => {
    event?.preventDefault();
    const text = draft.trim();
    if (text && !isAnswering) onAsk(text);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also confirms a word in an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    ask();
  };
  const onStop = (event: MouseEvent) => {
    // The button turns into "Ask again", which this click must not press.
    event.preventDefault();
    // The second click of a double click on Ask lands on Stop.
    if (event.detail < 2) session.stop();
  };

  const left = MAX_CHARACTERS - draft.length;
  return (
    <form className="bookrag-composer" onSubmit={ask}>
      {selection && (
        <div className="bookrag-about">
          <p>
            <span className="bookrag-about-label">{strings.aboutSelection}: </span>
            <q dir="auto">{selection}</q>
          </p>
          <button
            type="button"
            className="bookrag-tool"
            aria-label={strings.removeSelection}
            title={strings.removeSelection}
            onClick={() => {
              onSelectionRemoved();
              field.current?.focus();
            }}>
            <CloseIcon />
          </button>
        </div>
      )}
      <label className="bookrag-hidden" htmlFor={`${id}field`}>
        {strings.question}
      </label>
      <div className="bookrag-row">
        <textarea
          id={`${id}field`}
          ref={field}
          rows={1}
          dir="auto"
          value={draft}
          maxLength={MAX_CHARACTERS}
          placeholder={strings.placeholder}
          enterKeyHint="send"
          autoComplete="off"
          aria-describedby={`${id}keys`}
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isAnswering ? (
          <button type="button" className="bookrag-primary" key="ask" onClick={onStop}>
            {strings.stop}
          </button>
        ) : (
          <button type="submit" className="bookrag-primary" key="ask">
            {strings.ask}
          </button>
        )}
      </div>
      <p className="bookrag-keys" id={`${id}keys`}>
        {!isOnline ? strings.offline : left <= MAX_CHARACTERS - COUNTED_FROM
          ? fill(strings.charactersLeft, { count: left.toLocaleString(locale) })
          : strings.keys}
      </p>
    </form>
  );
}

function useOnline(): boolean {
  const [isOnline, setOnline] = useState(() => navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return isOnline;
}
