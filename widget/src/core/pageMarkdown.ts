// Fetches the Markdown that `bookrag export` wrote beside a built page.

/** Where the Markdown of the page at a path may be: a host may serve a page with and without a slash at its end. */
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

/** The Markdown of the page at a path; `undefined` if it has none, or it cannot be fetched. */
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
