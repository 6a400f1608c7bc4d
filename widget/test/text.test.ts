import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../src/core/strings/en';
import { ur } from '../src/core/strings/ur';
import { kindOf, timeSince } from '../src/core/text';

test('a post is named with its day in the reader’s locale', () => {
  const post = { kind: 'blog', date: '2024-05-03' } as const;
  assert.equal(kindOf(post, en, 'en-GB'), 'Blog · 3 May 2024');
  assert.equal(kindOf(post, en, 'en-US'), 'Blog · May 3, 2024');
  assert.match(kindOf(post, ur, 'ur'), /^بلاگ · .*2024/);
});

test('a post without a day is named, and so is a page', () => {
  assert.equal(kindOf({ kind: 'blog' }, en, 'en'), 'Blog');
  assert.equal(kindOf({ kind: 'blog', date: null }, en, 'en'), 'Blog');
  assert.equal(kindOf({ kind: 'blog', date: 'soon' }, en, 'en'), 'Blog');
  assert.equal(kindOf({ kind: 'page' }, en, 'en'), 'Page');
});

test('docs and unnamed kinds have no label', () => {
  assert.equal(kindOf({ kind: 'docs', date: '2024-05-03' }, en, 'en'), '');
  assert.equal(kindOf({}, en, 'en'), '');
});

test('the time since something is told in words, and after a week as a date', () => {
  const now = Date.UTC(2026, 10, 27, 12);
  const since = (minutes: number, locale = 'en') => timeSince(now - minutes * 60_000, now, locale);
  assert.equal(since(0.5), 'now');
  assert.equal(since(-5), 'now');
  assert.equal(since(1), '1 minute ago');
  assert.equal(since(125), '2 hours ago');
  assert.equal(since(26 * 60), 'yesterday');
  assert.equal(since(3 * 24 * 60, 'de'), 'vor 3 Tagen');
  assert.equal(since(30 * 24 * 60), 'October 28, 2026');
});
