// The book with React 18, Algolia's search, and the classic bundler.
import { createRequire } from 'node:module';
import path from 'node:path';
import book from './docusaurus.config.js';

const require = createRequire(import.meta.url);
const folderOf = (name) => path.dirname(require.resolve(`${name}/package.json`));

function react18() {
  return {
    name: 'react-18',
    configureWebpack: () => ({ resolve: { alias: { react: folderOf('react-18'), 'react-dom': folderOf('react-dom-18') } } }),
  };
}

export default {
  ...book,
  // Mermaid would double the build time.
  markdown: {},
  themes: [],
  plugins: [react18, ['docusaurus-plugin-bookrag', { url: process.env.ASK_URL, markdown: process.env.ASK_COMMAND }]],
  themeConfig: { ...book.themeConfig, algolia: { appId: 'APP', apiKey: 'key', indexName: 'book' } },
};
