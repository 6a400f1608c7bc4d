import { expectAccessible } from '../support/accessible';
import { done, event, replyWith, token } from '../support/reply';
import { BOOK, expect, QUESTION, test } from '../support/test';

const CITATION = { n: 1, url: '/garden-robotics/docs#what-sprig-is', title: 'Garden Robotics', section: 'What Sprig Is', chapter: '', quote: 'Sprig is a robot for the garden.' };

test.beforeEach(async ({ page, panel }) => {
  await replyWith(page, token('Sprig is a robot. [1]') + event('citation', CITATION) + done({ citations: [CITATION] }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
});

test('a mouse over a citation shows its passage, and can go there', async ({ page, panel }) => {
  const preview = panel.answer.getByRole('tooltip');
  await panel.markers.first().hover();
  await expect(preview).toBeVisible();
  await expect(preview).toContainText('Sprig is a robot for the garden.');
  await preview.hover();
  await expect(preview).toBeVisible();
  const box = (await preview.boundingBox())!;
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(1280);
  await page.mouse.move(10, 10);
  await expect(preview).toHaveCount(0);
});

test('the focus of a keyboard shows the passage and describes the link; Escape hides it and leaves the panel open', async ({ page, panel }) => {
  const marker = panel.markers.first();
  await panel.root.getByRole('region', { name: 'Questions and answers' }).focus();
  await page.keyboard.press('Tab');
  await expect(marker).toBeFocused();
  await expect(panel.answer.getByRole('tooltip')).toBeVisible();
  await expect(marker).toHaveAccessibleDescription(/Sprig is a robot for the garden/);
  await expectAccessible(page, '.bookrag-panel');
  await page.keyboard.press('Escape');
  await expect(panel.answer.getByRole('tooltip')).toHaveCount(0);
  await expect(panel.root).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(panel.root).toHaveCount(0);
});

test('each marker shows the sentence that supports what stands before it', async ({ page, panel }) => {
  const citation = { ...CITATION, support: ['Sprig weighs six kilograms.', null] };
  const text = '| a |\n|---|\n| Six kilograms [1] |\n\nIt is a robot [1].';
  await replyWith(page, token(text) + event('citation', CITATION) + done({ citations: [citation] }));
  await panel.ask('How heavy is Sprig?');
  const preview = panel.answer.getByRole('tooltip');
  for (const [marker, quote] of [[0, 'Sprig weighs six kilograms.'], [1, CITATION.quote]] as const) {
    await panel.markers.nth(marker).hover();
    await expect(preview).toContainText(quote);
    await page.mouse.move(10, 10);
    await expect(preview).toHaveCount(0);
  }
});
