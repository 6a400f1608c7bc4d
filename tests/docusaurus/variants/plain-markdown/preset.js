// The docs and the theme alone, of what the classic preset holds.
module.exports = function preset(context, {docs}) {
  return {
    themes: ['@docusaurus/theme-classic'],
    plugins: [['@docusaurus/plugin-content-docs', docs]],
  };
};
