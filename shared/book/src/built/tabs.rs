//! Finds the labels of tabs, so that each panel can begin with its own.

use std::collections::{BTreeMap, BTreeSet};

use html5gum::Token;

use crate::webpage::{Start, attribute, is_empty, tokens};

use super::elements::{is_hidden, is_left_out};

/// The most open elements that are followed. Bounds the time for a hostile page.
const MAX_DEPTH: usize = 256;

/// Elements that can be the panel of a tab that is the label of a radio button.
const PANELS: [&[u8]; 5] = [b"article", b"div", b"figure", b"pre", b"section"];

/// The tabs of a page, by the offsets of their elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tabs {
    /// The labels of panels.
    labels: BTreeMap<usize, String>,
    /// The tabs of lists whose panels have labels.
    tabs: BTreeSet<usize>,
}

impl Tabs {
    /// Finds the tabs of a page: elements with the role `tab`, and labels of radio buttons before panels. A panel names its tab, or is named by it; else
    /// the first panel belongs to the first tab of the list above it, and so on.
    pub(super) fn new(html: &str) -> Self {
        let mut search = Search::default();
        // Most pages have no tabs, and need not be read once more.
        if !html.contains("tab") && !html.contains("radio") {
            return search.found;
        }
        for Ok(token) in tokens(html) {
            match token {
                Token::StartTag(tag) => search.start(&tag),
                Token::EndTag(tag) => search.end(&tag.name),
                Token::String(text) => search.text(&String::from_utf8_lossy(&text)),
                _ => {}
            }
        }
        search.finish(|_| true);
        search.found
    }

    /// Returns the label of the panel whose start tag is at an offset.
    pub(super) fn label(&self, at: usize) -> Option<&str> {
        self.labels.get(&at).map(String::as_str)
    }

    /// True for a tab of a list whose labels are read at the panels instead.
    pub(super) fn is_tab(&self, at: usize) -> bool {
        self.tabs.contains(&at)
    }
}

/// A tab of a list.
#[derive(Debug)]
struct Tab {
    at: usize,
    id: Option<String>,
    /// The id of its panel.
    panel: Option<String>,
    is_selected: bool,
    /// True if it has an end tag, so that it can be left out.
    is_closed: bool,
    label: String,
}

#[derive(Debug)]
struct Panel {
    at: usize,
    id: Option<String>,
    /// The id of its tab.
    tab: Option<String>,
}

/// A list of tabs, and the panels below it.
#[derive(Debug)]
struct TabList {
    /// The offset of the element that holds the tabs.
    at: usize,
    /// The number of elements around a tab.
    depth: usize,
    /// The number of elements around the list's panels up to the panel that holds the list; the list ends with that panel.
    around: usize,
    /// True if the tabs are labels of radio buttons.
    is_radio: bool,
    tabs: Vec<Tab>,
    panels: Vec<Panel>,
}

/// An open element.
#[derive(Debug)]
struct Open {
    name: Vec<u8>,
    at: usize,
    is_tab_list: bool,
    is_panel: bool,
}

#[derive(Default)]
struct Search {
    open: Vec<Open>,
    /// The ids of radio buttons.
    radios: BTreeSet<String>,
    /// The lists whose panels may follow, outer ones first.
    lists: Vec<TabList>,
    /// The number of elements around the open tab.
    in_tab: Option<usize>,
    /// The number of elements around the part of the open tab that is left out, such as an icon.
    left_out: Option<usize>,
    found: Tabs,
}

impl Search {
    fn start(&mut self, tag: &Start) {
        let role = attribute(tag, "role").unwrap_or_default();
        let is_radio = **tag.name == *b"input"
            && attribute(tag, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("radio"));
        if is_radio {
            self.radios.extend(attribute(tag, "id"));
        }
        if is_empty(tag) || self.open.len() >= MAX_DEPTH {
            return;
        }
        let names_radio = **tag.name == *b"label"
            && attribute(tag, "for").is_some_and(|id| self.radios.contains(&id));
        let mut is_panel = false;
        if self.in_tab.is_none() && (role == "tab" || names_radio) {
            self.add_tab(tag, names_radio);
        } else if self.in_tab.is_none() {
            is_panel = self.add_panel(tag, role == "tabpanel");
        } else if self.left_out.is_none() {
            // A button in a tab has its name.
            let is_button = **tag.name == *b"button";
            let is_unseen = is_hidden(tag) || (!is_button && is_left_out(tag));
            self.left_out = is_unseen.then_some(self.open.len());
        }
        self.open.push(Open {
            name: tag.name.to_vec(),
            at: tag.span.start,
            is_tab_list: role == "tablist",
            is_panel,
        });
    }

    fn add_tab(&mut self, tag: &Start, is_radio: bool) {
        let depth = self.open.len();
        self.in_tab = Some(depth);
        let mut outer = self.open.iter().rev();
        let list = outer.find(|element| element.is_tab_list);
        let list = list.or(self.open.last()).map_or(0, |list| list.at);
        let around = self.open.iter().rposition(|element| element.is_panel);
        let around = around.map_or(0, |at| at + 1);
        let is_same = self
            .lists
            .last()
            .is_some_and(|last| last.at == list && last.depth == depth && last.panels.is_empty());
        if !is_same {
            self.finish(|former| former.around >= around);
            self.lists.push(TabList {
                at: list,
                depth,
                around,
                is_radio,
                tabs: Vec::new(),
                panels: Vec::new(),
            });
        }
        let target =
            attribute(tag, "href").and_then(|href| Some(href.strip_prefix('#')?.to_owned()));
        if let Some(list) = self.lists.last_mut() {
            list.tabs.push(Tab {
                at: tag.span.start,
                id: attribute(tag, "id"),
                panel: attribute(tag, "aria-controls").or(target),
                is_selected: attribute(tag, "aria-selected").is_some_and(|it| it == "true"),
                is_closed: false,
                label: String::new(),
            });
        }
    }

    /// Adds the panel that a tag begins to the list of its tab. Returns false if it begins none.
    fn add_panel(&mut self, tag: &Start, has_role: bool) -> bool {
        let depth = self.open.len();
        let Some(list) = self.lists.last_mut() else {
            return false;
        };
        // Such a panel is beside its label, or its parent is beside the parent of all labels.
        let is_radio_panel = list.is_radio
            && depth == list.depth
            && list.panels.len() < list.tabs.len()
            && PANELS.contains(&tag.name.as_slice());
        let is_panel = is_radio_panel || (has_role && !list.is_radio);
        if is_panel {
            list.panels.push(Panel {
                at: tag.span.start,
                id: attribute(tag, "id"),
                tab: attribute(tag, "aria-labelledby"),
            });
        }
        is_panel
    }

    fn text(&mut self, text: &str) {
        let is_shown = self.in_tab.is_some() && self.left_out.is_none();
        let list = self.lists.last_mut().filter(|_| is_shown);
        if let Some(tab) = list.and_then(|list| list.tabs.last_mut()) {
            tab.label.push_str(text);
        }
    }

    fn end(&mut self, name: &[u8]) {
        let Some(depth) = self.open.iter().rposition(|open| open.name == name) else {
            return;
        };
        self.open.truncate(depth);
        let tab = self.lists.last_mut().and_then(|list| list.tabs.last_mut());
        if let Some(tab) = tab.filter(|_| self.in_tab == Some(depth)) {
            tab.is_closed = true;
        }
        self.in_tab = self.in_tab.filter(|tab| *tab < depth);
        self.left_out = self.left_out.filter(|part| *part < depth);
        self.finish(|list| list.around > depth || (list.is_radio && list.depth > depth + 1));
    }

    /// Finishes the innermost lists that have ended: gives their panels the labels. A list none of whose panels has one remains text.
    fn finish(&mut self, has_ended: impl Fn(&TabList) -> bool) {
        while let Some(list) = self.lists.pop_if(|list| has_ended(list)) {
            let before = self.found.labels.len();
            for (place, panel) in list.panels.iter().enumerate() {
                let tab = list.tab_of(place, panel).filter(|tab| tab.is_closed);
                let label = tab.map_or("", |tab| &*tab.label).split_whitespace();
                let label: Vec<&str> = label.collect();
                if !label.is_empty() {
                    self.found.labels.insert(panel.at, label.join(" "));
                }
            }
            if self.found.labels.len() > before {
                let closed = list.tabs.iter().filter(|tab| tab.is_closed);
                self.found.tabs.extend(closed.map(|tab| tab.at));
            }
        }
    }
}

/// The most tabs of a list that are looked through for the one of a panel. Bounds the time for a hostile page.
const MOST_TABS: usize = 1_000;

impl TabList {
    /// Returns the tab of the panel at a place.
    fn tab_of(&self, place: usize, panel: &Panel) -> Option<&Tab> {
        let named = self.tabs.iter().take(MOST_TABS).find(|tab| {
            let is_named = tab.panel.is_some() && tab.panel == panel.id;
            is_named || (panel.tab.is_some() && panel.tab == tab.id)
        });
        // A page may have only the panel of the selected tab.
        let is_alone = self.panels.len() == 1;
        let mut selected = self.tabs.iter().filter(|tab| tab.is_selected && is_alone);
        named.or_else(|| selected.next()).or(self.tabs.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the label of each panel, which is named by its id or its text.
    fn labels(html: &str) -> Vec<String> {
        let tabs = Tabs::new(html);
        let labels = tabs.labels.iter().map(|(at, label)| {
            let content = html[*at..].split('>').nth(1).unwrap_or_default();
            format!("{label}: {}", content.split('<').next().unwrap_or_default())
        });
        labels.collect()
    }

    #[test]
    fn panels_have_the_labels_of_their_tabs() {
        for (html, expected) in [
            (
                "<ul role=tablist><li role=tab>npm</li><li role=tab><b>Yarn</b> 1</li></ul><div><div role=tabpanel>a</div><div role=tabpanel hidden>b</div></div>",
                &["npm: a", "Yarn 1: b"][..],
            ),
            // Text that a reader does not see.
            (
                "<ul role=tablist><li role=tab><svg><title>Logo</title></svg><button>npm</button> <span class=sr-only>(open)</span></li></ul><div role=tabpanel>a</div>",
                &["npm: a"],
            ),
            (
                "<ul role=tablist><li role=tab>npm<b hidden>no</b><i aria-hidden=true>no</i><b style='display: none'>no</b><script>no</script><button hidden>no</button>\
                <button class=sr-only>no</button></li></ul><div role=tabpanel>a</div>",
                &["npm: a"],
            ),
            // Ids are stronger than the order.
            (
                "<div role=tablist><button role=tab id=x>X</button><button role=tab aria-controls=q>Y</button></div><p role=tabpanel id=q>q</p><p role=tabpanel aria-labelledby=x>p</p>",
                &["Y: q", "X: p"],
            ),
            // Only the selected panel.
            (
                "<ul role=tablist><li role=tab>A</li><li role=tab aria-selected=true>B</li></ul><div role=tabpanel>b</div>",
                &["B: b"],
            ),
            // Tabs in a tab, and other tabs after it.
            (
                "<i role=tablist><b role=tab>A</b><b role=tab>B</b></i><p role=tabpanel>a<i role=tablist><b role=tab>C</b></i><q role=tabpanel>c</q></p><p role=tabpanel>b</p>\
                <i role=tablist><b role=tab>D</b></i><p role=tabpanel>d</p>",
                &["A: a", "C: c", "B: b", "D: d"],
            ),
            // A list without panels.
            (
                "<i role=tablist><b role=tab>A</b></i><i role=tablist><b role=tab>B</b></i><p role=tabpanel>b</p>",
                &["B: b"],
            ),
            // Radio buttons, each with its panel, or all before the panels.
            (
                "<div><input type=radio id=1><label for=1>A</label><div>a</div><input type=radio id=2><label for=2>B</label><div>b</div></div><div><div>No</div></div>",
                &["A: a", "B: b"],
            ),
            (
                "<div><input type=radio id=1><input type=radio id=2><div><label for=1>A</label><label for=2>B</label></div><div><div>a</div><div>b</div><div>No</div></div></div>",
                &["A: a", "B: b"],
            ),
            // Questions.
            (
                "<form><p><input type=radio id=1><label for=1>A</label></p><p><input type=radio id=2><label for=2>B</label></p></form><div><div>No</div></div>",
                &[],
            ),
            ("<label for=1>Name</label><input id=1><div>No</div>", &[]),
            ("<li role=tab>A<p role=tabpanel>No</p>", &[]),
            ("<p role=tabpanel>No</p><b role=tab>A</b>", &[]),
        ] {
            assert_eq!(labels(html), expected, "{html}");
        }
    }
    #[test]
    fn tabs_that_filter_one_panel_are_left_out() {
        let html = "<i role=tablist><b role=tab aria-controls=p>All</b><b role=tab aria-controls=p>Few</b></i><p role=tabpanel id=p>a</p>";
        let tabs = Tabs::new(html);
        assert_eq!(labels(html), ["All: a"]);
        assert!(html.match_indices("<b").all(|(at, _)| tabs.is_tab(at)));
    }
}
