import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

// Nearly all rules, a small page each; every page says in its text what it shows.
/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'Reading rules',
  url: 'https://book.example.org',
  baseUrl: '/book/',
  onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  onDuplicateRoutes: 'ignore',
  i18n: {defaultLocale: 'en', locales: ['en', 'ur']},
  markdown: {
    mermaid: true,
    hooks: {onBrokenMarkdownLinks: 'ignore', onBrokenMarkdownImages: 'ignore'},
  },
  themes: ['@docusaurus/theme-classic', '@docusaurus/theme-mermaid'],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {
        versions: {'1.5': {path: 'old'}},
        remarkPlugins: [remarkMath],
        rehypePlugins: [rehypeKatex],
      },
    ],
  ],
};

export default config;
