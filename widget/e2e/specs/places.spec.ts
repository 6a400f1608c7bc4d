import { expectAccessible } from '../support/accessible';
import { markDocument, sentWith } from '../support/panel';
import { EXAMPLE, expect, test } from '../support/test';

test.use({ locale: 'en-GB' });
test.beforeEach(({ exampleServer: _ }) => {});

const OVEN = 'How hot do I heat the oven?';

test('a page of the current version is answered from the current version', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/`);
  const sent = await sentWith(page, () => panel.ask(OVEN));
  expect(sent.page_url).toBe('/sourdough/');
  await expect(panel.answer).toContainText('250 °C');
  await expect(panel.answer).not.toContainText('230 °C');
  await expect(panel.markers.first()).toHaveAttribute('href', /^\/sourdough\/baking#/);
});

test('a page of an old version is answered from the old version', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/first/starter`);
  const expectSameDocument = await markDocument(page);
  const sent = await sentWith(page, () => panel.ask(OVEN));
  expect(sent.page_url).toBe('/sourdough/first/starter');
  await expect(panel.answer).toContainText('230 °C');
  await expect(panel.answer).not.toContainText('250 °C');
  await panel.sources.first().click();
  await expect(page).toHaveURL(/\/sourdough\/first\/baking#/);
  await expectSameDocument();
});

test('the page that is open when a question is asked counts, not the one that the panel was opened on', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await page.getByRole('link', { name: 'Troubles' }).first().click();
  await expect(page).toHaveURL(`${EXAMPLE}/troubles`);
  const sent = await sentWith(page, () => panel.ask(OVEN));
  expect(sent.page_url).toBe('/sourdough/troubles');
});

test('an Urdu page is answered from the Urdu pages', async ({ panel, page }) => {
  await page.goto(`${EXAMPLE}/ur/`);
  await panel.open();
  await panel.field.fill('خمیر کو کتنی بار خوراک دیں؟');
  await panel.field.press('Enter');
  await expect(panel.sources.first()).toBeVisible();
  await expect(panel.answer).toContainText('خوراک');
  for (const link of await panel.sources.all()) expect(await link.getAttribute('href')).toMatch(/^\/sourdough\/ur\//);
  const expectSameDocument = await markDocument(page);
  await panel.markers.first().click();
  await expect(page).toHaveURL(/\/sourdough\/ur\/starter#feeding$/);
  await expect(page.locator('#feeding')).toBeFocused();
  await expectSameDocument();
});

test('the panel is in Urdu, on the left, and right-to-left', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/ur/`);
  await expect(panel.root).toHaveAccessibleName('دستاویزات سے پوچھیں');
  const box = (await panel.root.boundingBox())!;
  expect(box.x).toBeLessThan(40);
  await expectAccessible(page, '.bookrag-panel');
  await panel.field.fill('خمیر');
  await expect(panel.results.first()).toBeVisible();
  await panel.field.press('Enter');
  await expect(panel.last.locator('.bookrag-actions')).toBeVisible();
  await expectAccessible(page, '.bookrag-panel');
  const overflow = await panel.root.evaluate((root) => [root, ...root.querySelectorAll('.bookrag-log, form')].some((e) => e.scrollWidth > e.clientWidth));
  expect(overflow).toBe(false);
  expect(await panel.answer.locator('p').first().evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
});

test('the questions to begin with are those of the locale', async ({ panel, page }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await expect(panel.root.locator('.bookrag-example').first()).toHaveText('How often do I feed the starter?');
  await page.goto(`${EXAMPLE}/ur/`);
  await expect(panel.root.locator('.bookrag-example').first()).toHaveText('خمیر کو کتنی بار خوراک دیں؟');
});

test('an element of the site opens the panel, and has the focus again afterwards', async ({ panel, page }) => {
  await page.goto(`${EXAMPLE}/`);
  // The button is in the static HTML, before any listener.
  await expect(panel.button).toBeVisible();
  const opener = page.locator('[data-bookrag-open]');
  await opener.click();
  await expect(panel.root).toHaveAccessibleName('Ask the baker');
  await expect(panel.field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(opener).toBeFocused();
});

test('a formula of the book is shown in the answer', async ({ panel }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await panel.ask('What is the hydration of a dough?');
  await expect(panel.answer.locator('math').first()).toBeVisible();
});
