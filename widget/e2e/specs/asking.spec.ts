import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { highlighted, markDocument, Panel, sentWith } from '../support/panel';
import { BOOK, expect, LESSON, QUESTION, test } from '../support/test';

const ANSWER = 'Wash the probe, dry it with a cloth and leave it hanging free for two minutes.';

/** Cites the passage that holds the answer's words. */
test.beforeEach(({ model }) => {
  model.writes(({ passages }) => {
    const passage = passages.find(({ text }) => text.includes(ANSWER));
    return [ANSWER, ` [${passage?.n}]`];
  });
});

test('the button opens a dialog with the focus in its field', async ({ panel, page }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.root).toHaveCount(0);
  await panel.button.click();
  await expect(page.getByRole('dialog', { name: 'Ask the docs' })).toBeVisible();
  await expect(panel.field).toBeFocused();
});

test('an answer is shown while it is written', async ({ panel, model }) => {
  const rest = gate();
  model.writes(async function* ({ passages }) {
    yield 'Wash the probe, dry it with a cloth. ';
    await rest.opened;
    yield `Leave it hanging free for two minutes. [${passages[0]?.n}]`;
  });
  await panel.openOn(`${BOOK}/docs`);
  await panel.send(QUESTION);
  await expect(panel.answer).toContainText('dry it with a cloth');
  await expect(panel.answer).not.toContainText('two minutes');
  await expect(panel.last).toHaveAttribute('aria-busy', 'true');
  rest.open();
  await expect(panel.answer).toContainText('two minutes');
  await panel.answered();
  await expect(panel.last).toHaveAttribute('aria-busy', 'false');
});

for (const [from, path] of [['another page of the book', '/docs'], ['a page that is not in the book', '/'], ['the same page', LESSON.slice('/garden-robotics'.length)]]) {
  test(`a citation leads from ${from} to its heading without loading the page anew`, async ({ panel, page }) => {
    await panel.openOn(BOOK + path);
    const expectSameDocument = await markDocument(page);
    await panel.ask(QUESTION);
    await expect(panel.sources).toHaveCount(1);
    const href = await panel.markers.first().getAttribute('href');
    expect(href).toBe(`${LESSON}#the-air-point`);
    await panel.markers.first().click();

    const heading = page.locator('#the-air-point');
    await expect(heading).toBeInViewport();
    await expect(heading).toBeFocused();
    const { pathname, hash } = new URL(page.url());
    expect(pathname + hash).toBe(href);
    await expectSameDocument();
    // Letters are highlighted, not the full stop.
    await expect.poll(() => highlighted(page)).toBe(ANSWER.slice(0, -1));
    await expect(panel.answer).toContainText(ANSWER);
  });
}

test.describe('the highlight of a cited passage', () => {
  test.beforeEach(async ({ panel, page }) => {
    await panel.openOn(`${BOOK}/docs`);
    await panel.ask(QUESTION);
    await panel.sources.first().click();
    await expect.poll(() => highlighted(page)).toContain(ANSWER);
  });

  test('ends with Escape, and the panel stays', async ({ panel, page }) => {
    await page.keyboard.press('Escape');
    expect(await highlighted(page)).toBe('');
    await expect(panel.root).toBeVisible();
  });

  test('ends with a click on the page, not with one in the panel', async ({ panel, page }) => {
    await panel.root.getByRole('heading', { level: 2 }).click();
    expect(await highlighted(page)).toContain(ANSWER);
    await page.locator('article h1').click();
    expect(await highlighted(page)).toBe('');
  });

  test('ends with the next page', async ({ page }) => {
    await page.goBack();
    await expect(page).toHaveURL(`${BOOK}/docs`);
    await expect.poll(() => highlighted(page)).toBe('');
  });
});

test('the server records ratings and followed citations', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  for (const [press, rating] of [
    [panel.last.getByRole('button', { name: 'Helpful', exact: true }), 'up'],
    [panel.last.getByRole('button', { name: 'Not helpful' }), 'down'],
    [panel.markers.first(), 'citation_clicked'],
  ] as const) {
    const [response] = await Promise.all([page.waitForResponse('**/api/v1/feedback'), press.click()]);
    expect(response.ok()).toBe(true);
    expect(response.request().postDataJSON()).toMatchObject({ rating });
  }
  await expect(panel.last.getByRole('button', { name: 'Not helpful' })).toHaveAttribute('aria-pressed', 'true');
  await expect(panel.last.getByRole('button', { name: 'Helpful', exact: true })).toHaveAttribute('aria-pressed', 'false');
  await expect(panel.status).toHaveText('Thanks for the feedback.');
});

test('after a thumb down the reader is asked why, and the words are sent', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const down = panel.last.getByRole('button', { name: 'Not helpful' });
  await down.click();
  const field = panel.last.getByLabel('What was wrong or missing?');
  await expect(field).toBeVisible();
  await expectAccessible(page, '.bookrag-panel');
  await field.fill(' The unit. ');
  const [response] = await Promise.all([page.waitForResponse('**/api/v1/feedback'), panel.last.getByRole('button', { name: 'Send' }).click()]);
  expect(response.ok()).toBe(true);
  expect(response.request().postDataJSON()).toMatchObject({ rating: 'down', comment: 'The unit.' });
  await expect(field).toHaveCount(0);
  await expect(down).toBeFocused();
});

test('Escape leaves the comment with its words, and closes the panel only from there', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const down = panel.last.getByRole('button', { name: 'Not helpful' });
  await down.click();
  const field = panel.last.getByLabel('What was wrong or missing?');
  await field.fill('The unit');
  await page.keyboard.press('Escape');
  await expect(down).toBeFocused();
  await expect(field).toHaveValue('The unit');
  await page.keyboard.press('Escape');
  await expect(panel.root).toHaveCount(0);
});

test('a copied answer has its text and the addresses of its sources', async ({ panel, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await panel.copy.click();
  await expect(panel.status).toHaveText('Copied.');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(ANSWER);
  expect(copied).toContain(`[1] The Air Point: ${new URL(BOOK).origin}${LESSON}#the-air-point`);
});

test('a follow-up is sent with the conversation before it, a new conversation with none', async ({ panel, page }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const followUp = await sentWith(page, () => panel.ask('And in water?'));
  expect(followUp.history).toEqual([
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: expect.stringContaining(ANSWER) as unknown },
  ]);
  await panel.root.getByRole('button', { name: 'New conversation' }).click();
  await expect(panel.turns).toHaveCount(0);
  await expect(panel.field).toBeFocused();
  const anew = await sentWith(page, () => panel.ask(QUESTION));
  expect(anew.history).toEqual([]);
});

test('a reload keeps the conversation and the open panel, and another tab has neither', async ({ panel, page, context }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await page.reload();
  await expect(panel.answer).toContainText(ANSWER);
  await expect(panel.markers.first()).toHaveAttribute('href', `${LESSON}#the-air-point`);

  const other = await context.newPage();
  await other.goto(`${BOOK}/docs`);
  await expect(other.locator('.bookrag-button')).toBeVisible();
  await expect(other.locator('.bookrag-panel')).toHaveCount(0);
  await other.locator('.bookrag-button').click();
  await expect(other.locator('.bookrag-welcome')).toBeVisible();
});

test('asking leaves no cookie, and in the local storage only the conversation', async ({ panel, page, context }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  const stored = () => page.evaluate(() => Object.keys(localStorage));
  const before = await stored();
  await panel.open();
  await panel.ask(QUESTION);
  await panel.markers.first().click();
  await expect(page.locator('#the-air-point')).toBeInViewport();
  expect((await stored()).filter((key) => !before.includes(key))).toEqual([expect.stringMatching(/^bookrag:/)]);
  expect(await context.cookies()).toEqual([]);
});

test('an earlier conversation is resumed in another tab, and can be deleted', async ({ panel, page, context }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const tab = new Panel(await context.newPage());
  await tab.openOn(`${BOOK}/docs`);
  const earlier = tab.root.locator('.bookrag-earlier');
  await expectAccessible(tab.page, '.bookrag-panel');
  await earlier.getByRole('button', { name: QUESTION }).click();
  await expect(tab.answer).toContainText(ANSWER);
  await expect(tab.field).toBeFocused();
  await tab.root.getByRole('button', { name: 'New conversation' }).click();
  await expect(earlier.locator('time')).toHaveText(/^(now|\d+ (minute|second)s? ago)$/);
  await tab.ask('How often is the air point taken?');
  await tab.root.getByRole('button', { name: 'More' }).click();
  await expectAccessible(tab.page, '.bookrag-panel');
  await earlier.getByRole('button', { name: QUESTION }).click();
  await expect(earlier).toHaveCount(0);
  await expect(tab.turns).toHaveCount(1);
  await expect(tab.answer).toContainText(ANSWER);
  await tab.root.getByRole('button', { name: 'New conversation' }).click();
  await earlier.getByRole('button', { name: 'Delete them' }).click();
  await expect(earlier).toHaveCount(0);
  await page.reload();
  await expect(panel.answer).toContainText(ANSWER);
});
