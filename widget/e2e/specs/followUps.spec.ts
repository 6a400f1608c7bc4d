import { expectAccessible } from '../support/accessible';
import { highlighted, sentWith } from '../support/panel';
import { done, replyWith, token } from '../support/reply';
import { BOOK, expect, LESSON, QUESTION, SERVE, test } from '../support/test';

const SENTENCE = 'Wash the probe, dry it with a cloth and leave it hanging free for two minutes.';
const AIR_POINT = { title: 'Soil Moisture – The Air Point', url: `${LESSON}#the-air-point` };
const CITATION = { n: 1, url: '/garden-robotics/docs#what-sprig-is', title: 'Garden Robotics', section: 'What Sprig Is', chapter: '', quote: 'Sprig is' };

test('a section beside the answer can be asked about in the same conversation', async ({ panel, page, model }) => {
  model.writes(({ passages }) => [`Wash the probe. [${passages[0]?.n}]`]);
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  const name = await panel.last.locator('.bookrag-nearest a').first().textContent();
  const sent = await sentWith(page, () => panel.last.getByRole('button', { name: `Ask about this: ${name}`, exact: true }).click());
  expect(sent.query).toBe(name);
  expect(sent.history).toHaveLength(2);
  await panel.answered();
  await expect(panel.turns).toHaveCount(2);
});

test('a section beside the answer shows its sentence, which its link highlights on the page', async ({ panel, page }) => {
  await replyWith(page, token('So it is. [1]') + done({ citations: [CITATION], suggestions: [{ ...AIR_POINT, text: SENTENCE }] }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await expect(panel.last.locator('h4')).toHaveText(['Sources', 'See also']);
  await expect(panel.last.locator('.bookrag-sentence')).toHaveText(SENTENCE);
  await expectAccessible(page, '.bookrag-panel');
  await panel.last.locator('.bookrag-nearest a').click();
  await expect(page.locator('#the-air-point')).toBeFocused();
  await expect.poll(() => highlighted(page)).toBe(SENTENCE.slice(0, -1));
});

test('a long sentence beside the answer takes three lines at most, and one that is missing takes none', async ({ panel, page }) => {
  const suggestions = [{ ...AIR_POINT, text: `${SENTENCE} `.repeat(20) }, { title: 'Garden Robotics', url: '/garden-robotics/docs' }];
  await replyWith(page, token('So it is.') + done({ suggestions }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await expect(panel.last.locator('.bookrag-nearest li')).toHaveCount(2);
  const lines = await panel.last.locator('.bookrag-sentence').evaluateAll((sentences) =>
    sentences.map((sentence) => Math.round(sentence.clientHeight / parseFloat(getComputedStyle(sentence).lineHeight))),
  );
  expect(lines).toEqual([3]);
});

test('a section that is a source is not suggested', async ({ panel, page }) => {
  const suggestions = [{ title: 'Garden Robotics – What Sprig Is', url: CITATION.url, text: 'Sprig is a robot.' }, AIR_POINT, AIR_POINT];
  await replyWith(page, token('So it is. [1]') + done({ citations: [CITATION], suggestions }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await expect(panel.last.locator('.bookrag-nearest a')).toHaveText([AIR_POINT.title]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('the page of serve shows the sentence of a section beside the answer', async ({ page }) => {
      await replyWith(page, token('So it is.') + done({ suggestions: [{ ...AIR_POINT, text: SENTENCE }] }));
      await page.goto(`${SERVE}/?q=${encodeURIComponent(QUESTION)}`);
      await expect(page.locator('.bookrag-sentence')).toHaveText(SENTENCE);
      await expectAccessible(page);
    });
  });
}
