import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { WORK } from './paths';

const NAMES = ['book', 'react18', 'example', 'bookApi', 'exampleApi', 'library', 'model', 'development'] as const;
const FILE = path.join(WORK, 'ports.json');

export type Ports = Record<(typeof NAMES)[number], number>;

/** The ports of this run: chosen before the sites are built, because their pages name the API's. */
export async function choosePorts(): Promise<Ports> {
  const servers = NAMES.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const numbers = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const ports = Object.fromEntries(NAMES.map((name, at) => [name, numbers[at]])) as Ports;
  await mkdir(WORK, { recursive: true });
  await writeFile(FILE, JSON.stringify(ports));
  return ports;
}

export function readPorts(): Ports {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Ports;
}
