import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { mcpSetups } from '../core/mcp';
import type { PageMarkdown } from '../core/pageMarkdown';
import { fill } from '../core/text';
import { EarlierConversations } from './EarlierConversations';
import { CopyIcon } from './icons';
import { useSite } from './site';

/** Chats that can be asked about a page by a link with its address. */
const CHATS = [
  { name: 'ChatGPT', url: 'https://chatgpt.com/?hints=search&q=' },
  { name: 'Claude', url: 'https://claude.ai/new?q=' },
];

interface ToolsProps {
  id: string;
  /** True if there is a conversation, which hides the list of earlier ones. */
  isAsked: boolean;
  onClose: () => void;
  onResume: () => void;
}

/** Earlier conversations, the page as Markdown for those who read it with another program, and how such a program reaches the book. */
export function Tools({ id, isAsked, onClose, onResume }: ToolsProps) {
  const { strings, mcp } = useSite();
  const page = usePageMarkdown();
  const [note, setNote] = useState('');
  const copy = async (text: string) => {
    const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
    setNote(isCopied ? strings.copied : strings.notCopied);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Stop this Escape here; the next one closes the panel.
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    <section id={id} className="bookrag-tools" aria-label={strings.tools} onKeyDown={onKeyDown}>
      {isAsked && <EarlierConversations onResume={onResume} />}
      {page && <PageTools page={page} onCopy={copy} />}
      {mcp && (
        <>
          <h3>{strings.mcp}</h3>
          <ul>
            {mcpSetups(mcp).map(({ client, file, text }) => (
              <li key={client}>
                <Setup name={file ? `${client}, ${file}` : client} text={text} onCopy={copy} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="bookrag-note-beside" role="status">
        {note}
      </p>
    </section>
  );
}

function PageTools({ page, onCopy }: { page: PageMarkdown; onCopy: (text: string) => Promise<void> }) {
  const { strings } = useSite();
  const url = new URL(page.address, location.href).href;
  const prompt = encodeURIComponent(fill(strings.readPage, { url }));
  return (
    <>
      <h3>{strings.thisPage}</h3>
      <ul>
        {/* Browsers have a clipboard on secure origins only. */}
        {navigator.clipboard && (
          <li>
            <button type="button" className="bookrag-quiet" onClick={() => void onCopy(page.text)}>
              {strings.copyPage}
            </button>
          </li>
        )}
        <li>
          <a href={page.address} target="_blank">
            {strings.viewMarkdown}
          </a>
        </li>
        {CHATS.map((chat) => (
          <li key={chat.name}>
            <a href={chat.url + prompt} target="_blank" rel="noopener noreferrer">
              {fill(strings.openIn, { name: chat.name })}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Setup({ name, text, onCopy }: { name: string; text: string; onCopy: (text: string) => Promise<void> }) {
  const { strings } = useSite();
  const label = `${strings.copyText}: ${name}`;
  const id = useId();
  return (
    <>
      <p id={id}>{name}</p>
      <div className="bookrag-setup">
        {/* What scrolls must be reachable by keyboard. */}
        <pre dir="ltr" tabIndex={0} role="group" aria-labelledby={id}>
          <code>{text}</code>
        </pre>
        {navigator.clipboard && (
          <button type="button" className="bookrag-tool" aria-label={label} title={label} onClick={() => void onCopy(text)}>
            <CopyIcon />
          </button>
        )}
      </div>
    </>
  );
}

/** The Markdown of the page that the reader is on, once it was found. */
function usePageMarkdown(): PageMarkdown | undefined {
  const { pageMarkdown } = useSite();
  const [page, setPage] = useState<PageMarkdown>();
  useEffect(() => {
    let isGone = false;
    void pageMarkdown?.().then((found) => isGone || setPage(found));
    return () => {
      isGone = true;
    };
  }, []);
  return page;
}
