// The example's own configuration with the faster bundler, and a search on the reader's device.
import example from './docusaurus.config.js';
import { faster } from './faster.mjs';

export default {
  ...example,
  future: { faster },
  themes: [['@easyops-cn/docusaurus-search-local', { docsRouteBasePath: '/', indexBlog: false, searchBarShortcutHint: false }]],
};
