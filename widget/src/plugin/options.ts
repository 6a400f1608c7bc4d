import type { OptionValidationContext } from '@docusaurus/types';
import logger from '@docusaurus/logger';
import { Joi } from '@docusaurus/utils-validation';
import type { Strings } from '../core/strings';
import { en } from '../core/strings/en';

/** The plugin's options, as they stand after validation. */
export interface PluginOptions {
  id: string;
  /** The API's address, up to and without `/api/v1`. */
  url: string;
  /** Keys that open the panel; `false` for none. */
  shortcut: string | false;
  /** Whether there is a button in the corner of each page, and how it looks. */
  button: boolean | ButtonOptions;
  /** What the panel is called, where no text of the locale says otherwise. */
  title?: string;
  /** Where readers may ask people if the book does not cover a question: `{question}` in it stands for the question. */
  supportUrl?: string;
  /** Whether readers may ask about text they have selected. */
  selection: boolean;
  /** Whether the site's own search has an entry that asks what is typed there. */
  searchEntry: boolean;
  /** Whether pages are searched for while a question is typed. */
  search: boolean;
  /** Whether formulas are shown; `auto`: if one of the site's remark plugins is remark-math. */
  math: boolean | 'auto';
  /** Whether a build has the book as Markdown, too, written by the command `bookrag`, or by the one at this path. */
  markdown: boolean | string;
  /** Whether the panel has lines to copy that connect coding agents with the book. */
  mcp: boolean;
  /** Questions to begin with, by locale or the same for all. */
  questions: string[] | Record<string, string[]>;
  /** Texts in place of the built-in ones, by locale. */
  strings: Record<string, Partial<Strings>>;
}

export interface ButtonOptions {
  /** Its text, in every locale; otherwise the text `ask`. */
  label?: string;
  /** The address of a picture before the text, from the site's base URL: `img/ask.svg`. */
  icon?: string;
  /** Its corner: where lines end (right, or left in a right-to-left locale) or where they start. */
  position?: 'end' | 'start';
}

/** The options as a site writes them. */
export type Options = Partial<PluginOptions> & Pick<PluginOptions, 'url'>;

const questions = Joi.array().items(Joi.string().max(2000));
/** A modifier other than Shift: letters are for those who type, and for screen readers. */
const shortcut = Joi.string()
  .lowercase()
  .pattern(/^(?=.*(?:ctrl|alt|meta|mod)\+)(?:(?:ctrl|alt|shift|meta|mod)\+)+[^\s+]$/, 'keys such as ctrl+. or alt+shift+a');

const schema = Joi.object<PluginOptions>({
  url: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .pattern(/\/api\/v1\/?$|[?#]/, { name: 'what does not belong to it: it ends before /api/v1', invert: true })
    .required(),
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
