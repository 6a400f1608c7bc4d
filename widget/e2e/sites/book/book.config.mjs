// The book as its author has it, with the plugin.
import book from './docusaurus.config.js';

export default {
  ...book,
  // Another bundler than react18's, and a faster one.
  future: {
    faster: {
      swcJsLoader: true,
      swcJsMinimizer: true,
      swcHtmlMinimizer: true,
      lightningCssMinimizer: true,
      rspackBundler: true,
      mdxCrossCompilerCache: true,
    },
  },
  plugins: [['docusaurus-plugin-bookrag', { url: process.env.BOOKRAG_URL, questions: ['How do I calibrate the soil moisture probe?'] }]],
};
