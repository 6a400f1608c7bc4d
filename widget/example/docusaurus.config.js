// @ts-check
import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

/** @type {import('@docusaurus/types').Config} */
export default {
  title: 'Keeping a Sourdough',
  tagline: 'Flour, water, and patience',
  url: 'https://sourdough.example.org',
  // The answers' links begin with it: bookrag reads it here, too.
  baseUrl: '/sourdough/',
  trailingSlash: false,
  onBrokenLinks: 'throw',

  i18n: {
    defaultLocale: 'en',
    locales: ['en', 'ur'],
    // A reader of an Urdu page is answered from the Urdu pages, in a panel that stands on the left.
    localeConfigs: { ur: { label: 'اردو', direction: 'rtl', htmlLang: 'ur' } },
  },

  presets: [
    [
      'classic',
      /** @type {import('@docusaurus/preset-classic').Options} */
      ({
        docs: {
          routeBasePath: '/',
          remarkPlugins: [remarkMath],
          // MathML alone needs no style sheet.
          rehypePlugins: [[rehypeKatex, { output: 'mathml' }]],
          // A reader of an old edition is answered from that edition.
          lastVersion: 'current',
          versions: { current: { label: 'Second edition' }, '1.0': { label: 'First edition', path: 'first' } },
        },
        blog: false,
        theme: { customCss: './src/css/custom.css' },
      }),
    ],
  ],

  plugins: [
    [
      'docusaurus-plugin-bookrag',
      /** @type {import('docusaurus-plugin-bookrag').Options} */
      ({
        // Where the API is: in production the stack's output ApiUrl. This default is `bookrag serve` on this machine.
        url: process.env.ASK_URL ?? 'http://127.0.0.1:8080',
        // How the button in the corner looks, and where readers go whom the book cannot help.
        button: { label: 'Ask the baker', icon: 'img/ask.svg', position: 'start' },
        supportUrl: 'https://forum.example.org/new?title={question}',
        // What readers see before their first question. `bookrag serve` has a list of its own, in bookrag.questions.txt.
        questions: {
          en: ['How often do I feed the starter?', 'How hot should the oven be?', 'Why is my loaf dense?'],
          ur: ['خمیر کو کتنی بار خوراک دیں؟', 'روٹی کس درجہ حرارت پر پکتی ہے؟'],
        },
        // The book's own words in place of the panel's, by locale.
        strings: { en: { title: 'Ask the baker' } },
      }),
    ],
  ],

  themeConfig:
    /** @type {import('@docusaurus/preset-classic').ThemeConfig} */
    ({
      navbar: {
        title: 'Keeping a Sourdough',
        items: [
          // Any element with `data-bookrag-open` opens the panel. With one in the navbar the corner's may go: `button: false`.
          { type: 'html', position: 'right', value: '<button class="button button--secondary button--sm" data-bookrag-open>Ask</button>' },
          { type: 'docsVersionDropdown', position: 'right' },
          { type: 'localeDropdown', position: 'right' },
        ],
      },
      footer: { copyright: 'An example site of docusaurus-plugin-bookrag.' },
    }),
};
