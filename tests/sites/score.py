#!/usr/bin/env python3
"""Scores what `bookrag chunks` reads from a built site: `score.py GENERATOR BUILD CHUNKS.jsonl`.

The truth is not bookrag's reading: for each generator, GENERATORS names the elements that hold a page's content, and the parts of them that a reader does
not see or that are no text of the page. Words are compared page by page, as multisets.

- `content`: the share of the content's words that are in the page's chunks.
- `navigation`: the share of the chunks' words that the content lacks and the rest of the page has.
- `anchors`: the share of the chunks' anchors that are ids in the page's file.

Needs beautifulsoup4 and lxml from PyPI.
"""

import collections
import json
import pathlib
import re
import sys
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


def main():
    generator, build, chunks = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    read = collections.defaultdict(collections.Counter)
    anchors = collections.defaultdict(list)
    with open(chunks, encoding="utf-8") as lines:
        for line in lines:
            chunk = json.loads(line)
            read[chunk["source"]] += words_of_chunk(chunk["text"])
            anchors[chunk["source"]].append(chunk["url"].partition("#")[2])
    expected = found = shown = navigation = links = good = pages = 0
    worst = []
    for path in sorted(build.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        soup = bs4.BeautifulSoup(html, "lxml")
        if not is_page(soup, path):
            continue
        pages += 1
        source = str(path.relative_to(build))
        ids = {it["id"] for it in soup.select("[id]")} | {it["name"] for it in soup.select("a[name]")}
        named = [anchor for anchor in anchors[source] if anchor]
        links += len(named)
        good += sum(anchor in ids for anchor in named)
        content = content_of(bs4.BeautifulSoup(html, "lxml"), generator)
        missing = content - read[source]
        body = soup.body
        for element in body.select("script, style, template, noscript, svg"):
            element.extract()
        excess = (read[source] - content) & (words(text_of(body)) - content)
        expected += content.total()
        found += content.total() - missing.total()
        shown += read[source].total()
        navigation += excess.total()
        worst.append((missing.total() + excess.total(), source, missing.most_common(8), excess.most_common(8)))
    print(f"{generator}: {pages} pages, {expected} words, content {found / max(1, expected):.4f}, "
          f"navigation {navigation / max(1, shown):.4f}, anchors {good}/{links}")
    for total, source, missing, excess in sorted(worst, reverse=True)[: int(sys.argv[4]) if len(sys.argv) > 4 else 0]:
        print(f"  {source}: missing {missing}, navigation {excess}")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning, module="bs4")
    main()
