import { expect, type Page } from '@playwright/test';
import type { Panel } from './panel';

/** What an answer may be made of: the panel's own elements, the site's code blocks, and formulas. */
const ELEMENTS = [
  'a blockquote br code del div em h4 hr li ol p pre span strong sup table tbody td th thead tr ul',
  'button path svg',
  'annotation math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics',
].flatMap((names) => names.split(' '));
const ATTRIBUTES = /^(?:on.*|style|src|srcset|srcdoc|action|formaction|data|poster|background|xlink:href|ping|id|name)$/i;

/** Nothing of a text has become more than text. */
export async function expectHarmless({ page, last }: Panel, what: string): Promise<void> {
  const found = await last.evaluate((turn, attributes) => {
    const pattern = new RegExp(attributes, 'i');
    // The site's code blocks colour code with style attributes.
    const isCode = (element: Element) => element.closest('.theme-code-block') !== null;
    const all = [...turn.querySelectorAll('.bookrag-answer *, .bookrag-sources *, .bookrag-nearest *')];
    return {
      elements: all.map(({ localName }) => localName),
      attributes: all.flatMap((element) =>
        element.getAttributeNames().filter((name) => pattern.test(name) && !(name === 'style' && isCode(element))),
      ),
      links: [...turn.querySelectorAll('a')].map((link) => ({ href: link.href, target: link.target, rel: link.rel })),
    };
  }, ATTRIBUTES.source);
  expect(found.elements.filter((name) => !ELEMENTS.includes(name)), `${what}: elements`).toEqual([]);
  expect(found.attributes, `${what}: attributes`).toEqual([]);
  const origin = new URL(page.url()).origin;
  for (const { href, target, rel } of found.links) {
    const url = new URL(href);
    expect(['http:', 'https:'], `${what}: ${href}`).toContain(url.protocol);
    expect(url.username + url.password, `${what}: ${href}`).toBe('');
    if (url.origin !== origin) expect([target, rel], `${what}: ${href}`).toEqual(['_blank', 'noopener noreferrer nofollow']);
  }
}

/** A function that no page calls by itself. */
export const setTrap = (page: Page) =>
  page.addInitScript(() => Object.assign(window, { pwned: () => alert('pwned') }));
