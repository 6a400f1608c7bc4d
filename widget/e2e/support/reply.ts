// Server responses, valid or not, that replace real ones.

import type { Page } from '@playwright/test';

export const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
export const token = (text: string) => event('token', { token: text });
export const done = (fields: Record<string, unknown> = {}) =>
  event('done', { message_id: 'm', answered: true, citations: [], suggestions: [], degraded: [], ...fields });

/** Answers every question with these bytes. */
export async function replyWith(page: Page, body: string, contentType = 'text/event-stream'): Promise<void> {
  await page.route('**/api/v1/chat', (route) => route.fulfill({ contentType, body, headers: { 'Access-Control-Allow-Origin': '*' } }));
}
