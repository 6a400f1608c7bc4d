//! What is read from the pages of each generator. The pages are short, in the shapes that builds of these versions have: Docusaurus 3.10,
//! `VitePress` 1.6, Starlight 0.42, Material for `MkDocs` 9.8, mdBook 0.5, Sphinx 9.0 with Furo.

mod details;
mod manuals;

use std::collections::BTreeMap;

use super::*;
use crate::block::{Block, BlockKind, MarkKind};
use crate::pages::{list_pages, page_file};
use crate::reader::{missing_inputs, read_document};

const FRONT: &str = "<html lang=en><head><title>Robots</title><link rel=canonical href=https://example.org/book/></head><main><h1>Robots</h1></main>";

fn build() -> SiteSettings {
    build_with(FRONT, &[])
}

fn build_with(front: &str, others: &[(&str, &str)]) -> SiteSettings {
    let mut files = BTreeMap::from([("index.html".to_owned(), front.to_owned())]);
    files.extend(
        others
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
    );
    let settings = SiteSettings::read(&files, false).expect("the front page gives all settings");
    assert!(settings.is_build);
    settings
}

/// Reads the page `guide/soil.html`, whose body this is.
pub(super) fn page(body: &str) -> Document {
    let html = format!(
        "<!doctype html><html lang=en><head><title>Soil - Robots</title></head><body>{body}</body></html>"
    );
    read("guide/soil.html", &html, &Inputs::new()).expect("the page can be read")
}

fn read(source: &str, html: &str, inputs: &Inputs) -> Result<Document, SkipReason> {
    let settings = build();
    let page = page_file(&settings, source).expect("HTML is a page");
    read_document(&settings, "", &page, html.as_bytes(), inputs)
}

pub(super) fn lines(page: &Document) -> Vec<String> {
    let line = |block: &Block| match &block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            format!(
                "h{level} {} #{}",
                block.text,
                anchor.as_deref().unwrap_or_default()
            )
        }
        BlockKind::Code { language, .. } => format!("{language}: {}", block.text),
        _ => block.text.clone(),
    };
    page.blocks.iter().map(line).collect()
}

#[test]
fn docusaurus() {
    let page = page(
        "<div role=region aria-label='Skip to main content'><a class=skipToContent_a href=#__docusaurus_skipToContent_fallback>Skip to main content</a></div>
        <nav>Robots Docs</nav><div id=__docusaurus_skipToContent_fallback><aside><nav><ul><li>Soil</ul></nav></aside><main><div class=row><div class=col>
        <article><nav class=theme-doc-breadcrumbs>Home</nav><div class=tocCollapsible_b><button>On this page</button></div>
        <div class='theme-doc-markdown markdown'><header><h1>Soil</h1></header>
        <h2 class=anchor id=wet>Wet <code>soil</code><a href=#wet class=hash-link aria-label='Direct link to Wet soil'>\u{200b}</a></h2>
        <div class='theme-admonition admonition_x alert'><div class=admonitionHeading_a><span><svg><path/></svg></span>note</div><div><p>Mind it.</p></div></div>
        <div class=tabs-container><ul role=tablist><li role=tab tabindex=0>npm</li><li role=tab>Yarn</li></ul><div role=tabpanel><p>one</p></div><div role=tabpanel hidden><p>two</p></div></div>
        <div class='language-js codeBlockContainer_C theme-code-block'><div class=codeBlockContent_b><pre class='prism-code language-js'><code><span class=token-line>let a;<br></span><span class=token-line>b();<br></span></code></pre><div><button>Copy</button></div></div></div>
        <details><summary>More</summary><div><p>Detail.</p></div></details>
        <p>Energy <span class=katex><span class=katex-mathml><math><semantics><mrow><mi>E</mi></mrow><annotation encoding=application/x-tex>E=mc^2</annotation></semantics></math></span><span class=katex-html aria-hidden=true>E=mc2</span></span>.</p>
        </div><footer>Edit this page</footer></article><nav class=pagination-nav>Next</nav></div><div class=col><div class=tableOfContents_a><ul><li>Wet soil</ul></div></div></div></main></div><footer>Copyright</footer>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet soil #wet",
        "note",
        "Mind it.",
        "npm",
        "one",
        "Yarn",
        "two",
        "js: let a;\nb();",
        "More",
        "Detail.",
        "Energy $E=mc^2$.",
    ];
    assert_eq!(lines(&page), expected);
    let [summary, detail] = &page.blocks[9..11] else {
        panic!("{page:?}");
    };
    assert_eq!(summary.marks, [(MarkKind::Strong, 0, 4).into()]);
    assert_eq!(detail.panels, ["More"]);
    let formula = &page.blocks[11].marks[0];
    assert!(page.blocks[11].panels.is_empty());
    assert_eq!(
        (&formula.kind, &page.blocks[11].text[formula.range()]),
        (&MarkKind::Formula, "$E=mc^2$")
    );
}

#[test]
fn vitepress() {
    let page = page(
        "<div id=app><div class=Layout><span tabindex=-1></span><a href=#VPContent class='VPSkipLink visually-hidden'>Skip to content</a><header class=VPNav><div>Robots</div></header>
        <aside class=VPSidebar><nav>Soil</nav></aside><div class='VPContent has-sidebar' id=VPContent><div class=VPDoc><div class=container><div class=aside><nav>On this page</nav></div>
        <div class=content><main class=main><div class=vp-doc><div><h1 id=soil tabindex=-1>Soil <a class=header-anchor href=#soil aria-label='Permalink to Soil'>\u{200b}</a></h1>
        <h2 id=wet tabindex=-1>Wet <a class=header-anchor href=#wet>\u{200b}</a></h2><div class='tip custom-block'><p class=custom-block-title>TIP</p><p>Mind it.</p></div>
        <div class=vp-code-group><div class=tabs><input type=radio id=tab-a checked><label data-title=npm for=tab-a>npm</label><input type=radio id=tab-b><label for=tab-b>pnpm</label></div>
        <div class=blocks><div class='language-sh active'><button title='Copy Code' class=copy></button><span class=lang>sh</span><pre class=shiki><code><span class=line><span>npm i</span></span>
<span class=line><span>ls</span></span></code></pre></div><div class=language-sh><span class=lang>sh</span><pre><code>pnpm i</code></pre></div></div></div></div></div></main><footer class=VPDocFooter>Edit</footer></div></div></div></div><footer class=VPFooter>MIT</footer></div></div>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet #wet",
        "TIP",
        "Mind it.",
        "npm",
        "sh: npm i\nls",
        "pnpm",
        "sh: pnpm i",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn the_front_page_of_vitepress_has_no_main() {
    let page = page(
        "<div><a href=#VPContent>Skip</a><header><nav>Robots</nav></header><div id=VPContent><div class=VPHome><h1>Robots</h1><p>For gardens.</p></div></div><footer>MIT</footer></div>",
    );
    assert_eq!(lines(&page), ["h1 Robots #", "For gardens."]);
}

#[test]
fn starlight() {
    let page = page(
        "<a href=#_top>Skip to content</a><div class=page><header>Robots <site-search><button>Search</button><dialog aria-label=Search>Find</dialog></site-search></header><nav class=sidebar>Soil</nav>
        <div class=main-frame><div><aside class=right-sidebar-container><nav><h2>On this page</h2></nav></aside><div class=main-pane><main data-pagefind-body>
        <div class=content-panel><div class=sl-container><h1 id=_top>Soil</h1></div></div><div class=content-panel><div class=sl-container><div class=sl-markdown-content>
        <div class='sl-heading-wrapper level-h2'><h2 id=wet>Wet</h2><a class=sl-anchor-link href=#wet><span aria-hidden=true><svg><path></path></svg></span><span class=sr-only>Section titled “Wet”</span></a></div>
        <aside aria-label='Did you know?' class='starlight-aside starlight-aside--tip'><p class=starlight-aside__title aria-hidden=true><svg></svg>Did you know?</p><div><p>Mind it.</p></div></aside>
        <div class=expressive-code><figure class='frame is-terminal'><figcaption class=header><span class=title></span><span class=sr-only>Terminal window</span></figcaption><pre data-language=sh><code><div class=ec-line><div class=code><span>npm i</span></div></div><div class=ec-line><div class=code>
</div></div><div class=ec-line><div class=code><span>ls</span></div></div></code></pre><div class=copy><button title='Copy to clipboard'><div></div></button></div></figure></div>
        <starlight-tabs><div class=tablist-wrapper><ul role=tablist><li role=presentation><a role=tab href=#tab-panel-1 id=tab-1>npm</a></li></ul></div><div id=tab-panel-1 role=tabpanel hidden><p>one</p></div></starlight-tabs>
        </div><footer><a>Edit page</a></footer></div></div></main></div></div></div></div>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet #wet",
        "Did you know?",
        "Mind it.",
        "sh: npm i\n\nls",
        "npm",
        "one",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn material_for_mkdocs() {
    let page = page(
        "<div data-md-component=skip><a href=#soil class=md-skip>Skip to content</a></div><header class=md-header><nav>Robots</nav></header><div class=md-container><main class=md-main><div class=md-main__inner>
        <div class='md-sidebar md-sidebar--primary'><nav>Soil</nav></div><div class='md-sidebar md-sidebar--secondary'><nav>Wet</nav></div>
        <div class=md-content><article class='md-content__inner md-typeset'><a href=https://example.org/edit class=md-content__button><svg></svg></a>
        <h1 id=soil>Soil<a class=headerlink href=#soil title='Permanent link'>¶</a></h1><h2 id=wet>Wet<a class=headerlink href=#wet>¶</a></h2>
        <p>See <a href=../sun.html#light>sun</a>, <a href=#wet>above</a> and <a href=mailto:a@example.org>mail</a>.<sup id=fnref:1><a class=footnote-ref href=#fn:1>1</a></sup></p>
        <div class='admonition note'><p class=admonition-title>Note</p><p>Mind it.</p></div>
        <div class=tabbed-set data-tabs=1:2><input checked id=t1 type=radio><input id=t2 type=radio><div class=tabbed-labels><label for=t1>C</label><label for=t2>C++</label></div>
        <div class=tabbed-content><div class=tabbed-block><div class='language-c highlight'><pre><span></span><code><a id=__codelineno-0-1 href=#__codelineno-0-1></a><span>int</span> a;
</code></pre></div></div><div class=tabbed-block><p>two</p></div></div></div>
        <ul class=task-list><li class=task-list-item><label class=task-list-control><input type=checkbox disabled><span></span></label> Done</li></ul>
        <p>Area <span class=arithmatex>\\(a^2\\)</span></p><div class=footnote><hr><ol><li id=fn:1><p>A note.&#160;<a class=footnote-backref href=#fnref:1>↩</a></p></li></ol></div>
        <form class=md-feedback hidden><legend>Was this page helpful?</legend></form></article></div></div></main><footer class=md-footer>Next</footer></div>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet #wet",
        "See sun, above and mail.",
        "Note",
        "Mind it.",
        "C",
        "c: int a;",
        "C++",
        "two",
        "- Done",
        "Area \\(a^2\\)",
        "1. A note.",
    ];
    assert_eq!(lines(&page), expected);
    let links: Vec<_> = page.blocks[2]
        .marks
        .iter()
        .map(|mark| mark.kind.clone())
        .collect();
    let link = |target: &str| MarkKind::Link(vec![target.to_owned()]);
    assert_eq!(
        links,
        [
            link("/book/sun.html#light"),
            link("/book/guide/soil.html#wet")
        ]
    );
}

#[test]
fn mdbook() {
    let page = page(
        "<div id=body-container><nav id=mdbook-sidebar>Soil</nav><div class=page-wrapper><div class=page><div id=menu-bar><h1 class=menu-title>Robots</h1></div><div class=content><main>
        <h1 id=soil><a class=header href=#soil>Soil</a></h1><h2 id=wet><a class=header href=#wet>Wet <code>soil</code></a></h2><pre><code class='language-rust ignore'>fn main() {}
</code></pre><table><thead><tr><th>Name</th><th>Age</th></tr></thead><tbody><tr><td>Ada</td><td>4</td></tr></tbody></table></main><nav class=nav-wrapper>Next</nav></div></div></div></div>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet soil #wet",
        "rust: fn main() {}",
        "Name | Age\nAda | 4",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn sphinx_with_furo() {
    let page = page(
        "<a class='skip-to-content muted-link' href=#furo-main-content>Skip to content</a><header>Robots</header><div class=page><aside class=sidebar-drawer><nav>Soil</nav></aside><div class=main><div class=content>
        <div class=article-container><a href=# class=back-to-top><span>Back to top</span></a><article role=main id=furo-main-content><section id=soil><h1>Soil<a class=headerlink href=#soil title='Link to this heading'>¶</a></h1>
        <section id=wet><span id=old-name></span><h2>Wet<a class=headerlink href=#wet>¶</a></h2><div class='highlight-python notranslate'><div class=highlight><pre><span></span><span class=kn>import</span> a
</pre></div></div><div class='highlight-default notranslate'><pre>any</pre></div><section id=bare><h3>Bare</h3><dl class=py><dt class=sig id=a.run>run()<a class=headerlink href=#a.run>¶</a></dt><dd><p>Runs.</p></dd></dl></section></section></section></article></div>
        <footer>Made with Sphinx</footer></div><aside class=toc-drawer><div>On this page</div></aside></div></div>",
    );
    let expected = [
        "h1 Soil #",
        "h2 Wet #wet",
        "python: import a",
        ": any",
        "h3 Bare #bare",
        "run()",
        "Runs.",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn sphinx_with_tabs() {
    let page = page(
        "<main><h1>A</h1><div class=sd-tab-set><input checked id=t0 type=radio><label class=sd-tab-label for=t0>Linux</label><div class=sd-tab-content><p>One</p></div>
        <input id=t1 type=radio><label class=sd-tab-label for=t1>Windows</label><div class=sd-tab-content><p>Two</p><p>Three</p></div></div>
        <div class=sphinx-tabs><div aria-label=Tabs role=tablist><button aria-controls=p0 id=s0 role=tab>C</button><button aria-controls=p1 id=s1 role=tab>Rust</button></div>
        <div aria-labelledby=s0 id=p0 role=tabpanel><p>Four</p></div><div aria-labelledby=s1 hidden id=p1 role=tabpanel><p>Five</p></div></div><p>After</p></main>",
    );
    let panels: Vec<_> = page.blocks.iter().map(|it| it.panels.join("")).collect();
    let shown: Vec<_> = lines(&page).into_iter().zip(panels).collect();
    let expected = [
        ("h1 A #", ""),
        ("Linux", ""),
        ("One", "Linux"),
        ("Windows", ""),
        ("Two", "Windows"),
        ("Three", "Windows"),
        ("C", ""),
        ("Four", "C"),
        ("Rust", ""),
        ("Five", "Rust"),
        ("After", ""),
    ];
    assert_eq!(
        shown,
        expected.map(|(text, panel)| (text.to_owned(), panel.to_owned()))
    );
}

#[test]
fn ids_and_languages_of_an_element_are_for_what_it_holds() {
    let page = page(
        "<main><section id=a><p>No heading.</p></section><h2>B</h2><div class=language-switcher>German</div><pre>x</pre></main>",
    );
    assert_eq!(lines(&page), ["No heading.", "h2 B #", "German", ": x"]);
}

#[test]
fn the_url_of_a_page_is_that_of_its_file_unless_its_canonical_address_is_another_form_of_it() {
    let url = |source: &str, canonical: &str| {
        let html = format!("<title>A</title><link rel=canonical href='{canonical}'><main>A</main>");
        read(source, &html, &Inputs::new()).expect("a page").url
    };
    for (source, canonical, expected) in [
        ("index.html", "", "/book/"),
        ("a/index.html", "", "/book/a/"),
        ("a.html", "", "/book/a.html"),
        ("a/index.html", "https://example.org/book/a", "/book/a"),
        ("a.html", "https://example.org/book/a", "/book/a"),
        ("a b.html", "/book/a%20b", "/book/a b"),
        ("a.html", "https://example.org/elsewhere/a", "/book/a.html"),
        ("a.html", "https://example.org/book/gone", "/book/a.html"),
    ] {
        assert_eq!(url(source, canonical), expected, "{source} {canonical}");
    }
}

#[test]
fn pages_that_the_site_leaves_out_are_skipped_with_the_reason() {
    let main = "<main><h1>A</h1></main>";
    for (head, reason) in [
        (
            "<title>A</title><meta name=robots content=noindex>",
            SkipReason::NoIndex,
        ),
        (
            "<meta http-equiv=refresh content='0; url=b.html'>",
            SkipReason::Redirect,
        ),
        (
            "<title>A</title><link rel=index href=#>",
            SkipReason::Finder,
        ),
        (
            "<title>A</title></head><frameset cols='20%,80%'><frame src=b.html><noframes><h2>Frame Alert</h2></noframes></frameset>",
            SkipReason::Frameset,
        ),
        ("", SkipReason::Untitled),
    ] {
        let skipped = read("a.html", &format!("{head}{main}"), &Inputs::new()).unwrap_err();
        assert!(skipped.is_by_site());
        assert_eq!(skipped, reason);
    }
    let copy = format!("<title>A</title><link rel=canonical href=/book/b/>{main}");
    let settings = build();
    let file = page_file(&settings, "a.html").expect("a page");
    let mut wanted = missing_inputs(&settings, &file, copy.as_bytes(), &Inputs::new());
    wanted.retain(|path, _| !path.starts_with("bookrag."));
    assert!(
        wanted.keys().eq(["a/index.html", "b.html", "b/index.html"]),
        "{wanted:?}"
    );
    let inputs = Inputs::from([
        ("b.html".to_owned(), Some(Vec::new()).into()),
        ("b/index.html".to_owned(), None.into()),
    ]);
    assert_eq!(
        read("a.html", &copy, &inputs),
        Err(SkipReason::Copy("b.html".to_owned()))
    );
}

#[test]
fn every_html_file_of_a_build_is_a_page_except_the_one_for_missing_addresses() {
    let paths = [
        "index.html",
        "404.html",
        "a/index.html",
        "i18n/a.html",
        "docs/a.js.html",
        "_static/b.html",
        ".git/a.html",
        "a.md",
        "style.css",
    ];
    let paths = paths.map(str::to_owned).into();
    let pages = list_pages(&build(), &paths);
    let sources: Vec<_> = pages.iter().map(|page| page.source.as_str()).collect();
    assert_eq!(
        sources,
        [
            "_static/b.html",
            "a/index.html",
            "docs/a.js.html",
            "i18n/a.html",
            "index.html"
        ]
    );
}

#[test]
fn the_front_page_gives_the_settings_of_a_build() {
    let front = "<html lang=de><title>Garten</title><meta property=og:site_name content=Roboter><link rel=canonical href=https://example.org/book/index.html>\
        <link rel=alternate hreflang=de href=/book/><link rel=alternate hreflang=en-GB href=https://example.org/book/en/><link rel=alternate hreflang=x-default href=/book/><main>A</main>";
    let settings = build_with(front, &[("versions.json", "[{\"version\": \"1.0\"}]")]);
    assert_eq!(settings.title.as_deref(), Some("Roboter"));
    assert_eq!(
        (settings.url.as_deref(), &*settings.base_url),
        (Some("https://example.org"), "/book/")
    );
    assert_eq!(
        (&*settings.default_locale, settings.locales.join(" ")),
        ("de", "de en-GB".to_owned())
    );
    let locale = |source: &str| page_file(&settings, source).expect("a page").locale;
    assert_eq!(
        (locale("en/a.html"), locale("a.html")),
        ("en-GB".to_owned(), "de".to_owned())
    );
}

#[test]
fn a_sitemap_gives_the_base_url_if_the_front_page_does_not() {
    let front = "<title>Robots</title><main>A</main>";
    let base = |sitemap: &str| build_with(front, &[("sitemap.xml", sitemap)]).base_url;
    let list = "<urlset><url><loc>https://example.org/book/a.html</loc></url><url><loc> https://example.org/book/ </loc></url></urlset>";
    assert_eq!(base(list), "/book/");
    // Nothing says which part is the site's.
    assert_eq!(
        base("<loc>https://example.org/book/a</loc><loc>https://example.org/book/b</loc>"),
        "/"
    );
}

#[test]
fn sources_beside_the_shell_of_a_script_are_no_build() {
    let shell =
        "<title>Docs</title><body><div id=app>Please wait…</div><script src=app.js></script>";
    let files = [("index.html".to_owned(), shell.to_owned())];
    let settings = SiteSettings::read(&files.into(), false).expect("defaults");
    assert!(!settings.is_build);
    assert!(page_file(&settings, "README.md").is_some());
    let config = [
        ("index.html", FRONT),
        ("docusaurus.config.js", "module.exports = {}"),
    ];
    let files = config.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert!(
        !SiteSettings::read(&files.into(), true)
            .expect("a config")
            .is_build
    );
}

#[test]
fn a_front_page_without_content_that_names_its_generator_is_that_of_a_build() {
    let shell = "<title>Docs</title><meta name=generator content='Docusaurus v3.7.0'><body><div id=__docusaurus></div>";
    let files = [("index.html".to_owned(), shell.to_owned())];
    let settings = SiteSettings::read(&files.into(), false).expect("defaults");
    assert!(settings.is_build);
}

#[test]
fn sections_of_a_page_in_one_line_of_html_have_lines_of_their_own() {
    let page = page("<main><h1>A</h1><p>One<br>two</p><pre>x\ny</pre><h2 id=b>B</h2></main>");
    let lines: Vec<_> = page
        .blocks
        .iter()
        .map(|block| (block.start_line, block.end_line))
        .collect();
    assert_eq!(lines, [(1, 1), (3, 4), (6, 9), (11, 11)]);
}

#[test]
fn a_page_that_has_two_files_for_its_address_is_one_page() {
    let html = |text: &str| format!("<title>A</title><main><h1>A</h1><p>{text}</p></main>");
    let page_of = html("Text.");
    let twin = |html: &str| {
        let file = (
            "a/index.html".to_owned(),
            Some(html.as_bytes().to_vec()).into(),
        );
        read("a.html", &page_of, &Inputs::from([file])).map(|page| page.url)
    };
    let copy = Err(SkipReason::Copy("a/index.html".to_owned()));
    let own = Ok("/book/a.html".to_owned());
    assert_eq!(twin(&html("Text.")), copy);
    assert_eq!(twin(&html("Other.")), own);
    let redirect = "<meta http-equiv=refresh content='0; url=/book/a.html'>";
    assert_eq!(twin(&(redirect.to_owned() + &html("Text."))), own);
    // Of the two, the one in a folder is the page.
    let index = read("a/index.html", &html("Text."), &Inputs::new());
    assert_eq!(index.expect("a page").url, "/book/a/");
}
