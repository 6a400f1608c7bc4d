use std::collections::BTreeMap;

use bookrag::book::{Inputs, SiteSettings};

use super::*;

fn shown(page: &str) -> String {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let file = page_file(&settings, "docs/page.md").unwrap();
    let document = read_document(&settings, "site", &file, page.as_bytes(), &Inputs::new());
    render(&document.unwrap(), "Book", "", "")
}

#[test]
fn what_is_text_in_an_item_is_text_on_the_page() {
    for (source, expected) in [
        (
            r"- \[click me\](javascript:alert(document.domain))",
            "[click me](javascript:alert(document.domain))",
        ),
        (
            r"- \!\[img\](https://evil15.example/p.png)",
            "![img](<a href=\"https://evil15.example/p.png\"><code>https://evil15.example/p.png</code></a>)",
        ),
        (
            "- `[x](javascript:alert(2))`",
            "<code>[x](javascript:alert(2))</code>",
        ),
        (
            "- &#60;script&#62;alert(5)&#60;/script&#62;",
            "&lt;script&gt;alert(5)&lt;/script&gt;",
        ),
        (
            "- `<img src=x onerror=alert(1)>`",
            "<code>&lt;img src=x onerror=alert(1)&gt;</code>",
        ),
        (
            r"- \<https://evil.example/a>",
            "&lt;<a href=\"https://evil.example/a%3E\"><code>https://evil.example/a</code>&gt;</a>",
        ),
        (r"- \*a\* \_b\_ &amp;lt;", "*a* _b_ &amp;lt;"),
        (r"- \# a", "# a"),
        (
            r"- \[x\]: https://evil.example",
            "[x]: <a href=\"https://evil.example\"><code>https://evil.example</code></a>",
        ),
    ] {
        let html = shown(&format!("# Page\n\n{source}\n"));
        assert!(
            html.contains(&format!("<li>{expected}</li>")),
            "{source}\n{html}"
        );
        let (_, article) = html.split_once("<article>").unwrap();
        // An address in the text is a link, as on the site.
        for live in ["<a", "<img", "<script", "<em", "<b"] {
            assert_eq!(
                article.contains(live),
                expected.contains(live),
                "{source}\n{article}"
            );
        }
    }
}

#[test]
fn lists_nest_and_end_where_they_do_in_the_book() {
    let html = shown("# Page\n\n1. one\n   - two\n     - three\n2. four\n\nText.\n\n- five\n");
    let (_, article) = html.split_once("<article>").unwrap();
    let article = article.replace('\n', "");
    let expected = "<ol><li>one<ul><li>two<ul><li>three</li></ul></li></ul></li><li>four</li></ol><p>Text.</p><ul><li>five</li></ul>";
    assert!(article.contains(expected), "{article}");
}

#[test]
fn a_redirect_stays_on_the_site() {
    for (asked, page) in [
        ("/docs/a?b=c", "/docs/a?b=c"),
        ("/", "/"),
        ("//evil.example/x", "/evil.example/x"),
        ("///evil.example", "/evil.example"),
        ("http://evil.example/x", "/x"),
        ("*", "/*"),
    ] {
        let uri = asked.parse().expect("a target of a request");
        let at = page_of_site("https://book.example", &uri);
        assert_eq!(at, format!("https://book.example{page}"), "{asked}");
    }
}
