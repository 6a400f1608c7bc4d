import { createHmac } from 'node:crypto';
import { BOOK, expect, QUESTION, test } from '../support/test';

const SECRET = 'a secret of thirty-two bytes or more';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JSON Web Token, as the site's own server would make it for who has signed in. */
function tokenFor(reader: string): string {
  const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: reader, exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

test.beforeAll(({ server }) => server.restart({ BOOKRAG_AUTH_SECRET: SECRET }));
test.afterAll(({ server }) => server.restart());

test('a reader who has not signed in is told so', async ({ panel }) => {
  await panel.openOn(`${BOOK}/docs`);
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('Questions are for readers who have signed in.');
});

test('the site gives the panel a token, and a new one when it has one', async ({ page, panel }) => {
  await page.addInitScript(() => {
    const state = { token: '' };
    Object.assign(window, { state, bookrag: { token: async () => state.token } });
  });
  const signIn = (token: string) => page.evaluate((value) => Object.assign((window as unknown as { state: object }).state, { token: value }), token);
  await panel.openOn(`${BOOK}/docs`);
  await signIn('not a token');
  await panel.send(QUESTION);
  await expect(panel.failure).toContainText('signed in');
  await signIn(tokenFor('reader'));
  await panel.again.click();
  await panel.answered();
  await expect(panel.turns).toHaveCount(1);
  await panel.field.fill('battery');
  await expect(panel.results.first()).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('eyJ');
});
