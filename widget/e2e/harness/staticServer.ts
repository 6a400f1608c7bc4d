import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';

const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

interface StaticSite {
  root: string;
  baseUrl: string;
  port: number;
  /** The API's origin, which pages may ask. */
  api: string;
}

/** Serves a built site as a host does, under the Content Security Policy of the plugin's README. */
export async function serveFiles({ root, baseUrl, port, api }: StaticSite): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const wanted = await fileFor(root, baseUrl, decodeURIComponent(pathname));
    const file = wanted ?? path.join(root, '404.html');
    const body = await readFile(file);
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(wanted ? 200 : 404, {
      'Content-Type': type,
      ...(type.startsWith('text/html') && { 'Content-Security-Policy': policyFor(body.toString(), api) }),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

async function fileFor(root: string, baseUrl: string, pathname: string): Promise<string | undefined> {
  if (!pathname.startsWith(baseUrl)) return undefined;
  const file = path.join(root, pathname.slice(baseUrl.length));
  if (!file.startsWith(root)) return undefined;
  for (const candidate of [file, `${file}.html`, path.join(file, 'index.html')]) {
    if (await stat(candidate).then((stats) => stats.isFile(), () => false)) return candidate;
  }
  return undefined;
}

/** Docusaurus needs the hashes of its inline scripts, and `style` attributes. */
function policyFor(html: string, api: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\bsrc=)(?![^>]*application\/ld)[^>]*>([^]*?)<\/script>/g)];
  const hashes = scripts.map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    `default-src 'self'`,
    `connect-src 'self' ${api}`,
    `img-src 'self' data:`,
    `script-src 'self' ${[...new Set(hashes)].join(' ')}`,
    `style-src 'self'`,
    `style-src-attr 'unsafe-inline'`,
    `base-uri 'none'`,
    `object-src 'none'`,
  ].join('; ');
}
