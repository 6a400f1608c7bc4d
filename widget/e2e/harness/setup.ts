import type { Server } from 'node:http';
import { existsSync } from 'node:fs';
import { BOOKRAG } from './paths';
import { installPlugin } from './plugin';
import { choosePorts, type Ports, readPorts } from './ports';
import { phase } from './run';
import { BASE_URLS, buildOf, buildSite, environmentOf, makeSite, SITES } from './sites';
import { serveFiles } from './staticServer';

/** With `E2E_KEEP=1` the sites of the last run are taken as they are. */
const keeps = process.env.E2E_KEEP === '1';

export default async function setup(): Promise<() => Promise<void>> {
  if (!existsSync(BOOKRAG)) throw new Error(`no ${BOOKRAG}: run \`cargo build\`, or name the command in BOOKRAG`);
  const isBuilt = keeps && SITES.every((site) => existsSync(buildOf(site)));
  const ports = isBuilt ? readPorts() : await makeSites();
  const servers: Server[] = [];
  for (const site of SITES) {
    const api = environmentOf(site, ports).ASK_URL ?? '';
    servers.push(await serveFiles({ root: buildOf(site), baseUrl: BASE_URLS[site], port: ports[site], api }));
  }
  return async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  };
}

/** One after another: a build takes what the machine has. */
async function makeSites(): Promise<Ports> {
  await phase('packing the plugin', installPlugin);
  const ports = await choosePorts();
  for (const site of SITES) {
    await makeSite(site);
    await phase(`building ${site}`, () => buildSite(site, ports));
  }
  return ports;
}
