import type { Page } from '@playwright/test';

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
