import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ports } from './ports';
import { BASE_URLS, configOf, DOCUSAURUS_COMMAND, environmentOf, folderOf, type SiteName } from './sites';

/** `docusaurus start`, as authors run it. */
export class DevelopmentServer {
  private printed = '';

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    process.once('exit', () => child.kill('SIGKILL'));
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (this.printed += bytes));
  }

  static async start(site: SiteName, ports: Ports): Promise<DevelopmentServer> {
    const args = ['start', '--no-open', '--host', '127.0.0.1', '--port', String(ports.development), ...configOf(site)];
    // Playwright sets NODE_ENV to `test`, which Docusaurus must not inherit.
    const env = { ...process.env, ...environmentOf(site, ports), NODE_ENV: 'development' };
    const child = spawn(process.execPath, [DOCUSAURUS_COMMAND, ...args], { cwd: folderOf(site), env, stdio: ['ignore', 'pipe', 'pipe'] });
    const server = new DevelopmentServer(child, `http://127.0.0.1:${ports.development}${BASE_URLS[site]}`);
    await server.answers();
    return server;
  }

  /** It prints that it runs before it does; requests wait until the site is compiled. */
  private async answers(): Promise<void> {
    while (!(await fetch(this.url).then(({ ok }) => ok, () => false))) {
      if (this.child.exitCode !== null) throw new Error(`docusaurus start ended:\n${this.printed}`);
      await pause(100);
    }
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
