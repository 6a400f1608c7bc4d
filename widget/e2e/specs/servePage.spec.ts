import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { expect, LESSON, NOT_IN_BOOK, QUESTION, SERVE, test } from '../support/test';

const ANSWER = 'Wash the probe, dry it with a cloth and leave it hanging free for two minutes.';

test.beforeEach(({ model }) => {
  model.writes(({ passages }) => [ANSWER, ` [${passages.find(({ text }) => text.includes(ANSWER))?.n}]`]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('a question is answered, and its citation leads to the heading', async ({ page }) => {
      await page.goto(SERVE);
      await expect(page).toHaveTitle('Garden Robotics');
      await expectAccessible(page);
      await page.getByRole('textbox', { name: 'Your question' }).fill(QUESTION);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
      await expect(page.locator('.bookrag-answer')).toContainText(ANSWER);
      await expectAccessible(page);
      const source = page.locator('.bookrag-sources a').first();
      await expect(source).toHaveAttribute('href', `${LESSON}#the-air-point`);
      await source.click();
      await expect(page).toHaveURL(`${SERVE}${LESSON}#the-air-point`);
      await expect(page.locator(':target')).toBeInViewport();
    });

    test('a question that is not covered is refused, with the closest pages', async ({ page }) => {
      await page.goto(SERVE);
      await page.getByRole('textbox').fill(NOT_IN_BOOK);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'Closest pages' })).toBeVisible();
      await expectAccessible(page);
    });

    test('pages are found while a question is typed', async ({ page }) => {
      await page.goto(SERVE);
      await page.getByRole('textbox').fill('battery');
      await expect(page.locator('.bookrag-results a').first()).toBeVisible();
      await expectAccessible(page);
    });
  });
}

test('an answer can be stopped, by the button and by the Escape key', async ({ page, model }) => {
  const rest = gate();
  model.writes(async function* () {
    yield 'Half an answer. ';
    await rest.opened;
  });
  await page.goto(SERVE);
  const field = page.getByRole('textbox');
  await field.fill(QUESTION);
  await page.keyboard.press('Enter');
  await expect(page.locator('.bookrag-answer')).toContainText('Half an answer.');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.bookrag-note')).toHaveText('Stopped.');
  await page.getByRole('button', { name: 'Ask again' }).click();
  await expect(page.locator('.bookrag-answer')).toContainText('Half an answer.');
  await page.keyboard.press('Escape');
  await expect(page.locator('.bookrag-note')).toHaveText('Stopped.');
  rest.open();
});

test('the slash leads to the field, and a citation is followed, by keys alone', async ({ page }) => {
  await page.goto(SERVE);
  await expect(page).toHaveTitle('Garden Robotics');
  await page.keyboard.press('/');
  await expect(page.getByRole('textbox')).toBeFocused();
  await page.keyboard.type(QUESTION);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  await page.locator('.bookrag-marker a').first().focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#the-air-point$/);
});

test('an address may contain a question, asked once', async ({ page }) => {
  await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
  await expect(page.locator('.bookrag-answer')).toContainText(ANSWER);
  await expect(page).toHaveURL(`${SERVE}/`);
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  await page.reload();
  await expect(page.locator('.bookrag-turn')).toHaveCount(1);
});

test('the page fits a screen of 320 pixels', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  await expectAccessible(page);
});

test('readers of Urdu see the page in Urdu', async ({ browser }) => {
  const context = await browser.newContext({ locale: 'ur-PK' });
  const page = await context.newPage();
  await page.goto(SERVE);
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
  await expect(page.getByRole('textbox', { name: 'آپ کا سوال' })).toBeVisible();
  await expectAccessible(page);
  await context.close();
});

test('while the book is indexed for the first time the page says how far that is', async ({ page }) => {
  let done = 5;
  await page.route('**/local/book', async (route) => {
    const response = await route.fetch();
    const indexing = done < 63 ? { done, total: 63 } : null;
    await route.fulfill({ response, json: { ...(await response.json()), indexing } });
  });
  await page.goto(SERVE);
  const facts = page.locator('.bookrag-facts');
  await expect(facts).toContainText('Indexing: 5 of 63 pages.');
  await expectAccessible(page);
  done = 63;
  await expect(facts).toContainText('Passages:');
});
