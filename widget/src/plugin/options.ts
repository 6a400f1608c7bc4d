import type { OptionValidationContext } from '@docusaurus/types';
import logger from '@docusaurus/logger';
import { Joi } from '@docusaurus/utils-validation';
import { BOOK_ID } from '../core/bookId';
import type { Strings } from '../core/strings';
import { en } from '../core/strings/en';

/** The plugin's options after validation. */
export interface PluginOptions {
  id: string;
  /** The API's address, without `/api/v1`. */
  url: string;
  /** The ids of the books to ask, if the API has several; by default the book of the site, else all. */
  books?: string[];
  /** Keys that open the panel; `false` for none. */
  shortcut: string | false;
  /** The button in the corner of each page and its appearance, or `false`. */
  button: boolean | ButtonOptions;
  /** The panel's name, unless a text of the locale overrides it. */
  title?: string;
  /** The address of a place to ask people, such as a forum for questions that the book does not cover. `{question}` is replaced by the question. */
  supportUrl?: string;
  /** True if readers can ask about selected text. */
  selection: boolean;
  /** True to add an entry to the site's own search that asks the book what was typed. */
  searchEntry: boolean;
  /** True to show matching pages while a question is typed. */
  search: boolean;
  /** True to keep the reader's last conversations in the browser's `localStorage`. */
  history: boolean;
  /** True to show formulas; `auto` if the site uses remark-math. */
  math: boolean | 'auto';
  /** True to write the book as Markdown in each build with the command `bookrag`; a string is the command's path. */
  markdown: boolean | string;
  /** True to show instructions for connecting coding agents to the book. */
  mcp: boolean;
  /** Example questions, by locale or the same for all. */
  questions: string[] | Record<string, string[]>;
  /** Texts that replace the built-in ones, by locale. */
  strings: Record<string, Partial<Strings>>;
}

export interface ButtonOptions {
  /** The button's text in every locale; by default the text `ask`. */
  label?: string;
  /** The address of a picture before the text, relative to the site's base URL: `img/ask.svg`. */
  icon?: string;
  /** The corner: where lines end (right, or left in a right-to-left locale) or where they start. */
  position?: 'end' | 'start';
}

/** The options as written in a site's config. */
export type Options = Partial<PluginOptions> & Pick<PluginOptions, 'url'>;

const questions = Joi.array().items(Joi.string().max(2000));
/** Requires a modifier other than Shift, because single letters are needed for typing and for screen readers. */
const shortcut = Joi.string()
  .lowercase()
  .pattern(/^(?=.*(?:ctrl|alt|meta|mod)\+)(?:(?:ctrl|alt|shift|meta|mod)\+)+[^\s+]$/, 'keys such as ctrl+. or alt+shift+a');

const books = Joi.array().items(Joi.string().pattern(BOOK_ID, 'ids of books, such as garden-robotics')).min(1).unique();

const schema = Joi.object<PluginOptions>({
  url: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .pattern(/\/api\/v1\/?$|[?#]/, { name: 'what does not belong to it: it ends before /api/v1', invert: true })
    .required(),
  books,
  shortcut: Joi.alternatives(shortcut, Joi.valid(false)).default('ctrl+.'),
  button: Joi.alternatives(
    Joi.boolean(),
    Joi.object({ label: Joi.string(), icon: Joi.string(), position: Joi.string().valid('end', 'start') }),
  ).default(true),
  title: Joi.string(),
  supportUrl: Joi.string().pattern(/^(?:https?:\/\/|mailto:|\/)/, 'an address that begins with https://, mailto: or /'),
  selection: Joi.boolean().default(true),
  searchEntry: Joi.boolean().default(true),
  search: Joi.boolean().default(true),
  history: Joi.boolean().default(true),
  math: Joi.alternatives(Joi.boolean(), Joi.string().valid('auto')).default('auto'),
  markdown: Joi.alternatives(Joi.boolean(), Joi.string()).default(false),
  mcp: Joi.boolean().default(true),
  questions: Joi.alternatives(questions, Joi.object().pattern(Joi.string(), questions)).default([]),
  strings: Joi.object().pattern(Joi.string(), Joi.object().pattern(Joi.valid(...Object.keys(en)), Joi.string())).default({}),
  // Report all problems at once.
}).prefs({ abortEarly: false });

export function validateOptions({ validate, options }: OptionValidationContext<Options, PluginOptions>): PluginOptions {
  try {
    return validate(schema as never, options);
  } catch (error) {
    // Docusaurus shows the error at the end of its own stack, so the message is printed before it.
    const message = `wrong options of docusaurus-plugin-bookrag: ${(error as Error).message}`;
    logger.error(message);
    throw new Error(message);
  }
}
