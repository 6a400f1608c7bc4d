import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookUrlOf, safeLink } from '../src/core/links';

const SITE = 'https://site.example';
const at = (address: string, bookUrl: string) => {
  const link = safeLink(address, bookUrl, SITE);
  return link && [link.href, link.isForeign];
};

test('an address from the root leads to the book, an absolute one where it says', () => {
  const cases: [string, string, [string, boolean]][] = [
    [SITE, '/docs/x?a=1#b', ['/docs/x?a=1#b', false]],
    [SITE, `${SITE}/docs/x`, ['/docs/x', false]],
    [SITE, 'https://other.example/x', ['https://other.example/x', true]],
    ['https://book.example', '/docs/x#b', ['https://book.example/docs/x#b', false]],
    ['https://book.example', 'https://book.example/docs/x', ['https://book.example/docs/x', false]],
    ['https://book.example', `${SITE}/docs/x`, ['/docs/x', true]],
    [`${SITE}/books/soil`, '/docs/x#b', ['/books/soil/docs/x#b', false]],
    [`${SITE}/books/soil`, '/books/soil/docs/x', ['/books/soil/docs/x', false]],
    [`${SITE}/books/soil`, '/books/soils/x', ['/books/soil/books/soils/x', false]],
    [`${SITE}/books/soil`, `${SITE}/books/soil/docs/x`, ['/books/soil/docs/x', false]],
    [`${SITE}/books/soil`, '/../../docs/x', ['/books/soil/docs/x', false]],
    ['https://book.example/guide', '/', ['https://book.example/guide/', false]],
  ];
  for (const [bookUrl, address, expected] of cases) assert.deepEqual(at(address, bookUrl), expected, `${address} of ${bookUrl}`);
});

test('no address leaves the book without saying so', () => {
  for (const bookUrl of [SITE, 'https://book.example', `${SITE}/books/soil`]) {
    for (const address of ['//evil.example/x', '/\\evil.example/x', '/\t/evil.example/x', '/.//evil.example/x', `${bookUrl}//evil.example/x`]) {
      const link = safeLink(address, bookUrl, SITE);
      const { origin } = new URL(link?.href ?? '', SITE);
      assert.equal(link?.isForeign, origin !== new URL(bookUrl).origin, `${address} of ${bookUrl}`);
    }
    for (const address of ['x', 'javascript:alert(1)', 'https://a:b@evil.example/', 'http://[', 'mailto:a@evil.example']) assert.equal(at(address, bookUrl), undefined, address);
  }
});

test('a book is at an address of the web', () => {
  assert.equal(bookUrlOf('https://book.example/', SITE), 'https://book.example');
  assert.equal(bookUrlOf('http://127.0.0.1:8080/books/soil/?a#b', SITE), 'http://127.0.0.1:8080/books/soil');
  assert.equal(bookUrlOf('/books/soil', SITE), `${SITE}/books/soil`);
  for (const address of ['javascript:alert(1)', 'data:text/html,x', 'https://a:b@book.example', 'http://[']) assert.equal(bookUrlOf(address, SITE), undefined, address);
});
