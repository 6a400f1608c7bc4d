// What Docusaurus makes of a site: `node truth.mjs SITE OUT.jsonl`
//
// Builds every locale of the folder SITE (it must lie below the folder that holds node_modules; `.docusaurus` and
// `build` are written into it) and writes a JSON line for each doc page of each docs plugin and locale:
//
//   source    the file, relative to SITE
//   locale    the locale it is shown in; a page without translation appears once for each locale
//   instance  the id of the docs plugin
//   version   `current`, or a name in the plugin's versions.json
//   url       path of the built page, baseUrl and trailing slash as built, not percent-encoded
//   title     the title in the metadata
//   unlisted  whether the page is hidden from lists
//   headings  [{level, id, text}] of h1 to h6 in the article, in document order; "" is no id. Raw HTML and JSX headings
//             and the footnotes' own heading are among them. `text` is as shown, without the numbers of footnotes, a
//             formula as its TeX. null when several pages claim this URL.
//   text      what the article shows, its blocks apart; null as well
import fs from 'node:fs';
import path from 'node:path';
import {buildLocale} from '@docusaurus/core/lib/commands/build/buildLocale.js';
import {loadSiteConfig} from '@docusaurus/core/lib/server/config.js';
import {load} from 'cheerio';

process.env.NODE_ENV = 'production';
process.env.BABEL_ENV = 'production';

const [site, out] = process.argv.slice(2);
const siteDir = fs.realpathSync(site);
const {siteConfig} = await loadSiteConfig({siteDir});
const {defaultLocale, locales} = siteConfig.i18n;
const docsMetadata = path.join(siteDir, '.docusaurus', 'docusaurus-plugin-content-docs');

// The default locale comes first: its build clears the folder that the others are built into.
const ordered = [defaultLocale, ...locales.filter((locale) => locale !== defaultLocale)];
const lines = [];
for (const locale of ordered) {
  // Two locales at least: alone, one would be built without its prefix.
  const cliOptions = {locale: [...ordered, defaultLocale], minify: false};
  fs.rmSync(path.join(siteDir, '.docusaurus'), {recursive: true, force: true});
  await buildLocale({siteDir, locale, cliOptions});
  lines.push(...readLocale(locale));
}
fs.writeFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

function readLocale(locale) {
  const pages = builtPages();
  const docs = fs
    .readdirSync(docsMetadata, {recursive: true})
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      ...JSON.parse(fs.readFileSync(path.join(docsMetadata, name), 'utf8')),
      instance: name.split(path.sep)[0],
    }))
    .filter((doc) => doc.source && doc.permalink);
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
        source: doc.source.replace('@site/', ''),
        locale,
        instance: doc.instance,
        version: doc.version,
        url: page.url,
        title: doc.title,
        unlisted: doc.unlisted,
        headings: claims.get(doc.permalink) > 1 ? null : page.headings,
        text: claims.get(doc.permalink) > 1 ? null : page.text,
      };
    })
    .sort((a, b) => (a.source < b.source ? -1 : 1));
}

// Built pages by URL without trailing slash.
function builtPages() {
  const pages = new Map();
  const root = path.join(siteDir, 'build');
  for (const name of fs.readdirSync(root, {recursive: true})) {
    if (!name.endsWith('.html')) {
      continue;
    }
    const $ = load(fs.readFileSync(path.join(root, name), 'utf8'));
    const canonical = $('link[rel=canonical]').attr('href');
    if (canonical && $('.theme-doc-markdown').length > 0) {
      const url = canonical.slice(siteConfig.url.length) || '/';
      pages.set(withoutSlash(url), {url, headings: headings($), text: text($)});
    }
  }
  return pages;
}

function headings($) {
  $('.hash-link, [data-footnote-ref]').remove();
  // A formula stands for its TeX.
  $('.katex').each((_, formula) => {
    $(formula).replaceWith($('<span>').text($(formula).find('annotation').first().text()));
  });
  return $('.theme-doc-markdown :is(h1, h2, h3, h4, h5, h6)')
    .get()
    .map((heading) => ({
      level: Number(heading.name[1]),
      id: $(heading).attr('id') ?? '',
      text: $(heading).text().replace(/[ \t\r\n]+/g, ' ').trim(),
    }));
}

// After headings(), which leaves the TeX of formulas in their place.
function text($) {
  $('.theme-doc-markdown :is(button, svg, style, script)').remove();
  $('.theme-doc-markdown').find('p, div, li, td, th, pre, br, summary, dt, dd, h1, h2, h3, h4, h5, h6, .token-line').append(' ').before(' ');
  return $('.theme-doc-markdown').text().replace(/\s+/g, ' ').trim();
}

function withoutSlash(url) {
  return url.replace(/(?<=.)\/$/, '');
}
