import { expectAccessible } from '../support/accessible';
import { EXAMPLE, expect, test } from '../support/test';

test.use({ locale: 'en-GB' });
test.beforeEach(({ exampleServer: _ }) => {});

test('the button has the site’s text, picture and corner', async ({ page, panel }) => {
  await page.goto(`${EXAMPLE}/`);
  await expect(panel.button).toHaveText('Ask the baker');
  const picture = panel.button.locator('img');
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  expect((await panel.button.boundingBox())!.x).toBeLessThan(100);
  await expectAccessible(page, '.bookrag-loader');
});

test('what the book does not cover can be asked of people', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await panel.ask('What is the capital of France?');
  const link = panel.last.getByRole('link', { name: 'Ask people instead' });
  await expect(link).toHaveAttribute('href', 'https://forum.example.org/new?title=What%20is%20the%20capital%20of%20France%3F');
  await expectAccessible(page, '.bookrag-panel');
});
