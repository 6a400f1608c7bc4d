import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useSite } from '../panel/site';
import type { Piece } from './highlight';
import { pageStringsFor } from './strings';

type Highlight = typeof import('./highlight').highlight;

interface CodeBlockProps {
  language?: string;
  title?: string;
  children: string;
}

/** Highlighted code with a button that copies it, like Docusaurus's code blocks. */
export function CodeBlock({ language, title, children }: CodeBlockProps) {
  const { locale, strings } = useSite();
  const [isCopied, setCopied] = useState(false);
  const code = useHighlighted(children, language);
  const copy = async () => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
  };
  return (
    <div className="bookrag-code" dir="ltr">
      {title && <p className="bookrag-code-title">{title}</p>}
      <pre tabIndex={0}>
        <code>{code}</code>
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

/** Returns highlighted code; plain text until the highlighter is loaded, and in unknown languages. */
function useHighlighted(code: string, language: string | undefined): ReactNode {
  const [highlight, setHighlight] = useState<Highlight>();
  useEffect(() => {
    if (language) import('./highlight').then((loaded) => setHighlight(() => loaded.highlight), () => {});
  }, [language]);
  return useMemo(() => {
    const pieces = language && highlight?.(code, language.toLowerCase());
    return pieces ? elements(pieces) : code;
  }, [highlight, code, language]);
}

function elements(pieces: Piece[]): ReactNode {
  return pieces.map((piece, at) =>
    typeof piece === 'string' ? piece : (
      <span key={at} className={piece.classes}>
        {elements(piece.pieces)}
      </span>
    ),
  );
}
