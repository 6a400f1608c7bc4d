import type { Page } from '@playwright/test';
import { gate } from '../support/gate';
import { BOOK, expect, QUESTION, REACT18, test } from '../support/test';

const focusedName = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
  });

/** Opens the panel and asks, by keys alone. */
async function askByKeys(page: Page): Promise<void> {
  await page.goto(`${BOOK}/docs`);
  await expect(page.locator('.bookrag-button')).toBeVisible();
  await page.keyboard.press('Control+.');
  await expect(page.locator('.bookrag-panel textarea')).toBeFocused();
  await page.keyboard.type(QUESTION);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Copy the answer' })).toBeVisible();
}

test('everything can be reached by the Tab key, in reading order', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}]`]);
  await askByKeys(page);
  await expect(panel.field).toBeFocused();
  const citation = await panel.sources.first().textContent();
  const expected = ['Helpful', 'Not helpful', 'Copy the answer', 'Copy a link that asks this question'].reverse();
  const seeAlso = await panel.last.locator('.bookrag-nearest a').allTextContents();
  expect(seeAlso).not.toHaveLength(0);
  const followUps = seeAlso.flatMap((name) => [name, `Ask about this: ${name}`]);
  const proposed = await panel.last.locator('.bookrag-example').allTextContents();
  const backwards = [...expected, ...proposed.reverse(), ...followUps.reverse(), citation, `Source 1: ${citation}`, 'Questions and answers', 'Close', 'New conversation'];
  for (const name of backwards) {
    await page.keyboard.press('Shift+Tab');
    expect(await focusedName(page)).toBe(name);
  }
});

test('a citation is followed by the Enter key, and the next Tab goes on from its heading', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}]`]);
  await askByKeys(page);
  const href = (await panel.markers.first().getAttribute('href')) ?? '';
  await panel.markers.first().focus();
  await page.keyboard.press('Enter');
  await expect(page.locator(`[id="${href.split('#')[1]}"]`)).toBeFocused();
});

test('Escape closes the panel, and the focus is where it was', async ({ panel, page }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  const link = page.locator('nav.menu a').nth(2);
  await link.focus();
  await page.keyboard.press('Control+.');
  await expect(panel.field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(panel.root).toHaveCount(0);
  await expect(link).toBeFocused();
});

test('a button that disappears when pressed leaves the focus in the panel, and Escape closes it', async ({ panel, page, server, model }) => {
  const waits = gate();
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  await page.keyboard.press('Control+.');
  await page.getByRole('button', { name: QUESTION }).focus();
  await server.stop();
  await page.keyboard.press('Enter');
  await expect(panel.failure).toBeVisible();
  await expect(panel.root.locator(':focus')).toHaveCount(1);
  await server.start();
  model.writes(async function* () {
    await waits.opened;
    yield 'Wash the probe. [1]';
  });
  await panel.again.focus();
  await page.keyboard.press('Enter');
  await expect(panel.failure).toHaveCount(0);
  await expect(panel.root.locator(':focus')).toHaveCount(1);
  waits.open();
  await panel.answered();
  await page.keyboard.press('Escape');
  await expect(panel.root).toHaveCount(0);
});

test('the button and the close button work like the keys', async ({ panel, page }) => {
  await page.goto(`${BOOK}/docs`);
  await panel.button.focus();
  await page.keyboard.press('Enter');
  await expect(panel.field).toBeFocused();
  await panel.root.getByRole('button', { name: 'Close' }).focus();
  await page.keyboard.press('Enter');
  await expect(panel.root).toHaveCount(0);
  await expect(panel.button).toBeFocused();
});

test('Shift and Enter start a new line', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await expect(panel.field).toHaveValue('one\ntwo');
  await expect(panel.turns).toHaveCount(0);
});

test('beside the page the panel is not modal: the page can be read and reached', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  expect(await panel.root.evaluate((root) => root.matches(':modal'))).toBe(false);
  await page.locator('nav.menu a').first().focus();
  await expect(page.locator('nav.menu a').first()).toBeFocused();
});

test('over the page the panel is modal, and the Tab key stays in it', async ({ panel, page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await panel.openOn(`${BOOK}/docs`);
  expect(await panel.root.evaluate((root) => root.matches(':modal'))).toBe(true);
  for (let presses = 0; presses < 8; presses++) {
    await page.keyboard.press('Tab');
    const isOutside = await page.evaluate(() => {
      const { activeElement: active, body } = document;
      // Between its last and first element the focus is in the browser's own controls.
      return active !== body && !active?.closest('.bookrag-panel');
    });
    expect(isOutside).toBe(false);
  }
});

test('the shortcut is ignored while typing in a field of the site', async ({ panel, page }) => {
  await page.goto(`${BOOK}/fields`);
  await expect(panel.button).toBeVisible();
  for (const name of ['Line', 'Text', 'Rich text']) {
    await page.getByRole('textbox', { name, exact: true }).focus();
    await page.keyboard.press('Control+.');
  }
  await expect(panel.root).toHaveCount(0);
  await page.locator('h1').click();
  await page.keyboard.press('Control+.');
  await expect(panel.field).toBeFocused();
});

test('Ctrl+K and the slash are the site’s: they open its own search', async ({ panel, page }) => {
  for (const key of ['Control+k', '/']) {
    await page.goto(`${REACT18}/docs`);
    await expect(panel.button).toBeVisible();
    await page.locator('article h1').click();
    await page.keyboard.press(key);
    await expect(page.locator('.DocSearch-Modal')).toBeVisible();
    await expect(panel.root).toHaveCount(0);
  }
});
