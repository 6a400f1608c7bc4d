// Bundles the page of `bookrag serve` into dist-page/, which is checked in: building bookrag needs no Node.
// `--check` fails where dist-page/ is not what the sources make.
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import * as esbuild from 'esbuild';
import { browser, root } from './options.mjs';

const HEADER = `/* Made from src/page, src/panel and src/core by \`npm run page\` in widget/: change those.
   With parts of Preact, marked and KaTeX: their licences are in licenses.txt. */`;
const BUNDLED = ['preact', 'marked', 'katex'];

const bundle = (entryPoints, options) =>
  esbuild.build({
    ...browser,
    entryPoints,
    outdir: '/',
    minify: true,
    write: false,
    legalComments: 'none',
    ...options,
  });

const scripts = await bundle({ page: `${root}src/page/main.tsx` }, {
  external: [],
  // KaTeX is loaded with the first formula.
  splitting: true,
  chunkNames: '[name]',
  alias: {
    react: 'preact/compat',
    'react-dom/client': 'preact/compat/client',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
  define: { 'process.env.NODE_ENV': '"production"' },
});
// Its own @import is followed here; elsewhere the panel's sheet is text.
const sheet = await bundle({ page: `${root}src/page/page.css` }, { plugins: [] });

const licenceOf = async (name) => `${name}\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`;
const licences = await Promise.all(BUNDLED.map(licenceOf));

const files = { 'licenses.txt': licences.join('\n'), 'index.html': await readFile(`${root}src/page/index.html`, 'utf8') };
for (const { path, text } of [...scripts.outputFiles, ...sheet.outputFiles]) files[basename(path)] = `${HEADER}\n${text}`;

const isCheck = process.argv.includes('--check');
for (const [name, text] of Object.entries(files)) {
  const path = `${root}dist-page/${name}`;
  if (!isCheck) await writeFile(path, text);
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    console.error(`dist-page/${name} is not what the sources make: npm run page`);
    process.exitCode = 1;
  }
}
