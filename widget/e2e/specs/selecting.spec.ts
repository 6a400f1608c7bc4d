import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible';
import { sentWith } from '../support/panel';
import { BOOK, expect, LESSON, test } from '../support/test';

const SENTENCE = 'Wash the probe, dry it with a cloth and leave it hanging free for two minutes.';

/** Selects a paragraph as a reader does. */
async function select(paragraph: Locator): Promise<void> {
  await paragraph.scrollIntoViewIfNeeded();
  await paragraph.click({ clickCount: 3 });
}

async function lesson(page: Page): Promise<void> {
  await page.goto(new URL(LESSON, BOOK).href);
  // The static page allows reading and selecting before any listener is attached.
  await expect(page.locator('.bookrag-button')).toBeVisible();
}

const paragraphOf = (page: Page) => page.locator('article p', { hasText: SENTENCE });

test('a selection is offered to be asked about, and sent with the question', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [SENTENCE, ` [${passages.find(({ text }) => text.includes(SENTENCE))?.n}]`]);
  await lesson(page);
  await select(paragraphOf(page));
  await expect(panel.offer).toHaveText('Ask about this');
  await expectAccessible(page, '.bookrag-loader');
  await panel.offer.click();
  await expect(panel.field).toBeFocused();
  await expect(panel.root.locator('.bookrag-about')).toContainText(SENTENCE);
  await expectAccessible(page, '.bookrag-panel');

  const sent = await sentWith(page, () => panel.ask('How do I prepare the probe?'));
  expect(sent).toMatchObject({ mode: 'selected_text', page_url: LESSON });
  expect(sent.selected_text).toContain(SENTENCE);
  await expect(panel.last.locator('.bookrag-selection')).toContainText(SENTENCE);
  for (const { from } of model.prompts.at(-1)?.passages ?? []) expect(from).toContain('Lesson 1.1: Reading Soil Moisture');
  await expect(panel.markers.first()).toHaveAttribute('href', `${LESSON}#the-air-point`);
  await expect(panel.root.locator('.bookrag-about'), 'the next question is about the book').toHaveCount(0);
});

test('the shortcut asks about the selection, too', async ({ panel, page }) => {
  await lesson(page);
  await select(paragraphOf(page));
  await page.keyboard.press('Control+.');
  await expect(panel.root.locator('.bookrag-about')).toContainText(SENTENCE);
});

test('the offer ends with the selection', async ({ panel, page }) => {
  await lesson(page);
  await select(paragraphOf(page));
  await expect(panel.offer).toBeVisible();
  await page.locator('article h1').click();
  await expect(panel.offer).toHaveCount(0);
});

test('menus and single words are not offered', async ({ panel, page }) => {
  await lesson(page);
  await select(paragraphOf(page));
  await expect(panel.offer).toBeVisible();
  await page.locator('nav.menu').evaluate((menu) => getSelection()?.selectAllChildren(menu));
  await expect(panel.offer).toHaveCount(0);
  await select(paragraphOf(page));
  await expect(panel.offer).toBeVisible();
  await paragraphOf(page).dblclick({ position: { x: 10, y: 10 } });
  await expect(panel.offer).toHaveCount(0);
});

test('if the selection does not answer, the whole book can be asked', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [`Use the torque driver. [${passages[0]?.n}]`]);
  await lesson(page);
  await select(paragraphOf(page));
  await panel.offer.click();
  model.says("I don't have information on that in the section you selected.");
  await panel.ask('How tight do the wheel screws go?');
  await expect(panel.sources).toHaveCount(0);
  model.writes(({ passages }) => [`The wheel screws. [${passages[0]?.n}]`]);
  const sent = await sentWith(page, async () => {
    await panel.last.getByRole('button', { name: 'Ask all of the docs' }).click();
    await expect(panel.turns).toHaveCount(2);
    await panel.answered();
  });
  expect(sent.mode).toBe('global_book');
  expect(sent).not.toHaveProperty('selected_text');
  await expect(panel.sources.first()).toBeVisible();
});

test('a selection may be dropped before asking', async ({ panel, page }) => {
  await lesson(page);
  await select(paragraphOf(page));
  await panel.offer.click();
  await panel.root.getByRole('button', { name: 'Ask about all of the docs instead' }).click();
  await expect(panel.field).toBeFocused();
  const sent = await sentWith(page, () => panel.ask('How tight do the wheel screws go?'));
  expect(sent.mode).toBe('global_book');
});
