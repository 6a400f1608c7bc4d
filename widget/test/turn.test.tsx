import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Api } from '../src/core/api';
import { restored, type Turn as TurnState } from '../src/core/conversation';
import type { FailureKind } from '../src/core/failure';
import type { Session } from '../src/core/session';
import { stringsFor } from '../src/core/strings/languages';
import type { Book, Citation, Outcome, SearchResult, Suggestion } from '../src/core/types';
import { type Site, SiteContext } from '../src/panel/site';
import { Results } from '../src/panel/Results';
import { Turn } from '../src/panel/Turn';

before(() => {
  // `navigator` is read-only in Node from version 21 and absent before.
  Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  Object.assign(globalThis, { location: new URL('https://book.example/book/') });
});

const SITE: Site = {
  api: {} as Api,
  session: {} as Session,
  strings: stringsFor('en'),
  locale: 'en',
  examples: [],
  searches: false,
  pageUrl: () => undefined,
  go: () => false,
};

function turn(outcome: Outcome, fields: Partial<TurnState>): TurnState {
  return { id: 'a', question: { text: 'why?' }, text: 'So.', citations: [], state: 'complete', outcome, suggestions: [], degraded: [], ...fields };
}

function render(state: TurnState, site: Partial<Site> = {}): string {
  return renderToStaticMarkup(
    <SiteContext.Provider value={{ ...SITE, ...site }}>
      <Turn turn={state} onAsk={() => {}} announce={() => {}} />
    </SiteContext.Provider>,
  );
}

function cite(n: number, section: string, quote: string): Citation {
  return { n, url: `/docs/soil#${section}`, title: 'Soil', section, chapter: '', quote, source: 'docs/soil.md', start_line: 1, end_line: 2 };
}

const headings = (html: string) => Array.from(html.matchAll(/<h4>([^<]*)/g), ([, text]) => text);
const sentences = (html: string) => Array.from(html.matchAll(/<p class="bookrag-sentence" dir="auto">([^<]*)<\/p>/g), ([, text]) => text);
/** How often a text is shown, without labels and addresses. A line break stands for each tag. */
const shown = (html: string, text: string) => html.replaceAll(/<[^>]*>/g, '\n').split(text).length - 1;

test('before its first words a turn says what the model reads or looks up', () => {
  const waiting = (fields: Partial<TurnState>) => /class="bookrag-waiting" dir="auto">([^<]*)/.exec(render(turn('answered', { text: '', state: 'answering', ...fields })))?.[1];
  assert.equal(waiting({}), 'Reading the docs');
  assert.equal(waiting({ sections: 5 }), 'Reading 5 sections of the docs');
  assert.equal(waiting({ sections: 5, subject: '<b>soil' }), 'Looking up “&lt;b&gt;soil”');
});

test('a suggestion shows its sentence as text', () => {
  const text = '<img src=x onerror=alert(1)> **Wash** [1] it.';
  const suggestions: Suggestion[] = [{ title: 'A – B', url: '/docs/a#b', text }, { title: 'C', url: '/docs/c' }];
  for (const outcome of ['answered', 'uncertain', 'not_covered'] as const) {
    const html = render(turn(outcome, { suggestions }));
    assert.deepEqual(sentences(html), ['&lt;img src=x onerror=alert(1)&gt; **Wash** [1] it.'], outcome);
    assert.doesNotMatch(html, /<img|<sup/, outcome);
    assert.equal(html.match(/aria-label="Ask about this: /g)?.length, 2, outcome);
    assert.deepEqual(headings(html), [outcome === 'not_covered' ? 'Closest sections' : 'See also'], outcome);
  }
});

test('questions to ask next are buttons with plain text', () => {
  const followUps = ['Is <img src=x onerror=alert(1)> **bold** [1]?', 'How is it washed?'];
  const html = render(turn('answered', { followUps }));
  assert.deepEqual(headings(html), ['You might ask']);
  const buttons = Array.from(html.matchAll(/class="bookrag-example" dir="auto">([^<]*)<\/button>/g), ([, text]) => text);
  assert.deepEqual(buttons, ['Is &lt;img src=x onerror=alert(1)&gt; **bold** [1]?', 'How is it washed?']);
  assert.doesNotMatch(html, /<img|<strong|<sup/);
  for (const none of [undefined, []]) assert.deepEqual(headings(render(turn('answered', none ? { followUps: none } : {}))), []);
});

test('an uncertain answer shows its quote and its sources once', () => {
  const text = 'I am not sure that the docs answer this.\n\nLoam holds water. [1]\n\n- Clay holds more. [2]\n- Sand drains. [3]\n';
  const citations = [cite(1, 'Loam', 'Loam holds water.'), cite(2, 'Clay', 'Clay holds more.'), cite(3, 'Sand', 'Sand drains.')];
  const html = render(turn('uncertain', { text, citations }));
  assert.match(html, /<article class="bookrag-turn bookrag-uncertain"/);
  assert.deepEqual(headings(html), ['Sources']);
  for (const { section, quote } of citations) {
    assert.deepEqual([shown(html, `\n${section}\n`), shown(html, quote)], [1, 1], section);
  }
});

test('a section is listed once: sources are not suggested, nor anything twice', () => {
  const citations = [cite(1, 'Loam', '')];
  const suggestions: Suggestion[] = [
    { title: 'Soil – Loam', url: '/docs/soil#Loam', text: 'Loam holds water.' },
    { title: 'Tools – Probe', url: '/docs/tools#probe', text: 'Wash it.' },
    { title: 'Tools – Probe', url: '/docs/tools#probe', text: 'Dry it.' },
  ];
  for (const outcome of ['answered', 'uncertain'] as const) {
    const html = render(turn(outcome, { text: 'It holds water. [1]', citations, suggestions }));
    assert.deepEqual([shown(html, 'Loam'), shown(html, 'Probe')], [1, 1], outcome);
    assert.deepEqual(sentences(html), ['Wash it.'], outcome);
  }
  const html = render(turn('answered', { citations, suggestions: suggestions.slice(0, 1) }));
  assert.deepEqual(headings(html), ['Sources'], 'no heading without a list');
});

test('a conversation stored by an earlier version is shown', () => {
  const suggestions = [{ title: 'Clay', url: '/docs/clay' }];
  const text = 'I am not sure that the docs answer this. These sections come closest:\n\n- Soil – Loam [1]\n';
  const old = [turn('answered', { suggestions }), turn('uncertain', { text, citations: [cite(1, 'Loam', '')] })];
  const [answered, uncertain] = restored(JSON.parse(JSON.stringify({ turns: old }))).turns.map((state) => render(state));
  assert.equal(shown(answered!, 'Clay'), 1);
  assert.deepEqual(sentences(answered!), []);
  assert.deepEqual(headings(uncertain!), ['Sources']);
});

test('people are asked with what the address names, and the panel says that it is sent', () => {
  const state = turn('uncertain', {
    question: { text: 'why & how?', pageUrl: '/docs/a' },
    text: 'x'.repeat(1600),
    citations: [cite(1, 'ph', 'Acid.')],
    suggestions: [{ title: 'C', url: '/docs/c' }, { title: 'D', url: '/docs/soil#ph' }],
  });
  const address = (supportUrl: string) => /<a href="([^"]*)" target="_blank"/.exec(render(state, { supportUrl }))?.[1];
  const base = 'https://f.example/new?t=';
  assert.equal(address(`${base}{question}`), `${base}why%20%26%20how%3F`);
  assert.equal(address(`${base}{outcome}-{page}`), `${base}uncertain-${encodeURIComponent('https://book.example/docs/a')}`);
  const sections = 'https://book.example/docs/soil#ph\nhttps://book.example/docs/c';
  assert.equal(address(`${base}{sections}`), base + encodeURIComponent(sections));
  assert.equal(decodeURIComponent(address(`${base}{answer}`) ?? ''), `${base}${'x'.repeat(1500)}…`);
  assert.match(render(state, { supportUrl: `${base}{answer}` }), /The link carries the question/);
  assert.doesNotMatch(render(state, { supportUrl: `${base}{question}` }), /The link carries/);
  assert.equal(address(`${base}{other}`), `${base}{other}`);
});

test('people are offered where asking again may not help', () => {
  const offers = (kind: FailureKind) => render(turn('answered', { state: 'failed', failure: { kind } }), { supportUrl: '/help' }).includes('href="/help"');
  for (const kind of ['unreachable', 'unavailable', 'broken', 'unexpected'] as const) assert.ok(offers(kind), kind);
  for (const kind of ['offline', 'limited', 'unauthorized', 'rejected'] as const) assert.ok(!offers(kind), kind);
});

test('an answer says how old its index is, and from which commit', () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const shownAge = (index: TurnState['index'], locale = 'en') =>
    /bookrag-place">([^<]*)/.exec(render(turn('answered', index ? { index } : {}), { locale, strings: stringsFor(locale) }))?.[1];
  assert.equal(shownAge({ updated_at: ago(5), commit: '7f3c2a1' }), 'From 7f3c2a1 · 5 minutes ago');
  assert.equal(shownAge({ updated_at: ago(5), commit: '7f3c2a1' }, 'de'), 'Aus 7f3c2a1 · vor 5 Minuten');
  assert.equal(shownAge({ updated_at: ago(0), commit: null }), 'now');
  assert.equal(shownAge(undefined), undefined);
});

const SOIL: Book = { id: 'soil', title: '<b>Soil', url: 'https://soil.example' };
const hrefs = (html: string) => Array.from(html.matchAll(/<(?:a href|img class="bookrag-picture" src)="([^"]*)"/g), ([, href]) => href);

test('an answer of one of several books names it once, and leads to its site', () => {
  const text = 'It is [so](/docs/a). ![Soil](/img/soil.png) See [this](https://book.example/x). [1]';
  const citations = [{ ...cite(1, 'Loam', ''), url: 'https://soil.example/docs/loam' }];
  const suggestions = [{ title: 'Clay', url: 'https://soil.example/docs/clay' }];
  const html = render(turn('answered', { text, citations, suggestions, book: SOIL }));
  assert.equal(shown(html, 'From &lt;b&gt;Soil'), 1);
  const soil = (path: string) => `https://soil.example${path}`;
  assert.deepEqual(hrefs(html), [soil('/docs/a'), soil('/img/soil.png'), '/x', soil('/docs/loam'), soil('/docs/loam'), soil('/docs/clay')]);
  assert.equal(html.match(/target="_blank" rel="noopener"/g)?.length, 4);
  assert.equal(html.match(/bookrag-foreign/g)?.length, 1, 'the address of this site is foreign to that book');
});

test('an answer of a book below a path of this site leads there', () => {
  const book = { ...SOIL, url: 'https://book.example/books/soil/' };
  const citations = [{ ...cite(1, 'Loam', ''), url: 'https://book.example/books/soil/docs/loam' }];
  const html = render(turn('answered', { text: '[So](/docs/a). [1]', citations, book }));
  assert.deepEqual(hrefs(html), ['/books/soil/docs/a', '/books/soil/docs/loam', '/books/soil/docs/loam']);
  assert.doesNotMatch(html, /_blank/);
});

test('a book needs no name if no other is asked, and none without a place has links of its own', () => {
  assert.doesNotMatch(render(turn('answered', { book: SOIL }), { books: ['soil'] }), /From/);
  assert.doesNotMatch(render(turn('answered', {})), /From/);
  for (const url of [null, 'javascript:alert(1)', 'http://[']) {
    assert.deepEqual(hrefs(render(turn('answered', { text: '[So](/docs/a).', book: { ...SOIL, url } }))), ['/docs/a'], String(url));
  }
});

test('people are told the sections of a book on its site', () => {
  const state = turn('uncertain', { question: { text: 'why?', pageUrl: '/docs/a' }, citations: [cite(1, 'ph', '')], book: SOIL });
  const [address] = hrefs(render(state, { supportUrl: 'https://f.example/?t={page}-{sections}' })).filter((href) => href?.startsWith('https://f.'));
  assert.equal(decodeURIComponent(address ?? ''), 'https://f.example/?t=https://book.example/docs/a-https://soil.example/docs/soil#ph');
});

test('a result names its book and leads to its site', () => {
  const result: SearchResult = { chunk_id: 'a', title: 'Loam', section: 'Water', chapter: '<b>Soil', url: 'https://soil.example/docs/loam', preview: '', questions: [], book: SOIL };
  const results = [result, { ...result, chunk_id: 'b', book: { ...SOIL, id: 'air', title: 'Air', url: null } }];
  const list = (site: Partial<Site> = {}) =>
    renderToStaticMarkup(
      <SiteContext.Provider value={{ ...SITE, ...site }}>
        <Results search={{ query: 'zzz', results }} isAnswering={false} onAsk={() => {}} announce={() => {}} />
      </SiteContext.Provider>,
    );
  const places = (html: string) => Array.from(html.matchAll(/bookrag-place">([^<]*)/g), ([, text]) => text);
  assert.deepEqual(places(list()), ['&lt;b&gt;Soil · Loam', 'Air · &lt;b&gt;Soil · Loam']);
  assert.deepEqual(places(list({ books: ['soil'] })), ['&lt;b&gt;Soil · Loam', '&lt;b&gt;Soil · Loam']);
  assert.deepEqual(Array.from(list().matchAll(/rel="([^"]*)"/g), ([, rel]) => rel), ['noopener', 'noopener noreferrer nofollow']);
});
