// Writes what Docusaurus shows of the pages of a built site: `node expected.mjs SITE OUT.jsonl`
//
// A line for each file of docs: `{file, source, text, headings}`. Files that are no pages, such as partials, have a source only.
//
//   text      the text shown: words separated by one space, without what the theme adds (buttons, icons, links of headings)
//   headings  level and id of each heading in order: `2#install`
//
// Where a text cannot have the order or the signs of the page, it has ours:
//
//   - the label of a tab stands before its content, not with the other labels
//   - the kind of an admonition, which its icon shows, precedes its title: `Tip Title`
//   - items have their numbers, except those that begin with code, a table, a heading or another list; tasks have `[x]` or `[ ]`
//   - pictures have their alternative text, formulas their TeX with dollar signs
//   - numbers of footnotes, the heading above the footnotes and the links back are left out
import fs from 'node:fs';
import path from 'node:path';
import {load} from 'cheerio';

const [site, out] = process.argv.slice(2);
const BLOCKS = 'p, div, li, ul, ol, td, th, tr, table, pre, br, hr, summary, details, dt, dd, figcaption, blockquote, h1, h2, h3, h4, h5, h6, .token-line';
const WITHOUT_NUMBER = /^(pre|table|h[1-6]|ul|ol)$/;

function numbered($, item) {
  const list = $(item).parent();
  const number = Number(list.attr('start') ?? 1) + $(item).prevAll('li').length;
  const first = $(item).contents().get().find((node) => node.type === 'tag' || $(node).text().trim());
  const beginsWithBlock = first?.type === 'tag' && (WITHOUT_NUMBER.test(first.name) || $(first).is('.theme-code-block'));
  if (!beginsWithBlock && $(item).text().trim()) {
    $(item).prepend(`${number}. `);
  }
}

function labelled($, admonition) {
  const kind = $(admonition).attr('class').match(/theme-admonition-(\w+)/)[1];
  const name = kind[0].toUpperCase() + kind.slice(1);
  const heading = $(admonition).children().first();
  if (heading.text().trim() === kind) {
    heading.text(name);
  } else {
    heading.prepend(`${name} `);
  }
}

function shown($) {
  const article = $('.theme-doc-markdown');
  article.find('button, svg, style, script, .hash-link, #footnote-label, [data-footnote-backref]').remove();
  article.find('sup:has(> [data-footnote-ref])').remove();
  article.find('[hidden]:not([role=tabpanel]), [style*="display:none"]').remove();
  const headings = article
    .find('h1, h2, h3, h4, h5, h6')
    .get()
    .map((heading) => `${heading.name[1]}#${heading.name === 'h1' ? '' : ($(heading).attr('id') ?? '')}`);
  for (const formula of article.find('.katex').get()) {
    const tex = $(formula).find('annotation').first().text();
    const display = $(formula).closest('.katex-display');
    (display.length > 0 ? display : $(formula)).replaceWith($('<span>').text(display.length > 0 ? `$$${tex}$$` : `$${tex}$`));
  }
  for (const tabs of article.find('.tabs-container').get()) {
    const labels = $(tabs).children('[role=tablist]');
    const panels = labels.next().children('[role=tabpanel]');
    panels.each((at, panel) => void $(panel).prepend($('<p>').append(labels.children().eq(at).contents())));
    labels.remove();
  }
  article.find('.theme-admonition').each((_, admonition) => labelled($, admonition));
  article.find('img').each((_, image) => void $(image).replaceWith($('<span>').text($(image).attr('alt') ?? '')));
  article.find('ol > li').not('section[data-footnotes] > ol > li').each((_, item) => numbered($, item));
  article.find('input[type=checkbox]').each((_, box) => void $(box).replaceWith($(box).is('[checked]') ? '[x] ' : '[ ] '));
  article.find(BLOCKS).append(' ').before(' ').after(' ');
  return {text: article.text().split(/\s+/).filter(Boolean).join(' '), headings};
}

const docs = path.join(site, 'docs');
const lines = fs
  .readdirSync(docs)
  .sort()
  .map((file) => {
    const source = fs.readFileSync(path.join(docs, file), 'utf8');
    const built = path.join(site, 'build', file.replace(/\.mdx?$/, ''), 'index.html');
    return {file, source, ...(fs.existsSync(built) ? shown(load(fs.readFileSync(built, 'utf8'))) : {})};
  });
fs.writeFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
