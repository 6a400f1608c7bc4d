// Writes what Docusaurus makes of a site: `node truth.mjs SITE OUT.jsonl`
//
// Builds every locale of the folder SITE (it must be below the folder with node_modules; `.docusaurus` and
// `build` are written into it) and writes a JSON line for each page and locale of the docs, pages and blog plugins:
//
//   source    the file, relative to SITE; of a page that is a script, the name that its HTML has for us
//   locale    the locale of the built page; a page without a translation is listed for each locale
//   instance  the id of the docs plugin; `pages/` or `blog/` and the plugin's id for others
//   version   `current`, or a name in the plugin's versions.json
//   url       path of the built page, baseUrl and trailing slash as built, not percent-encoded
//   title     the title in the metadata
//   date      the day of a blog post in UTC, or of its file if the post has none; null for other pages
//   tags      the labels of its tags
//   authors   the names of a blog post's authors
//   unlisted  whether the page is hidden from lists
//   headings  [{level, id, text}] of h1 to h6 in the article, in document order; "" means no id. Includes raw HTML and JSX headings
//             and the heading of the footnotes. `text` is as shown, without footnote numbers and with formulas as TeX.
//             null if several pages claim this URL.
//   text      the text shown, with spaces between blocks; null likewise
import fs from 'node:fs';
import path from 'node:path';
import {buildLocale} from '@docusaurus/core/lib/commands/build/buildLocale.js';
import {loadSiteConfig} from '@docusaurus/core/lib/server/config.js';
import {load} from 'cheerio';

process.env.NODE_ENV = 'production';
process.env.BABEL_ENV = 'production';

// The part of a page that is rendered from its Markdown.
const ARTICLE = '.theme-doc-markdown, .mdx-page article, article:has(> #__blog-post-container)';

const [site, out] = process.argv.slice(2);
const siteDir = fs.realpathSync(site);
const {siteConfig} = await loadSiteConfig({siteDir});
const {defaultLocale, locales} = siteConfig.i18n;
// The metadata of each plugin, with the prefix of its ids.
const metadata = [
  ['docusaurus-plugin-content-docs', ''],
  ['docusaurus-plugin-content-pages', 'pages/'],
  ['docusaurus-plugin-content-blog', 'blog/'],
];

// The default locale must be first: its build clears the folder of the other builds.
const ordered = [defaultLocale, ...locales.filter((locale) => locale !== defaultLocale)];
const lines = [];
for (const locale of ordered) {
  // At least two locales: a single one would be built without its prefix.
  const cliOptions = {locale: [...ordered, defaultLocale], minify: false};
  fs.rmSync(path.join(siteDir, '.docusaurus'), {recursive: true, force: true});
  await buildLocale({siteDir, locale, cliOptions});
  lines.push(...readLocale(locale));
}
fs.writeFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

function readLocale(locale) {
  const pages = builtPages();
  const docs = [...metadata.flatMap(([plugin, before]) => builtBy(plugin, before)), ...scripts()];
  const claims = new Map();
  for (const doc of docs) {
    claims.set(doc.permalink, (claims.get(doc.permalink) ?? 0) + 1);
  }
  return docs
    .map((doc) => {
      const page = pages.get(withoutSlash(doc.permalink));
      if (!page) {
        throw new Error(`no page was built at ${doc.permalink} of ${doc.source}`);
      }
      return {
        source: doc.type === 'jsx' ? `build/${page.file}` : doc.source.replace('@site/', ''),
        locale,
        instance: doc.instance,
        version: doc.version ?? 'current',
        url: page.url,
        // A page's title may be that of the site alone.
        title: doc.type === 'jsx' ? page.title : (doc.title ?? null),
        date: doc.date?.slice(0, 10) ?? null,
        tags: (doc.tags ?? []).map((tag) => tag.label),
        authors: (doc.authors ?? []).map((author) => author.name),
        unlisted: doc.unlisted,
        headings: claims.get(doc.permalink) > 1 ? null : page.headings,
        text: claims.get(doc.permalink) > 1 ? null : page.text,
      };
    })
    .sort((a, b) => (a.source < b.source ? -1 : 1));
}

// Lists pages that are written as scripts: the routes whose component is a script in src/pages. The plugin writes no metadata of them.
function scripts() {
  const read = (name) => fs.readFileSync(path.join(siteDir, '.docusaurus', name), 'utf8');
  const components = new Map([...read('registry.js').matchAll(/"([^"]+)": \[.*?"(@site\/src\/pages\/[^"]+\.[jt]sx?)"/g)].map((found) => [found[1], found[2]]));
  return Object.entries(JSON.parse(read('routesChunkNames.json')))
    .filter(([, modules]) => components.has(modules.__comp))
    .map(([route, modules]) => ({
      type: 'jsx',
      source: components.get(modules.__comp),
      instance: 'pages/build',
      // A hash follows the route.
      permalink: route.replace(/-[^-]*$/, ''),
    }));
}

function builtBy(plugin, before) {
  const folder = path.join(siteDir, '.docusaurus', plugin);
  if (!fs.existsSync(folder)) {
    return [];
  }
  return fs
    .readdirSync(folder, {recursive: true})
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      ...JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')),
      instance: before + name.split(path.sep)[0],
    }))
    .filter((page) => page.source && page.permalink);
}

// Returns built pages by URL without a trailing slash.
function builtPages() {
  const pages = new Map();
  const root = path.join(siteDir, 'build');
  for (const name of fs.readdirSync(root, {recursive: true})) {
    if (!name.endsWith('.html')) {
      continue;
    }
    const $ = load(fs.readFileSync(path.join(root, name), 'utf8'));
    const canonical = $('link[rel=canonical]').attr('href');
    if (canonical) {
      const url = canonical.slice(siteConfig.url.length) || '/';
      const title = $('title').first().text();
      const suffix = ` | ${siteConfig.title}`;
      pages.set(withoutSlash(url), {
        url,
        file: name,
        title: title.endsWith(suffix) ? title.slice(0, -suffix.length) : null,
        ...($(ARTICLE).length > 0 ? {headings: headings($, $(ARTICLE)), text: text($)} : ofScript($)),
      });
    }
  }
  return pages;
}

// Reads a page written as a script: everything between the top bar and the footer, without hidden text.
function ofScript($) {
  const shown = $('#__docusaurus_skipToContent_fallback');
  shown.find('svg, style, script, nav, noscript, template, [hidden]:not([role=tabpanel]), [aria-hidden=true]').remove();
  // A browser shows the numbers of items, which are not in the HTML.
  shown.find('ol > li').each((_, item) => void $(item).prepend(`${$(item).index() + 1}. `));
  return {headings: headings($, shown), text: shown.text().replace(/\s+/g, ' ').trim()};
}

function headings($, shown) {
  $('.hash-link, [data-footnote-ref]').remove();
  // Formulas become their TeX.
  $('.katex').each((_, formula) => {
    $(formula).replaceWith($('<span>').text($(formula).find('annotation').first().text()));
  });
  return shown
    .find('h1, h2, h3, h4, h5, h6')
    .get()
    .map((heading) => ({
      level: Number(heading.name[1]),
      id: $(heading).attr('id') ?? '',
      text: $(heading).text().replace(/[ \t\r\n]+/g, ' ').trim(),
    }));
}

// Runs after headings(), which replaces formulas by their TeX. A post's date and authors are between its title and its text.
function text($) {
  const shown = $('.theme-doc-markdown, .mdx-page article, article:has(> #__blog-post-container) header h1, #__blog-post-container');
  shown.find('button, svg, style, script').remove();
  shown.find('p, div, li, td, th, pre, br, summary, dt, dd, h1, h2, h3, h4, h5, h6, .token-line').append(' ').before(' ');
  return shown.get().map((part) => $(part).text()).join(' ').replace(/\s+/g, ' ').trim();
}

function withoutSlash(url) {
  return url.replace(/(?<=.)\/$/, '');
}
