// Renders untrusted Markdown as React elements: tokens without a case here are shown as their source text.

import type { Token, Tokens } from 'marked';
import { Fragment, memo, type ReactNode } from 'react';
import { type CitationToken, codeOf, decodeEntities, type MathToken, readMarkdown } from '../core/markdown';
import { fileName, safeLink } from '../core/links';
import type { Citation } from '../core/types';
import { Link, PassageLink } from './Link';
import { Marker } from './Marker';
import { useBookUrl, useSite } from './site';

interface Cited {
  citations: Citation[];
  /** Lines of code that no passage has, in blocks whose other lines one has. */
  adapted: string[];
  onFollow: () => void;
}

interface MarkdownProps extends Cited {
  text: string;
  /** Whether more is to come. */
  isGrowing: boolean;
}

export function Markdown({ text, isGrowing, ...cited }: MarkdownProps) {
  const math = useSite().Formula !== undefined;
  const tokens = readMarkdown(text, { math, isGrowing });
  return tokens.map((token, at) => <Block key={at} token={token} {...cited} />);
}

interface BlockProps extends Cited {
  token: Token;
}

/** While an answer grows only its last block changes: the others keep their elements, and the reader's selection in them. */
const Block = memo(
  ({ token, ...cited }: BlockProps) => block(token, cited),
  (a, b) => a.token.raw === b.token.raw && a.token.type === b.token.type && a.citations === b.citations && a.adapted === b.adapted,
);

function block(token: Token, cited: Cited): ReactNode {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return null;
    case 'paragraph':
      return <p dir="auto">{inlines(token.tokens, cited)}</p>;
    case 'heading':
      // An answer has no outline, so all headings have the same level.
      return <h4 dir="auto">{inlines(token.tokens, cited)}</h4>;
    case 'code':
      return <MarkedCode text={token.text} info={token.lang} adapted={cited.adapted} />;
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens, cited)}</blockquote>;
    case 'list':
      return list(token as Tokens.List, cited);
    case 'table':
      return <Table token={token as Tokens.Table} cited={cited} />;
    case 'hr':
      return <hr />;
    case 'math':
      return <Formula token={token as MathToken} />;
    case 'text':
      return inlines(token.tokens ?? [token], cited);
    default:
      return <p dir="auto">{token.raw.trim()}</p>;
  }
}

function blocks(tokens: Token[] | undefined, cited: Cited): ReactNode {
  return tokens?.map((token, at) => <Fragment key={at}>{block(token, cited)}</Fragment>);
}

function list({ ordered, start, items }: Tokens.List, cited: Cited) {
  const children = items.map((item, at) => (
    <li key={at}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {blocks(item.tokens, cited)}
    </li>
  ));
  // The list has the direction, since numbers are on its side.
  return ordered ? (
    <ol dir="auto" start={Number(start) || 1}>
      {children}
    </ol>
  ) : (
    <ul dir="auto">{children}</ul>
  );
}

function Table({ token: { header, rows }, cited }: { token: Tokens.Table; cited: Cited }) {
  const { strings } = useSite();
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens, align }, at) => (
      <Cell key={at} dir="auto" className={align ? `bookrag-align-${align}` : undefined}>
        {inlines(tokens, cited)}
      </Cell>
    ));
  return (
    // Scrollable content must be focusable by keyboard.
    <div className="bookrag-table" role="group" aria-label={strings.table} tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Renders code, and below it whether it is that of the sources. */
function MarkedCode({ text, info, adapted }: { text: string; info?: string; adapted: string[] }) {
  const { strings } = useSite();
  const { code, isDoubted } = codeOf(text);
  const lines = code.split('\n').map((line) => line.trim());
  const own = adapted.filter((line) => lines.includes(line));
  return (
    <>
      <Code text={code} {...(info && { info })} />
      {isDoubted && (
        <p>
          <Doubt />
        </p>
      )}
      {own.length > 0 && (
        <p>
          <span className="bookrag-doubt" title={strings.adaptedHint}>
            {strings.adapted}
          </span>{' '}
          {own.map((line) => (
            <Fragment key={line}>
              <code dir="ltr">{line}</code>{' '}
            </Fragment>
          ))}
        </p>
      )}
    </>
  );
}

function Code({ text, info = '' }: { text: string; info?: string }) {
  const { CodeBlock } = useSite();
  const language = /^[\w+#.-]+/.exec(info)?.[0];
  const title = / title="([^"]+)"/.exec(info)?.[1];
  if (CodeBlock) return <CodeBlock {...(language && { language })} {...(title && { title })}>{text}</CodeBlock>;
  return (
    <>
      {title && <p className="bookrag-code-title">{title}</p>}
      <pre tabIndex={0} dir="ltr">
        <code>{text}</code>
      </pre>
    </>
  );
}

/** A picture of the book's site; of another one, the words that stand for it. */
function Picture({ address, words }: { address: string; words: string }) {
  const link = safeLink(address, useBookUrl(), location.origin);
  if (!link || link.isForeign) return words;
  return <img className="bookrag-picture" src={link.href} alt={words} loading="lazy" />;
}

function Formula({ token: { raw, tex, isBlock } }: { token: MathToken }) {
  const { Formula: Shown } = useSite();
  return Shown ? <Shown tex={tex} isBlock={isBlock} /> : raw;
}

function inlines(tokens: Token[] | undefined, cited: Cited): ReactNode {
  return tokens?.map((token, at) => <Fragment key={at}>{inline(token, cited)}</Fragment>);
}

function inline(token: Token, cited: Cited): ReactNode {
  switch (token.type) {
    case 'text':
      return token.tokens ? inlines(token.tokens, cited) : decodeEntities(token.text);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inlines(token.tokens, cited)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens, cited)}</em>;
    case 'del':
      return <del>{inlines(token.tokens, cited)}</del>;
    case 'codespan':
      return <code dir="ltr">{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <BookLink href={token.href} onFollow={cited.onFollow}>
          {inlines(token.tokens, cited)}
        </BookLink>
      );
    case 'image':
      return <Picture address={token.href} words={decodeEntities(token.text)} />;
    case 'doubt':
      return <Doubt />;
    case 'citation':
      return <Marker n={(token as CitationToken).n} before={(token as CitationToken).before} {...cited} />;
    case 'math':
      return <Formula token={token as MathToken} />;
    default:
      return token.raw;
  }
}

/** A link of an answer. Pages of the book open as those of citations do; files are loaded. */
function BookLink({ href, onFollow, children }: { href: string; onFollow: () => void; children: ReactNode }) {
  if (fileName(href)) return <Link href={href}>{children}</Link>;
  return (
    <PassageLink href={href} onFollow={onFollow}>
      {children}
    </PassageLink>
  );
}

function Doubt() {
  const { strings } = useSite();
  return (
    <span className="bookrag-doubt" title={strings.unverifiedHint}>
      {strings.unverified}
    </span>
  );
}
