import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AllContent } from '@docusaurus/types';
import { topicsOfBook } from '../src/core/topics';
import { topicsOfList } from '../src/page/topics';
import { sidebarTitles } from '../src/plugin/titles';

test('topics of a book are titles of more than one word, from its beginning to its end', () => {
  const titles = ['Usage', ...Array.from({ length: 8 }, (_, at) => `Chapter ${at + 1}`), 'Chapter 1', 'x '.repeat(60)];
  assert.deepEqual(topicsOfBook(titles), ['Chapter 1', 'Chapter 3', 'Chapter 5', 'Chapter 7']);
  assert.deepEqual(topicsOfBook(['Two words', 'Usage']), ['Two words']);
  assert.deepEqual(topicsOfBook([]), []);
});

test('topics of a list of pages are their titles as plain text, or those of chapters, and no other lists', () => {
  const list = [
    '# Sprig\n\n> The pages of Sprig as Markdown.\n\n## Guides\n',
    '- [Getting started](/docs/start.md): See [the list](/docs/list.md).',
    '- [Usage](/docs/usage.md)',
    '- [The `pump` \\[beta\\] \\<b>](/docs/pump.md): Water.',
    '- [Guides › Sensing](/llms/guides-sensing.txt): 12 pages',
    '\n## Other versions\n',
    '- [Version 1.0](/docs/1.0/llms.txt)',
    '- [Language ur](/ur/llms.txt)',
    '- [All pages in one file](/llms-full.txt)',
  ].join('\n');
  assert.deepEqual(topicsOfList(list), ['Getting started', 'The pump [beta] <b>', 'Guides › Sensing']);
  for (const other of ['', 'There is no page at this address.', '<!doctype html>']) assert.deepEqual(topicsOfList(other), []);
});

test('titles come in the order of the default version’s sidebars, without pages that are listed nowhere', () => {
  const docs = ['a', 'b', 'c', 'd'].map((id) => ({ id, title: `Title ${id}`, unlisted: id === 'b' }));
  const sidebars = {
    book: [
      { type: 'doc', id: 'd' },
      { type: 'category', link: { type: 'doc', id: 'c' }, items: [{ type: 'doc', id: 'b' }, { type: 'ref', id: 'a' }, { type: 'link' }] },
    ],
  };
  const loadedVersions = [{ isLast: false }, { isLast: true, docs, sidebars }];
  const contentOf = (content: unknown) => ({ 'docusaurus-plugin-content-docs': { default: content } }) as AllContent;
  assert.deepEqual(sidebarTitles(contentOf({ loadedVersions })), ['Title d', 'Title c', 'Title a']);
  for (const other of [undefined, {}, { loadedVersions: [] }, { loadedVersions: [{ isLast: true }] }]) assert.deepEqual(sidebarTitles(contentOf(other)), []);
  assert.deepEqual(sidebarTitles({}), []);
});
