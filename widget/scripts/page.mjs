// Bundles the page of `bookrag serve` into dist-page/, which is checked in: building bookrag needs no Node.
// `--check` fails where dist-page/ is not what the sources make.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { browser, root } from './options.mjs';

const HEADER = `/* Made from src/page, src/panel and src/core by \`npm run page\` in widget/: change those.
   With parts of other packages: their licences are in licenses.txt. */`;

const bundle = (entryPoints, options) =>
  esbuild.build({
    ...browser,
    entryPoints,
    outdir: '/',
    absWorkingDir: root,
    external: [],
    minify: true,
    write: false,
    metafile: true,
    legalComments: 'none',
    ...options,
  });

const scripts = await bundle({ page: 'src/page/main.tsx', reference: 'src/page/reference.ts' }, {
  // KaTeX is loaded with the first formula, the highlighter with the first code block.
  splitting: true,
  chunkNames: '[name]',
  alias: {
    react: 'preact/compat',
    'react-dom/client': 'preact/compat/client',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
  define: { 'process.env.NODE_ENV': '"production"' },
});
// Their own @import is followed here; elsewhere the panel's sheet is text.
const sheets = await bundle({ page: 'src/page/page.css', reference: 'src/page/reference.css' }, { plugins: [] });

/** The licences of the packages that a bundle has parts of, and of what these packages bundled themselves. */
async function licences(...bundles) {
  const inputs = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const texts = [...new Set(packages)].sort().map(async (name) => {
    const folder = `${root}node_modules/${name}/`;
    const isNotice = (file) => /^(licen[cs]e|notice|swagger-ui-es-bundle\.js\.license)/i.test(file);
    const notices = (await readdir(folder)).filter(isNotice).sort();
    if (notices.length === 0) throw new Error(`${name} has no file with its licence`);
    const read = await Promise.all(notices.map((file) => readFile(folder + file, 'utf8')));
    return [name, ...read].join('\n\n');
  });
  return (await Promise.all(texts)).join('\n\n');
}

const pages = ['index.html', 'reference.html'];
const files = new Map([['licenses.txt', await licences(scripts, sheets)]]);
for (const page of pages) files.set(page, await readFile(`${root}src/page/${page}`, 'utf8'));
// Scripts and sheets are stored and served compressed: they are part of the program.
for (const { path, text } of [...scripts.outputFiles, ...sheets.outputFiles]) files.set(`${basename(path)}.gz`, `${HEADER}\n${text}`);

const folder = `${root}dist-page/`;
const isCompressed = (name) => name.endsWith('.gz');
const isCheck = process.argv.includes('--check');
for (const [name, text] of files) {
  const written = await readFile(folder + name).catch(() => undefined);
  // Compressed bytes differ between versions of Node.
  if (written && (isCompressed(name) ? gunzipSync(written) : written).toString() === text) continue;
  if (!isCheck) await writeFile(folder + name, isCompressed(name) ? gzipSync(text, { level: 9 }) : text);
  else fail(`dist-page/${name} is not what the sources make`);
}
for (const name of await readdir(folder)) {
  if (files.has(name)) continue;
  if (!isCheck) await rm(folder + name);
  else fail(`the sources make no dist-page/${name}`);
}

function fail(reason) {
  console.error(`${reason}: npm run page`);
  process.exitCode = 1;
}
