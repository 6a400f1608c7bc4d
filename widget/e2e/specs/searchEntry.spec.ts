import { expectAccessible } from '../support/accessible';
import { BOOK, expect, QUESTION, REACT18, test } from '../support/test';

test('what is typed in Algolia’s search can be asked', async ({ page, panel, watched }) => {
  await page.goto(`${REACT18}/docs`);
  await page.locator('.DocSearch-Button').click();
  await page.locator('.DocSearch-Input').fill(QUESTION);
  const entry = page.getByRole('button', { name: `Ask: ${QUESTION}` });
  await expect(entry).toBeVisible();
  await entry.click();
  await expect(page.locator('.DocSearch-Modal')).toHaveCount(0);
  await panel.answered();
  await expect(panel.last.locator('.bookrag-asked')).toHaveText(QUESTION);
  // Algolia's search asks Algolia, which the site's policy forbids here.
  watched.foreign.splice(0);
  watched.faults.splice(0);
});

test('what is typed in a search field of the navbar can be asked by keyboard', async ({ page, panel }) => {
  await page.goto(`${BOOK}/fields`);
  await expect(panel.button).toBeVisible();
  const field = page.locator('.navbar__search-input');
  await field.fill(QUESTION);
  const entry = page.getByRole('button', { name: `Ask: ${QUESTION}` });
  await expect(entry).toBeVisible();
  await expectAccessible(page, '.navbar__search');
  await field.fill('');
  await expect(entry).toHaveCount(0);
  await field.fill(QUESTION);
  await page.keyboard.press('Tab');
  await expect(entry).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.answered();
});
