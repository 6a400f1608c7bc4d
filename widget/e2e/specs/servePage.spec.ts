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
      const opened = page.waitForEvent('popup');
      await source.click();
      const book = await opened;
      await expect(book).toHaveURL(`${SERVE}${LESSON}#the-air-point`);
      await expect(book.locator(':target')).toBeInViewport();
      // The answer stays where it is.
      await expect(page.locator('.bookrag-answer')).toContainText(ANSWER);
    });

    test('code has the colours of its language, which can be read', async ({ page, model }) => {
      const code = "'use strict';\n// Calibrates.\nfunction calibrate(probe: Probe): number { return probe.air * 2; }";
      model.writes(({ passages }) => [`${ANSWER} [${passages.find(({ text }) => text.includes(ANSWER))?.n}]\n\n\`\`\`ts\n${code}\n\`\`\`\n`]);
      await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
      await expect(page.locator('.token.keyword').first()).toHaveText('function');
      await expect(page.locator('.bookrag-code code')).toContainText('function calibrate(probe: Probe)');
      await expectAccessible(page);
    });

    test('a question that is not covered is refused, with the closest sections', async ({ page }) => {
      await page.goto(SERVE);
      await page.getByRole('textbox').fill(NOT_IN_BOOK);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'Closest sections' })).toBeVisible();
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

test('a link asks its question, and what readers asked is listed', async ({ page }) => {
  await page.goto(`${SERVE}/?ask=${encodeURIComponent(NOT_IN_BOOK)}`);
  await expect(page.getByRole('heading', { name: 'Closest sections' })).toBeVisible();
  await expect(page).toHaveURL(`${SERVE}/`);
  await page.getByRole('link', { name: 'What readers asked' }).click();
  await expect(page).toHaveURL(`${SERVE}/insights`);
  await expect(page.getByRole('heading', { name: 'Not covered', exact: true })).toBeVisible();
  await expect(page.getByText(NOT_IN_BOOK).first()).toBeVisible();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('what readers asked is shown for the period that is chosen', async ({ page }) => {
      await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
      await page.getByRole('button', { name: 'Not helpful' }).click();
      await page.getByLabel('What was wrong or missing?').fill('It leaves out the <b>water point</b>.');
      await page.getByRole('button', { name: 'Send' }).click();
      await expect(page.getByText('Thanks for the feedback.').first()).toBeVisible();
      await page.goto(`${SERVE}/insights`);
      const period = page.getByRole('navigation', { name: 'Period' });
      await expect(period.getByRole('link', { name: '30 days' })).toHaveAttribute('aria-current', 'page');
      await period.getByRole('link', { name: '7 days' }).click();
      await expect(page).toHaveURL(`${SERVE}/insights?days=7`);
      await expect(page.getByText('The last 7 days.')).toBeVisible();
      await expect(page.locator('svg g')).toHaveCount(7);
      await expect(page.locator('blockquote').first()).toHaveText('It leaves out the <b>water point</b>.');
      await expectAccessible(page);
      await page.setViewportSize({ width: 320, height: 640 });
      await page.getByText('The numbers').click();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
    });
  });
}

test('the page has the title and the colours of the site, in the mode that a reader chooses', async ({ page, exampleServer }) => {
  const primary = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--ifm-color-primary'));
  await page.goto(exampleServer.url);
  await expect(page).toHaveTitle('Keeping a Sourdough');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Keeping a Sourdough');
  expect(await primary()).toBe('rgb(138 75 18)');
  await page.getByRole('button', { name: 'Use dark colours' }).click();
  expect(await primary()).toBe('rgb(240 178 122)');
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Use light colours' })).toBeVisible();
  expect(await primary()).toBe('rgb(240 178 122)');
});

test('the field stands above the questions to ask until one is asked, and below the answer then', async ({ page, exampleServer }) => {
  await page.goto(exampleServer.url);
  const top = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? NaN;
  await expect(page.locator('.bookrag-proposals button').first()).toBeVisible();
  expect(await top('.bookrag-composer')).toBeLessThan(await top('.bookrag-proposals'));
  await page.locator('.bookrag-proposals button').first().click();
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  expect(await top('.bookrag-composer')).toBeGreaterThan(await top('.bookrag-answer'));
});

test('on a wide screen the sources stand beside the answer', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  const [answer, sources] = await Promise.all(['.bookrag-answer', '.bookrag-sources'].map((part) => page.locator(part).boundingBox()));
  expect(sources?.x).toBeGreaterThan((answer?.x ?? NaN) + (answer?.width ?? NaN));
  await expectAccessible(page);
});

test('a greeting is answered with questions to ask', async ({ page }) => {
  await page.goto(SERVE);
  await page.getByRole('textbox').fill('hello');
  await page.keyboard.press('Enter');
  await expect(page.locator('.bookrag-answer')).toContainText('Garden Robotics');
  await expect(page.locator('.bookrag-next button')).toHaveCount(3);
  await expectAccessible(page);
});

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

test('a reader can type at once; the slash leads back to the field, and a citation is followed, by keys alone', async ({ page }) => {
  await page.goto(SERVE);
  await expect(page).toHaveTitle('Garden Robotics');
  await expect(page.getByRole('textbox')).toBeFocused();
  await page.getByRole('link', { name: 'API reference' }).focus();
  await page.keyboard.press('/');
  await expect(page.getByRole('textbox')).toBeFocused();
  await page.keyboard.type(QUESTION);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  await page.locator('.bookrag-marker a').first().focus();
  const opened = page.waitForEvent('popup');
  await page.keyboard.press('Enter');
  await expect(await opened).toHaveURL(/#the-air-point$/);
});

test('a slash in another field is written there', async ({ page }) => {
  await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
  await page.getByRole('button', { name: 'Not helpful' }).click();
  const comment = page.getByLabel('What was wrong or missing?');
  const edgeOf = async (selector: string, edge: 'top' | 'bottom') =>
    page.locator(selector).evaluate((element, edge) => element.getBoundingClientRect()[edge as 'top'], edge);
  await expect.poll(async () => (await edgeOf('.bookrag-comment', 'bottom')) <= (await edgeOf('.bookrag-composer', 'top'))).toBe(true);
  await comment.focus();
  await page.keyboard.type('either/or');
  await expect(comment).toHaveValue('either/or');
  await expect(comment).toBeFocused();
});

test('citations that are followed one after the other open in one tab', async ({ page, context }) => {
  await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
  const opened = page.waitForEvent('popup');
  await page.locator('.bookrag-sources a').first().click();
  const book = await opened;
  await book.waitForURL(/#the-air-point$/);
  await book.goto(`${SERVE}/`);
  await page.locator('.bookrag-sources a').first().click();
  await book.waitForURL(/#the-air-point$/);
  expect(context.pages()).toHaveLength(2);
});

test('a language and a version that are chosen are asked, also after a reload', async ({ page }) => {
  const locales = [{ name: 'en', path: '/' }, { name: 'ur', path: '/ur/' }];
  const versions = [{ name: '2.0', path: '' }, { name: '1.0', path: 'docs/1.0/' }];
  await page.route('**/local/book', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), locales, versions } });
  });
  const asked: unknown[] = [];
  await page.route('**/api/v1/chat', async (route) => {
    asked.push(route.request().postDataJSON().page_url);
    await route.continue();
  });
  const ask = async () => {
    await page.getByRole('textbox').fill(QUESTION);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Copy the answer' })).toHaveCount(asked.length);
  };
  await page.goto(SERVE);
  const version = page.getByRole('combobox', { name: 'Version of the docs' });
  await expect(version).toHaveValue('2.0');
  await expectAccessible(page);
  await ask();
  await page.getByRole('combobox', { name: 'Language of the docs' }).selectOption('Urdu');
  await version.selectOption('1.0');
  await ask();
  await page.goto(`${SERVE}/?version=1.0`);
  await expect(version).toHaveValue('1.0');
  await ask();
  expect(asked).toEqual([undefined, '/ur/docs/1.0/', '/docs/1.0/']);
});

test('the API has a reference, made here of its description, under the policy of the page', async ({ page }) => {
  const refused: string[] = [];
  page.on('console', (message) => message.text().includes('Content Security Policy') && refused.push(message.text()));
  await page.goto(SERVE);
  await page.getByRole('link', { name: 'API reference' }).click();
  await expect(page).toHaveURL(`${SERVE}/api/reference`);
  await expect(page.locator('#operations-default-chat')).toContainText('/api/v1/chat');
  expect(refused).toEqual([]);
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
