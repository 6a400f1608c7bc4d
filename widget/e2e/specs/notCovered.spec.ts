import { expectAccessible } from '../support/accessible';
import { done, event, replyWith, token } from '../support/reply';
import { BOOK, expect, NOT_IN_BOOK, test } from '../support/test';

test('a question that is not covered is refused, with existing closest sections', async ({ panel, page, request }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(NOT_IN_BOOK);
  await expect(panel.answer).toContainText('does not cover that');
  await expect(panel.sources).toHaveCount(0);
  const links = panel.last.locator('.bookrag-nearest').getByRole('link');
  await expect(links.first()).toBeVisible();
  for (const link of await links.all()) {
    const href = (await link.getAttribute('href')) ?? '';
    expect((await request.get(new URL(href, BOOK).href)).status(), href).toBe(200);
  }
  await expectAccessible(page, '.bookrag-panel');
});

test('a suggestion leads to its page', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(NOT_IN_BOOK);
  const link = panel.last.locator('.bookrag-nearest a').first();
  const href = (await link.getAttribute('href')) ?? '';
  await link.click();
  await expect(page).toHaveURL(new URL(href, BOOK).href);
  await expect(page.locator('article h1')).toBeVisible();
});

test('an uncertain answer shows its quotes and their sources, each once', async ({ panel, page }) => {
  const cite = (n: number, section: string, quote: string) => ({ n, url: `/docs/soil#${section}`, title: 'Soil', section, quote });
  const citations = [cite(1, 'Loam', 'Loam holds water.'), cite(2, 'Clay', 'Clay holds more.')];
  const text = 'Possibly this:\n\n#### Soil › Loam\n\nLoam holds water. [1]\n\n#### Soil › Clay\n\nClay holds more. [2]\n';
  const events = citations.map((citation) => event('citation', citation)).join('');
  await replyWith(page, events + token(text) + done({ answered: false, outcome: 'uncertain', citations }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask('Does loam hold oil?');
  await expect(panel.last).toHaveClass(/bookrag-uncertain/);
  await expect(panel.markers).toHaveText(['1', '2']);
  await expect(panel.sources).toHaveText(['Loam', 'Clay']);
  await expect(panel.last.locator('h4')).toHaveText(['Soil › Loam', 'Soil › Clay', 'Sources']);
  for (const { section, quote } of citations) {
    await expect(panel.last.getByText(section, { exact: true })).toHaveCount(1);
    await expect(panel.last.getByText(quote)).toHaveCount(1);
  }
  await expectAccessible(page, '.bookrag-panel');
});
