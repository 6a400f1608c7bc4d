// Tries the panel's script on the pages of a built site, in Chromium: `node tests/sites/panel.mjs BUILD QUESTION [BASE_URL]`
//
// Adds the script to a copy of the pages as widget/README.md says, serves the copy and `bookrag serve BUILD` on this machine, asks the question on the
// front page, and follows the first citation. Fails unless the citation's page opens at its heading, with the cited words highlighted.
//
// Needs `npm ci` in widget and in widget/e2e, `npm run build` in widget, Chromium, and the command `bookrag` (or its path in BOOKRAG). A screenshot of the
// page that was cited is written to the file in SCREENSHOT, if it is set.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';

const WIDGET = path.resolve(import.meta.dirname, '../../widget');
const {chromium} = createRequire(path.join(WIDGET, 'e2e/package.json'))('playwright-core');
const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml',
};

const [build, question, base = '/'] = process.argv.slice(2);
assert(build && question, 'usage: node tests/sites/panel.mjs BUILD QUESTION [BASE_URL]');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'panel-'));
const bookrag = await serveBook();
const pages = await servePages();
const browser = await chromium.launch({executablePath: process.env.BOOKRAG_TEST_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox']});
try {
  console.log(await ask());
} finally {
  await browser.close();
  pages.close();
  bookrag.kill();
  fs.rmSync(work, {recursive: true});
}

/** Indexes the build and starts `bookrag serve`; its `url` is the API's address. */
async function serveBook() {
  const command = process.env.BOOKRAG ?? 'bookrag';
  const env = {...process.env, BOOKRAG_DATA: path.join(work, 'data')};
  execFileSync(command, ['sync', build], {env, stdio: 'ignore'});
  const child = spawn(command, ['serve', build, '--listen', '127.0.0.1:0'], {env, stdio: ['ignore', 'pipe', 'ignore']});
  const ended = once(child, 'exit').then(() => assert.fail('bookrag serve ended'));
  let printed = '';
  for await (const bytes of child.stdout) {
    printed += bytes;
    child.url = printed.match(/http:\/\/[\d.:]+/)?.[0];
    if (child.url) break;
  }
  ended.catch(() => {});
  assert(child.url, `bookrag serve printed no address:\n${printed}`);
  return child;
}

/** Serves the pages with the script in them, and the script's files below `/ask`. */
async function servePages() {
  const tag = `<script type="module" src="/ask/bookrag.js" data-bookrag-url="${bookrag.url}"></script>`;
  const server = createServer((request, response) => {
    const {pathname} = new URL(request.url, 'http://site');
    const file = fileFor(decodeURIComponent(pathname));
    response.writeHead(file ? 200 : 404, {'Content-Type': TYPES[path.extname(file ?? '')] ?? 'application/octet-stream'});
    const body = file ? fs.readFileSync(file) : '';
    response.end(file?.endsWith('.html') ? body.toString().replace('</body>', `${tag}</body>`) : body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function fileFor(pathname) {
  if (pathname.startsWith('/ask/')) return path.join(WIDGET, 'dist/script', path.basename(pathname));
  if (!pathname.startsWith(base)) return undefined;
  const file = path.join(build, pathname.slice(base.length));
  return [file, `${file}.html`, path.join(file, 'index.html')].find((it) => fs.statSync(it, {throwIfNoEntry: false})?.isFile());
}

/** Asks, follows the first citation, and returns what was seen. */
async function ask() {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}});
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`http://127.0.0.1:${pages.address().port}${base}`);
  await page.locator('.bookrag-button').click();
  const field = page.locator('dialog.bookrag-panel textarea');
  await field.fill(question);
  await field.press('Enter');
  const turn = page.locator('dialog.bookrag-panel .bookrag-turn').last();
  await turn.getByRole('button', {name: 'Copy the answer'}).waitFor({timeout: 120_000});
  const answer = (await turn.locator('.bookrag-answer').innerText()).replace(/\s+/g, ' ');
  const marker = turn.locator('.bookrag-answer .bookrag-marker a').first();
  const cited = new URL(await marker.getAttribute('href'), page.url());
  await marker.click();
  await page.waitForURL(cited.href);
  // Scrolling may be animated.
  await page.waitForFunction(() => {
    const [range] = CSS.highlights.get('bookrag-passage') ?? [];
    const {bottom, top} = range?.getBoundingClientRect() ?? {};
    return bottom > 0 && top < innerHeight;
  });
  if (process.env.SCREENSHOT) await page.screenshot({path: process.env.SCREENSHOT});
  const seen = await page.evaluate(() => ({
    heading: document.getElementById(decodeURIComponent(location.hash.slice(1)))?.textContent.trim(),
    highlighted: [...CSS.highlights.get('bookrag-passage')].join(' '),
  }));
  if (cited.hash) assert(seen.heading, `no element has the id ${cited.hash}`);
  return {answer: answer.slice(0, 120), cited: cited.pathname + cited.hash, ...seen, errors};
}
