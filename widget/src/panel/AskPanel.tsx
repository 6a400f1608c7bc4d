import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Question, Selection, Turn as TurnState } from '../core/conversation';
import { degradedNotes, type Strings } from '../core/strings';
import { fill } from '../core/text';
import { spokenText } from '../core/markdown';
import { Boundary } from './Boundary';
import { Composer } from './Composer';
import { EarlierConversations } from './EarlierConversations';
import { Examples } from './Examples';
import { Results } from './Results';
import { useSite } from './site';
import { Turn } from './Turn';
import { useProposals, useTopics } from './useProposals';
import { useSearch } from './useSearch';

interface AskPanelProps {
  field: RefObject<HTMLTextAreaElement | null>;
  /** The selected text that the next question is about. */
  selection?: Selection;
  onSelectionUsed?: () => void;
}

/** Renders the conversation, the pages found while a question is typed, and the field for the next question. */
export function AskPanel({ field, selection, onSelectionUsed = () => {} }: AskPanelProps) {
  const { session, strings, fieldFirst = false } = useSite();
  const { turns } = useConversation();
  const [draft, setDraft] = useState(session.draft);
  const [status, setStatus] = useState('');
  // Screen readers do not announce the same message again unless it differs.
  const announce = useCallback((message: string) => setStatus((before) => (before === message ? `${message}\u00A0` : message)), []);
  const search = useSearch(draft);
  const last = turns.at(-1);
  const log = useNewestInView(last?.id);
  useTold(last, strings, announce);

  const write = (text: string) => {
    session.draft = text;
    setDraft(text);
  };
  // The pressed button disappears and loses the focus, which moves to the answer.
  const ask = useCallback((question: Question, id?: string) => {
    log.current?.focus({ preventScroll: true });
    void session.ask(question, id);
  }, [session, log]);
  const askNow = (text: string) => {
    write('');
    onSelectionUsed();
    ask(selection ? { text, selection: selection.text, pageUrl: selection.pageUrl } : { text });
  };
  // The book answers a question that it proposes; a selection may not.
  const askProposed = (text: string) => {
    write('');
    ask({ text });
  };

  // A heading is no question: it finds pages, and the reader goes on from there.
  const beginWith = (topic: string) => {
    write(topic);
    field.current?.focus();
  };

  // The arrow keys go from the end of the question through what is found, as in other search fields; Enter then asks the question or follows the link.
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.nativeEvent.isComposing || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const links = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('.bookrag-results :is(a, button)'));
    const at = links.findIndex((link) => link === document.activeElement);
    const input = field.current;
    const isAtEnd = event.target === input && input.selectionStart === input.value.length;
    let to: HTMLElement | null | undefined;
    if (event.key === 'ArrowDown' && (isAtEnd || at >= 0)) to = links[at + 1];
    if (event.key === 'ArrowUp' && at >= 0) to = links[at - 1] ?? input;
    if (!to) return;
    event.preventDefault();
    to.focus();
  };

  const isEmpty = turns.length === 0;
  const proposals = (
    <>
      <Proposals onAsk={askProposed} onTopic={beginWith} />
      <EarlierConversations onResume={() => field.current?.focus()} />
    </>
  );
  const results = <Results search={search} isAnswering={last?.state === 'answering'} onAsk={askProposed} announce={announce} />;
  const hasFieldAbove = isEmpty && fieldFirst;

  return (
    <div className="bookrag-ask" onKeyDown={onKeyDown}>
      <div className="bookrag-log" ref={log} role="region" aria-label={strings.conversation} tabIndex={0}>
        {isEmpty && <p className="bookrag-welcome">{strings.welcome}</p>}
        {isEmpty && !fieldFirst && proposals}
        {turns.map((turn) => (
          <Boundary key={turn.id} fallback={<p className="bookrag-note">{strings.notShown}</p>}>
            <Turn turn={turn} onAsk={ask} announce={announce} />
          </Boundary>
        ))}
      </div>
      {!hasFieldAbove && results}
      <Composer
        field={field}
        draft={draft}
        onDraft={write}
        selection={selection?.text}
        onSelectionRemoved={onSelectionUsed}
        isAnswering={last?.state === 'answering'}
        onAsk={askNow}
        announce={announce}
      />
      {hasFieldAbove && results}
      {hasFieldAbove && proposals}
      <p className="bookrag-hidden" role="status">
        {status}
      </p>
    </div>
  );
}

/** Offers questions or headings. */
function Proposals({ onAsk, onTopic }: { onAsk: (text: string) => void; onTopic: (topic: string) => void }) {
  const { strings } = useSite();
  const questions = useProposals();
  const hasQuestions = questions === undefined || questions.length > 0;
  const topics = useTopics(!hasQuestions);
  return (
    <div className="bookrag-proposals">
      {hasQuestions
        ? <Examples title={<h3>{strings.examples}</h3>} texts={questions ?? []} onChoose={onAsk} />
        : <Examples title={<h3>{strings.topics}</h3>} texts={topics} onChoose={onTopic} />}
    </div>
  );
}

export function useConversation() {
  const { session } = useSite();
  return useSyncExternalStore(session.subscribe, session.getConversation, session.getConversation);
}

/** Scrolls a new question to the top, where its answer begins. Nothing moves while the answer grows. */
function useNewestInView(id: string | undefined): RefObject<HTMLDivElement | null> {
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (id) log.current?.lastElementChild?.scrollIntoView({ block: 'start' });
  }, [id]);
  return log;
}

/** Announces to screen readers that an answer is coming, and then the whole answer once. */
function useTold(turn: TurnState | undefined, strings: Strings, announce: (message: string) => void): void {
  const state = turn?.state;
  const before = useRef(state);
  useEffect(() => {
    const wasAnswering = before.current === 'answering';
    before.current = state;
    if (!turn) return;
    if (state === 'answering') announce(strings.answering);
    else if (wasAnswering) announce(whatBecameOf(turn, strings));
  }, [turn?.id, state]);
}

function whatBecameOf({ state, text, degraded, failure }: TurnState, strings: Strings): string {
  if (state === 'stopped') return strings.stopped;
  if (!failure) return [strings.answerComplete, spokenText(text), ...degradedNotes(strings, degraded)].join(' ');
  const seconds = Math.ceil(((failure.retryAt ?? 0) - Date.now()) / 1000);
  const wait = seconds > 0 && fill(strings.waitSeconds, { seconds });
  return [strings[failure.kind], failure.message, wait].filter(Boolean).join(' ');
}
