import { expectAccessible } from '../support/accessible';
import { highlighted, markDocument } from '../support/panel';
import { findQuestions } from '../support/questions';
import { BOOK, expect, test } from '../support/test';

test('typing shows pages, and asks nothing', async ({ panel, page }) => {
  const asked: string[] = [];
  page.on('request', (request) => /\/api\/v1\/chat/.test(request.url()) && asked.push(request.url()));
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.pressSequentially('battery');
  await expect(panel.results.first()).toBeVisible();
  await expect(panel.root.getByRole('region', { name: 'Pages of the docs' })).toContainText(/battery/i);
  await expect(panel.root.locator('.bookrag-results mark').first()).toHaveText(/^batter/i);
  await expectAccessible(page, '.bookrag-panel');
  expect(asked).toEqual([]);
});

test('a result leads to its section without loading the page anew', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  const expectSameDocument = await markDocument(page);
  await panel.field.fill('solar dock');
  const href = (await panel.results.first().getAttribute('href')) ?? '';
  await panel.results.first().click();
  await expect(page).toHaveURL(new URL(href, BOOK).href);
  await expect.poll(() => highlighted(page)).not.toBe('');
  await expectSameDocument();
});

test('the arrow keys go through the pages found, and Enter opens one', async ({ panel, page }) => {
  await findQuestions(page, []);
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('battery');
  await expect(panel.results.nth(1)).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(panel.results.first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(panel.results.nth(1)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(panel.field).toBeFocused();
  await page.keyboard.press('ArrowDown');
  const href = (await panel.results.first().getAttribute('href')) ?? '';
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new URL(href, BOOK).href);
});

test('an empty field shows no pages', async ({ panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('battery');
  await expect(panel.results.first()).toBeVisible();
  await panel.field.fill('');
  await expect(panel.results).toHaveCount(0);
});

test('words without a match are reported', async ({ panel, page }) => {
  await page.route('**/api/v1/search', (route) => route.fulfill({ json: { success: true, data: { results: [] } } }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('zzzz');
  await expect(panel.root.getByText('No page found.').first()).toBeVisible();
});

test('pages are found while the chat model is away', async ({ panel, model }) => {
  model.fails(500);
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('battery');
  await expect(panel.results.first()).toBeVisible();
});

test('a rate-limited search shows the wait and then continues', async ({ panel, page }) => {
  let asked = 0;
  await page.route('**/api/v1/search', (route) => {
    asked += 1;
    return asked === 1
      ? route.fulfill({ status: 429, headers: { 'Access-Control-Allow-Origin': '*' }, json: { error: { code: 'rate_limited', retry_after: 2 } } })
      : route.continue();
  });
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('battery');
  await expect(panel.root.locator('.bookrag-results')).toContainText('Search again in 2 s.');
  await expect(panel.results.first()).toBeVisible();
  expect(asked).toBe(2);
});
