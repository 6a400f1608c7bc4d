// States that no other spec reaches; others call expectAccessible themselves. The fixture
// uses Docusaurus's default blue, whose contrast is too low for links, so there only the panel is checked.

import { expectAccessible } from '../support/accessible';
import { gate } from '../support/gate';
import { done, replyWith, token } from '../support/reply';
import { BOOK, EXAMPLE, expect, QUESTION, test } from '../support/test';

const PANEL = '.bookrag-panel';
const RICH = `# A heading

A paragraph with **strong** and *other* words, \`code\`, a [link](https://book.example.org/), $x^2$ and a marker. [1]

| Part | Torque |
| --- | --- |
| ${'a long name of a part '.repeat(6)} | 3 Nm |

\`\`\`bash
sprigctl probe calibrate --port P3 --point air --samples 50 --with-a-long-line-that-has-to-be-scrolled
\`\`\`

$$
\\theta = -5.3 \\times 10^{-2} + 2.92 \\times 10^{-2}\\,\\varepsilon - 5.5 \\times 10^{-4}\\,\\varepsilon^{2} + 4.3 \\times 10^{-6}\\,\\varepsilon^{3}
$$

1. one
2. two

> A quote.
`;
const CITATION = { n: 1, url: '/garden-robotics/docs#what-sprig-is', title: 'Garden Robotics', section: 'What Sprig Is', chapter: '', quote: 'Sprig is', supported: false };

test('the button on a page', async ({ page, panel }) => {
  await page.goto(`${BOOK}/docs`);
  await expect(panel.button).toBeVisible();
  await expectAccessible(page, '.bookrag-loader');
});

test('a page whose own colours are accessible stays so with the open panel', async ({ page, panel, exampleServer: _ }) => {
  await panel.openOn(`${EXAMPLE}/`);
  await expectAccessible(page);
});

for (const theme of ['light', 'dark']) {
  test(`an answer with everything in it, ${theme}`, async ({ page, panel }) => {
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await replyWith(page, token(RICH) + done({ citations: [CITATION] }));
    await panel.openOn(`${BOOK}/docs`);
    await expectAccessible(page, PANEL);
    await panel.ask(QUESTION);
    await expect(panel.answer.locator('math')).toHaveCount(2);
    await expect(panel.last.locator('.bookrag-doubt')).toBeVisible();
    // The theme of the site chooses the colours of code.
    await expectAccessible(page, PANEL, '.theme-code-block');
  });

  test(`an answer that is being written, ${theme}`, async ({ page, panel, model }) => {
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    const rest = gate();
    model.writes(async function* () {
      await rest.opened;
      yield 'Half an answer. ';
    });
    await panel.openOn(`${BOOK}/docs`);
    await panel.send(QUESTION);
    await expect(panel.last.getByText('Reading the docs')).toBeVisible();
    await expectAccessible(page, PANEL);
    rest.open();
    await panel.answered();
  });
}

test('on a narrow screen', async ({ page, panel }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await replyWith(page, token(RICH) + done({ citations: [CITATION] }));
  await panel.openOn(`${BOOK}/docs`);
  await panel.ask(QUESTION);
  await expectAccessible(page, PANEL, '.theme-code-block');
});

test('in Urdu, with an English answer in it', async ({ page, panel, exampleServer: _ }) => {
  await replyWith(page, token(RICH) + done({ citations: [CITATION] }));
  await panel.openOn(`${EXAMPLE}/ur/`);
  await panel.send(QUESTION);
  await expect(panel.last.locator('.bookrag-actions')).toBeVisible();
  await expectAccessible(page, PANEL, '.theme-code-block');
});
