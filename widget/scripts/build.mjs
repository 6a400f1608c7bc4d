// Builds what the package holds: the plugin for Node, the rest for the bundler of a Docusaurus site, which resolves what is external.
import { rm } from 'node:fs/promises';
import * as esbuild from 'esbuild';
import { browser, root } from './options.mjs';

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
