// Decides where a link in untrusted text may lead.

export interface SafeLink {
  href: string;
  /** True if it leads to another site. */
  isForeign: boolean;
}

/** Returns the name of the file that an address leads to; `undefined` for a page. */
export function fileName(address: string): string | undefined {
  return /^[^?#]*\/([^/?#]+\.[a-z]\w*)(?:[?#]|$)/i.exec(address)?.[1];
}

/**
 * A link that may be shown: `http` and `https` alone, absolute or from the site's root. A relative address was written for
 * another place than the page it is shown on, hence it is none.
 */
export function safeLink(address: string, origin: string): SafeLink | undefined {
  const isRooted = address.startsWith('/');
  if (!isRooted && !/^https?:\/\//i.test(address)) return undefined;
  let url: URL;
  try {
    // Parsed like the browser does: `/\evil.example` is another site.
    url = new URL(address, origin);
  } catch {
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username || url.password) return undefined;
  const isForeign = url.origin !== origin;
  return { href: isForeign ? url.href : url.pathname + url.search + url.hash, isForeign };
}
