import { BOOK, expect, QUESTION, REACT18, test } from '../support/test';

test('a site that has ejected its layout has the panel all the same, with plain code', async ({ page, panel, model }) => {
  model.says('Run it:\n\n```bash\nsprigctl probe calibrate\n```\n');
  await panel.openOn(`${REACT18}/docs`);
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('pre code')).toHaveText('sprigctl probe calibrate');
  await expect(panel.answer.locator('.theme-code-block')).toHaveCount(0);
  await page.getByRole('link', { name: 'Letter to the Reader' }).first().click();
  await expect(panel.turns).toHaveCount(1);
});

test('a site with its theme’s layout has one panel', async ({ page, panel }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toHaveCount(1);
});
