import { sentWith } from '../support/panel';
import { BOOK, expect, QUESTION, test } from '../support/test';

test('a section beside the answer can be asked about in the same conversation', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}]`]);
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const name = await panel.last.locator('.bookrag-nearest a').first().textContent();
  const sent = await sentWith(page, () => panel.last.getByRole('button', { name: `Ask about this: ${name}` }).click());
  expect(sent.query).toBe(name);
  expect(sent.history).toHaveLength(2);
  await panel.answered();
  await expect(panel.turns).toHaveCount(2);
});
