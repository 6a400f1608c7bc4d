import { useState } from 'react';
import { useSite } from '../panel/site';
import { pageStringsFor } from './strings';

/** Code with a button that copies it, as the code blocks of Docusaurus have one. */
export function CodeBlock({ title, children }: { title?: string; children: string }) {
  const { locale, strings } = useSite();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
  };
  return (
    <div className="bookrag-code" dir="ltr">
      {title && <p className="bookrag-code-title">{title}</p>}
      <pre tabIndex={0}>
        <code>{children}</code>
      </pre>
      {/* Browsers have a clipboard on secure origins only. */}
      {navigator.clipboard && (
        <button type="button" onClick={() => void copy()} onBlur={() => setCopied(false)}>
          {isCopied ? strings.copied : pageStringsFor(locale).copyCode}
        </button>
      )}
    </div>
  );
}
