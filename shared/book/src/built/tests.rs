use std::time::{Duration, Instant};

use proptest::prelude::*;

use std::collections::BTreeSet;

use super::*;
use crate::block::{Block, BlockKind, MarkKind};
use crate::build_paths::locale_folders;
use crate::pages::{list_pages, page_file};
use crate::reader::read_document;

const SOURCE: &str = "build/about.html";

fn settings(config: &str) -> SiteSettings {
    let files = [("docusaurus.config.js".to_owned(), config.to_owned())];
    SiteSettings::read_with_build(&files.into(), true, Some("build")).expect("valid settings")
}

fn site() -> SiteSettings {
    settings("module.exports = {title: 'Robots', presets: ['classic']}")
}

fn read(html: &str) -> Document {
    let settings = site();
    let page = page_file(&settings, SOURCE).expect("a page");
    // Pages of Docusaurus have a title.
    let html = if html.starts_with("<head>") {
        html.to_owned()
    } else {
        format!("<title>Robots</title>{html}")
    };
    let read = read_document(&settings, "", &page, html.as_bytes(), &Inputs::new());
    read.expect("a page that can be read")
}

/// The blocks of a page as lines.
fn shown(html: &str) -> Vec<String> {
    let line = |block: &Block| match &block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            let anchor = anchor.as_deref().unwrap_or_default();
            format!("h{level} {} #{anchor}", block.text)
        }
        BlockKind::Code { language, .. } => format!("code {language}: {}", block.text),
        BlockKind::Table => format!("table: {}", block.text),
        BlockKind::ListItem => format!("item: {}", block.text),
        _ => block.text.clone(),
    };
    read(html).blocks.iter().map(line).collect()
}

fn main(html: &str) -> String {
    format!("<html><body><nav>Bar</nav><main>{html}</main><footer>End</footer></body></html>")
}

#[test]
fn a_file_of_the_build_has_the_url_and_locale_of_its_folder() {
    let settings = settings(
        "module.exports = {baseUrl: '/book/', i18n: {defaultLocale: 'en', locales: ['en', 'de', 'fr'],
            localeConfigs: {fr: {baseUrl: '/livre/'}}}, presets: ['classic']}",
    );
    for (source, url, locale) in [
        ("build/index.html", "/book/", "en"),
        ("build/about/index.html", "/book/about/", "en"),
        ("build/about.html", "/book/about.html", "en"),
        ("build/de/about/index.html", "/book/de/about/", "de"),
        ("build/demo/index.html", "/book/demo/", "en"),
        ("build/fr/index.html", "/livre/", "fr"),
        ("build/C#.html", "/book/C%23.html", "en"),
        ("build/why?/index.html", "/book/why%3F/", "en"),
        (
            "build/100%25 \u{6771}.html",
            "/book/100%2525 \u{6771}.html",
            "en",
        ),
    ] {
        let page = page_file(&settings, source).expect("a page");
        assert_eq!(url_of_file(&settings, &page), url, "{source}");
        assert_eq!(
            (page.locale.as_str(), page.version_in_site().as_str()),
            (locale, "pages/build@current")
        );
    }
    for other in [
        "build/404.html",
        "build/de/404.html",
        "build/a.md",
        "build/a.js",
        "about.html",
    ] {
        assert_eq!(page_file(&settings, other), None, "{other}");
    }
    assert_eq!(locale_folders(&settings), ["", "de/", "fr/"]);
}

#[test]
fn a_page_has_the_language_that_it_says_if_the_site_has_it() {
    let settings = settings(
        "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: ['classic']}",
    );
    for (source, tag, locale) in [
        ("build/a.html", "<html lang=de>", "de"),
        ("build/a.html", "<html lang=fr>", "en"),
        ("build/a.html", "<html>", "en"),
        ("build/de/a.html", "<html lang=de-CH>", "de"),
    ] {
        let page = page_file(&settings, source).expect("a page");
        let html = format!("{tag}<title>A</title>{}", main("<p>A"));
        let read = read_document(&settings, "", &page, html.as_bytes(), &Inputs::new());
        assert_eq!(read.expect("a page").file.locale, locale, "{source} {tag}");
    }
}

#[test]
fn pages_of_the_build_are_compared_with_sources_by_their_urls() {
    let settings = settings(
        "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: ['classic']}",
    );
    let page = |source: &str| page_file(&settings, source).expect("a page");
    let built = |source: &str| url_in_build(&settings, &page(source));
    let urls = |source: &str, text: &str| urls_of_source(&settings, &page(source), text.as_bytes());
    let both = |path: &str| BTreeSet::from([format!("/docs/{path}"), format!("/de/docs/{path}")]);
    for (text, url) in [
        ("# A", "a"),
        ("---\nslug: /b c/\n---\n# A", "b c"),
        ("---\nid: other\ndraft: true\n---\n", "other"),
    ] {
        assert_eq!(urls("docs/a.md", text), both(url));
    }
    assert_eq!(built("build/docs/b%20c/index.html"), "/docs/b c");
    assert_eq!(built("build/de/docs/a.html"), "/de/docs/a");
    let translation = "i18n/de/docusaurus-plugin-content-docs/current/a.md";
    assert_eq!(
        urls(translation, "# A"),
        BTreeSet::from(["/de/docs/a".to_owned()])
    );
    // Of a file that cannot be parsed, only the build has the page.
    assert_eq!(urls("docs/a.md", "---\nslug: [\n---\n# A"), BTreeSet::new());
    assert_eq!(
        urls_of_source(&settings, &page("docs/a.md"), b"\xff"),
        BTreeSet::new()
    );
}

#[test]
fn a_script_is_listed_until_its_html_is_there() {
    let settings = site();
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    let without: BTreeSet<String> = paths(&[
        "src/pages/about.tsx",
        "src/pages/_part.tsx",
        "src/pages/faq.md",
        "src/pages/styles.css",
        "src/pages/about.test.ts",
        "src/theme/c.js",
        "blog/d.js",
    ]);
    assert_eq!(
        list_script_pages(&settings, &without),
        ["src/pages/about.tsx"]
    );
    assert_eq!(
        list_pages(&settings, &without)[0].source,
        "src/pages/faq.md"
    );
    for html in [SOURCE, "build/about/index.html"] {
        let with: BTreeSet<String> = paths(&["src/pages/about.tsx", html]);
        assert!(list_script_pages(&settings, &with).is_empty());
        assert_eq!(list_pages(&settings, &with)[0].source, html);
    }
}

#[test]
fn the_blocks_of_a_page_are_those_that_it_shows() {
    let html = main(
        "<h1>About <em>us</em></h1>
        <h2 class=\"anchor\" id=\"the-team\">The  team<a class=\"hash-link\" href=\"#the-team\">\u{200b}</a></h2>
        <p>We are\n<b>four</b> &amp; a <a href=\"/dog\">dog</a>.<br>More.</p>
        <ul><li>One<ol start=\"3\"><li>Three</li><li><p>Four</p><p>More</p></li></ol></li><li>Two</li></ul>
        <blockquote><p>Said.</p></blockquote>
        <pre class=\"prism-code language-js\"><code><span class=\"token-line\">let a;<br></span><span>  b();<br></span></code></pre>
        <table><thead><tr><th>Name</th><th>Age</th></tr></thead><tbody><tr><td><p>Ada</p></td><td></td></tr><tr><td></td><td>4</td></tr></tbody></table>
        <div>Loose <span>text</span><div>below</div></div><img src=\"/img/a.png\" alt=\"A robot\">",
    );
    let expected = [
        "h1 About us #",
        "h2 The team #the-team",
        "We are four & a dog.\nMore.",
        "item: - One",
        "item:   3. Three",
        "item:   4. Four",
        "More",
        "item: - Two",
        "Said.",
        "code js: let a;\n  b();",
        "table: Name | Age\nAda\n | 4",
        "Loose text",
        "below",
        "A robot",
    ];
    assert_eq!(shown(&html), expected);
    let page = read(&html);
    let marked = |block: &Block| -> Vec<(MarkKind, String)> {
        let marks = block.marks.iter();
        marks
            .map(|mark| (mark.kind.clone(), block.text[mark.range()].to_owned()))
            .collect()
    };
    assert_eq!(
        marked(&page.blocks[2]),
        [
            (MarkKind::Strong, "four".to_owned()),
            (MarkKind::Link(vec!["/dog".to_owned()]), "dog".to_owned())
        ]
    );
    let picture = MarkKind::Picture("/img/a.png".to_owned());
    assert_eq!(marked(&page.blocks[13]), [(picture, "A robot".to_owned())]);
    let nesting: Vec<_> = page.blocks.iter().map(|it| it.nesting.items).collect();
    assert_eq!(nesting[3..8], [1, 2, 2, 2, 1]);
    assert_eq!(page.blocks[8].nesting.quotes, 1);
}

#[test]
fn navigation_scripts_and_hidden_text_are_no_text_of_a_page() {
    let html = main(
        "<style>a{}</style><script>let a = '<p>no</p>'</script><p>Shown.</p><nav>no</nav><svg><title>no</title><path/></svg>
        <div hidden>no <div>no</div></div><div role=\"tabpanel\" hidden>In a tab.</div><span aria-hidden=\"true\">no</span>
        <p style=\"color:red; display: none\">no</p><noscript><p>no</p></noscript><template><p>no</p></template><!-- no --><p>Last.</p>",
    );
    assert_eq!(shown(&html), ["Shown.", "In a tab.", "Last."]);
}

#[test]
fn the_content_is_what_docusaurus_shows_between_its_bar_and_its_footer() {
    let frame = |content: &str| format!("<body><div>Bar</div>{content}<div>Footer</div></body>");
    let whole = frame(
        "<div id=\"__docusaurus_skipToContent_fallback\"><header><h1>Hero</h1></header><main>Main</main><p>After</p></div>",
    );
    assert_eq!(shown(&whole), ["h1 Hero #", "Main", "After"]);
    assert_eq!(shown(&frame("<main>Main</main>")), ["Main"]);
    assert_eq!(shown(&frame("Text")), ["Bar", "Text", "Footer"]);
}

#[test]
fn the_title_is_that_of_the_head_without_the_sites() {
    for (head, content, title) in [
        (
            "<title>About &amp; us | Robots</title>",
            "<h1>Other</h1>",
            "About & us",
        ),
        ("<title>About us</title>", "<p>We.", "About us"),
        ("<title>Robots</title>", "<h1>Hero</h1>", "Hero"),
        ("<title>Robots</title>", "<p>We.", "Robots"),
        ("<title>Learn Robots</title>", "<p>We.", "Learn Robots"),
        (
            "<title>What is it? | Robots</title>",
            "<p>We.",
            "What is it?",
        ),
        (
            "<title>Learn Robots · Robots</title>",
            "<p>We.",
            "Learn Robots",
        ),
    ] {
        let html = format!("<head>{head}</head>{}", main(content));
        assert_eq!(read(&html).title, title, "{head}");
    }
    let head = "<head><title>A</title><meta name=\"description\" content=\"Who we are\"></head>";
    let description = read(&format!("{head}{}", main("<p>We.")))
        .front_matter
        .description;
    assert_eq!(description.as_deref(), Some("Who we are"));
}

#[test]
fn a_mark_does_not_begin_in_the_white_space_before_a_line_break() {
    let html = main("<p>a&nbsp;&nbsp;<b><br/>éé bold words here</b></p>");
    let blocks = read(&html).blocks;
    let [block] = &*blocks else {
        panic!("{blocks:?}");
    };
    assert_eq!(block.text, "a\néé bold words here");
    let marked: Vec<_> = block
        .marks
        .iter()
        .map(|it| &block.text[it.range()])
        .collect();
    assert_eq!(marked, ["éé bold words here"]);
}

#[test]
fn cells_keep_their_bars() {
    let rows = main(
        "<table><tr><td>Or<td><code>||</code><td></tr><tr><td>|<td></tr><tr><td><td></tr><tr><td><td>a |</tr></table>",
    );
    assert_eq!(shown(&rows), ["table: Or | ||\n|\n | a |"]);
}

#[test]
fn a_list_in_a_cell_is_part_of_the_table() {
    let list = main(
        "<ul><li>Item<table><tr><td>A<td><ul><li>one<li>two</ul><tr><td>B<td>b</table>After<li>Next</ul>",
    );
    let expected = [
        "item: - Item",
        "table: A | one two\nB | b",
        "After",
        "item: - Next",
    ];
    assert_eq!(shown(&list), expected);
}

#[test]
fn links_and_pictures_with_endless_addresses_are_their_text() {
    let address = |length: usize| format!("/{}", "a".repeat(length - 1));
    for (length, marks) in [(2_000, 2), (2_001, 0), (1_000_000, 0)] {
        let address = address(length);
        let html = main(&format!(
            "<p><a href=\"{address}\">link</a> <img src=\"{address}\" alt=\"picture\">"
        ));
        let blocks = read(&html).blocks;
        assert_eq!(blocks[0].text, "link picture");
        assert_eq!(blocks[0].marks.len(), marks, "{length}");
    }
}

/// Pieces of HTML, mostly inline ones.
fn pieces() -> impl Strategy<Value = String> {
    let inline = prop::sample::select(vec![
        "a",
        "é",
        "日本",
        "|",
        " ",
        "&nbsp;",
        "\u{3000}",
        "<br>",
        "<b>",
        "</b>",
        "<code>",
        "</code>",
        "<a href=/x>",
        "</a>",
    ]);
    let other = prop::sample::select(vec![
        "\n",
        "&amp;",
        "<em>",
        "</em>",
        "<img src=/a.png alt='é '>",
        "<p>",
        "</p>",
        "<ul>",
        "<li>",
        "</ul>",
        "<blockquote>",
        "</blockquote>",
        "<pre>",
        "</pre>",
        "<h2 id=a>",
        "</h2>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "</tr>",
        "</table>",
        "<svg>",
        "</svg>",
        "<div hidden>",
        "</div>",
    ]);
    let piece = prop_oneof![3 => inline, 1 => other];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn marks_are_within_the_text_of_any_page(html in pieces()) {
        for block in read(&main(&format!("<p>Text.</p>{html}"))).blocks {
            for mark in &block.marks {
                let marked = block.text.get(mark.range());
                prop_assert!(marked.is_some_and(|text| text.trim() == text && !text.is_empty()), "{html:?} {block:?}");
            }
        }
    }
}

#[test]
fn hostile_html_is_read_in_time_without_a_deep_stack() {
    let times = 150_000;
    let tags = [
        "div",
        "b",
        "ul><li",
        "table><tr><td",
        "blockquote",
        "svg",
        "pre",
        "a href=/x",
        "h2 id=a",
        "p role=tabpanel",
        "p role=tab",
        "input type=radio id=a><label for=a",
    ];
    let mut pages: Vec<String> = tags
        .iter()
        .map(|tag| format!("<{tag}>x").repeat(times))
        .collect();
    pages.extend(
        tags.iter()
            .map(|tag| format!("<{tag}>").repeat(times) + &"</i>".repeat(times)),
    );
    pages.push("&amp".repeat(times));
    pages.push("<p>x<li>y</ul></p>".repeat(times));
    pages.push("<".repeat(times));
    pages.push(format!("<a {}>", "x=y ".repeat(times)));
    pages.push("<!--".repeat(times));
    pages.push("<a><b>x</a>y</b> ".repeat(times));
    for page in pages {
        let begin = Instant::now();
        let settings = site();
        let file = page_file(&settings, SOURCE).expect("a page");
        // Of many headings nothing is read.
        let read = {
            let html = format!("<title>A</title>{}", main(&page));
            read_document(&settings, "", &file, html.as_bytes(), &Inputs::new())
        };
        let blocks = read.map_or(0, |page| page.blocks.len());
        let time = begin.elapsed();
        let start: String = page.chars().take(20).collect();
        assert!(
            time < Duration::from_mins(1),
            "{start}: {time:?}, {blocks} blocks"
        );
    }
}
