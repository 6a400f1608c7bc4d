//! Labels of tabs, as Docusaurus's `Tabs` finds them (`@docusaurus/theme-common` 3.10, `tabsUtils`).

use std::collections::BTreeMap;

use oxc_ast::ast::{Expression, ObjectExpression, ObjectPropertyKind, Program, Statement};

use super::Preparer;
use crate::jsx::{AttributeValue, Tag, attributes, text_of};
use crate::script::{language_of, parse};

/// The labels that the attribute `values` of a `Tabs` gives, by the value of their tab.
pub(super) type TabLabels = BTreeMap<String, String>;

impl Preparer<'_> {
    /// Makes the label of a `TabItem` its prose: that of `values` of its `Tabs`, else its own `label`, else its `value`.
    pub(super) fn label_tab(&mut self, tag: &mut Tag<'_>, source: &str) {
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
            _ => {}
        }
    }
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
