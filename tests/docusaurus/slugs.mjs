// The slug of each character: `node slugs.mjs OUT.txt`
//
// One line for each code point (surrogates aside) whose slug is not empty: its number, a tab, the slug's code points
// with a space between; all in hexadecimal.
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
