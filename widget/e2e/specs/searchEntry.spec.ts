import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible';
import { EXAMPLE, expect, QUESTION, REACT18, test } from '../support/test';

const ON_DEVICE = 'how to feed the starter';

const entryIn = (page: Page) => page.locator('.bookrag-search-entry');

/** Types in a search that runs on the reader's device, and waits for its results. */
async function searchOnDevice(page: Page): Promise<{ field: Locator; entry: Locator; list: Locator }> {
  await page.goto(`${EXAMPLE}/`);
  const field = page.locator('.navbar__search-input');
  await field.click();
  await field.pressSequentially(ON_DEVICE);
  const list = page.getByRole('listbox');
  await expect(list.getByRole('option')).not.toHaveCount(1);
  const entry = list.getByRole('option', { name: `Ask the baker: ${ON_DEVICE}` });
  await expect(entry).toBeVisible();
  return { field, entry, list };
}

/** Opens Algolia's search, which here finds two pages. */
async function searchAlgolia(page: Page): Promise<Locator> {
  const hit = (name: string) => ({
    objectID: name,
    url: `${REACT18}/docs`,
    type: 'lvl1',
    hierarchy: { lvl0: 'Docs', lvl1: name },
    _highlightResult: { hierarchy: { lvl0: { value: 'Docs' }, lvl1: { value: name } } },
    _snippetResult: {},
  });
  const hits = ['Soil', 'Wheels'].map(hit);
  const result = { hits, nbHits: 2, page: 0, nbPages: 1, hitsPerPage: 20, query: QUESTION, index: 'book' };
  await page.route(/algolia/, (route) => route.fulfill({ json: { results: [result] }, headers: { 'Access-Control-Allow-Origin': '*' } }));
  await page.goto(`${REACT18}/docs`);
  await page.locator('.DocSearch-Button').click();
  await page.locator('.DocSearch-Input').fill(QUESTION);
  await expect(page.locator('.DocSearch-Modal').getByRole('option')).toHaveCount(2);
  return page.locator('.DocSearch-Input');
}

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

test.describe('where Algolia may be asked', () => {
  test.use({ bypassCSP: true });

  test('the arrow keys go through Algolia’s results and the entry', async ({ page, panel, watched }) => {
    const field = await searchAlgolia(page);
    const entry = entryIn(page);
    await expect(entry).toBeVisible();
    const selected = page.locator('.DocSearch-Modal [role="option"][aria-selected="true"]');
    await expect(selected).toContainText('Soil');
    await page.keyboard.press('ArrowUp');
    await expect(entry).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(field).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(selected).toContainText('Wheels');
    await page.keyboard.press('ArrowDown');
    await expect(entry).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.locator('.DocSearch-Modal')).toHaveCount(0);
    await panel.answered();
    await expect(panel.last.locator('.bookrag-asked')).toHaveText(QUESTION);
    watched.foreign.splice(0);
  });
});

test('in a search on the device, the entry is the first of the results', async ({ page, panel, exampleServer: _ }) => {
  const { field, entry, list } = await searchOnDevice(page);
  const [ofEntry, ofList, ofResult] = await Promise.all([entry, list, list.getByRole('option').nth(1)].map((part) => part.boundingBox()));
  expect(ofEntry?.y).toBeGreaterThanOrEqual(ofList?.y ?? Infinity);
  expect((ofEntry?.y ?? 0) + (ofEntry?.height ?? 0)).toBeLessThanOrEqual(ofResult?.y ?? 0);
  await expectAccessible(page, '.bookrag-search-entry');
  await entry.click();
  await panel.answered();
  await expect(panel.last.locator('.bookrag-asked')).toHaveText(ON_DEVICE);
  await expect(list).toBeHidden();
  await field.fill('');
  await expect(entryIn(page)).toHaveCount(0);
});

test('the arrow keys go through the results of a search on the device and the entry', async ({ page, panel, exampleServer: _ }) => {
  const { field, entry, list } = await searchOnDevice(page);
  await page.keyboard.press('ArrowUp');
  await expect(entry).toBeFocused();
  await expect(list).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(field).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await field.click();
  await expect(entry).toBeVisible();
  const results = await list.getByRole('option').count() - 1;
  for (let pressed = 0; pressed < results; pressed++) await page.keyboard.press('ArrowDown');
  await expect(entry).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.answered();
  await expect(list).toBeHidden();
});
