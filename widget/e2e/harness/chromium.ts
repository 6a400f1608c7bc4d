import { spawnSync } from 'node:child_process';

/** The browser that is installed: tests download none. */
export function chromium(): string {
  const names = [process.env.BOOKRAG_TEST_CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'];
  for (const name of names) {
    const found = name && spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();
    if (found) return found;
  }
  throw new Error('no Chromium; install it or name it in BOOKRAG_TEST_CHROMIUM');
}
