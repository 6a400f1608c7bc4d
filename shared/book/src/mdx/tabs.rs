//! Names of admonitions that are components, and labels of tabs, as Docusaurus's `Tabs` finds them (`@docusaurus/theme-common` 3.10, `tabsUtils`).

use std::collections::BTreeMap;
use std::ops::Range;

use oxc_ast::ast::{Expression, ObjectExpression, ObjectPropertyKind, Program, Statement};

use super::Preparer;
use crate::jsx::{AttributeValue, Tag, attributes, text_of};
use crate::lines::escaped;
use crate::omission::OmissionReason;
use crate::script::{language_of, parse};
use crate::shortcode::verbatim;
use text::marks::PANEL;

/// A line that stands for the start or end of a tab's panel, or of details.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PanelLine {
    /// The start, with the tab's label.
    Start(String),
    /// The start, with the place of the summary in the line.
    Details(Range<usize>),
    End,
}

impl PanelLine {
    /// Returns the line at the start of the panel of the tab with a label.
    fn start(label: &str) -> String {
        format!("{PANEL}{}{PANEL}", escaped(&verbatim(label)))
    }

    /// Returns the line at the end of a panel or of details.
    pub(super) fn end() -> String {
        format!("{PANEL}{PANEL}")
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        const MARK: usize = PANEL.len_utf8();
        let label = line.strip_prefix(PANEL)?.strip_suffix(PANEL)?;
        let summary = label.strip_prefix(PANEL);
        Some(match summary.and_then(|label| label.strip_suffix(PANEL)) {
            Some(_) => Self::Details(2 * MARK..line.len() - 2 * MARK),
            None if label.is_empty() => Self::End,
            None => Self::Start(label.to_owned()),
        })
    }
}

/// The labels that the attribute `values` of a `Tabs` gives, by the value of their tab.
pub(super) type TabLabels = BTreeMap<String, String>;

impl Preparer<'_> {
    /// Makes the name of an `Admonition` its prose, and the label of a `TabItem`: that of `values` of its `Tabs`, else its own `label`, else its `value`.
    pub(super) fn label_component(&mut self, tag: &mut Tag<'_>, source: &str) {
        match (tag.name, tag.closing) {
            ("Tabs", true) => drop(self.tabs.pop()),
            ("Tabs", false) if !tag.self_closing => {
                let values = attributes(source)
                    .into_iter()
                    .find(|attribute| attribute.name == "values");
                self.tabs.push(match values.map(|values| values.value) {
                    Some(AttributeValue::Expression(values)) => tab_labels(values),
                    _ => TabLabels::new(),
                });
            }
            // A component of VuePress 1.
            ("code-block", false) => tag.prose.extend(text_of(&attributes(source), "title")),
            ("TabItem", false) => {
                let given = attributes(source);
                let value = text_of(&given, "value").unwrap_or_default();
                let of_tabs = self.tabs.last().and_then(|labels| labels.get(&value));
                let label = match of_tabs {
                    Some(label) => label.clone(),
                    None => text_of(&given, "label").unwrap_or(value),
                };
                let label: Vec<&str> = label.split_whitespace().collect();
                tag.prose = Some(label.join(" "))
                    .filter(|label| !label.is_empty())
                    .into_iter()
                    .collect();
            }
            ("Admonition", false) => tag.prose = vec![admonition_name(source)],
            _ => {}
        }
    }
}

impl Preparer<'_> {
    /// Writes the line that begins or ends the panel of a tab that has a label. Returns false for other tags.
    pub(super) fn panel(&mut self, tag: &Tag<'_>) -> bool {
        let is_in_table = self.first == Some('|');
        let is_tab = matches!(tag.name, "TabItem" | "code-block");
        if !is_tab || tag.self_closing || is_in_table {
            return false;
        }
        let line = if tag.closing {
            let had_label = self.open_panels.pop();
            had_label.unwrap_or(false).then(PanelLine::end)
        } else {
            self.open_panels.push(!tag.prose.is_empty());
            tag.prose.first().map(|label| PanelLine::start(label))
        };
        let Some(line) = line else {
            return false;
        };
        self.skip(tag.length, OmissionReason::Tag, &tag.prose);
        self.own_line(&line);
        self.escape_mark_after_tag();
        true
    }
}

/// Returns the name and title of an `<Admonition type="tip" title="…">` in one line, as for one written with colons.
fn admonition_name(source: &str) -> String {
    let given = attributes(source);
    let kind = text_of(&given, "type").unwrap_or_else(|| "info".to_owned());
    let (first, rest) = kind.split_at(kind.chars().next().map_or(0, char::len_utf8));
    let name = first.to_uppercase() + rest;
    let shown = match text_of(&given, "title") {
        Some(title) => format!("{name}: {title}"),
        None => name,
    };
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads `[{label: 'Apple', value: 'apple'}]`; empty for a computed list.
fn tab_labels(values: &str) -> TabLabels {
    parse(&format!("({values})"), language_of("values.jsx"), labels_of).unwrap_or_default()
}

fn labels_of(program: &Program) -> TabLabels {
    let Some(Statement::ExpressionStatement(statement)) = program.body.first() else {
        return TabLabels::new();
    };
    let Expression::ArrayExpression(list) = statement.expression.without_parentheses() else {
        return TabLabels::new();
    };
    list.elements
        .iter()
        .filter_map(|element| match element.as_expression() {
            Some(Expression::ObjectExpression(tab)) => {
                Some((field(tab, "value")?, field(tab, "label")?))
            }
            _ => None,
        })
        .collect()
}

/// Returns the text of a field of an object; `None` if it is missing or computed.
fn field(object: &ObjectExpression, name: &str) -> Option<String> {
    object
        .properties
        .iter()
        .find_map(|property| match property {
            ObjectPropertyKind::ObjectProperty(property)
                if property.key.static_name().is_some_and(|key| key == name) =>
            {
                match &property.value {
                    Expression::StringLiteral(text) => Some(text.value.to_string()),
                    _ => None,
                }
            }
            _ => None,
        })
}
