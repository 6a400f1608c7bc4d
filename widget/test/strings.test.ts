import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookLanguageNote, degradedNotes } from '../src/core/strings';
import { en } from '../src/core/strings/en';
import { languageOf, LANGUAGES, stringsFor } from '../src/core/strings/languages';
import { ur } from '../src/core/strings/ur';
import { pageStringsFor } from '../src/page/strings';

const holes = (text: string) => Array.from(text.matchAll(/\{\w+\}/g), ([hole]) => hole).sort();

test('every language has every text, with the same placeholders', () => {
  for (const [language, strings] of Object.entries(LANGUAGES)) {
    assert.deepEqual(Object.keys(strings).sort(), Object.keys(en).sort(), language);
    for (const [name, text] of Object.entries(strings)) {
      assert.ok(text.trim(), `${language}.${name}`);
      assert.deepEqual(holes(text), holes(en[name as keyof typeof en]), `${language}.${name}`);
    }
  }
});

test('the page of `serve` speaks each language of the panel, with the same placeholders', () => {
  const english = pageStringsFor('en');
  for (const language of Object.keys(LANGUAGES)) {
    const strings = pageStringsFor(language);
    assert.equal(strings === english, language === 'en', language);
    for (const [name, text] of Object.entries(strings)) {
      assert.deepEqual(holes(text), holes(english[name as keyof typeof english]), `${language}.${name}`);
    }
  }
});

test('no language has a text left in English', () => {
  // Short words may be spelt alike.
  const isShared = (name: string) => en[name as keyof typeof en].length < 12;
  for (const [language, strings] of Object.entries(LANGUAGES)) {
    if (language === 'en') continue;
    for (const [name, text] of Object.entries(strings)) {
      assert.ok(isShared(name) || text !== en[name as keyof typeof en], `${language}.${name}`);
    }
  }
});

test('no language calls the site a book, which most are not', () => {
  const book = /\b(?:text)?books?\b|buch|\blibros?\b|\blivres?\b|\blivros?\b|книг|книж|підручник|کتاب|书|書籍|课本|教材|教科|本の|책|교과서|교재/i;
  for (const language of Object.keys(LANGUAGES)) {
    for (const texts of [stringsFor(language), pageStringsFor(language)]) {
      for (const [name, text] of Object.entries(texts)) assert.doesNotMatch(text, book, `${language}.${name}`);
    }
  }
});

test('Urdu is Urdu', () => {
  for (const [name, text] of Object.entries(ur)) {
    assert.match(text, /[\u0600-\u06FF]/, name);
    // Arabic yeh and kaf look similar but are different letters.
    assert.doesNotMatch(text, /[\u064A\u0643]/, name);
    // Names of keys and of placeholders are exempt.
    assert.doesNotMatch(text.replace(/\{\w+\}|Enter|Shift\+Enter/g, ''), /[a-z]/i, name);
  }
});

test('a locale has its language’s strings, or English', () => {
  assert.equal(stringsFor('ur'), ur);
  assert.equal(stringsFor('ur-PK'), ur);
  assert.equal(stringsFor('en-GB'), en);
  assert.equal(stringsFor('de'), LANGUAGES.de);
  assert.equal(stringsFor('pt-BR'), LANGUAGES.pt);
  assert.equal(stringsFor('tlh'), en);
  assert.deepEqual(['de-AT', 'tlh', 'constructor'].map(languageOf), ['de', 'en', 'en']);
});

test('the book’s language is named in the panel’s', () => {
  assert.equal(bookLanguageNote(en, 'en', 'de'), 'These docs are in German.');
  assert.match(bookLanguageNote(ur, 'ur', 'en'), /انگریزی/);
  assert.equal(bookLanguageNote(en, 'en', 'no locale'), 'These docs are in no locale.');
});

test('each missing dependency of an answer is named once', () => {
  assert.deepEqual(degradedNotes(en, ['vector_store', 'embedder', 'generator']), [en.degradedSearch, en.degradedModel]);
  assert.deepEqual(degradedNotes(en, ['something new', 'constructor', '__proto__']), [en.degradedOther]);
  assert.deepEqual(degradedNotes(en, ['indexing']), [en.degradedIndexing]);
  assert.deepEqual(degradedNotes(en, []), []);
});
