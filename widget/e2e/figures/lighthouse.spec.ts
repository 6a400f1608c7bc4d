// Runs Lighthouse alternately on a page with and without the plugin, and reports medians.

import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { chromium } from '../harness/chromium';
import { WORK } from '../harness/paths';
import { readPorts } from '../harness/ports';
import { run } from '../harness/run';
import { BASE_URLS, buildOf, buildPlain } from '../harness/sites';
import { serveFiles } from '../harness/staticServer';
import { LESSON, test } from '../support/test';

/** The last version that Node 20 runs; fetched on demand, since it is as large as all else here. */
const LIGHTHOUSE = 'lighthouse@12.8.2';
const ROUNDS = 5;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const AUDITS = ['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time', 'cumulative-layout-shift', 'total-byte-weight'];

interface Report {
  categories: Record<string, { score: number }>;
  audits: Record<string, { numericValue: number }>;
}

test('a page with the plugin and without it', async () => {
  test.setTimeout(900_000);
  const ports = readPorts();
  const roots = { without: await buildPlain('book', ports), with: buildOf('book') };
  const reports: Record<string, Report[]> = { without: [], with: [] };
  const servers = [];
  const urls: [string, string][] = [];
  for (const [name, root] of Object.entries(roots)) {
    const server = await serveFiles({ root, baseUrl: BASE_URLS.book, port: 0, api: `http://127.0.0.1:${ports.bookApi}` });
    const { port } = server.address() as AddressInfo;
    servers.push(server);
    urls.push([name, `http://127.0.0.1:${port}${LESSON}`]);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, url] of urls) reports[name]?.push(await lighthouse(url));
  }
  for (const server of servers) server.close();
  for (const name of CATEGORIES) print(name, reports, ({ categories }) => (categories[name]?.score ?? 0) * 100);
  for (const name of AUDITS) print(name, reports, ({ audits }) => audits[name]?.numericValue ?? 0);
});

async function lighthouse(url: string): Promise<Report> {
  const file = path.join(WORK, 'lighthouse.json');
  const flags = '--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';
  const only = CATEGORIES.join(',');
  await run('npx', ['--yes', LIGHTHOUSE, url, '--quiet', '--output=json', `--output-path=${file}`, `--only-categories=${only}`, `--chrome-flags=${flags}`], {
    cwd: WORK,
    env: { CHROME_PATH: chromium() },
  });
  return JSON.parse(await readFile(file, 'utf8')) as Report;
}

function print(name: string, reports: Record<string, Report[]>, value: (report: Report) => number): void {
  const median = (of: string) => (reports[of] ?? []).map(value).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${name}: ${median('without').toFixed(2)} without, ${median('with').toFixed(2)} with`);
}
