import { expectAccessible } from '../support/accessible';
import { BOOK, expect, QUESTION, test } from '../support/test';

test('a page without Docusaurus has the panel by a script alone', async ({ page, panel, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}] And $x^2$.`]);
  await page.goto(`${BOOK}/plain.html`);
  await panel.button.click();
  await expect(panel.field).toBeFocused();
  await expect(panel.root).toHaveAccessibleName('Ask Sprig');
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('math')).toBeVisible();
  await expectAccessible(page, '.bookrag-panel');
  const href = await panel.markers.first().getAttribute('href');
  await panel.markers.first().click();
  await expect(page).toHaveURL(new URL(href ?? '', BOOK).href);
});

test('on another site than the book’s, links lead to the book', async ({ page, panel }) => {
  await page.goto(`${BOOK}/elsewhere.html`);
  await panel.button.click();
  await panel.ask(QUESTION);
  for (const link of [panel.markers.first(), panel.sources.first()]) {
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/book\.example\/garden-robotics\//);
    await expect(link).toHaveAttribute('target', '_blank');
  }
});
