import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BOOKRAG, E2E, REPOSITORY, WIDGET, WORK } from './paths';
import type { Ports } from './ports';
import { run } from './run';

const FIXTURE = path.join(REPOSITORY, 'tests/fixtures/book');
const DOCUSAURUS = path.join(E2E, 'node_modules/@docusaurus/core/bin/docusaurus.mjs');

export const SITES = ['book', 'react18', 'example'] as const;
export type SiteName = (typeof SITES)[number];

/** The path that a site is shown under, with a slash at its end. */
export const BASE_URLS: Record<SiteName, string> = {
  book: '/garden-robotics/',
  react18: '/garden-robotics/',
  example: '/sourdough/',
};

export const folderOf = (site: SiteName) => path.join(WORK, site);
export const buildOf = (site: SiteName) => path.join(folderOf(site), 'build');

/** Puts a site into the work folder. */
export async function makeSite(site: SiteName): Promise<void> {
  const folder = folderOf(site);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(path.join(E2E, 'sites/faster.mjs'), path.join(folder, 'faster.mjs'));
  if (site === 'example') {
    const isSource = (file: string) => !/node_modules|\.docusaurus|\.bookrag|[\\/]build/.test(path.relative(WIDGET, file));
    await cp(path.join(WIDGET, 'example'), folder, { recursive: true, filter: isSource });
    await cp(path.join(E2E, 'sites/example'), folder, { recursive: true });
    return;
  }
  await cp(FIXTURE, folder, { recursive: true });
  await cp(path.join(E2E, 'sites/book'), folder, { recursive: true });
  await cp(path.join(E2E, 'sites', site), folder, { recursive: true });
  if (site === 'book') await cp(path.join(WORK, 'node_modules/docusaurus-plugin-bookrag/dist/script'), path.join(folder, 'static/ask'), { recursive: true });
}

/** Pages that Docusaurus does not make, with the panel's script: on the book's site, and as if on another one. */
async function writePlainPages(folder: string, ports: Ports): Promise<void> {
  const pageWith = (attributes: string) => {
    const script = `<script type="module" src="ask/bookrag.js" data-bookrag-url="http://127.0.0.1:${ports.bookApi}" ${attributes}></script>`;
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plain</title>${script}</head><body><main><h1>Plain</h1></main></body></html>`;
  };
  await writeFile(path.join(folder, 'static/plain.html'), pageWith('data-bookrag-title="Ask Sprig"'));
  await writeFile(path.join(folder, 'static/elsewhere.html'), pageWith('data-bookrag-book="https://book.example/guide"'));
}

export async function buildSite(site: SiteName, ports: Ports): Promise<void> {
  if (site === 'book') await writePlainPages(folderOf(site), ports);
  await docusaurus(site, ports, ['build']);
}

/** Builds the default locale of a site without the plugin, for comparison. Returns the folder of the build. */
export async function buildPlain(site: SiteName, ports: Ports): Promise<string> {
  const config = `import site from './${site}.config.mjs';\n\nexport default { ...site, plugins: [] };\n`;
  await writeFile(path.join(folderOf(site), 'plain.config.mjs'), config);
  const out = path.join(folderOf(site), 'build-plain');
  const args = ['build', '--config', 'plain.config.mjs', '--locale', 'en', '--out-dir', out];
  await run(process.execPath, [DOCUSAURUS, ...args], { cwd: folderOf(site), env: environmentOf(site, ports) });
  return out;
}

/** Runs Docusaurus in a site of the work folder. */
export async function docusaurus(site: SiteName, ports: Ports, args: string[]): Promise<void> {
  await run(process.execPath, [DOCUSAURUS, ...args, ...configOf(site)], { cwd: folderOf(site), env: environmentOf(site, ports) });
}

export const DOCUSAURUS_COMMAND = DOCUSAURUS;
export const configOf = (site: SiteName) => ['--config', `${site}.config.mjs`];

export function environmentOf(site: SiteName, ports: Ports): Record<string, string> {
  const api = site === 'example' ? ports.exampleApi : ports.bookApi;
  return {
    ASK_URL: `http://127.0.0.1:${api}`,
    ASK_COMMAND: BOOKRAG,
    // Sites share node_modules, where the bundler would keep a single cache for all of them.
    DOCUSAURUS_NO_PERSISTENT_CACHE: 'true',
    BROWSERSLIST_IGNORE_OLD_DATA: '1',
    NO_UPDATE_NOTIFIER: '1',
    FORCE_COLOR: '0',
  };
}
