import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchMarkdown, markdownPaths } from '../src/core/pageMarkdown';

test('the Markdown of a page is fetched from where the export writes it', () => {
  assert.deepEqual(markdownPaths('/b/docs/a'), ['/b/docs/a.md', '/b/docs/a/index.md']);
  assert.deepEqual(markdownPaths('/b/docs/a/'), ['/b/docs/a/index.md', '/b/docs/a.md']);
  assert.deepEqual(markdownPaths('/b/docs/a.html'), ['/b/docs/a.md', '/b/docs/a/index.md']);
  assert.deepEqual(markdownPaths('/b/docs/index.html'), ['/b/docs.md', '/b/docs/index.md']);
  assert.deepEqual(markdownPaths('/'), ['/index.md']);
});

test('a host’s page for a missing file is not Markdown', async (context) => {
  const answers: Record<string, string> = { '/a.md': '<!doctype html><p>Not here', '/a/index.md': '# A' };
  context.mock.method(globalThis, 'fetch', async (address: string) => {
    if (address.startsWith('/offline')) throw new TypeError('no connection');
    return new Response(answers[address] ?? '', { status: address in answers ? 200 : 404 });
  });
  assert.deepEqual(await fetchMarkdown('/a'), { address: '/a/index.md', text: '# A' });
  assert.equal(await fetchMarkdown('/b'), undefined);
  assert.equal(await fetchMarkdown('/offline'), undefined);
});
