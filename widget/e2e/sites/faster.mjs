// Docusaurus's faster bundler, apart from what needs flags of its next version.
export const faster = {
  swcJsLoader: true,
  swcJsMinimizer: true,
  swcHtmlMinimizer: true,
  lightningCssMinimizer: true,
  rspackBundler: true,
  mdxCrossCompilerCache: true,
};
