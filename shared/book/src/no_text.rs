//! Pages whose files have words, but from which no text is read.

use crate::chunk::ledger;
use crate::document::Document;
use crate::omission::OmissionReason;
use crate::webpage::has_words;

/// Returns why no text is read from a page whose file has words. `None` if the page has text, and so at least one chunk; or if it has no words but its
/// title, and the components that its omissions list.
pub(super) fn reason_for_no_text(file: &str, document: &Document) -> Option<&'static str> {
    if !document.blocks.is_empty() {
        return None;
    }
    if document.file.is_html() {
        return has_words(file).then_some(
            "all of them are beside the element that holds its content, in navigation, in buttons, or hidden",
        );
    }
    let mut entries = ledger(file, document, &[]).into_iter();
    if entries.any(|entry| !entry.unaccounted.is_empty()) {
        return Some("they are lost");
    }
    let mut omissions = document.omissions.iter();
    omissions.find_map(|omission| match omission.reason {
        OmissionReason::Expression => Some("they are in expressions, which are not run"),
        OmissionReason::MissingPartial => Some("it imports them from a file that is not read"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use crate::chunk::{ChunkPolicy, chunk_document};
    use crate::inputs::Inputs;
    use crate::pages::page_file;
    use crate::reader::read_document;
    use crate::settings::SiteSettings;
    use crate::skip_reason::SkipReason;

    /// Returns the number of chunks of a page, or the reason why it is skipped.
    fn chunks(source: &str, text: &str) -> Result<usize, SkipReason> {
        let settings = SiteSettings::read_with_build(&BTreeMap::new(), true, Some("build"));
        let settings = settings.expect("default settings");
        let file = page_file(&settings, source).expect("the path is a page's");
        let document = read_document(&settings, "", &file, text.as_bytes(), &Inputs::new())?;
        Ok(chunk_document(&document, &ChunkPolicy::ADAPTIVE).len())
    }

    fn is_named(source: &str, text: &str) -> bool {
        matches!(chunks(source, text), Err(SkipReason::NoText(_)))
    }

    #[test]
    fn a_page_with_words_and_no_text_is_named() {
        for html in [
            "<nav>Menu</nav><main></main><div>Beside.</div>",
            "<main><div hidden>Hidden.</div></main>",
            "<main><nav>Never closed.<p>Text.</p></main>",
            "<noscript>Turn on scripts.</noscript>",
            "<main><template shadowrootmode=open><p>Shadow.</p></template></main>",
        ] {
            let html = format!("<title>A page</title><body>{html}");
            assert!(is_named("build/a.html", &html), "{html}");
        }
        let hidden = "---\ntitle: A page\nhide_title: true\n---\n\n";
        for body in ["{content}", "import A from './a.md'\n\n<A/>"] {
            let text = format!("{hidden}{body}\n");
            assert!(is_named("docs/a.mdx", &text), "{text}");
        }
    }

    #[test]
    fn a_page_of_a_title_or_of_listed_components_is_no_page_with_words() {
        for (source, text) in [
            ("build/a.html", "<title>A page</title>"),
            (
                "build/a.html",
                "<title>A page</title><style>a{}</style><main><script>run()</script><!-- No --></main>",
            ),
            ("docs/a.mdx", "---\ntitle: A page\nhide_title: true\n---\n"),
            (
                "docs/a.mdx",
                "---\nhide_title: true\n---\n\nimport A from '@theme/A'\n\n{/* No */}\n\n<A/>\n",
            ),
        ] {
            assert_eq!(chunks(source, text), Ok(0), "{text}");
        }
        for (source, text) in [
            (
                "build/a.html",
                "<title>A page</title><nav>Menu</nav><main><h1>A page</h1></main>",
            ),
            ("docs/a.mdx", "---\ntitle: A page\n---\n\n<A/>\n"),
        ] {
            assert_eq!(chunks(source, text), Ok(1), "{text}");
        }
    }

    /// Elements that may hide what follows, with words between them.
    fn pages() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "word ",
            "<p>",
            "</p>",
            "<nav>",
            "</nav>",
            "<main>",
            "</main>",
            "<article>",
            "</article>",
            "<h1>",
            "<h1 id=a>",
            "</h1>",
            "<div id=a hidden>",
            "<div id=a>",
            "</div>",
            "<a href=#a>",
            "</a>",
            "<button>",
            "</button>",
            "<svg>",
            "</svg>",
            "<pre>",
            "</pre>",
            "<table>",
            "<td>",
            "</table>",
            "<li>",
            "</ul>",
            "<template>",
            "</template>",
            "<math>",
            "</math>",
            "<div role=tablist>",
            "<b role=tab>",
            "</b>",
            "<p role=tabpanel>",
            "<td class=linenos>1</td>",
            "<script>x = 1</script>",
            "<br>",
            "<!-- none -->",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn every_page_with_words_has_a_chunk_or_is_named(body in pages()) {
            let html = format!("<title>A page</title><body>{body}");
            let has_words = body.contains("word") || body.contains(">1<");
            match chunks("build/a.html", &html) {
                Ok(count) => prop_assert!(count > 0 || !has_words, "{}", html),
                Err(reason) => prop_assert!(has_words && matches!(reason, SkipReason::NoText(_)), "{} {}", html, reason),
            }
        }

        #[test]
        fn every_source_with_words_has_a_chunk_or_is_named(pieces in prop::collection::vec(prop::sample::select(vec![
            "word ", "\n\n", "<p>", "</p>", "{word}", "{/* none */}", "<A/>", "<A>", "</A>", "```\n", "> ", "- ", "# ",
            ":::note\n", "\n:::\n", "$$\n", "| ", "<Tabs>", "<TabItem value='tab'>", "</TabItem>", "</Tabs>",
        ]), 0..12)) {
            let body = pieces.concat();
            let text = format!("---\nhide_title: true\n---\n\n{body}\n");
            let has_words = body.contains("word") || body.contains("tab");
            if chunks("docs/a.mdx", &text) == Ok(0) {
                prop_assert!(!has_words, "{}", text);
            }
        }
    }
}
