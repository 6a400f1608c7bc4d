// Plugins of docs, of pages and of blogs beside the default ones, with folders, routes, versions and translations of their own.
const options = {numberPrefixParser: false, exclude: ['**/hidden/**', '**/_*.mdx']};

module.exports = {
  title: 'Instances',
  url: 'https://book.example.org',
  baseUrl: '/more/',
  onBrokenLinks: 'ignore',
  onDuplicateRoutes: 'ignore',
  // The sites are built outside of a Git repository, where a post without a date would stop the build.
  future: {experimental_vcs: false},
  i18n: {defaultLocale: 'en', locales: ['en', 'ur']},
  themes: ['@docusaurus/theme-classic'],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {
        ...options,
        id: 'api',
        path: './reference',
        routeBasePath: '/reference/api',
        onlyIncludeVersions: ['current', '3.0', '1.0'],
        lastVersion: '3.0',
        versions: {current: {path: 'edge'}, '1.0': {path: 'very/old'}},
      },
    ],
    '@docusaurus/plugin-content-docs',
    [
      '@docusaurus/plugin-content-docs',
      {id: 'community_hub-1', path: 'community', routeBasePath: 'community', includeCurrentVersion: true},
    ],
    '@docusaurus/plugin-content-pages',
    [
      '@docusaurus/plugin-content-pages',
      {id: 'more', path: 'more-pages', routeBasePath: 'more', exclude: ['left-*.md']},
    ],
    '@docusaurus/plugin-content-blog',
    [
      '@docusaurus/plugin-content-blog',
      {id: 'news', path: 'company-news', routeBasePath: '/company/news', exclude: ['more/**']},
    ],
  ],
};
