// Parses an answer's Markdown into tokens. panel/Markdown.tsx decides which of them are shown.

import { Marked, type Token, type TokenizerThis, type Tokens } from 'marked';

/** A citation marker such as `[1]`. */
export interface CitationToken extends Tokens.Generic {
  type: 'citation';
  n: number;
  /** How many markers of the same number stand before it. */
  before: number;
}

export interface MathToken extends Tokens.Generic {
  type: 'math';
  tex: string;
  isBlock: boolean;
}

/** Inserted after a sentence that no passage supports. A private-use character; the server removes such characters from answers. */
const DOUBT = '\uE000';

const CITATION = /^\[(\d{1,3})\](?!\()/;
const BLOCK_MATH = /^ {0,3}\$\$((?:\\[^]|[^\\$])+?)\$\$[ \t]*(?:\n|$)/;
/** Same rule as pandoc's: no space inside single dollar signs and no digit after them, so that prices stay text. */
const INLINE_MATH = /^\$\$((?:\\[^]|[^\\$])+?)\$\$|^\$((?! )(?:\\[^]|[^\\$\n])*?[^\s\\$])\$(?!\d)/;

const citation = {
  name: 'citation',
  level: 'inline' as const,
  start: (text: string) => text.match(/\[\d/)?.index,
  tokenizer(this: TokenizerThis, text: string): CitationToken | undefined {
    // A link within a link would have two addresses.
    if (this.lexer.state.inLink) return undefined;
    const [raw, n] = CITATION.exec(text) ?? [];
    return raw ? { type: 'citation', raw, n: Number(n), before: 0 } : undefined;
  },
};

const doubt = {
  name: 'doubt',
  level: 'inline' as const,
  start: (text: string) => text.indexOf(DOUBT),
  tokenizer: (text: string): Tokens.Generic | undefined => (text.startsWith(DOUBT) ? { type: 'doubt', raw: DOUBT } : undefined),
};

const blockMath = {
  name: 'math',
  level: 'block' as const,
  start: (text: string) => text.match(/^ {0,3}\$\$/m)?.index,
  tokenizer(text: string): MathToken | undefined {
    const [raw, tex] = BLOCK_MATH.exec(text) ?? [];
    return raw && tex ? { type: 'math', raw, tex: tex.trim(), isBlock: true } : undefined;
  },
};

const inlineMath = {
  name: 'math',
  level: 'inline' as const,
  start: (text: string) => text.match(/\$/)?.index,
  tokenizer(text: string): MathToken | undefined {
    const [raw, block, inline] = INLINE_MATH.exec(text) ?? [];
    const tex = block ?? inline;
    return raw && tex ? { type: 'math', raw, tex: tex.trim(), isBlock: block !== undefined } : undefined;
  },
};

// A definition (`[1]: https://…`) would turn citation markers into links chosen by the answer.
const withoutDefinitions = { def: () => undefined };

/** The deepest nesting of quotes and lists that is rendered. */
const MAX_DEPTH = 40;

const plain = new Marked({ extensions: [citation, doubt], tokenizer: withoutDefinitions });
const withMath = new Marked({ extensions: [citation, doubt, blockMath, inlineMath], tokenizer: withoutDefinitions });

export interface ReadOptions {
  math: boolean;
  /** True if more text will follow. */
  isGrowing: boolean;
}

export function readMarkdown(text: string, { math, isGrowing }: ReadOptions): Token[] {
  // Half a citation marker would be visible until it becomes a link, and a half-written list mark would turn the line above into a heading.
  const settled = isGrowing ? text.replace(/ ?\[\d{0,3}$|\n[-=]+$/, '') : text;
  try {
    const tokens = (math ? withMath : plain).lexer(settled);
    if (!isDeeper(tokens, MAX_DEPTH)) {
      countMarkers(tokens);
      return tokens;
    }
  } catch {
    // Parsing overflowed the stack, so the text is shown unparsed.
  }
  return [{ type: 'paragraph', raw: settled, text: settled, tokens: [{ type: 'escape', raw: settled, text: settled }] }];
}

function countMarkers(tokens: Token[]): void {
  const counts = new Map<number, number>();
  plain.walkTokens(tokens, (token) => {
    if (token.type !== 'citation') return;
    const marker = token as CitationToken;
    marker.before = counts.get(marker.n) ?? 0;
    counts.set(marker.n, marker.before + 1);
  });
}

/** Inserts the private character after each of these sentences. */
export function withDoubts(answer: string, unsupported: string[]): string {
  let marked = '';
  let rest = answer.replaceAll(DOUBT, '');
  for (const sentence of unsupported) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    const end = at + sentence.length;
    // Without the space, emphasis would not end.
    marked += `${rest.slice(0, end)} ${DOUBT}`;
    rest = rest.slice(end);
  }
  return marked + rest;
}

/** Returns a block of code without private characters, and whether a sentence or line of it was marked. */
export function codeOf(text: string): { code: string; isDoubted: boolean } {
  const code = text.replaceAll(` ${DOUBT}`, '');
  return { code, isDoubted: code !== text };
}

function isDeeper(tokens: Token[], depth: number): boolean {
  if (depth === 0) return tokens.length > 0;
  return tokens.some((token) => isDeeper((token.type === 'list' ? token.items : 'tokens' in token && token.tokens) || [], depth - 1));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };

/** Replaces common character references; rare ones stay as written. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Returns an answer's text to be read aloud, without markup and citations. */
export function spokenText(text: string): string {
  const blocks = readMarkdown(text, { math: false, isGrowing: false });
  return spokenBlocks(blocks).replaceAll(/ ?\uFFFC/g, '').trim();
}

function spokenBlocks(tokens: Token[], separator = '\n\n'): string {
  const spoken = tokens.map((token) => {
    switch (token.type) {
      case 'space':
      case 'hr':
      case 'checkbox':
        return '';
      case 'code':
        return token.text;
      case 'list':
        return token.items.map((item: Token) => spokenBlocks([item])).join('\n');
      case 'list_item':
      case 'blockquote':
        return spokenBlocks(token.tokens ?? [], '\n');
      case 'table':
        return [token.header, ...token.rows].map(spokenRow).join('\n');
      default:
        return spokenInlines('tokens' in token && token.tokens ? token.tokens : [token]);
    }
  });
  return spoken.filter(Boolean).join(separator);
}

function spokenRow(cells: Tokens.TableCell[]): string {
  return cells.map(({ tokens }) => spokenInlines(tokens)).join(', ');
}

function spokenInlines(tokens: Token[]): string {
  const spoken = tokens.map((token) => {
    if (token.type === 'citation') return '\uFFFC';
    if ('tokens' in token && token.tokens) return spokenInlines(token.tokens);
    if (token.type === 'text' || token.type === 'image') return decodeEntities(token.text);
    return ['escape', 'codespan'].includes(token.type) ? (token as Tokens.Escape).text : token.raw;
  });
  return spoken.join('');
}
