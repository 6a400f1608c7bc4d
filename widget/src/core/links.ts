// Decides where a link in untrusted text may lead.

export interface SafeLink {
  /** The path if it leads to the site of the open page, else the whole address. */
  href: string;
  /** True if it leads to another site than the book's. */
  isForeign: boolean;
}

/** Returns the name of the file that an address leads to; `undefined` for a page. */
export function fileName(address: string): string | undefined {
  return /^[^?#]*\/([^/?#]+\.[a-z]\w*)(?:[?#]|$)/i.exec(address)?.[1];
}

/**
 * A link that may be shown: `http` and `https` alone, absolute or from the book's root. A relative address was written for
 * another place than the page it is shown on, hence it is none. The book is at `bookUrl`, an origin and possibly a path below it; `site` is the
 * origin of the open page.
 */
export function safeLink(address: string, bookUrl: string, site: string): SafeLink | undefined {
  const isRooted = address.startsWith('/');
  if (!isRooted && !/^https?:\/\//i.test(address)) return undefined;
  const book = new URL(bookUrl);
  // Parsed like the browser does: `/\evil.example` is another site.
  const url = webUrl(address, book.origin);
  if (!url) return undefined;
  const isForeign = url.origin !== book.origin;
  if (isRooted && !isForeign) url.pathname = below(book.pathname, url.pathname);
  // Two slashes at the beginning of a path would lead to another site.
  const isHere = url.origin === site && !url.pathname.startsWith('//');
  return { href: isHere ? url.pathname + url.search + url.hash : url.href, isForeign };
}

/** Returns the address of a book, without a slash at its end; `undefined` if it is not one of the web. */
export function bookUrlOf(address: string, site: string): string | undefined {
  const url = webUrl(address, site);
  return url && url.origin + url.pathname.replace(/\/+$/, '');
}

function webUrl(address: string, origin: string): URL | undefined {
  let url: URL;
  try {
    url = new URL(address, origin);
  } catch {
    return undefined;
  }
  const isOfWeb = url.protocol === 'http:' || url.protocol === 'https:';
  return isOfWeb && !url.username && !url.password ? url : undefined;
}

/** Returns a path below a folder. It stays if it is there already. */
function below(folder: string, path: string): string {
  const start = folder.replace(/\/+$/, '');
  return path === start || path.startsWith(`${start}/`) ? path : start + path;
}
