// Trailing slashes, docs at the root, an `exclude` of its own, and a default locale that is not English.
module.exports = async function createConfig() {
  return {
    title: 'Trailing slashes',
    url: 'https://book.example.org',
    baseUrl: '/',
    trailingSlash: true,
    onBrokenLinks: 'ignore',
    i18n: {defaultLocale: 'ur', locales: ['en', 'ur']},
    themes: ['@docusaurus/theme-classic'],
    plugins: [
      [
        '@docusaurus/plugin-content-docs',
        {routeBasePath: '/', exclude: ['**/*.summary.md', 'left-out/**']},
      ],
    ],
  };
};
