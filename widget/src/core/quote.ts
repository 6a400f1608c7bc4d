// Finds a quote in a page's text. Only letters and digits are compared, since punctuation, spaces and quotation marks may differ from the
// source.

export interface Place {
  /** The index of the text. */
  text: number;
  offset: number;
}

export interface Letters {
  all: string;
  /** The position of each of them. */
  places: Place[];
}

/** The fewest letters to search for; fewer would match by chance. */
const MIN_LETTERS = 12;
const LETTER = /[\p{L}\p{N}]/u;

export function lettersOf(texts: string[]): Letters {
  let all = '';
  const places: Place[] = [];
  texts.forEach((text, index) => {
    let offset = 0;
    for (const character of text) {
      if (LETTER.test(character)) {
        const lower = character.toLowerCase();
        all += lower;
        for (let unit = 0; unit < lower.length; unit++) places.push({ text: index, offset });
      }
      offset += character.length;
    }
  });
  return { all, places };
}

/**
 * The quote's place, or that of as much of its beginning as is there: components and formulas in it are shown in other words.
 * The end is after its last letter.
 */
export function findQuote({ all, places }: Letters, quote: string): { start: Place; end: Place } | undefined {
  let wanted = lettersOf([quote]).all;
  while (wanted.length >= MIN_LETTERS) {
    const at = all.indexOf(wanted);
    if (at >= 0) {
      const start = places[at];
      const last = places[at + wanted.length - 1];
      return start && last && { start, end: { text: last.text, offset: last.offset + 1 } };
    }
    wanted = wanted.slice(0, Math.floor(wanted.length * 0.8));
  }
  return undefined;
}
