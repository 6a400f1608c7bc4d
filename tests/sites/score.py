#!/usr/bin/env python3
"""Scores what `bookrag chunks` reads from a site against the site's build: `score.py GENERATOR BUILD CHUNKS.jsonl`.

The truth is not bookrag's reading: for each generator, GENERATORS names the elements that hold a page's content, and the parts of them that a reader does
not see or that are no text of the page. Words are compared page by page, as multisets.

The chunks are those of the build, or with `--sources` those of the sources of a Docusaurus site. The pages of sources are found by their URLs, and only
pages that Docusaurus makes from a file of Markdown are compared.

- `pages`: the pages that have chunks, of the pages of the build. `absent` is the number of URLs of chunks that the build lacks.
- `content`: the share of the content's words that are in the page's chunks.
- `navigation`: the share of the chunks' words that the content lacks and the rest of the page has.
- `anchors`: the share of the chunks' anchors that are ids in the page's file.

Needs beautifulsoup4 and lxml from PyPI.
"""

import argparse
import collections
import json
import pathlib
import re
import urllib.parse
import warnings

import bs4

# The content of a page, and what is no text in it. Selectors are tried in order; the first that matches is used.
GENERATORS = {
    "docusaurus": (["article .markdown", "article", "main"], [".theme-doc-toc-mobile", "footer"]),
    "vitepress": ([".VPHome, .vp-doc"], [".header-anchor", "button.copy", "span.lang"]),
    "starlight": (["main"], ["footer", "mobile-starlight-toc", ".sl-anchor-link", ".copy", ".sr-only"]),
    "mkdocs": (["article.md-content__inner"], [".headerlink", ".md-content__button"]),
    "mdbook": (["main"], []),
    "sphinx": (["article[role=main]", "article.bd-article", "[role=main]"], [".headerlink", ".viewcode-link", ".sd-tab-set > input"]),
}

# What no reader sees, or bookrag shows in another form: formulas as TeX, and numbers of notes not at all.
UNSEEN = "script, style, template, noscript, svg, dialog, button:not([role=tab]), .katex, mjx-container, [aria-hidden=true], nav, " \
    "[hidden]:not([role=tabpanel]), " \
    "sup a[href^='#'], [role=doc-noteref], [role=doc-backlink]"


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def words_of_chunk(text):
    """Leaves out what bookrag adds: the languages of code after its fences, and the numbers of lists."""
    return words(re.sub(r"^`{3,}\w*.*$|^ *\d+\. ", " ", text, flags=re.M))


def is_page(soup, path):
    """False for pages that a site itself leaves out."""
    robots = soup.find("meta", attrs={"name": "robots"})
    refresh = soup.find("meta", attrs={"http-equiv": re.compile("refresh", re.I)})
    finder = soup.find("link", rel=["index", "search"], href="#")
    return path.name != "404.html" and soup.title and not refresh and not finder and "noindex" not in (robots or {}).get("content", "")


def text_of(element):
    # Inline elements do not divide words; all others do.
    inline = {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var", "font", "del", "ins"}
    parts = []
    for child in element.descendants:
        if isinstance(child, bs4.element.Tag) and child.name not in inline:
            parts.append(" ")
        elif isinstance(child, bs4.element.NavigableString) and not isinstance(child, bs4.element.PreformattedString):
            parent_end = child.parent.name not in inline and child.next_sibling is None
            parts.append(str(child) + (" " if parent_end else ""))
    return "".join(parts)


def content_of(soup, generator):
    roots, unseen = GENERATORS[generator]
    found = next((soup.select(root) for root in roots if soup.select(root)), [soup.body])
    outer = [it for it in found if not any(other is not it and other in it.parents for other in found)]
    total = collections.Counter()
    for root in outer:
        for element in root.select(", ".join([UNSEEN, *unseen])):
            element.extract()
        total += words(text_of(root))
    return total


def is_from_markdown(soup):
    """True if Docusaurus made the page from a file of Markdown: a doc, a blog post, or a page."""
    return any(name.startswith(("docs-doc-id-", "blog-post-page", "mdx-page")) for name in soup.html.get("class", []))


def url_of(soup, source):
    """The path of a page: that of the address in its metadata, or that of its file. Canonical addresses of posts may be on other sites."""
    address = soup.find("meta", property="og:url")
    path = urllib.parse.urlsplit(address["content"]).path if address else "/" + re.sub(r"(index)?\.html$", "", source)
    return urllib.parse.unquote(path)


class Chunks:
    """The words and anchors of the chunks of each page."""

    def __init__(self, path, by_url):
        self.words = collections.defaultdict(collections.Counter)
        self.anchors = collections.defaultdict(list)
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                chunk = json.loads(line)
                url, _, anchor = chunk["url"].partition("#")
                page = urllib.parse.unquote(url) if by_url else chunk["source"]
                self.words[page] += words_of_chunk(chunk["text"])
                self.anchors[page].append(urllib.parse.unquote(anchor))


class Score:
    """The sums over all pages."""

    def __init__(self):
        self.totals = collections.Counter()
        self.files = set()
        self.pages = set()
        self.unread = []
        self.differences = []

    def add(self, page, html, generator, chunks):
        soup = bs4.BeautifulSoup(html, "lxml")
        self.pages.add(page)
        if page not in chunks.words:
            self.unread.append(page)
        ids = {it["id"] for it in soup.select("[id]")} | {it["name"] for it in soup.select("a[name]")}
        dead = [anchor for anchor in chunks.anchors[page] if anchor and anchor not in ids]
        content = content_of(bs4.BeautifulSoup(html, "lxml"), generator)
        read = chunks.words[page]
        missing = content - read
        for element in soup.body.select("script, style, template, noscript, svg"):
            element.extract()
        excess = (read - content) & (words(text_of(soup.body)) - content)
        self.totals.update(
            words=content.total(), missing=missing.total(), shown=read.total(), navigation=excess.total(),
            anchors=sum(map(bool, chunks.anchors[page])), dead=len(dead),
        )
        self.differences.append((missing.total() + excess.total() + len(dead), page, missing.most_common(8), excess.most_common(8), dead[:8]))

    def print(self, generator, chunks, most):
        absent = sorted(chunks.words.keys() - self.files)
        it = self.totals
        print(f"{generator}: pages {len(self.pages) - len(self.unread)}/{len(self.pages)}, absent {len(absent)}, {it['words']} words, "
              f"content {1 - it['missing'] / max(1, it['words']):.4f}, navigation {it['navigation'] / max(1, it['shown']):.4f}, "
              f"anchors {it['anchors'] - it['dead']}/{it['anchors']}")
        for name, pages in ("without chunks", self.unread), ("not in the build", absent):
            if most and pages:
                print(f"  {name}: {' '.join(pages[:most])}")
        for _, page, missing, excess, dead in sorted(self.differences, reverse=True)[:most]:
            print(f"  {page}: missing {missing}, navigation {excess}, dead anchors {dead}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", choices=GENERATORS)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("chunks")
    parser.add_argument("most", type=int, nargs="?", default=0, help="the pages with the most differences are printed, this many")
    parser.add_argument("--sources", action="store_true", help="the chunks are those of the sources of a Docusaurus site")
    arguments = parser.parse_args()
    chunks, score = Chunks(arguments.chunks, arguments.sources), Score()
    for path in sorted(it for it in arguments.build.rglob("*.html") if it.is_file()):
        html = path.read_text(encoding="utf-8")
        soup = bs4.BeautifulSoup(html, "lxml")
        source = str(path.relative_to(arguments.build))
        page = url_of(soup, source) if arguments.sources else source
        score.files.add(page)
        if is_page(soup, path) and (is_from_markdown(soup) or not arguments.sources):
            score.add(page, html, arguments.generator, chunks)
    score.print(arguments.generator, chunks, arguments.most)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning, module="bs4")
    main()
