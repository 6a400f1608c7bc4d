import { BOOK, expect, LESSON, QUESTION, test } from '../support/test';

test('a copied link asks the question again, once, on the page it was asked on', async ({ panel, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await panel.openOn(new URL(LESSON, BOOK).href);
  await panel.ask(QUESTION);
  await panel.last.getByRole('button', { name: 'Copy a link' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toBe(`${new URL(LESSON, BOOK).href}?ask=${encodeURIComponent(QUESTION)}`);

  const reader = await context.newPage();
  await reader.goto(link);
  const turns = reader.locator('.bookrag-turn');
  await expect(turns.locator('.bookrag-asked')).toHaveText(QUESTION);
  await expect(reader).toHaveURL(new URL(LESSON, BOOK).href);
  await expect(reader.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  await reader.reload();
  await expect(turns).toHaveCount(1);
});

test('other parameters of a link stay, and an empty question opens nothing', async ({ panel, page }) => {
  await page.goto(`${BOOK}/docs?a=1&ask=Why%3F#what-sprig-is`);
  await expect(panel.turns).toHaveCount(1);
  await expect(page).toHaveURL(`${BOOK}/docs?a=1#what-sprig-is`);
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${BOOK}/docs?ask=`);
  await expect(panel.button).toBeVisible();
  await expect(panel.root).toHaveCount(0);
});

test('a question about selected text has no link', async ({ panel, page }) => {
  await page.goto(new URL(LESSON, BOOK).href);
  // A selection is noticed only once the page's scripts run.
  await expect(panel.button).toBeVisible();
  await page.locator('article p').nth(2).click({ clickCount: 3 });
  await panel.offer.click();
  await panel.ask(QUESTION);
  await expect(panel.last.getByRole('button', { name: 'Copy a link' })).toHaveCount(0);
});
