// Writes the slug of each character: `node slugs.mjs OUT.txt`
//
// One line for each code point (except surrogates) with a non-empty slug: its number, a tab, and the slug's code points
// separated by spaces; all in hexadecimal.
import fs from 'node:fs';
import GithubSlugger from 'github-slugger';

const LAST = 0x10ffff;
const hex = (codePoint) => codePoint.toString(16).toUpperCase();

const lines = [];
for (let codePoint = 0; codePoint <= LAST; codePoint += 1) {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) {
    continue;
  }
  const slug = GithubSlugger.slug(String.fromCodePoint(codePoint));
  if (slug !== '') {
    lines.push(`${hex(codePoint)}\t${[...slug].map((c) => hex(c.codePointAt(0))).join(' ')}\n`);
  }
}
fs.writeFileSync(process.argv[2], lines.join(''));
