// Measures the panel's cost for readers with Chromium's traces: `npm run figures`. Reports medians; slowness is not a failure.

import type { Browser, Page } from '@playwright/test';
import { Panel } from '../support/panel';
import { BOOK, QUESTION, test } from '../support/test';
import { Trace } from './trace';

const ROUNDS = 15;
const TOKENS = 1000;
/** As fast models write. */
const TOKENS_PER_SECOND = 100;

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const milliseconds = (microseconds: number): string => `${(microseconds / 1000).toFixed(1)} ms`;

/** Marks in the trace when something is there for the first time. */
async function markOnce(page: Page, mark: string, selector: string): Promise<void> {
  await page.evaluate(([name = '', wanted = '']) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector(wanted)?.textContent) return;
      performance.mark(name);
      observer.disconnect();
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  }, [mark, selector]);
}

/** A page of the book in a profile of its own, with all its own loading done. */
async function freshPage(browser: Browser): Promise<{ page: Page; panel: Panel }> {
  const page = await browser.newPage();
  await page.goto(`${BOOK}/docs`, { waitUntil: 'networkidle' });
  return { page, panel: new Panel(page) };
}

test('from the click to the panel', async ({ browser }) => {
  test.setTimeout(300_000);
  const [first, again]: number[][] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const { page, panel } = await freshPage(browser);
    for (const times of [first, again]) {
      const mark = times === first ? 'bookrag:first' : 'bookrag:again';
      await markOnce(page, mark, 'dialog.bookrag-panel[open]');
      const trace = await Trace.of(browser, page, async () => {
        await panel.open();
        await page.waitForTimeout(100);
      });
      times?.push(trace.paintedAfter(mark) - trace.click());
      await page.keyboard.press('Escape');
    }
    await page.context().close();
  }
  console.log(`click to panel: ${milliseconds(median(first ?? []))}; when it was loaded before: ${milliseconds(median(again ?? []))}`);
});

test('from the first byte to the first words', async ({ browser, model }) => {
  test.setTimeout(300_000);
  model.writes(async function* () {
    yield 'Wash ';
    await new Promise((resolve) => setTimeout(resolve, 500));
    yield 'the probe. [1]';
  });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { page, panel } = await freshPage(browser);
    await panel.open();
    await markOnce(page, 'bookrag:text', '.bookrag-answer p');
    const trace = await Trace.of(browser, page, () => panel.ask(QUESTION));
    times.push(trace.paintedAfter('bookrag:text') - trace.firstByte('/api/v1/chat'));
    await page.context().close();
  }
  console.log(`first byte to first painted words: ${milliseconds(median(times))}`);
});

test('the main thread while an answer is written', async ({ browser, model }) => {
  test.setTimeout(300_000);
  const words = 'The probe is washed and dried with a cloth, then it hangs free for two minutes before it is read. '.trim().split(' ');
  model.writes(async function* () {
    for (let at = 0; at < TOKENS; at++) {
      const ends = at % words.length === words.length - 1;
      yield `${words[at % words.length]}${ends ? ' [1]\n\n' : ' '}`;
      await new Promise((resolve) => setTimeout(resolve, 1000 / TOKENS_PER_SECOND));
    }
  });
  const costs: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { page, panel } = await freshPage(browser);
    await panel.open();
    await markOnce(page, 'bookrag:text', '.bookrag-answer p');
    const trace = await Trace.of(browser, page, async () => {
      await panel.send(QUESTION);
      await panel.copy.waitFor({ timeout: 120_000 });
    });
    costs.push(trace.mainThread(trace.firstByte('/api/v1/chat'), Infinity));
    await page.context().close();
  }
  console.log(`main thread per ${TOKENS} tokens at ${TOKENS_PER_SECOND}/s: ${milliseconds(median(costs))}`);
});
