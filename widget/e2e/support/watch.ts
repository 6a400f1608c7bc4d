import type { Page } from '@playwright/test';

export interface Watch {
  /** Requests to other hosts than those that are allowed. */
  foreign: string[];
  /** Errors that were thrown or logged; failed requests are the tests' own. */
  faults: string[];
  /** Dialogs, such as a script that got in would open. */
  dialogs: string[];
}

const OF_THE_NETWORK = /Failed to load resource|blocked by CORS|net::ERR/;
/** Counted in site.spec.ts: Docusaurus has some of its own. */
const OF_THE_POLICY = /Content Security Policy/;

/** Notes what no page may do. */
export function watch(page: Page, hosts: string[]): Watch {
  const watched: Watch = { foreign: [], faults: [], dialogs: [] };
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(protocol) && !hosts.includes(host)) watched.foreign.push(request.url());
  });
  page.on('pageerror', (error) => watched.faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !OF_THE_NETWORK.test(text) && !OF_THE_POLICY.test(text)) watched.faults.push(text);
  });
  page.on('dialog', (dialog) => {
    watched.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return watched;
}
