// Runs `bookrag export` on the built site, and links each page to its Markdown.

import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HtmlTagObject } from '@docusaurus/types';

/** The manifest of an export, one line per file: its MD5, two spaces, its path. */
const MANIFEST = '.bookrag-export';

/** The built site of a locale. */
export interface BuiltSite {
  /** The API's address, where agents are told to ask. */
  api: string;
  siteDir: string;
  outDir: string;
  /** The site's scheme and host. */
  url: string;
  baseUrl: string;
  locale: string;
}

/**
 * Runs `bookrag export`, which writes a Markdown file beside each page of a built site, and adds a link to that file to each page.
 * `command` is the path of `bookrag`.
 */
export async function exportMarkdown(command: string, site: BuiltSite): Promise<void> {
  const { siteDir, outDir, url, baseUrl, locale, api } = site;
  await run(command, ['export', siteDir, '--out', outDir, '--locale', locale, '--site-url', url, '--api', api]);
  const manifest = await readFile(path.join(outDir, MANIFEST), 'utf8');
  const files = manifest.split('\n').map((line) => line.slice(line.indexOf('  ') + 2));
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    const link = `<link rel="alternate" type="text/markdown" href="${url}${baseUrl}${file.split('/').map(encodeURIComponent).join('/')}">`;
    for (const page of pagesOf(file)) await addToHead(path.join(outDir, page), link);
  }
}

/** A link to the list of all pages for programs that read HTML. It is invisible to readers. */
export function listLink(url: string, baseUrl: string): HtmlTagObject {
  const link = `<a href="${url}${baseUrl}llms.txt">For AI agents: llms.txt lists all pages as Markdown</a>`;
  return { tagName: 'div', attributes: { hidden: true }, innerHTML: link };
}

/** Returns the possible files of the built page that a Markdown file belongs to. */
function pagesOf(markdown: string): string[] {
  const name = markdown.slice(0, -'.md'.length);
  return name === 'index' || name.endsWith('/index') ? [`${name}.html`] : [`${name}/index.html`, `${name}.html`];
}

async function addToHead(file: string, link: string): Promise<void> {
  let page: string;
  try {
    page = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const end = page.indexOf('</head>');
  if (end >= 0 && !page.includes(link)) await writeFile(file, page.slice(0, end) + link + page.slice(end));
}

function run(command: string, commandArguments: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArguments, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const missing = `the option \`markdown\` of docusaurus-plugin-bookrag needs the command \`${command}\`, which was not found: install bookrag, name the command's path in the option, or set it to false`;
      reject(error.code === 'ENOENT' ? new Error(missing) : error);
    });
    child.on('close', (code) => {
      // Exit code 3: something could not be exported, and the command has printed it.
      if (code === 0 || code === 3) resolve();
      else reject(new Error(`\`${command} export\` ended with ${code ?? 'a signal'}; the lines above say why`));
    });
  });
}
