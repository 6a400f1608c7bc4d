//! What is read from the pages of generators of manuals and API references, in the shapes that builds of these versions have: Asciidoctor 2.0,
//! Javadoc 8, Dokka 1.9 and 2.0.

use super::{lines, page};

#[test]
fn asciidoctor() {
    let page = page(
        "<div id=header><h1>Soil</h1><div class=details><span id=author class=author>Ann Lee</span><br><span id=revnumber>version 1.2</span></div>
        <div id=toc class=toc2><div id=toctitle>Table of Contents</div><ul class=sectlevel1><li><a href=#_use>1. Use</a></li></ul></div></div>
        <div id=content><div id=preamble><div class=sectionbody><div class=paragraph><p>For gardens.</p></div></div></div><div class=sect1><h2 id=_use>1. Use</h2><div class=sectionbody>
        <div class='admonitionblock tip'><table><tr><td class=icon><i class='fa icon-tip' title=Tipp></i></td><td class=content>Drink <strong>water</strong>.</td></tr></table></div>
        <div class='admonitionblock note'><table><tbody><tr><td class=icon><div class=title>Note</div></td><td class=content><div class=title>Food</div><div class=paragraph><p>Eat.</p></div>
        <table class=tableblock><tr><td><p>Ada</p></td><td><p>4</p></td></tr></table></td></tr></tbody></table></div>
        <div class='admonitionblock caution'><table><tr><td class=icon><img src=/icons/caution.png alt=Caution></td><td class=content>Hot.</td></tr></table></div>
        <div class=listingblock><div class=title>Example 1</div><div class=content><pre class='CodeRay highlight'><code data-lang=java>int a; <i class=conum data-value=1></i><b>(1)</b></code></pre></div></div>
        <div class='colist arabic'><table><tr><td><i class=conum data-value=1></i><b>1</b></td><td>A <code>number</code>.</td></tr><tr><td><i class=conum data-value=2></i><b>2</b></td><td>2</td></tr></table></div>
        <div class='colist arabic'><ol><li><p>Without icons.</p></li></ol></div><div class=paragraph><p>Last.</p></div></div></div></div>
        <div id=footer><div id=footer-text>Version 1.2<br>Last updated 2024-11-09</div></div>",
    );
    let expected = [
        "h1 Soil #",
        "For gardens.",
        "h2 1. Use #_use",
        "Tipp",
        "Drink water.",
        "Note",
        "Food",
        "Eat.",
        "Ada | 4",
        "Caution",
        "Hot.",
        "Example 1",
        "java: int a; (1)",
        "1. A number.",
        "2. 2",
        "1. Without icons.",
        "Last.",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn javadoc_before_17() {
    let page = page(
        "<div class=topNav><a name=navbar.top></a><div class=skipNav><a href=#skip.navbar.top>Skip navigation links</a></div><ul class=navList title=Navigation><li><a href=p.html>Package</a></li><li>Class</li></ul></div>
        <div class=subNav><ul class=navList><li>Prev&nbsp;Class</li></ul><div><ul class=subNavList><li>Summary:&nbsp;</li></ul></div><a name=skip.navbar.top></a></div>
        <div class=header><div class=subTitle>org.x</div><h2 title='Class Bar' class=title>Class Bar</h2></div>
        <div class=contentContainer><div class=description><ul class=blockList><li class=blockList><pre>public class <span>Bar</span></pre><div class=block>Measures pressure.</div></li></ul></div></div>
        <div class=bottomNav><ul class=navList><li>Class</li></ul></div><div class=subNav><ul class=navList><li>Next&nbsp;Class</li></ul></div><p class=legalCopy><small>Copyright &#169; 2019.</small></p>",
    );
    let expected = [
        "org.x",
        "h2 Class Bar #",
        ": public class Bar",
        "Measures pressure.",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn headings_have_the_names_of_anchors() {
    let page = page(
        "<main><h1>A</h1><a name=sum><!-- --></a><h3>Sum</h3><a name=add-int-></a>\n<ul><li><h4>add</h4><pre>int add()</pre></li></ul><a id=no></a>Text<h3>B</h3>
        <h2><a id=c name=c></a>C</h2><h2><a class=anchor aria-hidden=true id=d></a><a href=#d aria-hidden=true><svg></svg></a>D</h2><a name=x></a><h2 id=e>E</h2></main>",
    );
    let expected = [
        "h1 A #",
        "h3 Sum #sum",
        "h4 add #add-int-",
        ": int add()",
        "Text",
        "h3 B #",
        "h2 C #c",
        "h2 D #d",
        "h2 E #e",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn navigation_of_doxygen_and_vuepress_is_no_text() {
    for (html, expected) in [
        (
            "<div id=top><div id=titlearea><table><tr><td><div id=projectname>Pumps</div></td></tr></table></div></div><div id=MSearchResultsWindow><div class=SRStatus id=Loading>Loading...</div></div><div class=header><div class=title>Pump</div></div><p>Lifts.</p>\
            <div id=nav-path class=navpath><ul><li class=navelem>Pump</li><li class=footer>Generated on Tue</li></ul></div>",
            &["Pump", "Lifts."][..],
        ),
        (
            "<div class=sidebar><ul class=sidebar-links><li><a href=/a>A</a></li></ul></div><div class=page><h1 id=b>B</h1><pre class=pre-blank>// No tabs</pre></div>",
            &["h1 B #"],
        ),
    ] {
        assert_eq!(lines(&page(html)), expected, "{html}");
    }
}

#[test]
fn dokka() {
    let page = page(
        "<div class=navigation-wrapper>Robots</div><div id=container><div id=main role=main><div class=main-content id=content><div class=breadcrumbs><a href=x.html>okhttp</a><span class=delimiter>/</span><span class=current>port</span></div>
        <div class='cover '><h1 class=cover><span><span>port</span></span></h1><div class='symbol monospace'><span class='token keyword'>val </span><a href=p.html>port</a><span class='token operator'>: </span>Int<span class=top-right-position><span class=copy-icon></span><div class='copy-popup-wrapper popup-to-left'><span class=copy-popup-icon></span><span>Content copied to clipboard</span></div></span></div>
        <p class=paragraph>The port.</p><pre><code class='block lang-kotlin' theme=idea>open()<br>close()</code></pre></div></div><div class=footer><span>© 2023 Copyright</span><span>Generated by <a href=d>dokka</a></span></div></div></div>",
    );
    let expected = [
        "h1 port #",
        "val port: Int",
        "The port.",
        "kotlin: open()\nclose()",
    ];
    assert_eq!(lines(&page), expected);
}

#[test]
fn code_names_its_language_in_the_ways_of_many_generators() {
    for code in [
        "<pre><code class=lang-js>x</code></pre>",
        "<pre class='prettyprint source lang-js'><code>x</code></pre>",
        "<pre><code data-lang=js>x</code></pre>",
        "<pre class='sourceCode numberSource js'><code class='sourceCode js'>x</code></pre>",
        "<pre><code class='hljs js'>x</code></pre>",
        "<div class=lang-en><pre><code class='language-js hljs'>x</code></pre></div>",
    ] {
        let page = page(&format!("<main>{code}</main>"));
        assert_eq!(lines(&page), ["js: x"], "{code}");
    }
    let page = page(
        "<main><div class=lang-en data-lang=en><pre><code class=hljs>x</code></pre></div></main>",
    );
    assert_eq!(lines(&page), [": x"]);
}

#[test]
fn sections_may_have_the_names_of_navigation() {
    let page = page(
        "<main><h1 id=toc>A</h1><section id=footer><h2>Footer</h2><p>One</p></section><div class=section id=breadcrumbs><h2>Breadcrumbs</h2><p>Two</p></div><table><tr class=footer><td>Sum</td></tr></table></main>",
    );
    let expected = [
        "h1 A #",
        "h2 Footer #footer",
        "One",
        "h2 Breadcrumbs #",
        "Two",
        "Sum",
    ];
    assert_eq!(lines(&page), expected);
}
