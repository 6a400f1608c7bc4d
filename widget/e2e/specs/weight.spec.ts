// What the panel costs a reader who does not use it, by the browser's own performance entries. Lighthouse's scores are figures (`npm run figures`):
// they vary more from run to run than the panel weighs.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from '@playwright/test';
import { BASE_URLS, buildPlain } from '../harness/sites';
import { serveFiles } from '../harness/staticServer';
import { BOOK, EXAMPLE, expect, ports, test } from '../support/test';

/** Pages are loaded so often, alternately; the least of each value is what the page costs on a machine that does nothing else. */
const ROUNDS = 5;
const MAX_BYTES = 4 * 1024;
/** The script is a part of the page without Docusaurus's React. */
const MAX_SCRIPT_BYTES = 16 * 1024;
/** Tasks are long from 50 ms, so blocking comes in such steps. */
const MAX_BLOCKING_MS = 25;

interface Weight {
  /** Of all responses, gzipped. */
  bytes: number;
  /** What long tasks took beyond 50 ms each. */
  blocking: number;
  /** The sum of all layout shifts. */
  shift: number;
}

async function observe(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = { blocking: 0, shift: 0 };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.blocking += duration - 50;
    }).observe({ type: 'longtask', buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.shift += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Loads a page in a profile of its own. */
async function weigh(browser: Browser, url: string): Promise<Weight> {
  const page = await browser.newPage();
  await observe(page);
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => bodies.push(response.body()));
  await page.goto(url, { waitUntil: 'networkidle' });
  const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
  const seen = await page.evaluate(() => (window as unknown as { seen: { blocking: number; shift: number } }).seen);
  await page.context().close();
  return { bytes, ...seen };
}

const least = (weights: Weight[], of: keyof Weight): number => Math.min(...weights.map((weight) => weight[of]));

test.describe('the example', () => {
  let server: Server;
  let plain: string;

  test.beforeAll(async () => {
    test.setTimeout(300_000);
    const root = await buildPlain('example', ports);
    server = await serveFiles({ root, baseUrl: BASE_URLS.example, port: 0, api: EXAMPLE });
    plain = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE_URLS.example}`;
  });

  test.afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a page with the panel weighs and blocks hardly more than one without', async ({ browser }) => {
    test.setTimeout(120_000);
    const [without, withPanel]: [Weight[], Weight[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      without.push(await weigh(browser, plain));
      withPanel.push(await weigh(browser, `${EXAMPLE}/`));
    }
    const more = (of: keyof Weight): number => least(withPanel, of) - least(without, of);
    console.log(`the panel adds ${more('bytes')} bytes to ${least(without, 'bytes')}, ${more('blocking')} ms of blocking, ${more('shift')} of layout shift`);
    expect(least(without, 'bytes')).toBeGreaterThan(50_000);
    expect(more('bytes')).toBeGreaterThan(0);
    expect(more('bytes')).toBeLessThanOrEqual(MAX_BYTES);
    expect(more('blocking')).toBeLessThanOrEqual(MAX_BLOCKING_MS);
    expect(more('shift')).toBeLessThanOrEqual(0.001);
  });
});

test('the script of a page without Docusaurus has no long task and shifts nothing', async ({ browser }) => {
  test.setTimeout(60_000);
  const weights: Weight[] = [];
  for (let round = 0; round < ROUNDS; round++) weights.push(await weigh(browser, `${BOOK}/plain.html`));
  console.log(`a page of the script alone: ${least(weights, 'bytes')} bytes`);
  expect(least(weights, 'bytes')).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
  expect(least(weights, 'blocking')).toBe(0);
  expect(least(weights, 'shift')).toBe(0);
});
