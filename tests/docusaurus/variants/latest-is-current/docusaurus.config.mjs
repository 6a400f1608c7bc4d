// `current` at the bare path, case-sensitive ids, and the flags for version 4.
export default {
  title: 'Current is the latest',
  url: 'https://book.example.org',
  baseUrl: '/latest/',
  trailingSlash: false,
  onBrokenLinks: 'ignore',
  future: {v4: true, faster: false},
  markdown: {anchors: {maintainCase: true}},
  themes: ['@docusaurus/theme-classic'],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {
        routeBasePath: '/',
        lastVersion: 'current',
        versions: {current: {label: 'Now'}, '3.0': {path: '/third/'}},
      },
    ],
  ],
};
