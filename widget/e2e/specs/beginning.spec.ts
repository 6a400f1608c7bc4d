import { expectAccessible } from '../support/accessible';
import { withoutQuestions } from '../support/questions';
import { EXAMPLE, expect, REACT18, SERVE, test } from '../support/test';

const LESSON = `${REACT18}/docs/module-1-foundations/chapter-1-sensing/soil-moisture`;

test('without questions of its own or of the book a site offers the headings of the open page, to begin with', async ({ page, panel }) => {
  await withoutQuestions(page);
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

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('without any questions the page of serve offers titles of its pages, to begin with', async ({ page }) => {
      await withoutQuestions(page);
      await page.goto(SERVE);
      const offered = page.locator('.bookrag-proposals .bookrag-example');
      await expect(page.locator('.bookrag-proposals h3')).toHaveText('You might ask about');
      await expect(offered).toHaveCount(4);
      await expectAccessible(page);
      const title = (await offered.nth(1).textContent()) ?? '';
      expect(await (await page.request.get(`${SERVE}/llms.txt`)).text()).toContain(`- [${title}](`);
      await offered.nth(1).click();
      await expect(page.getByRole('textbox')).toBeFocused();
      await expect(page.getByRole('textbox')).toHaveValue(title);
      await expect(page.locator('.bookrag-results a').first()).toBeVisible();
      await expect(page.locator('.bookrag-turn'), 'a title is not asked').toHaveCount(0);
    });
  });
}

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
