import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Turn } from '../core/conversation';
import { safeLink } from '../core/links';
import { MAX_CHARACTERS } from '../core/text';
import { CopyIcon, DownIcon, LinkIcon, UpIcon } from './icons';
import { useBookUrl, useSite } from './site';

interface ActionsProps {
  turn: Turn;
  announce: (message: string) => void;
}

/** The buttons below a complete answer. */
export function Actions({ turn, announce }: ActionsProps) {
  const { strings, session, shareUrl } = useSite();
  const bookUrl = useBookUrl();
  const [note, setNote] = useState('');
  const [wantsComment, setWantsComment] = useState(false);
  const down = useRef<HTMLButtonElement>(null);
  const tell = (message: string) => {
    setNote(message);
    announce(message);
  };
  const rate = async (rating: 'up' | 'down') => {
    const isTaken = await session.rate(turn.id, rating);
    setWantsComment(isTaken && rating === 'down');
    tell(isTaken ? strings.rated : strings.notRated);
  };
  const comment = async (text: string) => {
    const isTaken = await session.rate(turn.id, 'down', text);
    tell(isTaken ? strings.rated : strings.notRated);
    if (!isTaken) return;
    // The form disappears and would take the focus with it.
    down.current?.focus();
    setWantsComment(false);
  };
  const copy = async (text: string) => {
    const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
    tell(isCopied ? strings.copied : strings.notCopied);
  };
  const thumb = (rating: 'up' | 'down', label: string) => (
    <button
      type="button"
      ref={rating === 'down' ? down : undefined}
      className="bookrag-tool"
      aria-pressed={turn.rating === rating}
      aria-label={label}
      title={label}
      onClick={() => void rate(rating)}>
      {rating === 'up' ? <UpIcon /> : <DownIcon />}
    </button>
  );
  const copyTool = (label: string, text: string, icon: ReactNode) =>
    // Browsers offer a clipboard only on secure origins.
    navigator.clipboard && (
      <button type="button" className="bookrag-tool" aria-label={label} title={label} onClick={() => void copy(text)}>
        {icon}
      </button>
    );
  return (
    <>
      <div className="bookrag-actions">
        {turn.messageId && thumb('up', strings.helpful)}
        {turn.messageId && thumb('down', strings.notHelpful)}
        {copyTool(strings.copy, asText(turn, bookUrl), <CopyIcon />)}
        {/* A link cannot carry the text that was selected. */}
        {shareUrl && !turn.question.selection && copyTool(strings.share, shareUrl(turn.question), <LinkIcon />)}
        <span>{note}</span>
      </div>
      {wantsComment && <Comment onSend={(text) => void comment(text)} onLeave={() => down.current?.focus()} />}
    </>
  );
}

/** Asks a reader who rated an answer down what was wrong with it. */
function Comment({ onSend, onLeave }: { onSend: (text: string) => void; onLeave: () => void }) {
  const { strings } = useSite();
  const [text, setText] = useState('');
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  // Below the last answer it would appear under what is in view.
  useEffect(() => {
    // In braces: what an effect returns is called later, and some browsers return a promise here.
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onSend(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    // Stop this Escape here; the next one closes the panel. The typed words stay.
    event.preventDefault();
    event.stopPropagation();
    onLeave();
  };
  return (
    <form className="bookrag-comment" ref={form} onSubmit={send}>
      <label htmlFor={id}>{strings.comment}</label>
      <div className="bookrag-row">
        <textarea
          id={id}
          rows={1}
          dir="auto"
          maxLength={MAX_CHARACTERS}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" className="bookrag-quiet">
          {strings.send}
        </button>
      </div>
    </form>
  );
}

/** Returns the answer with the addresses of its sources, for pasting elsewhere. */
function asText({ text, citations }: Turn, bookUrl: string): string {
  const sources = citations.map(({ n, url, section, title }) => {
    return `[${n}] ${section || title}: ${safeLink(url, bookUrl, '')?.href ?? url}`;
  });
  return [text.trim(), sources.join('\n')].filter(Boolean).join('\n\n');
}
