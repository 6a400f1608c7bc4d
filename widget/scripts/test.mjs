// Bundles each test for Node, which reads no TypeScript, and runs them all.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { root } from './options.mjs';

const names = (await readdir(`${root}test`)).filter((name) => /\.test\.tsx?$/.test(name));
// Beside the packages, which stay outside of the bundles.
const outdir = await mkdtemp(`${root}node_modules/.tests-`);
try {
  await esbuild.build({
    entryPoints: names.map((name) => `${root}test/${name}`),
    outdir,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    packages: 'external',
    jsx: 'automatic',
    logLevel: 'warning',
  });
  const files = names.map((name) => join(outdir, name.replace(/\.tsx?$/, '.cjs')));
  const { status } = spawnSync(process.execPath, ['--test', ...process.argv.slice(2), ...files], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  await rm(outdir, { recursive: true });
}
