import { memo } from 'react';
import type { Question, Turn as TurnState } from '../core/conversation';
import type { FailureKind } from '../core/failure';
import { withDoubts } from '../core/markdown';
import { bookLanguageNote, degradedNotes } from '../core/strings';
import { carriesAnswer, supportAddress } from '../core/support';
import { fill, madeWhen } from '../core/text';
import { Actions } from './Actions';
import { InBook, useBookName } from './Book';
import { Examples } from './Examples';
import { FailureNote } from './FailureNote';
import { Markdown } from './Markdown';
import { useBookUrl, useSite } from './site';
import { Sources } from './Sources';
import { Suggestions } from './Suggestions';

/** The same list each time, so that blocks are not rendered again. */
const NONE: string[] = [];

/** Failures that a reader cannot end by waiting, signing in or asking otherwise. */
const LASTING: FailureKind[] = ['unreachable', 'unavailable', 'broken', 'unexpected'];

/** True if people may know more than the answer says. */
function isHelpless({ state, outcome, failure }: TurnState): boolean {
  if (failure) return LASTING.includes(failure.kind);
  return state === 'complete' && (outcome === 'uncertain' || outcome === 'not_covered');
}

interface TurnProps {
  turn: TurnState;
  onAsk: (question: Question, id?: string) => void;
  announce: (message: string) => void;
}

/** A question and what became of it. */
export const Turn = memo((props: TurnProps) => (
  <InBook book={props.turn.book}>
    <Article {...props} />
  </InBook>
));

function Article({ turn, onAsk, announce }: TurnProps) {
  const { strings, session, locale, supportUrl, pageUrl } = useSite();
  const bookUrl = useBookUrl();
  const book = useBookName()(turn.book);
  const { id, question, state, text, citations, outcome, suggestions } = turn;
  const isAnswering = state === 'answering';
  const reading = turn.sections === undefined
    ? strings.waiting
    : fill(strings.reading, { count: turn.sections.toLocaleString(locale) });
  const waiting = turn.subject === undefined ? reading : fill(strings.lookingUp, { subject: turn.subject });
  const followed = () => session.followed(id);
  const page = question.pageUrl ?? pageUrl();
  return (
    <article className={outcome === 'uncertain' ? 'bookrag-turn bookrag-uncertain' : 'bookrag-turn'} aria-busy={isAnswering}>
      <h3 className="bookrag-asked" dir="auto">
        {question.text}
      </h3>
      {question.selection && (
        <blockquote className="bookrag-selection" dir="auto">
          {question.selection}
        </blockquote>
      )}
      {book && <p className="bookrag-place" dir="auto">{fill(strings.from, { title: book })}</p>}
      <div className="bookrag-answer">
        <Markdown text={withDoubts(text, turn.unsupported ?? [])} isGrowing={isAnswering} citations={citations} adapted={turn.adapted ?? NONE} onFollow={followed} />
      </div>
      {isAnswering && !text && <p className="bookrag-waiting" dir="auto">{waiting}</p>}
      {state === 'stopped' && <p className="bookrag-note">{strings.stopped}</p>}
      {turn.failure && (
        <FailureNote failure={turn.failure} onAgain={() => onAsk(question, id)} />
      )}
      {turn.bookLanguage && <p className="bookrag-note">{bookLanguageNote(strings, locale, turn.bookLanguage)}</p>}
      {degradedNotes(strings, turn.degraded).map((note) => (
        <p className="bookrag-note" key={note}>
          {note}
        </p>
      ))}
      <Sources citations={citations} onFollow={followed} />
      <Suggestions
        title={outcome === 'not_covered' ? strings.nearest : strings.seeAlso}
        suggestions={suggestions}
        citations={citations}
        onAsk={onAsk}
      />
      {turn.followUps && turn.followUps.length > 0 && (
        <div className="bookrag-next">
          <Examples title={<h4>{strings.examples}</h4>} texts={turn.followUps} onChoose={(text) => onAsk({ text })} />
        </div>
      )}
      {outcome === 'not_covered' && question.selection && (
        <button type="button" className="bookrag-quiet" onClick={() => onAsk({ text: question.text, pageUrl: question.pageUrl })}>
          {strings.askWholeBook}
        </button>
      )}
      {supportUrl && isHelpless(turn) && (
        // The address comes from the site, so it is not checked like links in answers.
        <p>
          <a href={supportAddress(supportUrl, turn, bookUrl, page && location.origin + page)} target="_blank" rel="noopener">
            {strings.support}
          </a>
          {carriesAnswer(supportUrl) && <span className="bookrag-note"> {strings.supportCarries}</span>}
        </p>
      )}
      {turn.index && <p className="bookrag-place">{madeWhen(turn.index, strings, locale)}</p>}
      {state === 'complete' && <Actions turn={turn} announce={announce} />}
      {state === 'stopped' && (
        <button type="button" className="bookrag-quiet" onClick={() => onAsk(question, id)}>
          {strings.askAgain}
        </button>
      )}
    </article>
  );
}
