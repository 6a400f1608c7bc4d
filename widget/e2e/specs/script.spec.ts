import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { BOOK, expect, QUESTION, test } from '../support/test';

test('a page without Docusaurus has the panel by a script alone', async ({ page, panel, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}] And $x^2$.`]);
  await page.goto(`${BOOK}/plain.html`);
  await panel.button.click();
  await expect(panel.field).toBeFocused();
  await expect(panel.root).toHaveAccessibleName('Ask Sprig');
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('math')).toBeVisible();
  await expectAccessible(page, '.bookrag-panel');
  const href = await panel.markers.first().getAttribute('href');
  await panel.markers.first().click();
  await expect(page).toHaveURL(new URL(href ?? '', BOOK).href);
});

test('on another site than the book’s, links lead to the book', async ({ page, panel }) => {
  await page.goto(`${BOOK}/elsewhere.html`);
  await panel.button.click();
  await panel.ask(QUESTION);
  for (const link of [panel.markers.first(), panel.sources.first()]) {
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/book\.example\/garden-robotics\//);
    await expect(link).toHaveAttribute('target', '_blank');
  }
});

test('an address of the book that is none is named in the console', async ({ page, panel, watched }) => {
  for (const address of ['book.example', 'localhost:3000']) {
    await page.route('**/elsewhere.html', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace('https://book.example/guide', address) });
    });
    await page.goto(`${BOOK}/elsewhere.html`);
    await expect.poll(() => watched.faults.splice(0)).toEqual([expect.stringMatching(`^bookrag: data-bookrag-book must be .* got "${address}"$`)]);
    await expect(panel.button).toHaveCount(0);
  }
});

test('a script that runs before the page has a body waits for it', async ({ page, panel }) => {
  const body = gate();
  await page.route('**/plain.html', async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace('<script ', '<script async ');
    await route.fulfill({ response, body: text.replace('</head>', '<script src="slow.js"></script></head>') });
  });
  await page.route('**/slow.js', async (route) => {
    await body.opened;
    await route.fulfill({ contentType: 'text/javascript', body: '' });
  });
  await page.goto(`${BOOK}/plain.html`, { waitUntil: 'commit' });
  await expect.poll(() => page.evaluate(() => document.adoptedStyleSheets.length)).toBe(1);
  expect(await page.evaluate(() => document.body)).toBe(null);
  body.open();
  await expect(panel.button).toBeVisible();
});
