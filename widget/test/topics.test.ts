import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AllContent } from '@docusaurus/types';
import { topicsOfBook } from '../src/core/topics';
import { sidebarTitles } from '../src/plugin/titles';

test('topics of a book are titles of more than one word, from its beginning to its end', () => {
  const titles = ['Usage', ...Array.from({ length: 8 }, (_, at) => `Chapter ${at + 1}`), 'Chapter 1', 'x '.repeat(60)];
  assert.deepEqual(topicsOfBook(titles), ['Chapter 1', 'Chapter 3', 'Chapter 5', 'Chapter 7']);
  assert.deepEqual(topicsOfBook(['Two words', 'Usage']), ['Two words']);
  assert.deepEqual(topicsOfBook([]), []);
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
