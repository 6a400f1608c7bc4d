import { defineConfig } from '@playwright/test';
import { chromium } from './harness/chromium';

export default defineConfig({
  // Pictures and figures are created on demand: `npm run pictures`, `npm run figures`.
  testDir: `./${process.env.SUITE ?? 'specs'}`,
  globalSetup: './harness/setup.ts',
  outputDir: './work/results',
  // Tests share one server and one model, so they run one after the other.
  workers: 1,
  retries: 0,
  forbidOnly: true,
  timeout: 30_000,
  expect: { timeout: 10_000 },
  reporter: [['list', { printSteps: false }]],
  use: {
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    colorScheme: 'light',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: chromium(),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
