import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { WIDGET, WORK } from './paths';
import { run } from './run';

/** Where the sites find the plugin: as the package that npm would publish. */
const INSTALLED = path.join(WORK, 'node_modules/docusaurus-plugin-bookrag');

/** Builds and packs the plugin, and unpacks it where the sites look for packages. */
export async function installPlugin(): Promise<void> {
  await mkdir(WORK, { recursive: true });
  await run('npm', ['run', 'build'], { cwd: WIDGET });
  const printed = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', WORK], { cwd: WIDGET });
  const archive = path.join(WORK, printed.trim().split('\n').at(-1) ?? '');
  await rm(INSTALLED, { recursive: true, force: true });
  await mkdir(INSTALLED, { recursive: true });
  await run('tar', ['xzf', archive, '--strip-components', '1', '-C', INSTALLED], { cwd: WORK });
  await rm(archive);
}
