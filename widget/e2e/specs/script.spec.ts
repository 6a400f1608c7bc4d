import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { highlighted, markDocument } from '../support/panel';
import { BOOK, expect, LESSON, QUESTION, test } from '../support/test';

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

const CITED = 'Never trust a calibration that has only seen air and water.';

test.describe('the lesson as a page of another generator', () => {
  test.beforeEach(async ({ page }) => {
    await page.route(`**${LESSON}`, async (route) => {
      const response = await route.fetch();
      const [article] = (await response.text()).match(/<article[^]*<\/article>/) ?? [];
      const plain = await (await page.request.get(`${BOOK}/plain.html`)).text();
      const body = plain.replace('src="', 'src="/garden-robotics/').replace(/<main>[^]*<\/main>/, `<main>${article}</main>`);
      await route.fulfill({ contentType: 'text/html; charset=utf-8', body });
    });
  });

  test('highlights the cited words after it is loaded', async ({ page, panel }) => {
    await panel.openOn(`${BOOK}/plain.html`);
    await panel.ask(QUESTION);
    await panel.markers.first().click();
    await expect.poll(() => highlighted(page)).toBe(CITED.slice(0, -1));
    await page.keyboard.press('Escape');
    expect(await highlighted(page)).toBe('');
    await page.reload();
    await expect(panel.root).toBeVisible();
    expect(await highlighted(page)).toBe('');
  });

  test('highlights the cited words when a router shows it some time after its address', async ({ page, panel }) => {
    await panel.openOn(`${BOOK}/plain.html`);
    const expectSameDocument = await markDocument(page);
    await page.evaluate(() => {
      const route = async (event: MouseEvent) => {
        const link = (event.target as Element).closest('a');
        if (!link) return;
        event.preventDefault();
        history.pushState({}, '', link.href);
        const html = await (await fetch(link.href)).text();
        document.querySelector('main')?.replaceWith(...new DOMParser().parseFromString(html, 'text/html').querySelectorAll('main'));
      };
      addEventListener('click', (event) => void route(event), { capture: true });
    });
    await panel.ask(QUESTION);
    await panel.markers.first().click();
    await expect.poll(() => highlighted(page)).toBe(CITED.slice(0, -1));
    await expectSameDocument();
  });
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
