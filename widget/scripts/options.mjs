import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Style sheets that come with a script, as strings, without comments and spaces. */
export const sheets = (filter) => ({
  name: 'sheets',
  setup(build) {
    build.onLoad({ filter }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const { code } = await esbuild.transform(source, { loader: 'css', minify: true, target: browser.target });
      return { contents: code.trim(), loader: 'text' };
    });
  },
});

/** What Docusaurus resolves, and what the site has anyway. */
export const external = ['react', 'react-dom', 'react/*', '@docusaurus/*', '@theme/*', '@theme-init/*', '@generated/*'];

/** For browsers that know CSS nesting, logical properties and constructed style sheets. */
export const browser = {
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  target: ['chrome111', 'firefox114', 'safari16.4'],
  plugins: [sheets(/(?:panel|searchEntry)\.css$/)],
  external,
};
