import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BOOKRAG, WORK } from './paths';
import path from 'node:path';

interface Options {
  /** The folders that are served: `ID=FOLDER` if there are several. */
  sites: string[];
  port: number;
  env?: Record<string, string>;
}

/** `bookrag serve`, which can be ended and started again. */
export class Bookrag {
  private child: ChildProcess | undefined;

  constructor(private readonly options: Options) {}

  get url(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  /** Starts it, with more in its environment if need be, and waits until it answers. */
  async start(env: Record<string, string> = {}): Promise<void> {
    const { sites, port } = this.options;
    const child = spawn(BOOKRAG, ['serve', ...sites, '--listen', `127.0.0.1:${port}`], {
      env: { ...inherited(), BOOKRAG_DATA: path.join(WORK, 'data'), ...this.options.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    process.once('exit', () => child.kill('SIGKILL'));
    let printed = '';
    const told = new Promise<void>((resolve, reject) => {
      const read = (bytes: Buffer) => {
        printed += bytes;
        if (/http:\/\//.test(printed)) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', (bytes) => (printed += bytes));
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`bookrag serve ended:\n${printed}`)));
    });
    await told;
    const health = await fetch(`${this.url}/api/v1/health`);
    if (!health.ok) throw new Error(`bookrag serve is not healthy:\n${await health.text()}`);
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.stop();
    await this.start(env);
  }
}

/** Settings of whoever runs the tests are not the tests'. */
function inherited(): Record<string, string | undefined> {
  const own = ['BOOKRAG_MODELS'];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOOKRAG_') || own.includes(name)));
}
