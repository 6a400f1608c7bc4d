import { DevelopmentServer } from '../harness/development';
import { expect, ports, QUESTION, test } from '../support/test';

test('the panel works in development mode without React warnings', async ({ page, panel }) => {
  test.setTimeout(60_000);
  const server = await DevelopmentServer.start('book', ports);
  try {
    const warnings: string[] = [];
    page.on('console', (message) => /^Warning:|unique "key"/.test(message.text()) && warnings.push(message.text()));
    await panel.openOn(`${server.url}docs`);
    await panel.ask(QUESTION);
    await panel.sources.first().click();
    await expect(page).toHaveURL(/#/);
    expect(warnings).toEqual([]);
  } finally {
    await server.stop();
  }
});
