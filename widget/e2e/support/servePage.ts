// The page of `serve`, as widget/dist-page has it: a command that was built before it was changed still holds the former one.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { WIDGET } from '../harness/paths';
import { ports } from './test';

export const SERVE = `http://127.0.0.1:${ports.bookApi}`;

const TYPES: Record<string, string> = { 'index.html': 'text/html', 'page.js': 'text/javascript', 'katex.js': 'text/javascript', 'page.css': 'text/css' };

export async function routeToSources(page: Page): Promise<void> {
  for (const [name, contentType] of Object.entries(TYPES)) {
    const body = await readFile(path.join(WIDGET, 'dist-page', name), 'utf8');
    const isAsked = ({ origin, pathname }: URL) => origin === SERVE && pathname === (name === 'index.html' ? '/' : `/assets/${name}`);
    await page.route(isAsked, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body, contentType });
    });
  }
}
