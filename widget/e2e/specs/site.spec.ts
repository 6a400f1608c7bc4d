import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { docusaurus, folderOf } from '../harness/sites';
import { highlighted, markDocument } from '../support/panel';
import { done, replyWith, token } from '../support/reply';
import { BOOK, expect, LESSON, ports, QUESTION, REACT18, test } from '../support/test';

const RICH = 'Text, `code`, $x^2$.\n\n```js\nlet a = 1;\n```\n\n| a |\n| --- |\n| b |\n\n$$\\frac{1}{2} \\broken{x$$\n';

test('the Content Security Policy is not violated by the panel', async ({ page, panel }) => {
  await page.addInitScript(() => {
    const violations: string[] = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, sourceFile }) => violations.push(`${violatedDirective} ${sourceFile}`));
    Object.assign(window, { violations });
  });
  const violations = () => page.evaluate(() => (window as unknown as { violations: string[] }).violations);
  await page.goto(new URL(LESSON, BOOK).href);
  await expect(panel.button).toBeVisible();
  const before = await violations();
  await page.locator('article p').nth(2).click({ clickCount: 3 });
  await expect(panel.offer).toBeVisible();
  await panel.offer.click();
  await panel.ask(QUESTION);
  await replyWith(page, token(RICH) + done());
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('math')).toHaveCount(1);
  await panel.sources.first().or(panel.turns.first().locator('.bookrag-sources a').first()).click();
  await expect.poll(() => highlighted(page)).not.toBe('');
  expect(await violations()).toEqual(before);
});

test('a built page has no panel in it, and is read without JavaScript', async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(new URL(LESSON, BOOK).href);
  await expect(page.locator('#the-air-point')).toBeVisible();
  expect(await page.locator('[class*="bookrag"]').count()).toBe(0);
  await context.close();
});

test('the panel is loaded when it is opened, and KaTeX with the first formula', async ({ page, panel }) => {
  const scripts: string[] = [];
  page.on('request', (request) => request.resourceType() === 'script' && scripts.push(request.url()));
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  await page.waitForLoadState('networkidle');
  scripts.length = 0;

  await panel.open();
  const loaded = await Promise.all(scripts.map(async (url) => (await page.request.get(url)).text()));
  expect(loaded.filter((script) => script.includes('bookrag-turn'))).toHaveLength(1);
  expect(loaded.some((script) => script.includes('KaTeX'))).toBe(false);

  await replyWith(page, token('No formula.') + done());
  await panel.ask(QUESTION);
  const before = scripts.length;
  await replyWith(page, token('A formula: $x^2$.') + done());
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('math')).toBeVisible();
  expect(scripts.length).toBe(before + 1);
});

test('before it is opened, the panel asks the API nothing', async ({ page, panel }) => {
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes(`:${ports.bookApi}`) && asked.push(request.url()));
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect(asked).toEqual([]);
  await panel.open();
  await page.waitForLoadState('networkidle');
  expect(asked, 'and when it is open, only what the reader asks').toEqual([]);
});

test('the open panel stays over pages, with what is typed in it', async ({ page, panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('half a question');
  await page.getByRole('link', { name: 'Letter to the Reader' }).first().click();
  await expect(page).toHaveURL(/letter-to-the-reader$/);
  await expect(panel.field).toHaveValue('half a question');
  await page.goBack();
  await expect(panel.field).toHaveValue('half a question');
});

test('with React 18 and Algolia’s search a question is answered and its citation followed', async ({ page, panel }) => {
  const scripts: Promise<string>[] = [];
  page.on('response', (response) => {
    if (/assets\/js\/main/.test(response.url())) scripts.push(response.text());
  });
  await panel.openOn(`${REACT18}/docs`);
  expect((await Promise.all(scripts)).join('')).toContain('18.3.1');
  await expect(page.locator('.DocSearch-Button')).toBeVisible();
  const expectSameDocument = await markDocument(page);
  await panel.ask(QUESTION);
  const href = (await panel.markers.first().getAttribute('href')) ?? '';
  await panel.markers.first().click();
  await expect(page.locator(`[id="${href.split('#')[1]}"]`)).toBeFocused();
  await expect.poll(() => highlighted(page)).not.toBe('');
  await expectSameDocument();
});

test('write-translations writes the panel’s texts', async () => {
  await docusaurus('book', ports, ['write-translations', '--locale', 'it']);
  const file = path.join(folderOf('book'), 'i18n/it/docusaurus-plugin-bookrag/strings.json');
  expect(existsSync(file)).toBe(true);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ title: { message: 'Ask the docs' } });
});
