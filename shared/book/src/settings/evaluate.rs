//! Reads the config object of a `docusaurus.config` without running it.
//!
//! Literals, names of literals, and some calls on them have known values; a condition leaves one of several. Every other expression is
//! [`ConfigValue::Computed`]: only running the file would determine its value.

mod json;
mod names;
mod exports;
mod calls;
mod conditions;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use oxc_ast::ast::{
    Argument, ArrayExpression, ArrayExpressionElement, Expression, ObjectExpression,
    ObjectProperty, ObjectPropertyKind, PropertyKind, SpreadElement, TemplateLiteral,
    UnaryOperator,
};
use oxc_semantic::{NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, Span};

use super::budget::{ALTERNATIVE_COPIES, Budget, Exceeded, KEY_COST, MAP_COST, Paid, VALUE_COST};
use super::changes::ObjectChange;
use super::value::{ConfigMap, ConfigValue, Decision};
use crate::line_starts::LineStarts;
use crate::script::{SyntaxError, language_of, parse};
use conditions::is_environment;
use exports::{Returns, returns_of_functions};

/// The deepest nesting of expressions; a config has about ten levels.
const MAX_DEPTH: usize = 64;

/// Reads the config object that the file `name` among the settings files exports. Without an export, the config is computed.
///
/// # Errors
/// The first syntax error, or that the config computes too much.
pub(super) fn read_config(
    name: &str,
    files: &BTreeMap<String, String>,
) -> Result<ConfigValue, SyntaxError> {
    let text = files.get(name).map_or("", String::as_str);
    let (config, _) = evaluated(name, text, files)?;
    match config {
        Ok(config @ (ConfigValue::Map(_) | ConfigValue::Computed(_))) => Ok(config),
        Ok(_) => Ok(ConfigValue::Computed(1)),
        Err(Exceeded { at }) => Err(SyntaxError {
            line: LineStarts::new(text).line(at),
            reason: "the config computes too much. It is not run: bookrag evaluates it itself, with a limit on the values that it makes. \
                 Write them as literals, or make fewer"
                .to_owned(),
            is_at_end: false,
        }),
    }
}

/// Evaluates the exported config. Returns its value, and what is left of the budget.
fn evaluated(
    name: &str,
    text: &str,
    files: &BTreeMap<String, String>,
) -> Result<(Paid<ConfigValue>, Budget), SyntaxError> {
    parse(text, language_of(name), |program| {
        let semantic = SemanticBuilder::new()
            .with_build_nodes(true)
            .build(program)
            .semantic;
        let evaluator = Evaluator::new(&semantic, text, files);
        let config = evaluator.exported(program).and_then(|config| {
            // The caller's stack may have less room than this one.
            Budget::check_nesting(&config, program.span)?;
            Ok(config)
        });
        (config, evaluator.budget)
    })
}

struct Evaluator<'s, 'a> {
    semantic: &'s Semantic<'a>,
    lines: LineStarts,
    /// The texts of the site's settings files, which the config may import.
    files: &'s BTreeMap<String, String>,
    budget: Budget,
    returns: Returns<'a>,
    /// Whether a name always has its first value.
    is_constant: RefCell<HashMap<SymbolId, bool>>,
    changes: RefCell<HashMap<SymbolId, Rc<[ObjectChange<'a>]>>>,
    /// The names that are being evaluated.
    names: RefCell<HashSet<SymbolId>>,
    /// The functions that are being evaluated, and the values of their parameters.
    running: RefCell<HashSet<NodeId>>,
    arguments: RefCell<HashMap<SymbolId, ConfigValue>>,
    /// True while variables of the environment are taken to be unset.
    without_environment: Cell<bool>,
}

impl<'s, 'a> Evaluator<'s, 'a> {
    fn new(semantic: &'s Semantic<'a>, text: &str, files: &'s BTreeMap<String, String>) -> Self {
        Self {
            semantic,
            lines: LineStarts::new(text),
            files,
            budget: Budget::new(),
            returns: returns_of_functions(semantic),
            is_constant: RefCell::default(),
            changes: RefCell::default(),
            names: RefCell::default(),
            running: RefCell::default(),
            arguments: RefCell::default(),
            without_environment: Cell::new(false),
        }
    }

    fn line(&self, span: Span) -> usize {
        self.lines.line(span.start as usize)
    }

    fn computed(&self, span: Span) -> ConfigValue {
        ConfigValue::Computed(self.line(span))
    }

    fn copy(&self, value: &ConfigValue, at: Span) -> Paid<ConfigValue> {
        self.budget.pay_for(1, value, at)?;
        Ok(value.clone())
    }

    /// Joins texts.
    fn joined(&self, texts: &[&str], separator: &str, at: Span) -> Paid<ConfigValue> {
        let separators = separator.len().saturating_mul(texts.len());
        let texts_len: usize = texts.iter().map(|text| text.len()).sum();
        self.budget.pay(texts_len.saturating_add(separators), at)?;
        Ok(ConfigValue::Text(texts.join(separator)))
    }

    /// Merges two possible values.
    fn either(
        &self,
        one: ConfigValue,
        other: ConfigValue,
        decision: Decision,
        at: Span,
    ) -> Paid<ConfigValue> {
        self.budget.pay_for(ALTERNATIVE_COPIES, &one, at)?;
        self.budget.pay_for(ALTERNATIVE_COPIES, &other, at)?;
        Ok(one.or(other, decision))
    }

    /// Returns an expression without the parentheses and types around it.
    fn inner(&self, mut expression: &'a Expression<'a>) -> Paid<&'a Expression<'a>> {
        loop {
            expression = match expression {
                Expression::ParenthesizedExpression(around) => &around.expression,
                Expression::TSAsExpression(around) => &around.expression,
                Expression::TSSatisfiesExpression(around) => &around.expression,
                Expression::TSInstantiationExpression(around) => &around.expression,
                Expression::TSNonNullExpression(around) => &around.expression,
                Expression::TSTypeAssertion(around) => &around.expression,
                inner => return Ok(inner),
            };
            self.budget.pay(VALUE_COST, expression.span())?;
        }
    }

    fn value(&self, whole: &'a Expression<'a>, depth: usize) -> Paid<ConfigValue> {
        let span = whole.span();
        self.budget.pay(VALUE_COST, span)?;
        if depth > MAX_DEPTH {
            return Ok(self.computed(span));
        }
        let expression = self.inner(whole)?;
        if is_environment(expression) {
            return self.environment(span);
        }
        Ok(match expression {
            Expression::NullLiteral(_) => ConfigValue::Absent,
            Expression::BooleanLiteral(literal) => ConfigValue::Bool(literal.value),
            Expression::NumericLiteral(literal) => ConfigValue::Number(literal.value),
            Expression::StringLiteral(literal) => {
                self.joined(&[literal.value.as_str()], "", span)?
            }
            Expression::TemplateLiteral(template) => self.template(template, depth)?,
            Expression::Identifier(name) => self.name(name, depth)?,
            Expression::ObjectExpression(object) => self.object(object, depth)?,
            Expression::ArrayExpression(array) => self.list(array, depth)?,
            Expression::StaticMemberExpression(member) if !member.optional => {
                self.field(&member.object, member.property.name.as_str(), span, depth)?
            }
            Expression::ComputedMemberExpression(member) if !member.optional => {
                match key_text(&self.value(&member.expression, depth + 1)?) {
                    Some(key) => self.field(&member.object, &key, span, depth)?,
                    None => self.computed(span),
                }
            }
            Expression::ConditionalExpression(condition) => self.conditional(condition, depth)?,
            Expression::LogicalExpression(logical) => self.logical(logical, depth)?,
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::LogicalNot => {
                match self.value(&unary.argument, depth + 1)?.truth() {
                    Some(truth) => ConfigValue::Bool(!truth),
                    None => self.true_or_false(whole, depth)?,
                }
            }
            Expression::BinaryExpression(binary) => self.binary(whole, binary, depth)?,
            Expression::CallExpression(call) => self.call(call, depth)?,
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                ConfigValue::Function(self.line(span))
            }
            _ => self.computed(span),
        })
    }

    fn template(&self, template: &'a TemplateLiteral<'a>, depth: usize) -> Paid<ConfigValue> {
        let mut values = Vec::new();
        for expression in &template.expressions {
            match self.value(expression, depth + 1)? {
                ConfigValue::Text(value) => values.push(value),
                _ => return Ok(self.computed(template.span)),
            }
        }
        let mut values = values.iter().map(String::as_str);
        let texts = template.quasis.iter().flat_map(|part| {
            let text = part.value.cooked.as_ref().map_or("", |text| text.as_str());
            [text, values.next().unwrap_or_default()]
        });
        let texts: Vec<&str> = texts.collect();
        self.joined(&texts, "", template.span)
    }

    /// Returns a field of a value. A computed object may have any value in the field.
    fn field(
        &self,
        expression: &'a Expression<'a>,
        key: &str,
        span: Span,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let object = self.value(expression, depth + 1)?;
        match (&object, object.get(key)) {
            // Every list also has methods and `length`.
            (ConfigValue::List(_), ConfigValue::Absent) => Ok(self.computed(span)),
            // The line that uses a variable says more than that of `process.env`.
            (_, ConfigValue::Computed(_)) if self.is_of_environment(expression, depth)? => {
                Ok(self.computed(span))
            }
            (ConfigValue::Map(_) | ConfigValue::List(_), field) => self.copy(field, span),
            _ => Ok(self.computed(span)),
        }
    }

    fn list(&self, array: &'a ArrayExpression<'a>, depth: usize) -> Paid<ConfigValue> {
        let mut items = Vec::new();
        for element in &array.elements {
            match element {
                ArrayExpressionElement::SpreadElement(spread) => {
                    items.extend(self.spread_items(spread, depth)?);
                }
                ArrayExpressionElement::Elision(elision) => {
                    self.budget.pay(VALUE_COST, elision.span)?;
                    items.push(ConfigValue::Absent);
                }
                item => items.push(match item.as_expression() {
                    Some(item) => self.value(item, depth + 1)?,
                    None => self.computed(item.span()),
                }),
            }
        }
        Ok(ConfigValue::List(items))
    }

    /// Returns the values of a call's arguments.
    fn items(&self, arguments: &'a [Argument<'a>], depth: usize) -> Paid<Vec<ConfigValue>> {
        let mut items = Vec::new();
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => items.extend(self.spread_items(spread, depth)?),
                item => items.push(match item.as_expression() {
                    Some(item) => self.value(item, depth + 1)?,
                    None => self.computed(item.span()),
                }),
            }
        }
        Ok(items)
    }

    fn spread_items(&self, spread: &'a SpreadElement<'a>, depth: usize) -> Paid<Vec<ConfigValue>> {
        let value = self.value(&spread.argument, depth + 1)?;
        if !matches!(value, ConfigValue::List(_)) {
            self.budget
                .pay_for(ALTERNATIVE_COPIES, &value, spread.span)?;
        }
        let items = value.into_items();
        Ok(items.unwrap_or_else(|| vec![self.computed(spread.span)]))
    }

    fn object(&self, object: &'a ObjectExpression<'a>, depth: usize) -> Paid<ConfigValue> {
        self.budget.pay(MAP_COST, object.span)?;
        let mut map = ConfigMap::new();
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let value = self.value(&spread.argument, depth + 1)?;
                    self.spread(&mut map, value, spread.span)?;
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let value = if property.kind == PropertyKind::Init {
                        self.value(&property.value, depth + 1)?
                    } else {
                        self.computed(property.span)
                    };
                    match self.key(property, depth)? {
                        Some(key) => map.insert(key, value),
                        None => {
                            let computed = self.computed(property.span);
                            self.spread(&mut map, computed, property.span)?;
                        }
                    }
                }
            }
        }
        Ok(ConfigValue::Map(map))
    }

    /// Adds the fields of `value` to an object. An unknown value may replace each field written before it. If a condition decides between values, the
    /// object is copied for each.
    fn spread(&self, map: &mut ConfigMap, value: ConfigValue, at: Span) -> Paid<()> {
        let copies = match &value {
            ConfigValue::Map(map) if *map.rest() == ConfigValue::Absent => 0,
            other => ALTERNATIVE_COPIES + other.alternatives().len(),
        };
        self.budget.pay_for_map(copies, map, at)?;
        map.spread(value);
        Ok(())
    }

    fn key(&self, property: &'a ObjectProperty<'a>, depth: usize) -> Paid<Option<String>> {
        let key = match property.key.as_expression() {
            Some(key) if property.computed => key_text(&self.value(key, depth + 1)?),
            _ if property.computed => None,
            _ => property.key.static_name().map(|name| name.to_string()),
        };
        let len = key.as_ref().map_or(0, String::len);
        self.budget.pay(KEY_COST + len, property.span)?;
        Ok(key)
    }
}

/// Returns a key in JavaScript's notation, which uses the shortest text for a number.
fn key_text(value: &ConfigValue) -> Option<String> {
    match value {
        ConfigValue::Text(text) => Some(text.clone()),
        ConfigValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
