import { expectAccessible } from '../support/accessible';
import { done, event, replyWith, token } from '../support/reply';
import { BOOK, expect, NOT_IN_BOOK, test } from '../support/test';

test('a question that is not covered is refused, with existing closest pages', async ({ panel, page, request }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(NOT_IN_BOOK);
  await expect(panel.answer).toContainText("I don't have information on that");
  await expect(panel.sources).toHaveCount(0);
  const links = panel.last.locator('.bookrag-nearest').getByRole('link');
  await expect(links.first()).toBeVisible();
  for (const link of await links.all()) {
    const href = (await link.getAttribute('href')) ?? '';
    expect((await request.get(new URL(href, BOOK).href)).status(), href).toBe(200);
  }
  await expectAccessible(page, '.bookrag-panel');
});

test('a suggestion leads to its page', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(NOT_IN_BOOK);
  const link = panel.last.locator('.bookrag-nearest a').first();
  const href = (await link.getAttribute('href')) ?? '';
  await link.click();
  await expect(page).toHaveURL(new URL(href, BOOK).href);
  await expect(page.locator('article h1')).toBeVisible();
});

test('an answer that is not certain names the closest sections and says what they are', async ({ panel, page }) => {
  const citation = { n: 1, url: '/docs/soil', title: 'Soil', section: 'Loam', quote: 'Loam holds water.' };
  const text = token('I am not sure that the book answers this. These sections come closest:\n\n- Soil – Loam [1]');
  const end = done({ answered: false, outcome: 'uncertain', citations: [citation] });
  await replyWith(page, text + event('citation', citation) + end);
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask('Does loam hold oil?');
  await expect(panel.last).toHaveClass(/bookrag-uncertain/);
  await expect(panel.sources).toHaveCount(1);
  await expect(panel.last.locator('.bookrag-sources h4')).toHaveText('Closest sections, perhaps not an answer');
  await expect(panel.last.locator('.bookrag-nearest')).toHaveCount(0);
  await expectAccessible(page, '.bookrag-panel');
});
