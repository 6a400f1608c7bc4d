import { useState } from 'react';
import { CopyIcon } from './icons';
import { useSite } from './site';

/** Copies the page that the reader is on as Markdown, where the site has that. */
export function CopyPage() {
  const { strings, pageMarkdown } = useSite();
  const [note, setNote] = useState('');
  // The clipboard exists on secure origins only.
  if (!pageMarkdown || !navigator.clipboard) return null;
  const copy = async () => {
    const text = await pageMarkdown();
    const isCopied = text !== undefined && (await navigator.clipboard.writeText(text).then(() => true, () => false));
    setNote(isCopied ? strings.copied : strings.notCopied);
  };
  return (
    <>
      <span className="bookrag-note-beside" role="status">
        {note}
      </span>
      <button
        type="button"
        className="bookrag-tool"
        aria-label={strings.copyPage}
        title={strings.copyPage}
        onBlur={() => setNote('')}
        onClick={() => void copy()}>
        <CopyIcon />
      </button>
    </>
  );
}
