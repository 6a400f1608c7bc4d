import { execFile } from 'node:child_process';

/** Runs a command to its end; what it printed is shown when it fails. */
export function run(command: string, args: string[], options: { cwd: string; env?: Record<string, string> }): Promise<string> {
  const env = { ...process.env, ...options.env };
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: options.cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

/** Says what took how long. */
export async function phase<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}
