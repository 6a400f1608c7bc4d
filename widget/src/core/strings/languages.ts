// All languages that the plugin has. A site loads the texts of its locale alone.

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
