import type {Config} from '@docusaurus/types';

const routeBasePath = 'guides/book';

// No trailing slashes, no number prefixes, formats by extension, options in a preset, a second docs plugin.
const config: Config = {
  title: 'Plain Markdown',
  url: 'https://book.example.org',
  baseUrl: '/deep/base/',
  trailingSlash: false,
  onBrokenLinks: 'ignore',
  markdown: {format: 'detect'},
  presets: [
    [
      './preset.js',
      {
        docs: {
          path: './content',
          routeBasePath,
          numberPrefixParser: false,
        },
      } as Record<string, unknown>,
    ],
  ],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {id: 'community', path: 'community', routeBasePath: 'community'},
    ],
  ],
} satisfies Config;

export default config;
