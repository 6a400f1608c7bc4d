import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Selection } from '../core/conversation';
import { NARROW } from '../core/narrow';
import { AskPanel, useConversation } from './AskPanel';
import { CloseIcon, MoreIcon, NarrowIcon, NewIcon, WidenIcon } from './icons';
import { useSite } from './site';
import { Tools } from './Tools';

/** The class of a panel that covers the page. */
const WIDE = 'bookrag-wide';

interface DialogProps {
  selection: Selection | undefined;
  onSelectionUsed: () => void;
  onClose: () => void;
  /** Changes whenever the reader opens the panel, or requests it again. */
  summons: number;
  /** True if the panel covers the page. */
  isWide: boolean;
  onWiden: (wide: boolean) => void;
}

export function Dialog({ selection, onSelectionUsed, onClose, summons, isWide, onWiden }: DialogProps) {
  const { session, strings, pageMarkdown, mcp } = useSite();
  const [hasTools, setTools] = useState(false);
  const more = useRef<HTMLButtonElement>(null);
  const { turns } = useConversation();
  // Reads storage, so not with each piece of an answer.
  const hasEarlier = useMemo(() => turns.length > 0 && session.earlier().length > 0, [turns[0]?.id, hasTools]);
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const showAgain = useRef(() => {});
  const id = useId();

  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const narrow = matchMedia(NARROW);
    const show = () => {
      const isModal = narrow.matches || element.classList.contains(WIDE);
      if (element.open && element.matches(':modal') === isModal) return;
      const focused = element.contains(document.activeElement) ? document.activeElement : undefined;
      element.close();
      if (isModal) element.showModal();
      // Not `show`, which moves the focus: see below.
      else element.open = true;
      // Keeps the focus, so that zooming or rotating a phone does not interrupt typing.
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    };
    keepReading(show);
    narrow.addEventListener('change', show);
    showAgain.current = show;
    return () => {
      narrow.removeEventListener('change', show);
      keepReading(() => element.close());
    };
  }, []);

  useLayoutEffect(() => keepReading(() => showAgain.current()), [isWide]);

  useEffect(() => {
    // If the panel reopens on a new page, the focus stays on the page.
    if (summons > 0) field.current?.focus();
  }, [summons]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    if (hasTools) closeTools();
    else onClose();
  };
  const closeTools = () => {
    setTools(false);
    more.current?.focus();
  };
  const leaveTools = () => {
    setTools(false);
    field.current?.focus();
  };
  const startAnew = () => {
    session.clear();
    field.current?.focus();
  };

  return (
    <dialog
      ref={dialog}
      className={isWide ? `bookrag-panel ${WIDE}` : 'bookrag-panel'}
      aria-labelledby={id}
      onKeyDown={onKeyDown}
      // The children fill the dialog, so a click on the dialog itself is on the backdrop.
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.matches(':modal') && onClose()}
      // The back gesture of phones would close the dialog without onClose.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}>
      <header className="bookrag-head">
        <h2 id={id}>{strings.title}</h2>
        {(pageMarkdown || mcp || hasEarlier) && (
          <button
            type="button"
            ref={more}
            className="bookrag-tool"
            aria-label={strings.tools}
            title={strings.tools}
            aria-expanded={hasTools}
            aria-controls={hasTools ? `${id}tools` : undefined}
            onClick={() => setTools(!hasTools)}>
            <MoreIcon />
          </button>
        )}
        <button
          type="button"
          className="bookrag-tool bookrag-widen"
          aria-label={isWide ? strings.narrow : strings.widen}
          title={isWide ? strings.narrow : strings.widen}
          onClick={() => onWiden(!isWide)}>
          {isWide ? <NarrowIcon /> : <WidenIcon />}
        </button>
        {turns.length > 0 && (
          <button
            type="button"
            className="bookrag-tool"
            aria-label={strings.newConversation}
            title={strings.newConversation}
            onClick={startAnew}>
            <NewIcon />
          </button>
        )}
        <button
          type="button"
          className="bookrag-tool"
          aria-label={strings.close}
          title={strings.close}
          onClick={onClose}>
          <CloseIcon />
        </button>
      </header>
      {hasTools && <Tools id={`${id}tools`} isAsked={turns.length > 0} onClose={closeTools} onResume={leaveTools} />}
      <AskPanel field={field} selection={selection} onSelectionUsed={onSelectionUsed} />
    </dialog>
  );
}

/** Resizing the page for the panel reflows its text; scrolls so that the first visible block stays where it is. */
function keepReading(change: () => void): void {
  const blocks = Array.from(document.querySelectorAll('article :is(h1, h2, h3, h4, p, li, pre, tr)'));
  const first = blocks.find((block) => block.getBoundingClientRect().top >= 0);
  const before = first?.getBoundingClientRect().top ?? 0;
  change();
  // A page that is scrolled to the top stays at the top.
  if (first && scrollY > 0) scrollBy({ top: first.getBoundingClientRect().top - before, behavior: 'instant' });
}
