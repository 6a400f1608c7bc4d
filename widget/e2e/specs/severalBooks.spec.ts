import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible';
import { markDocument, sentWith } from '../support/panel';
import { done, event, replyWith, token } from '../support/reply';
import { BOOK, expect, LESSON, ports, QUESTION, SERVE, test } from '../support/test';

const LIBRARY = `http://127.0.0.1:${ports.library}`;
const ABOUT_BREAD = 'How often do I feed my starter?';

const picker = (page: Page) => page.getByRole('combobox', { name: 'Docs', exact: true });

async function ask(page: Page, question: string): Promise<void> {
  const copy = page.getByRole('button', { name: 'Copy the answer' });
  const before = await copy.count();
  await page.getByRole('textbox', { name: 'Your question' }).fill(question);
  await page.keyboard.press('Enter');
  await expect(copy).toHaveCount(before + 1);
}

/** The paths of the links to sources, results and further sections. */
const paths = (page: Page) =>
  page.locator('main a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname));

test.describe('the page of a server with two books', () => {
  test.beforeEach(async ({ library: _ }) => {});

  test('the nearest book answers, is named, and is where the links lead', async ({ page }) => {
    await page.goto(LIBRARY);
    await expect(picker(page).locator('option')).toHaveText(['All docs', 'Garden Robotics', 'Keeping a Sourdough']);
    await expectAccessible(page);
    for (const [question, title, place] of [[QUESTION, 'Garden Robotics', '/books/garden'], [ABOUT_BREAD, 'Keeping a Sourdough', '/books/bread']] as const) {
      await ask(page, question);
      const turn = page.locator('.bookrag-turn').last();
      await expect(turn.getByText(`From ${title}`)).toHaveCount(1);
      const source = turn.locator('.bookrag-sources a').first();
      expect(await source.getAttribute('href')).toMatch(new RegExp(`^${place}/`));
      const rated = page.waitForRequest(`**${place}/api/v1/feedback`);
      await turn.getByRole('button', { name: 'Helpful', exact: true }).click();
      await rated;
    }
    await expectAccessible(page);
    const opened = page.waitForEvent('popup');
    await page.locator('.bookrag-sources a').first().click();
    const book = await opened;
    await expect(book).toHaveURL(new RegExp(`^${LIBRARY}/books/garden/garden-robotics/docs/`));
    await expect(book.locator(':target')).toBeInViewport();
  });

  test('results name their books', async ({ page }) => {
    await page.goto(LIBRARY);
    await page.getByRole('textbox').fill('water');
    await expect(page.locator('.bookrag-results .bookrag-place').first()).toHaveText(/^(?:Garden Robotics|Keeping a Sourdough) · /);
    for (const path of await paths(page)) expect(path).toMatch(/^\/books\/(?:garden|bread)\//);
    await expectAccessible(page);
  });

  test('a page for one book has nothing of another', async ({ page }) => {
    await page.goto(LIBRARY);
    await expect(picker(page)).toBeVisible();
    await ask(page, QUESTION);
    await expect(page.getByText('From Garden Robotics')).toBeVisible();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await picker(page).selectOption('Keeping a Sourdough');
    await expect(page).toHaveURL(`${LIBRARY}/?books=bread`);
    await expect(page).toHaveTitle('Keeping a Sourdough');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Keeping a Sourdough');
    await expect(page.locator('.bookrag-turn'), 'the conversation with all books').toHaveCount(0);
    const primary = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--ifm-color-primary'));
    expect(primary).toBe('rgb(138 75 18)');
    await ask(page, ABOUT_BREAD);
    await ask(page, QUESTION);
    await page.getByRole('textbox').fill('soil moisture probe');
    await expect(page.locator('.bookrag-results')).toBeVisible();
    const main = page.locator('main');
    await expect(main).not.toContainText('Garden');
    // A commit may be named, but no book.
    await expect(main).not.toContainText(/From [A-Z]/);
    for (const path of await paths(page)) expect(path).toMatch(/^\/books\/bread\//);
    await expectAccessible(page);
    const isShared = (path: string) => path.startsWith('/assets/') || ['/', '/favicon.ico', '/api/v1/books'].includes(path);
    expect(requests.filter((path) => !isShared(path) && !path.startsWith('/books/bread/'))).toEqual([]);
    await page.reload();
    await expect(page.locator('.bookrag-turn')).toHaveCount(2);
    await picker(page).selectOption('All docs');
    await expect(page).toHaveURL(`${LIBRARY}/`);
    await expect(page.locator('.bookrag-turn')).toHaveCount(1);
  });

  test('a link to a book that is gone leads to all, with its question', async ({ page }) => {
    await page.goto(`${LIBRARY}/?books=gone&ask=${encodeURIComponent(ABOUT_BREAD)}`);
    await expect(page.getByText('From Keeping a Sourdough')).toBeVisible();
    await expect(page).toHaveURL(`${LIBRARY}/`);
    await page.goto(`${SERVE}/?books=gone`);
    await expect(page).toHaveURL(`${SERVE}/`);
    await expect(page.locator('.bookrag-facts')).toContainText('Passages:');
  });
});

test('a server with one book offers no choice, and is not asked for its books', async ({ page }) => {
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(SERVE);
  await expect(page.locator('.bookrag-facts')).toContainText('Passages:');
  await expect(picker(page)).toHaveCount(0);
  expect(requests).not.toContain(`${SERVE}/api/v1/books`);
});

const BREAD = { id: 'bread', title: 'Keeping a Sourdough', url: 'https://bread.example' };
const citation = (url: string) => ({ n: 1, url, title: 'Starter', section: 'Feeding', chapter: '', quote: 'Feed it.' });
/** The answer of a server with several books. */
const answerOf = (book: typeof BREAD, url: string) =>
  event('book', book) + token('See [this](/docs/x). [1]') + event('citation', citation(url)) + done({ citations: [citation(url)], book });

test('a script’s panel asks the books that it names, and leads to the site of the one that answers', async ({ page, panel }) => {
  await page.route('**/plain.html', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('data-bookrag-title', 'data-bookrag-books="garden, bread" data-bookrag-title') });
  });
  await replyWith(page, answerOf(BREAD, 'https://bread.example/docs/starter#feeding'));
  await panel.openOn(`${BOOK}/plain.html`);
  const sent = await sentWith(page, () => panel.ask(ABOUT_BREAD));
  expect(sent.books).toEqual(['garden', 'bread']);
  await expect(panel.last.getByText('From Keeping a Sourdough')).toHaveCount(1);
  for (const link of [panel.markers.first(), panel.sources.first()]) {
    await expect(link).toHaveAttribute('href', 'https://bread.example/docs/starter#feeding');
    await expect(link).toHaveAttribute('target', '_blank');
  }
  await expect(panel.answer.getByRole('link', { name: 'this' })).toHaveAttribute('href', 'https://bread.example/docs/x');
  await expectAccessible(page, '.bookrag-panel');
  // The server of this test has one book.
  const rated = page.waitForRequest('**/books/bread/api/v1/feedback');
  await page.route('**/books/bread/**', (route) => route.fulfill({ status: 200, json: {}, headers: { 'Access-Control-Allow-Origin': '*' } }));
  await panel.last.getByRole('button', { name: 'Helpful', exact: true }).click();
  await rated;
});

test('a citation of the book whose site this is opens without a reload', async ({ page, panel }) => {
  const { origin } = new URL(BOOK);
  await replyWith(page, answerOf({ id: 'garden', title: 'Garden Robotics', url: origin }, `${origin}${LESSON}#the-air-point`));
  await panel.openOn(`${BOOK}/docs`);
  const expectSameDocument = await markDocument(page);
  await panel.ask(QUESTION);
  await panel.markers.first().click();
  await expect(page).toHaveURL(`${origin}${LESSON}#the-air-point`);
  await expectSameDocument();
});

test('books that cannot be any are named in the console', async ({ page, panel, watched }) => {
  await page.route('**/plain.html', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('data-bookrag-title', 'data-bookrag-books="Garden" data-bookrag-title') });
  });
  await page.goto(`${BOOK}/plain.html`);
  await expect.poll(() => watched.faults.splice(0)).toEqual([expect.stringMatching(/^bookrag: data-bookrag-books must be .* got "Garden"$/)]);
  await expect(panel.button).toHaveCount(0);
});
