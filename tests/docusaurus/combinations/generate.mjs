// Writes a site of small pages that combine the constructs of Docusaurus's documentation: `node generate.mjs SITE`
//
// SITE is a copy of the folder `site`, below the folder with node_modules. Pages that Docusaurus cannot compile are left out. The pages
// depend on the seed alone.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';
import {blocks, containers, hosts, inlines} from './constructs.mjs';
import {Page, randomNumbers} from './page.mjs';

const SEED = 20261128;
/** The pages of several random constructs. */
const RANDOM_PAGES = 900;
/** Combined pairs that one page has. */
const PAIRS_PER_PAGE = 2;
/** The share of pairs that is written. */
const HOSTED_SHARE = 0.55;
const CONTAINED_SHARE = 0.5;
const ADJACENT_SHARE = 0.05;

const random = randomNumbers(SEED);
const site = fs.realpathSync(process.argv[2]);
const require = createRequire(path.join(site, 'package.json'));
const {compileToJSX} = require(path.join(path.dirname(require.resolve('@docusaurus/mdx-loader')), 'utils.js'));
const {loadSiteConfig} = require('@docusaurus/core/lib/server/config.js');
const {siteConfig} = await loadSiteConfig({siteDir: site});

const named = (constructs) => Object.entries(constructs).map(([name, write]) => ({name, write, formats: write.formats ?? ['mdx', 'md']}));
const [inlineList, hostList, blockList, containerList] = [inlines, hosts, blocks, containers].map(named);

function bothFormats(...parts) {
  const formats = ['mdx', 'md'].filter((format) => parts.every((part) => part.formats.includes(format)));
  // Most sites have MDX only.
  return formats.length > 1 && random() < 0.75 ? ['mdx'] : formats.slice(-1);
}

/** Returns the pairs to combine, as functions that write one into a page of a format. */
function pairs() {
  const all = [];
  const add = (share, parts, write) => {
    const [format] = random() < share ? bothFormats(...parts) : [];
    if (format) all.push({format, write});
  };
  for (const host of hostList) {
    for (const inline of inlineList) {
      if (!(host.write.flat && inline.write.flat)) add(HOSTED_SHARE, [host, inline], (p) => host.write(p, inline.write(p)));
    }
  }
  for (const container of containerList) {
    for (const block of blockList) add(CONTAINED_SHARE, [container, block], (p) => container.write(p, block.write(p)));
  }
  for (const first of blockList) {
    for (const second of blockList) add(ADJACENT_SHARE, [first, second], (p) => `${first.write(p)}${random() < 0.3 ? '\n' : '\n\n'}${second.write(p)}`);
  }
  return all;
}

/** Gives a page its beginning: a title in its front matter or its text, both, or none. */
function begin(page) {
  const kind = page.number(10);
  if (kind < 3) page.frontMatter.set('title', page.pick([page.words(2), `"${page.name()}: ${page.word()}"`, `'${page.word()} \`${page.word()}\` **${page.word()}**'`]));
  if (kind === 1) page.frontMatter.set('hide_title', 'true');
  if (kind > 1 && kind < 8 && !page.title) page.title = page.pick([`# ${page.words(2)}`, `# ${page.name()} *${page.word()}*`, `${page.words(2)}\n===`, `# ${page.word()} {#${page.word()}}`]);
  if (kind === 9) page.frontMatter.set('description', page.words(3));
  if (page.number(20) === 0) page.frontMatter.set('hide_table_of_contents', 'true');
}

function ofPairs(list, format) {
  const page = new Page(random, format);
  const body = list.map(({write}) => write(page)).filter(Boolean).join('\n\n');
  begin(page);
  return page.text(body);
}

/** Writes a random block, in up to three containers. */
function randomBlock(page, depth = 0) {
  const fits = (part) => part.formats.includes(page.format);
  const inline = () => page.pick(inlineList.filter((part) => fits(part) && !part.write.flat)).write(page);
  if (depth < 3 && random() < 0.3) {
    const inside = Array.from({length: 1 + page.number(2)}, () => randomBlock(page, depth + 1)).join('\n\n');
    return page.pick(containerList.filter(fits)).write(page, inside);
  }
  if (random() < 0.5) {
    const text = `${inline()}${page.pick([' ', ', ', ' ', '. '])}${inline()}`;
    return page.pick(hostList.filter((host) => fits(host) && host.name !== 'title')).write(page, text);
  }
  return page.pick(blockList.filter(fits)).write(page);
}

function ofRandomBlocks() {
  const page = new Page(random, random() < 0.2 ? 'md' : 'mdx');
  const count = 2 + page.number(3);
  const body = Array.from({length: count}, () => randomBlock(page)).reduce((text, block) => `${text}${page.number(12) === 0 ? '\n' : '\n\n'}${block}`);
  begin(page);
  const text = page.text(body);
  return page.number(25) === 0 ? text.replaceAll('\n', '\r\n') : text;
}

async function compiles(name, text) {
  const {parseMarkdownFile} = require('@docusaurus/utils');
  const filePath = path.join(site, 'docs', name);
  try {
    const {content, frontMatter} = await parseMarkdownFile({filePath, fileContent: text, parseFrontMatter: siteConfig.markdown.parseFrontMatter, removeContentTitle: false});
    // Text between two rules at the beginning of a page is front matter.
    if (typeof frontMatter !== 'object') return false;
    const options = {admonitions: true, staticDirs: [path.join(site, 'static')], siteDir: site, markdownConfig: siteConfig.markdown, remarkPlugins: [], rehypePlugins: []};
    const {content: script} = await compileToJSX({filePath, fileContent: content, frontMatter, options, compilerName: 'server'});
    // React rejects `<x@y>`, which HTML parsers read as a tag.
    return !script.includes('_missingMdxReference(') && !/"\w+@\w+"/.test(script);
  } catch {
    return false;
  }
}

const texts = [];
const all = pairs().map((pair) => ({pair, order: random()})).sort((a, b) => a.order - b.order).map(({pair}) => pair);
for (const format of ['mdx', 'md']) {
  const some = all.filter((pair) => pair.format === format);
  for (let at = 0; at < some.length; at += PAIRS_PER_PAGE) texts.push(ofPairs(some.slice(at, at + PAIRS_PER_PAGE), format));
}
for (let at = 0; at < RANDOM_PAGES; at += 1) texts.push(ofRandomBlocks());

let written = 0;
for (const [at, text] of texts.entries()) {
  const name = `p${String(at).padStart(4, '0')}.${text.length % 3 === 0 ? 'md' : 'mdx'}`;
  if (await compiles(name, text)) {
    fs.writeFileSync(path.join(site, 'docs', name), text);
    written += 1;
  }
}
console.log(`${written} of ${texts.length} pages compile`);
