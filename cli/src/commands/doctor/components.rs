//! Components whose text only running the page would tell, such as `<Steps />`.

use std::collections::BTreeMap;

use bookrag::book::{Document, OmissionReason};
use serde::Serialize;

/// The uses of a component in the site.
#[derive(Debug, Serialize)]
pub(super) struct Component {
    name: String,
    uses: usize,
    /// The first use: the place, and what is written there.
    at: String,
    what: String,
}

impl Component {
    pub(super) fn describe(&self) -> String {
        let Self { uses, at, what, .. } = self;
        match uses {
            1 => format!("{at}: {what}"),
            _ => format!("{at}: {what}, the first of {uses} uses"),
        }
    }
}

/// The components of a site, by name.
#[derive(Debug, Default)]
pub(super) struct Components(BTreeMap<String, Component>);

impl Components {
    /// Adds the components of a page. The pages come in order.
    pub(super) fn add(&mut self, source: &str, document: &Document) {
        let omissions = document.omissions.iter();
        for omission in omissions.filter(|it| it.reason == OmissionReason::Component) {
            let words: Vec<&str> = omission.text.split_whitespace().collect();
            let what = words.join(" ");
            let name = name_of(&what).to_owned();
            let component = self.0.entry(name.clone()).or_insert_with(|| Component {
                name,
                uses: 0,
                at: format!("{source}, line {}", omission.start_line),
                what,
            });
            component.uses += 1;
        }
    }

    /// Returns them, the most frequent first.
    pub(super) fn into_sorted(self) -> Vec<Component> {
        let mut components: Vec<Component> = self.0.into_values().collect();
        components.sort_by_key(|component| std::cmp::Reverse(component.uses));
        components
    }
}

fn name_of(tag: &str) -> &str {
    let tag = tag.trim_start_matches('<');
    let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>' | '{'));
    &tag[..end.unwrap_or(tag.len())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bookrag::book::{Inputs, SiteSettings, page_file, read_document};

    use super::*;

    #[test]
    fn a_component_has_one_line_with_its_first_use() {
        let settings = SiteSettings::read(&BTreeMap::new(), true).expect("valid settings");
        let mut components = Components::default();
        for (source, text) in [
            ("docs/a.mdx", "# A\n\n<Steps of=\"a\" />\n\n<Cards/>\n"),
            (
                "docs/b.mdx",
                "<Cards>\n</Cards>\n\n<Cards />\n\n<Video />\n",
            ),
        ] {
            let page = page_file(&settings, source).expect("the path is a page's");
            let page = read_document(&settings, "", &page, text.as_bytes(), &Inputs::new());
            components.add(source, &page.expect("the page can be read"));
        }
        let lines: Vec<String> = components
            .into_sorted()
            .iter()
            .map(Component::describe)
            .collect();
        assert_eq!(
            lines,
            [
                "docs/a.mdx, line 5: <Cards/>, the first of 3 uses",
                "docs/a.mdx, line 3: <Steps of=\"a\" />",
                "docs/b.mdx, line 6: <Video />",
            ]
        );
    }
}
