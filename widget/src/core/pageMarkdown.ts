// Fetches the Markdown that `bookrag export` wrote beside a built page.

/** Returns the possible addresses of a page's Markdown: a host may serve pages with and without a trailing slash. */
export function markdownPaths(path: string): string[] {
  const page = path.replace(/(?:\/index)?\.html$/, '');
  const name = page.replace(/\/$/, '');
  const [inFolder, beside] = [`${name}/index.md`, `${name}.md`];
  if (!name) return [inFolder];
  return page.endsWith('/') ? [inFolder, beside] : [beside, inFolder];
}

export interface PageMarkdown {
  address: string;
  text: string;
}

/** Fetches the Markdown of the page at a path; `undefined` if there is none or it cannot be fetched. */
export async function fetchMarkdown(path: string): Promise<PageMarkdown | undefined> {
  for (const address of markdownPaths(path)) {
    try {
      const response = await fetch(address);
      const text = await response.text();
      // Some hosts answer every path with an HTML page.
      if (response.ok && !text.trimStart().startsWith('<')) return { address, text };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
