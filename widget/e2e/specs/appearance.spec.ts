import type { Page } from '@playwright/test';
import { gate } from '../support/gate';
import { highlighted } from '../support/panel';
import { done, replyWith, token } from '../support/reply';
import { BOOK, expect, QUESTION, test } from '../support/test';

const WIDE = `A word${'-'.repeat(200)} that is long, and \`code${'x'.repeat(200)}\`.

| ${'column | '.repeat(12)}
| ${'--- | '.repeat(12)}
| ${'cell | '.repeat(12)}

\`\`\`
${'code '.repeat(60)}
\`\`\`

$$${'x + '.repeat(60)} y$$
`;

const styleOf = (page: Page, selector: string, property: string) =>
  page.locator(selector).first().evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

/** Elements that are wider than the room they have, and neither scroll nor clip by themselves. */
const overflowing = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const inPanel = [...document.querySelectorAll('.bookrag-panel, .bookrag-log, .bookrag-composer')];
    return [...(scrollWidth > clientWidth ? ['the page'] : []), ...inPanel.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className)];
  });

test('dark mode has the site’s dark colours', async ({ page, panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  const colours = () => Promise.all(['color', 'background-color'].map((name) => styleOf(page, '.bookrag-panel', name)));
  const light = await colours();
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
  const dark = await colours();
  expect(dark[0]).not.toBe(light[0]);
  expect(dark[1]).not.toBe(light[1]);
  expect(dark[0]).toBe(await styleOf(page, 'body', 'color'));
});

test('with forced colours buttons and the panel have borders', async ({ page, panel }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  const isSeen = async (selector: string) => {
    expect(await styleOf(page, selector, 'border-top-style'), selector).toBe('solid');
    expect(await styleOf(page, selector, 'border-top-color'), selector).not.toBe(await styleOf(page, selector, 'background-color'));
  };
  await isSeen('.bookrag-button');
  await panel.open();
  for (const selector of ['.bookrag-panel', '.bookrag-primary', '.bookrag-panel textarea']) await isSeen(selector);
});

test('nothing moves where motion is reduced', async ({ page, panel, model }) => {
  const running = () => page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
  const rest = gate();
  model.writes(async function* () {
    yield 'Half an answer. ';
    await rest.opened;
    yield 'All of it. [1]';
  });
  await panel.openOn(`${BOOK}/docs`);
  await panel.send(QUESTION);
  await expect(panel.answer).toContainText('Half an answer.');
  await expect.poll(running, 'a cursor blinks while an answer is written').toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(running).toBe(0);
  rest.open();
  await panel.answered();
});

for (const [what, viewport] of [
  ['a phone', { width: 320, height: 640 }],
  ['a window at 400 % zoom', { width: 320, height: 256 }],
] as const) {
  test.describe(`on ${what}`, () => {
    test.use({ viewport, hasTouch: true, isMobile: true });

    test('the panel covers the page, and nothing is wider than the screen', async ({ page, panel }) => {
      await page.goto(`${BOOK}/docs`);
      await panel.button.tap();
      await expect(panel.field).toBeFocused();
      expect(await panel.root.evaluate((root) => root.matches(':modal'))).toBe(true);
      expect(await overflowing(page)).toEqual([]);
      await replyWith(page, token(WIDE) + done());
      await panel.ask(QUESTION);
      await expect(panel.answer.locator('math')).toHaveCount(1);
      expect(await overflowing(page)).toEqual([]);
      await expect(panel.field).toBeInViewport();
    });

    test('a followed citation closes the panel, and the passage has the focus', async ({ page, panel }) => {
      await page.goto(`${BOOK}/docs`);
      await panel.button.tap();
      await panel.ask('How tight do the wheel screws go?');
      const href = (await panel.sources.first().getAttribute('href')) ?? '';
      await panel.sources.first().tap();
      await expect(panel.root).toHaveCount(0);
      await expect(page.locator(`[id="${href.split('#')[1]}"]`)).toBeFocused();
      await panel.button.tap();
      await expect(panel.turns).toHaveCount(1);
    });
  });
}

test('on a tablet the panel closes for a followed passage', async ({ page, panel }) => {
  await page.setViewportSize({ width: 768, height: 1024 });
  await panel.openOn(`${BOOK}/docs`);
  expect(await panel.root.evaluate((root) => root.matches(':modal'))).toBe(true);
  await panel.ask(QUESTION);
  await panel.sources.first().click();
  await expect(panel.root).toHaveCount(0);
  await expect.poll(() => highlighted(page)).not.toBe('');
  await panel.open();
  await page.mouse.click(20, 500);
  await expect(panel.root, 'a click beside it closes it').toHaveCount(0);
});

test('a window that becomes narrow and wide again keeps the panel and what is typed', async ({ page, panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.field.fill('half a question');
  await page.setViewportSize({ width: 500, height: 800 });
  await expect.poll(() => panel.root.evaluate((root) => root.matches(':modal'))).toBe(true);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => panel.root.evaluate((root) => root.matches(':modal'))).toBe(false);
  await expect(panel.field).toHaveValue('half a question');
  await expect(panel.field).toBeFocused();
});

test('a wide table, code and a formula scroll by themselves', async ({ page, panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  await replyWith(page, token(WIDE) + done());
  await panel.ask(QUESTION);
  await expect(panel.answer.locator('math')).toHaveCount(1);
  expect(await overflowing(page)).toEqual([]);
});

test('only the page is printed, at its own width', async ({ page, panel }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  const width = () => page.locator('article').evaluate((article) => article.clientWidth);
  await page.emulateMedia({ media: 'print' });
  const before = await width();
  await expect(panel.button).toBeHidden();
  await page.emulateMedia({ media: 'screen' });
  await panel.open();
  await page.emulateMedia({ media: 'print' });
  await expect(panel.root).toBeHidden();
  expect(await width()).toBe(before);
});
