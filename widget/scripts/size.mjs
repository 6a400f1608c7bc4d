// What a site loads before and after the panel is opened, minified and gzipped: `npm run size` fails above the limits.
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { browser, root } from './options.mjs';

const LIMITS_BYTES = { before: 3 * 1024, after: 50 * 1024 };

const { outputFiles, metafile } = await esbuild.build({
  ...browser,
  entryPoints: {
    loader: `${root}src/theme/Layout/Provider/index.tsx`,
    route: `${root}src/client/route.ts`,
    sheet: `${root}src/client/loader.css`,
  },
  outdir: '/',
  absWorkingDir: root,
  splitting: true,
  minify: true,
  write: false,
  metafile: true,
  define: { 'process.env.NODE_ENV': '"production"' },
});

const gzipped = new Map(outputFiles.map(({ path, contents }) => [path.slice(1), gzipSync(contents, { level: 9 }).length]));
const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [path.split('/').at(-1), output]));

/** The files that are loaded with a file. */
function loadedWith(name, kinds, seen = new Set()) {
  if (!outputs.has(name) || seen.has(name)) return seen;
  seen.add(name);
  for (const { path, kind, external } of outputs.get(name).imports) {
    if (!external && kinds.includes(kind)) loadedWith(path.split('/').at(-1), kinds, seen);
  }
  return seen;
}

const entries = ['loader.js', 'route.js', 'sheet.css'];
const before = new Set(entries.flatMap((name) => [...loadedWith(name, ['import-statement'])]));
const all = new Set(entries.flatMap((name) => [...loadedWith(name, ['import-statement', 'dynamic-import'])]));
const isMath = (name) => Object.keys(outputs.get(name).inputs).some((path) => path.includes('node_modules/katex/'));
const math = [...all].filter(isMath);
const after = [...all].filter((name) => !before.has(name) && !isMath(name));

const sum = (names) => [...names].reduce((bytes, name) => bytes + gzipped.get(name), 0);
const figures = { before: sum(before), after: sum(after) };
console.log(`before opening: ${figures.before} bytes (at most ${LIMITS_BYTES.before}): ${[...before].join(', ')}`);
console.log(`opening: ${figures.after} bytes (at most ${LIMITS_BYTES.after}): ${after.join(', ')}`);
console.log(`with the first formula: ${sum(math)} bytes`);
if (figures.before > LIMITS_BYTES.before || figures.after > LIMITS_BYTES.after) process.exit(1);
