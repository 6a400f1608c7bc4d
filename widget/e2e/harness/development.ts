import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Ports } from './ports';
import { configOf, DOCUSAURUS_COMMAND, environmentOf, folderOf, type SiteName } from './sites';

/** `docusaurus start`, as authors run it. */
export class DevelopmentServer {
  private constructor(private readonly child: ChildProcess) {}

  static async start(site: SiteName, ports: Ports): Promise<DevelopmentServer> {
    const args = ['start', '--no-open', '--host', '127.0.0.1', '--port', String(ports.development), ...configOf(site)];
    const env = { ...process.env, ...environmentOf(site, ports) };
    const child = spawn(process.execPath, [DOCUSAURUS_COMMAND, ...args], { cwd: folderOf(site), env, stdio: ['ignore', 'pipe', 'pipe'] });
    process.once('exit', () => child.kill('SIGKILL'));
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      const read = (bytes: Buffer) => {
        printed += bytes;
        if (/compiled successfully/i.test(printed)) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => reject(new Error(`docusaurus start ended:\n${printed}`)));
    });
    return new DevelopmentServer(child);
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
