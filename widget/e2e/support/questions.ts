import type { Page } from '@playwright/test';

/** Lets the site and its sections have no questions to propose. */
export async function withoutQuestions(page: Page): Promise<void> {
  const headers = { 'Access-Control-Allow-Origin': '*' };
  await page.route('**/api/v1/questions?**', (route) => route.fulfill({ json: { success: true, data: { questions: [] } }, headers }));
  await page.route('**/local/book', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), example_questions: [] } });
  });
}

/** Gives questions to the first result of each search alone. */
export async function findQuestions(page: Page, questions: string[]): Promise<void> {
  await page.route('**/api/v1/search', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const response = await route.fetch();
    const body = await response.json();
    for (const result of body.data.results) result.questions = [];
    if (body.data.results[0]) body.data.results[0].questions = questions;
    return route.fulfill({ response, json: body });
  });
}
