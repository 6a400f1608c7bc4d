import { expectAccessible } from '../support/accessible';
import { BOOK, expect, ports, REACT18, test } from '../support/test';

test('the menu has the lines that connect a coding agent with this book', async ({ panel, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await panel.openOn(`${BOOK}/docs`);
  const menu = panel.root.getByRole('button', { name: 'More' });
  await menu.click();
  await expect(panel.root.locator('.bookrag-tools pre')).toHaveCount(5);
  await expectAccessible(page, '.bookrag-panel');
  await panel.root.getByRole('button', { name: 'Copy: Claude Code' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(new RegExp(`^claude mcp add --transport http [a-z-]+ http://127\\.0\\.0\\.1:${ports.bookApi}/mcp$`));
  await page.keyboard.press('Escape');
  await expect(panel.root.locator('.bookrag-tools')).toHaveCount(0);
  await expect(menu).toBeFocused();
});

test('Escape closes the menu before the panel, wherever the focus is', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  const menu = panel.root.getByRole('button', { name: 'More' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await expect(panel.root.locator('.bookrag-tools')).toHaveCount(1);
  await menu.focus();
  await page.keyboard.press('Escape');
  await expect(panel.root.locator('.bookrag-tools')).toHaveCount(0);
  await expect(panel.field).toBeVisible();
});

test('a page that has Markdown can be copied, shown, and opened in a chat', async ({ panel, page, context, request }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const markdown = await (await request.get(`${REACT18}/docs.md`)).text();
  expect(markdown).toContain('Sprig');
  await panel.openOn(`${REACT18}/docs`);
  await panel.root.getByRole('button', { name: 'More' }).click();
  await panel.root.getByRole('button', { name: 'Copy this page as Markdown' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(markdown);
  await expect(panel.root.getByRole('link', { name: 'View as Markdown' })).toHaveAttribute('href', '/garden-robotics/docs.md');
  const address = encodeURIComponent(`${REACT18}/docs.md`);
  for (const [name, host] of [['ChatGPT', 'https://chatgpt.com/'], ['Claude', 'https://claude.ai/']]) {
    const href = (await panel.root.getByRole('link', { name: `Open in ${name}` }).getAttribute('href')) ?? '';
    expect(href.startsWith(host!) && href.includes(address), href).toBe(true);
  }
  await expectAccessible(page, '.bookrag-panel');
});
