import { EXAMPLE, expect, REACT18, test } from '../support/test';

const LESSON = `${REACT18}/docs/module-1-foundations/chapter-1-sensing/soil-moisture`;

test('without questions of its own or of the book a site offers the headings of the open page, to begin with', async ({ page, panel }) => {
  await page.route('**/api/v1/questions?**', (route) => route.fulfill({ json: { success: true, data: { questions: [] } }, headers: { 'Access-Control-Allow-Origin': '*' } }));
  await panel.openOn(LESSON);
  const offered = panel.root.locator('.bookrag-example');
  await expect(panel.root.locator('.bookrag-proposals h3')).toHaveText('You might ask about');
  const headings = await page.locator('article h2').evaluateAll((all) => all.map((heading) => heading.firstChild?.textContent));
  for (const text of await offered.allTextContents()) expect(headings).toContain(text);
  const heading = (await offered.nth(1).textContent()) ?? '';
  await offered.nth(1).click();
  await expect(panel.field).toBeFocused();
  await expect(panel.field).toHaveValue(heading);
  await expect(panel.results.first()).toBeVisible();
  await expect(panel.turns, 'a heading is not asked').toHaveCount(0);
});

test('a page without headings offers titles of the book’s pages', async ({ panel }) => {
  await panel.openOn(`${REACT18}/`);
  await expect(panel.root.locator('.bookrag-example')).toHaveCount(4);
});

test('headings follow the reader to another page', async ({ page, panel }) => {
  await panel.openOn(LESSON);
  const offered = panel.root.locator('.bookrag-example');
  const before = await offered.allTextContents();
  await page.getByRole('link', { name: 'Letter to the Reader' }).first().click();
  await expect.poll(() => offered.allTextContents()).not.toEqual(before);
});

test('a site’s own questions come in the place of headings', async ({ panel, exampleServer: _ }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await expect(panel.root.locator('.bookrag-proposals h3')).toHaveText('You might ask');
});
