import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Api } from '../src/core/api';
import { spokenText, withDoubts } from '../src/core/markdown';
import type { Session } from '../src/core/session';
import { stringsFor } from '../src/core/strings/languages';
import type { Citation } from '../src/core/types';
import { Markdown } from '../src/panel/Markdown';
import { type Site, SiteContext } from '../src/panel/site';

const PLACE = { title: 'A', section: 'B', chapter: 'C', source: 'docs/a.md', start_line: 1, end_line: 2 };
const CITATION: Citation = { n: 1, url: '/book/docs/a#b', quote: 'Wash it', ...PLACE };

before(() => {
  Object.assign(globalThis, { location: new URL('https://book.example/book/') });
});

function render(text: string, { citations = [CITATION], isGrowing = false, math = true, adapted = [] as string[] } = {}): string {
  const site: Site = {
    api: {} as Api,
    session: {} as Session,
    strings: stringsFor('en'),
    locale: 'en',
    examples: [],
    searches: false,
    pageUrl: () => undefined,
    go: () => false,
    ...(math && { Formula: ({ tex, isBlock }) => <var data-block={isBlock}>{tex}</var> }),
  };
  return renderToStaticMarkup(
    <SiteContext.Provider value={site}>
      <Markdown text={text} isGrowing={isGrowing} citations={citations} adapted={adapted} onFollow={() => {}} />
    </SiteContext.Provider>,
  );
}

const tags = (html: string) => Array.from(html.matchAll(/<([a-z]\w*)/g), ([, tag]) => tag);
const links = (html: string) => Array.from(html.matchAll(/href="([^"]*)"/g), ([, href]) => href);

test('HTML is shown as text', () => {
  const hostile = [
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '<svg/onload=alert(1)>',
    'a <b onclick="x">b</b> <iframe src="https://evil.example"></iframe>',
    '<div>\n\n**x**\n\n</div>',
    '<!-- comment --> <?php ?> <![CDATA[x]]>',
    '| <img src=x> |\n|---|\n| <style>*{}</style> |',
    '- <form action="https://evil.example"><input>',
    '# <marquee>x</marquee>',
    '&lt;script&gt;alert(1)&lt;/script&gt; &#60;img&#62; &#x3c;b&#x3e;',
    '**<a href="javascript:alert(1)">x</a>**',
  ];
  const known = ['p', 'strong', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'ul', 'li', 'h4'];
  for (const text of hostile) {
    const html = render(text);
    for (const tag of tags(html)) assert.ok(known.includes(tag!), `${tag} of ${text}`);
    assert.doesNotMatch(html, /<[^>]+\son\w+=/i, text);
  }
  assert.match(render('a <b>c</b>'), /&lt;b&gt;c&lt;\/b&gt;/);
});

test('links lead to http, https and this site alone', () => {
  const refused = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://book.example/x',
    'mailto:a@b.example',
    'https://user:secret@evil.example/',
    '../relative',
    'page.md',
    '#anchor',
    '?q=x',
    'http:evil.example',
    'https:///',
  ];
  for (const address of refused) assert.deepEqual(links(render(`[x](<${address}>) [y](${address})`)), [], address);
  assert.deepEqual(links(render('[x](/book/docs/a?b#c)')), ['/book/docs/a?b#c']);
});

test('links that leave the site say so', () => {
  for (const address of ['https://evil.example/a', '//evil.example/a', '/\\evil.example/a', 'https://book.example.evil.example/']) {
    const html = render(`[x](<${address}>)`);
    assert.match(html, /rel="noopener noreferrer nofollow"/, address);
    assert.match(html, /another site/, address);
    assert.doesNotMatch(html, /href="\//, address);
  }
  assert.doesNotMatch(render('[x](https://book.example/book/a)'), /another site/);
});

test('images of this site are shown, others as their alternative text', () => {
  assert.match(render('![A robot](/book/img/r.png)'), /<img[^>]* src="\/book\/img\/r\.png" alt="A robot"/);
  for (const text of ['![words](//evil.example/p.png)', '![words](data:image/png;base64,AA)', '![words](p.png)', '![words](/\\\\evil.example/p.png)']) {
    assert.doesNotMatch(render(text), /<img/, text);
  }
});

test('the title of code is shown above it', () => {
  const html = render('```js title="a b.js"\nx\n```');
  assert.match(html, /a b\.js<\/p><pre/);
});

test('images of other sites are never loaded; their alternative text stays', () => {
  for (const text of ['![words](https://evil.example/p.png)', '[![words](https://evil.example/p.png)](/book/a)', '![words][x]\n\n[x]: https://evil.example/p.png']) {
    const html = render(text);
    assert.doesNotMatch(html, /<img|src=|style=/);
    assert.match(html, /words/);
  }
});

test('markers lead to their citations, whatever the answer defines', () => {
  assert.deepEqual(links(render('Wash it [1], and again [1].')), [CITATION.url, CITATION.url]);
  assert.deepEqual(links(render('So [1].\n\n[1]: https://evil.example/')).slice(0, 1), [CITATION.url]);
  assert.deepEqual(links(render('[1][1]')), [CITATION.url, CITATION.url]);
  assert.match(render('so [1]'), /aria-label="Source 1: B"/);
  assert.match(render('so [2]'), /<sup class="bookrag-marker">2<\/sup>/);
  assert.doesNotMatch(render('`a[1]`\n\n```\na[1]\n```'), /<sup/);
});

test('a citation’s own address is held to the rules of links', () => {
  assert.deepEqual(links(render('[1]', { citations: [{ ...CITATION, url: 'javascript:alert(1)' }] })), []);
});

test('half a marker is not shown while the answer grows', () => {
  for (const text of ['so [', 'so [1']) assert.equal(render(text, { isGrowing: true }), '<p dir="auto">so</p>');
  assert.equal(render('so ['), '<p dir="auto">so [</p>');
});

test('formulas are shown where the site shows them', () => {
  assert.match(render('so $x^2$ is'), /<var data-block="false">x\^2<\/var>/);
  assert.match(render('$$\nx^2\n$$\n'), /<var data-block="true">x\^2<\/var>/);
  assert.match(render('so $x^2$ is', { math: false }), /so \$x\^2\$ is/);
  for (const prose of ['from $5 to $6', 'a $ sign', '\\$x\\$', '`$x$`']) assert.doesNotMatch(render(prose), /<var/, prose);
});

test('an answer has no outline of its own', () => {
  assert.deepEqual(tags(render('# a\n\n### b')), ['h4', 'h4']);
});

test('any beginning of a hostile answer is shown without harm', () => {
  const text = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](https://evil.example) [1]\n\n[1]: javascript:x\n\n```html\n<b>\n```\n| a |\n|---|\n| $x$ |';
  for (let end = 0; end <= text.length; end++) {
    const html = render(text.slice(0, end), { isGrowing: true });
    assert.doesNotMatch(html, /<(?:img|script|iframe)|href="(?!\/book|https)/);
  }
});

test('deep and long texts are parsed in time', () => {
  const started = performance.now();
  for (const text of ['['.repeat(3000), '*'.repeat(3000), '> '.repeat(150) + 'x', '$'.repeat(3000), '`'.repeat(3000), '![a]('.repeat(800), '<'.repeat(3000)]) render(text);
  assert.ok(performance.now() - started < 5000);
});

test('text nested too deeply is shown as source', () => {
  for (const text of ['>'.repeat(20_000) + ' x', Array.from({ length: 60 }, (_, depth) => '  '.repeat(depth) + '- x').join('\n')]) {
    assert.deepEqual(tags(render(text)), ['p']);
  }
  assert.match(render('> > - x'), /<blockquote.*<blockquote.*<li>x/);
});

test('text read aloud has no markup', () => {
  assert.equal(spokenText('## A\n\n- **b** `c` [1]\n\n[d](https://e.example)\n```sh\nf\n```'), 'A\n\nb c\n\nd\n\nf');
});

test('escaped characters are read aloud unchanged', () => {
  const text = 'Use \\<Tabs> \\[2\\] and \\*.\n\n- `a**b` [1]\n- two\n  - three\n\n| a | b |\n|--|--|\n| \\# c | d |\n\nEnd [1].';
  assert.equal(spokenText(text), 'Use <Tabs> [2] and *.\n\na**b\ntwo\nthree\n\na, b\n# c, d\n\nEnd.');
});

test("the book's own sentences are shown as the text that they are in the book", () => {
  // The server's output for such sentences (shared/book/src/escape).
  const cases: [string, string][] = [
    ['- mopple \\[click me\\](javascript:alert(1)) [1]', '<ul dir="auto"><li>mopple [click me](javascript:alert(1)) '],
    ['- mopple !\\[img\\](`https://evil.example/p.png`) [1]', 'mopple ![img](<code dir="ltr">https://evil.example/p.png</code>) '],
    ['Use `<Tabs>` and \\<Tabs>. [1]', 'Use <code dir="ltr">&lt;Tabs&gt;</code> and &lt;Tabs&gt;. '],
    ['See \\[2\\] and \\[1\\]. [1]', 'See [2] and [1]. '],
    ['Code ``a`b`` and `` `x` ``, `a[1]`. [1]', 'Code <code dir="ltr">a`b</code> and <code dir="ltr">`x`</code>, <code dir="ltr">a[1]</code>. '],
    ['It costs \\$5 or \\$6, \\&lt; x. [1]', 'It costs $5 or $6, &amp;lt; x. '],
    ['1986\\. A year, \\*not bold*, \\_\\_init_\\_ \\~~x~~. [1]', '<p dir="auto">1986. A year, *not bold*, __init__ ~~x~~. '],
    ['\\# no heading [1]', '<p dir="auto"># no heading '],
    ['\\- no item [1]', '<p dir="auto">- no item '],
    ['C:\\\\\\*.txt [1]', '<p dir="auto">C:\\*.txt '],
    ['Mail `a@b.example`. [1]', '<p dir="auto">Mail <code dir="ltr">a@b.example</code>. '],
    ['The value $x_1 < y^\\ast$. [1]', '<p dir="auto">The value <var data-block="false">x_1 &lt; y^\\ast</var>. '],
    ['$$\n{}+ b\n$$', '<var data-block="true">{}+ b</var>'],
  ];
  for (const [text, expected] of cases) {
    const html = render(text);
    assert.ok(html.includes(expected), `${text}\n${html}`);
    assert.deepEqual(links(html), text.includes('[1]') ? ['/book/docs/a#b'] : [], html);
  }
});

test('a marker within a link does not create a nested link', () => {
  const html = render('[see [1] here](https://e.example)');
  assert.equal(html.match(/<a /g)?.length, 1);
  assert.match(html, /see \[1\] here/);
});

test('a growing list never appears as a heading', () => {
  assert.doesNotMatch(render('Steps:\n-', { isGrowing: true }), /<h4/);
});

test('an unsupported sentence is marked at its end', () => {
  const text = 'Wash it. **Dry it at 40 °C.** Wash it. [1]\n\n- Iron it\n- Fold it';
  const html = render(withDoubts(text, ['**Dry it at 40 °C.**', 'Iron it', 'Never said.']));
  const mark = /<span class="bookrag-doubt" title="[^"]+">not in the sources<\/span>/g;
  assert.equal(html.match(mark)?.length, 2);
  assert.match(html.replaceAll(mark, '?'), /<strong>Dry it at 40 °C\.<\/strong> \? Wash it\. .*<li>Iron it \?<\/li><li>Fold it<\/li>/s);
  assert.equal(withDoubts('a\uE000b', []), 'ab');
});

test('code that is not that of the sources is marked below it', () => {
  const code = '```sh\na  --b\n  c\n```';
  assert.doesNotMatch(render(code), /bookrag-doubt/);
  const adapted = render(code, { adapted: ['c', 'elsewhere'] });
  assert.match(adapted, /<\/pre><p><span class="bookrag-doubt" title="[^"]+">adapted<\/span> <code dir="ltr">c<\/code> <\/p>/);
  const unsupported = render(withDoubts(code, ['a  --b']));
  assert.match(unsupported, /<code>a  --b\n  c<\/code><\/pre><p><span class="bookrag-doubt" title="[^"]+">not in the sources<\/span><\/p>/);
});
