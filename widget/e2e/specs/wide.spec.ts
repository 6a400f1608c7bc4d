import { expectAccessible } from '../support/accessible';
import { highlighted } from '../support/panel';
import { BOOK, expect, QUESTION, test } from '../support/test';

test('the panel can cover the page, keeps its focus, and makes way for a passage', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const widen = panel.root.getByRole('button', { name: 'Widen the panel' });
  await widen.focus();
  await page.keyboard.press('Enter');
  await expect(panel.root.getByRole('button', { name: 'Put the panel beside the page' })).toBeFocused();
  expect(await panel.root.evaluate((root) => root.matches(':modal'))).toBe(true);
  expect((await panel.root.boundingBox())!.width).toBeGreaterThan(1200);
  await expectAccessible(page, '.bookrag-panel');
  const href = (await panel.sources.first().getAttribute('href')) ?? '';
  await panel.sources.first().click();
  await expect.poll(() => panel.root.evaluate((root) => root.matches(':modal'))).toBe(false);
  await expect(page.locator(`[id="${href.split('#')[1]}"]`)).toBeFocused();
  await expect.poll(() => highlighted(page)).not.toBe('');
  expect((await panel.root.boundingBox())!.width).toBeLessThan(600);
});
