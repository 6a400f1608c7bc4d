import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible';
import { sentWith } from '../support/panel';
import { findQuestions } from '../support/questions';
import { done, replyWith, token } from '../support/reply';
import { BOOK, EXAMPLE, expect, LESSON, QUESTION, REACT18, SERVE, test } from '../support/test';

const AIR = 'How do I take the air point?';
/** A question may be a model's text or an author's mistake. */
const HOSTILE = 'Is <img src=x onerror="window.wasHit = true"> **bold**, `code` or [a link](javascript:alert(1))?';
const PROPOSED = [AIR, HOSTILE, 'Why does the probe read zero?', 'What is soil moisture?'];

/** Lets the book propose questions. Returns the pages that they were asked for. */
async function propose(page: Page, questions: string[]): Promise<(string | null)[]> {
  const pages: (string | null)[] = [];
  await page.route('**/api/v1/questions?**', (route) => {
    pages.push(new URL(route.request().url()).searchParams.get('page_url'));
    const proposals = questions.map((question) => ({ question, title: 'Soil Moisture', section: 'The Air Point', url: `${LESSON}#the-air-point` }));
    return route.fulfill({ json: { success: true, data: { questions: proposals } }, headers: { 'Access-Control-Allow-Origin': '*' } });
  });
  return pages;
}

async function expectPlainText(page: Page): Promise<void> {
  expect(await page.evaluate(() => 'wasHit' in window)).toBe(false);
  await expect(page.locator('.bookrag-examples :is(img, strong, code, a)')).toHaveCount(0);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('an empty panel proposes questions of the open page, as plain text, and asks the one that is chosen', async ({ page, panel }) => {
      const pages = await propose(page, PROPOSED);
      await panel.openOn(`${REACT18}/docs`);
      await expect(panel.root.locator('.bookrag-proposals h3')).toHaveText('You might ask');
      await expect(panel.root.locator('.bookrag-example')).toHaveText(PROPOSED);
      await expectPlainText(page);
      await expectAccessible(page, '.bookrag-panel');
      expect(pages).toEqual([expect.stringMatching(/\/garden-robotics\/docs\/?$/)]);
      await panel.root.getByRole('button', { name: AIR }).focus();
      expect((await sentWith(page, () => page.keyboard.press('Enter'))).query).toBe(AIR);
      await panel.answered();
    });

    test('the page of serve proposes the questions of the book if the site lists none', async ({ page }) => {
      await propose(page, PROPOSED);
      await page.route('**/local/book', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), example_questions: [] } });
      });
      await page.goto(SERVE);
      await expect(page.locator('.bookrag-example')).toHaveText(PROPOSED);
      await expectPlainText(page);
      await expectAccessible(page);
      for (const width of [390, 320]) {
        await page.setViewportSize({ width, height: 640 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
      }
    });

    test('typing proposes the questions that match, beside the pages', async ({ page, panel }) => {
      await findQuestions(page, [AIR, HOSTILE, 'Why does the battery drain?', 'Is the battery full?', 'What is a battery?', 'How is a battery kept?']);
      await panel.openOn(`${BOOK}/docs`);
      await panel.field.fill('bat');
      const found = panel.root.locator('.bookrag-results .bookrag-example');
      await expect(found).toHaveText(['Why does the battery drain?', 'Is the battery full?', 'What is a battery?']);
      await expect(panel.results.first()).toBeVisible();
      await expectAccessible(page, '.bookrag-panel');
      await panel.field.fill('is img');
      await expect(found).toHaveText([HOSTILE]);
      await expectPlainText(page);
    });

    test('after an answer the questions of the next sections are proposed, and asked in the same conversation', async ({ page, panel }) => {
      await replyWith(page, token('So it is.') + done({ follow_ups: [AIR, HOSTILE] }));
      await panel.openOn(`${BOOK}/docs`);
      await panel.ask(QUESTION);
      await expect(panel.last.locator('h4')).toHaveText(['You might ask']);
      await expect(panel.last.locator('.bookrag-example')).toHaveText([AIR, HOSTILE]);
      await expectPlainText(page);
      await expectAccessible(page, '.bookrag-panel');
      const sent = await sentWith(page, () => panel.last.getByRole('button', { name: AIR }).click());
      expect(sent.query).toBe(AIR);
      expect(sent.history).toHaveLength(2);
      await expect(panel.turns).toHaveCount(2);
    });
  });
}

test('the arrow keys go through the questions found and then the pages, and Enter asks a question', async ({ page, panel }) => {
  await findQuestions(page, ['Is the battery full?', 'What is a battery?']);
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('battery');
  const found = panel.root.locator('.bookrag-results .bookrag-example');
  await expect(found).toHaveCount(2);
  for (const next of [found.nth(0), found.nth(1), panel.results.first()]) {
    await page.keyboard.press('ArrowDown');
    await expect(next).toBeFocused();
  }
  await page.keyboard.press('ArrowUp');
  expect((await sentWith(page, () => page.keyboard.press('Enter'))).query).toBe('What is a battery?');
  await expect(panel.field).toHaveValue('');
});

test('proposals follow the reader to another page', async ({ page, panel }) => {
  const pages = await propose(page, PROPOSED);
  await panel.openOn(`${REACT18}/docs`);
  await expect(panel.root.locator('.bookrag-example')).toHaveCount(4);
  await page.getByRole('link', { name: 'Letter to the Reader' }).first().click();
  await expect.poll(() => pages.length).toBe(2);
  expect(pages[1]).toBe(new URL(page.url()).pathname);
});

test('a site with questions of its own asks for none', async ({ page, panel, exampleServer: _ }) => {
  const pages = await propose(page, PROPOSED);
  await panel.openOn(`${EXAMPLE}/`);
  await expect(panel.root.locator('.bookrag-example').first()).toBeVisible();
  expect(pages).toEqual([]);
});

test('a server that knows no questions leaves the headings of the page', async ({ page, panel }) => {
  await page.route('**/api/v1/questions?**', (route) => route.fulfill({ json: { success: true, data: {} }, headers: { 'Access-Control-Allow-Origin': '*' } }));
  await panel.openOn(`${REACT18}/docs`);
  await expect(panel.root.locator('.bookrag-proposals h3')).toHaveText('You might ask about');
});
