// Builds what the package holds: the plugin for Node, the rest for the bundler of a Docusaurus site, which resolves what is external.
import { readFile, rm, writeFile } from 'node:fs/promises';
import * as esbuild from 'esbuild';
import { browser, root, sheets } from './options.mjs';

await rm(`${root}dist`, { recursive: true, force: true });

await esbuild.build({
  entryPoints: [`${root}src/plugin/index.ts`],
  outfile: `${root}dist/plugin/index.js`,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  packages: 'external',
});

await esbuild.build({
  ...browser,
  entryPoints: {
    'theme/Layout/Provider/index': `${root}src/theme/Layout/Provider/index.tsx`,
    'theme-root/Root/index': `${root}src/theme-root/Root/index.tsx`,
    'client/route': `${root}src/client/route.ts`,
  },
  outdir: `${root}dist`,
  chunkNames: 'client/[name]-[hash]',
  splitting: true,
  packages: 'external',
});

await esbuild.build({
  entryPoints: [`${root}src/client/loader.css`],
  outfile: `${root}dist/client/loader.css`,
  target: browser.target,
});

// For pages that no bundler makes: nothing is external, and Preact is in React's place.
await esbuild.build({
  ...browser,
  entryPoints: { bookrag: `${root}src/script/main.tsx` },
  outdir: `${root}dist/script`,
  chunkNames: '[name]-[hash]',
  splitting: true,
  minify: true,
  legalComments: 'none',
  external: [],
  plugins: [sheets(/\.css$/)],
  alias: {
    react: 'preact/compat',
    'react-dom/client': 'preact/compat/client',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
  define: { 'process.env.NODE_ENV': '"production"' },
});
const licences = ['preact', 'marked', 'katex'].map(async (name) => `${name}\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`);
await writeFile(`${root}dist/script/licenses.txt`, (await Promise.all(licences)).join('\n'));
