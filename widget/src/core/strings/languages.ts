// All languages, for the plugin and the page of `serve`. A site loads only the texts of its locale.

import { de } from './de';
import { en } from './en';
import { es } from './es';
import { fr } from './fr';
import { ja } from './ja';
import { ko } from './ko';
import { pt } from './pt';
import { uk } from './uk';
import { ur } from './ur';
import { zh } from './zh';
import type { Strings } from './index';

export const LANGUAGES: Record<string, Strings> = { de, en, es, fr, ja, ko, pt, uk, ur, zh };

/** Returns the language of a locale such as `ur-PK` if there are texts in it, otherwise `en`. */
export function languageOf(locale: string): string {
  const language = locale.split(/[-_]/)[0] ?? '';
  return Object.hasOwn(LANGUAGES, language) ? language : 'en';
}

/** Returns the texts of a locale, in English if there are none in its language. */
export function stringsFor(locale: string): Strings {
  return LANGUAGES[languageOf(locale)] ?? en;
}
