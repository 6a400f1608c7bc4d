// Settings that few sites have: other folders for translations, some files and versions only, one format for all.
module.exports = {
  title: 'Rare settings',
  url: 'https://book.example.org',
  baseUrl: '/rare/',
  onBrokenLinks: 'ignore',
  i18n: {
    path: 'translations',
    defaultLocale: 'en',
    locales: ['en', 'ur', 'fr'],
    localeConfigs: {
      ur: {path: 'urdu', baseUrl: '/rare/in-urdu/'},
      fr: {translate: false},
    },
  },
  markdown: {format: 'md'},
  themes: ['@docusaurus/theme-classic'],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {
        include: ['**/*.mdx', 'all/**/*.md'],
        includeCurrentVersion: false,
        onlyIncludeVersions: ['2.0', '1.0'],
      },
    ],
    ['@docusaurus/plugin-content-blog', {path: 'posts', routeBasePath: '/', include: ['**/*.md']}],
  ],
};
