import { useEffect, useState } from 'react';
import type { Failure } from '../core/failure';
import { fill } from '../core/text';
import { useSite } from './site';

interface FailureNoteProps {
  failure: Failure;
  onAgain: () => void;
}

/** Says what went wrong, and when to ask again. */
export function FailureNote({ failure, onAgain }: FailureNoteProps) {
  const { strings, locale } = useSite();
  const seconds = useSecondsUntil(failure.retryAt);
  const { kind, message } = failure;
  return (
    <div className="bookrag-failure">
      <p>
        {strings[kind]}
        {message && <bdi> {message}</bdi>}
        {seconds > 0 && ` ${fill(strings.waitSeconds, { seconds: seconds.toLocaleString(locale) })}`}
      </p>
      {kind !== 'rejected' && (
        // Not `disabled`, which would lose the focus.
        <button
          type="button"
          className="bookrag-quiet"
          aria-disabled={seconds > 0}
          onClick={() => seconds === 0 && onAgain()}>
          {strings.askAgain}
        </button>
      )}
    </div>
  );
}

/** Counts down to a time; 0 from then on. */
export function useSecondsUntil(time: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const seconds = Math.max(0, Math.ceil(((time ?? 0) - now) / 1000));
  const isCounting = seconds > 0;
  useEffect(() => {
    if (time) setNow(Date.now());
    if (!isCounting) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isCounting, time]);
  return seconds;
}
