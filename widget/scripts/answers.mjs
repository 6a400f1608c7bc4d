// Writes pictures of answers of several kinds, light and dark, into a folder: `npm run answers -- http://127.0.0.1:8080 ../docs/pictures`. At the address
// `bookrag serve tests/fixtures/book` answers without a model. Chromium is driven through its debugging pipe.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A question for each kind of answer. */
const QUESTIONS = {
  steps: 'What is the procedure of straight-line calibration?',
  table: 'What are the soil moisture targets for common soils?',
  code: 'How do I roll back the firmware?',
  list: 'What are the key takeaways about the battery?',
  picture: 'How are the stakes laid out around the garden?',
  uncertain: 'How loud is the robot?',
  refusal: 'Who won the chess championship in Reykjavik?',
  definition: 'What is excess green?',
};
const WIDTH = 760;
/** So high that the field at the page's end covers no answer. */
const HEIGHT = 3_000;
/** Small files: these pictures show the form of an answer. */
const SCALE = 0.75;
/** How long an answer may take. */
const DEADLINE_MS = 30_000;

const [address, folder] = process.argv.slice(2);
if (!address || !folder) throw new Error('usage: answers.mjs ADDRESS FOLDER');

const profile = await mkdtemp(join(tmpdir(), 'answers-'));
const browser = spawn(
  process.env.BOOKRAG_TEST_CHROMIUM ?? 'chromium',
  ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-lcd-text', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
);
const waiting = new Map();
let held = '';
browser.stdio[4].on('data', (data) => {
  const messages = (held + data).split('\0');
  held = messages.pop();
  for (const { id, result, error } of messages.map((message) => JSON.parse(message))) {
    const { resolve, reject } = waiting.get(id) ?? {};
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  }
});
let sent = 0;
const call = (method, params = {}, sessionId = undefined) =>
  new Promise((resolve, reject) => {
    waiting.set(++sent, { resolve, reject });
    browser.stdio[3].write(`${JSON.stringify({ id: sent, method, params, sessionId })}\0`);
  });

const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
const page = (method, params) => call(method, params, sessionId);
const evaluate = async (expression) => {
  const { result, exceptionDetails } = await page('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const until = async (expression) => {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await evaluate(expression);
    if (value) return value;
    if (Date.now() > end) throw new Error(`not in ${DEADLINE_MS} ms: ${expression}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

await page('Emulation.setDeviceMetricsOverride', { width: WIDTH, height: HEIGHT, deviceScaleFactor: 1, mobile: false });
for (const [kind, question] of Object.entries(QUESTIONS)) {
  for (const scheme of ['light', 'dark']) {
    await page('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }] });
    await page('Page.navigate', { url: address });
    await until("document.readyState === 'complete' && document.querySelector('textarea') !== null");
    await evaluate('sessionStorage.clear()');
    await page('Page.reload');
    await until("document.readyState === 'complete' && document.querySelector('textarea') !== null");
    await evaluate("document.querySelector('textarea').focus()");
    await page('Input.insertText', { text: question });
    for (const type of ['keyDown', 'keyUp']) await page('Input.dispatchKeyEvent', { type, key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: type === 'keyDown' ? '\r' : '' });
    await until("document.querySelector('.bookrag-actions') !== null && [...document.images].every((image) => { image.loading = 'eager'; return image.complete; })");
    // The question and the answer, without sources and buttons.
    const box = await evaluate(`(() => {
      const turn = document.querySelector('.bookrag-turn').getBoundingClientRect();
      const { bottom } = document.querySelector('.bookrag-answer').getBoundingClientRect();
      return { x: turn.left + scrollX - 16, y: turn.top + scrollY, width: turn.width + 32, height: bottom - turn.top + 4 };
    })()`);
    const { data } = await page('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip: { ...box, scale: SCALE } });
    await writeFile(join(folder, `answer-${kind}-${scheme}.png`), Buffer.from(data, 'base64'));
  }
}
await call('Browser.close').catch(() => undefined);
browser.kill();
await rm(profile, { recursive: true, force: true, maxRetries: 5 });
