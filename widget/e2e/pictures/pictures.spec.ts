// Takes the screenshots in the READMEs: `npm run pictures`.

import path from 'node:path';
import { REPOSITORY } from '../harness/paths';
import { highlighted } from '../support/panel';
import { BOOK, EXAMPLE, expect, LESSON, QUESTION, SERVE, test } from '../support/test';

const to = (name: string) => path.join(REPOSITORY, 'docs', name);

// Avoids the animation of the sidebar's folders.
test.use({ contextOptions: { reducedMotion: 'reduce' } });

test('the panel beside a page, with the passage that it cites', async ({ page, panel, model }) => {
  model.writes(({ passages }) => {
    const numberOf = (words: string) => passages.find(({ text }) => text.includes(words))?.n;
    const air = numberOf('leave it hanging free for two minutes');
    const water = numberOf('Fill a tall glass');
    return [
      `Wash the probe, dry it with a cloth and leave it hanging free for two minutes, then take the air point [${air}]:\n\n`,
      '```bash\nsprigctl probe calibrate --port P3 --point air --samples 50\n```\n\n',
      `Then put it into a tall glass of tap water, up to the white line, and take the water point in the same way. [${water}]\n`,
    ];
  });
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await panel.markers.first().click();
  await expect(page).toHaveURL(`${new URL(BOOK).origin}${LESSON}#the-air-point`);
  await expect.poll(() => highlighted(page)).not.toBe('');
  await page.mouse.move(0, 0);
  await page.screenshot({ path: to('widget.png') });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 780 }, deviceScaleFactor: 1.5, hasTouch: true, isMobile: true, colorScheme: 'dark' });

  test('the panel over an Urdu page, dark', async ({ page, panel, exampleServer: _ }) => {
    await page.addInitScript(() => localStorage.setItem('theme', 'dark'));
    await page.goto(`${EXAMPLE}/ur/`);
    await panel.button.tap();
    await panel.field.fill('خمیر کو کتنی بار خوراک دیں؟');
    await panel.field.press('Enter');
    await expect(panel.last.locator('.bookrag-actions')).toBeVisible();
    await page.screenshot({ path: to('widget-narrow.png') });
  });
});

test.describe('without a model', () => {
  test.beforeAll(({ server }) => server.restart({ BOOKRAG_GENERATOR: 'extractive' }));
  test.afterAll(({ server }) => server.restart());
  test.use({ viewport: { width: 900, height: 760 } });

  test('the page of serve', async ({ page }) => {
    await page.goto(SERVE);
    await page.getByRole('textbox').fill('To what torque are wheel screws tightened?');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
    await page.screenshot({ path: to('page.png') });
  });
});
