// Reads the settings from the attributes of the script element: `<script type="module" src="…/bookrag.js" data-bookrag-url="https://…"></script>`.

import { BOOK_ID } from '../core/bookId';
import type { Strings } from '../core/strings';
import { en } from '../core/strings/en';

const LANGUAGES: Record<string, () => Promise<Strings>> = {
  de: async () => (await import('../core/strings/de')).de,
  es: async () => (await import('../core/strings/es')).es,
  fr: async () => (await import('../core/strings/fr')).fr,
  ja: async () => (await import('../core/strings/ja')).ja,
  ko: async () => (await import('../core/strings/ko')).ko,
  pt: async () => (await import('../core/strings/pt')).pt,
  uk: async () => (await import('../core/strings/uk')).uk,
  ur: async () => (await import('../core/strings/ur')).ur,
  zh: async () => (await import('../core/strings/zh')).zh,
};

export interface ScriptSettings {
  /** The API's address, without `/api/v1`. */
  url: string;
  /** The origin of the book's site. */
  bookUrl: string;
  /** The ids of the books that are asked; absent if the server chooses. */
  books?: string[];
  /** The page's language. */
  locale: string;
  /** True if there is a button in the corner. */
  button: boolean;
  /** True if conversations are kept on the reader's device. */
  history: boolean;
  strings: Strings;
}

/** Reads the attributes of the script element. Throws an error that names the invalid one. */
export async function readSettings(element: HTMLScriptElement): Promise<ScriptSettings> {
  const { bookragUrl: url = '', bookragBook, bookragBooks, bookragTitle: title, bookragButton, bookragHistory } = element.dataset;
  const bookUrl = bookragBook ? originOf(bookragBook) : location.origin;
  const locale = document.documentElement.lang || 'en';
  const strings = (await LANGUAGES[locale.split('-')[0] ?? '']?.()) ?? en;
  return {
    url: url.replace(/\/+$/, ''),
    bookUrl,
    ...(bookragBooks && { books: idsOf(bookragBooks) }),
    locale,
    button: bookragButton !== 'false',
    history: bookragHistory !== 'false',
    strings: title ? { ...strings, title, open: title } : strings,
  };
}

function idsOf(attribute: string): string[] {
  const ids = attribute.split(',').map((id) => id.trim());
  if (ids.every((id) => BOOK_ID.test(id))) return ids;
  throw new Error(`data-bookrag-books must be ids of books, separated by commas, such as garden-robotics,soil, got "${attribute}"`);
}

function originOf(address: string): string {
  let origin = '';
  try {
    origin = new URL(address).origin;
  } catch {
    // Reported below.
  }
  if (origin.startsWith('http')) return origin;
  throw new Error(`data-bookrag-book must be the address of the book's site, such as https://book.example.org, got "${address}"`);
}
