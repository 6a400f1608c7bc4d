import { expect, type Locator, type Page } from '@playwright/test';

/** The panel as its reader sees it. */
export class Panel {
  readonly root: Locator;
  readonly button: Locator;
  readonly field: Locator;
  readonly turns: Locator;
  readonly last: Locator;
  readonly answer: Locator;
  readonly markers: Locator;
  readonly sources: Locator;
  readonly results: Locator;
  readonly failure: Locator;
  readonly notes: Locator;
  readonly stop: Locator;
  readonly again: Locator;
  readonly copy: Locator;
  readonly offer: Locator;
  readonly status: Locator;

  constructor(readonly page: Page) {
    this.root = page.locator('dialog.bookrag-panel');
    this.button = page.locator('.bookrag-button');
    this.field = this.root.locator('textarea');
    this.turns = this.root.locator('.bookrag-turn');
    this.last = this.turns.last();
    this.answer = this.last.locator('.bookrag-answer');
    this.markers = this.answer.locator('.bookrag-marker a');
    this.sources = this.last.locator('.bookrag-sources a');
    this.results = this.root.locator('.bookrag-results a');
    this.failure = this.last.locator('.bookrag-failure');
    this.notes = this.last.locator('.bookrag-note');
    this.stop = this.root.getByRole('button', { name: 'Stop' });
    this.again = this.last.getByRole('button', { name: 'Ask again' });
    this.copy = this.last.getByRole('button', { name: 'Copy the answer' });
    this.offer = page.locator('.bookrag-offer');
    this.status = this.root.locator('[role=status]');
  }

  /** Loads a page and opens the panel there. */
  async openOn(url: string): Promise<void> {
    await this.page.goto(url);
    await this.open();
  }

  async open(): Promise<void> {
    await this.button.click();
    await expect(this.field).toBeFocused();
  }

  /** Asks, and does not wait for the answer. */
  async send(question: string): Promise<void> {
    await this.field.fill(question);
    await this.field.press('Enter');
    await expect(this.last.getByRole('heading', { level: 3 })).toHaveText(question);
  }

  /** Asks, and waits for the end of the answer. */
  async ask(question: string): Promise<void> {
    await this.send(question);
    await this.answered();
  }

  async answered(): Promise<void> {
    await expect(this.copy).toBeVisible();
  }
}

/** Marks the document, so that loading the page anew would be noticed. */
export async function markDocument(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  return async () => expect(await page.evaluate(() => 'isSameDocument' in window), 'the page was not loaded anew').toBe(true);
}

/** The words that are highlighted on the page. */
export const highlighted = (page: Page): Promise<string> =>
  page.evaluate(() => [...(CSS.highlights.get('bookrag-passage') ?? [])].map(String).join(' '));

/** What the panel sent with its last question. */
export async function sentWith(page: Page, asking: () => Promise<void>): Promise<Record<string, unknown>> {
  const [request] = await Promise.all([page.waitForRequest('**/api/v1/chat'), asking()]);
  return request.postDataJSON() as Record<string, unknown>;
}
