//! Reads the config object of a `docusaurus.config` without running it.
//!
//! Literals, and names of literals, have known values. Every other expression is [`ConfigValue::Computed`]: only running the file
//! would determine its value.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrayExpressionElement, BinaryOperator, BindingPattern, CallExpression,
    ExportDefaultDeclarationKind, Expression, IdentifierReference, LogicalOperator,
    ModuleExportName, ObjectExpression, ObjectProperty, ObjectPropertyKind, Program, PropertyKind,
    Statement, TemplateLiteral, UnaryOperator,
};
use oxc_semantic::{AstNode, NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, Span};

use super::super::paths::joined;
use super::super::script::{SyntaxError, language_of, line_of, parse};
use super::changes::{Change, changes_of_exports, changes_of_symbol};
use super::value::{ConfigMap, ConfigValue};

/// The deepest nesting of values; a config has about ten levels.
const MAX_DEPTH: usize = 64;

/// The most expressions evaluated per file, hundreds of times the usual number; later ones are computed. Each use of a name evaluates
/// its value again, which a hostile file can exploit.
const MAX_STEPS: usize = 500_000;

/// Bytes of text that count as one step.
const BYTES_PER_STEP: usize = 64;

/// Reads the config object that a file exports. Without an export, the config is computed.
///
/// # Errors
/// The first syntax error.
pub(super) fn read_config(name: &str, text: &str) -> Result<ConfigValue, SyntaxError> {
    parse(text, language_of(name), |program| {
        let semantic = SemanticBuilder::new()
            .with_build_nodes(true)
            .build(program)
            .semantic;
        let evaluator = Evaluator {
            semantic: &semantic,
            text,
            steps: Cell::new(MAX_STEPS),
            changes: RefCell::default(),
        };
        match evaluator.exported(program) {
            config @ (ConfigValue::Map(_) | ConfigValue::Computed(_)) => config,
            _ => ConfigValue::Computed(1),
        }
    })
}

struct Evaluator<'s, 'a> {
    semantic: &'s Semantic<'a>,
    text: &'s str,
    steps: Cell<usize>,
    changes: RefCell<HashMap<SymbolId, Rc<[Change<'a>]>>>,
}

impl<'a> Evaluator<'_, 'a> {
    fn line(&self, span: Span) -> usize {
        line_of(self.text, span.start)
    }

    fn computed(&self, span: Span) -> ConfigValue {
        ConfigValue::Computed(self.line(span))
    }

    /// Takes steps from the remaining ones. `false` if too few are left.
    fn step(&self, count: usize) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(count));
        left >= count
    }

    /// The value of `export default`, `export =` or `module.exports =`.
    fn exported(&self, program: &'a Program<'a>) -> ConfigValue {
        for statement in &program.body {
            match statement {
                Statement::ExportDefaultDeclaration(export) => {
                    return match &export.declaration {
                        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                            self.returned(function.node_id.get(), 0)
                        }
                        declaration => match declaration.as_expression() {
                            Some(expression) => self.config(expression, 0),
                            None => self.computed(export.span),
                        },
                    };
                }
                Statement::TSExportAssignment(export) => return self.config(&export.expression, 0),
                Statement::ExportNamedDeclaration(export) => {
                    let mut specifiers = export.specifiers.iter();
                    let default = specifiers.find(|export| export.exported.name() == "default");
                    if let Some(ModuleExportName::IdentifierReference(name)) =
                        default.map(|export| &export.local)
                    {
                        return self.config_of_name(name, 0);
                    }
                }
                _ => {}
            }
        }
        self.module_exports()
    }

    /// The value assigned to `module.exports`, with later assignments to its fields.
    fn module_exports(&self) -> ConfigValue {
        let mut config = None;
        for change in changes_of_exports(self.semantic) {
            match (&change, &mut config) {
                (Change::Set { path, value, .. }, None) if path.is_empty() => {
                    config = Some(self.config(value, 0));
                }
                (change, Some(config)) => self.apply(change, config, 0),
                (change, None) => return self.computed(change.span()),
            }
        }
        config.unwrap_or(ConfigValue::Computed(1))
    }

    /// Returns the config that an exported expression evaluates to, or that the function it names returns.
    fn config(&self, expression: &'a Expression<'a>, depth: usize) -> ConfigValue {
        if depth > MAX_DEPTH || !self.step(1) {
            return self.computed(expression.span());
        }
        match expression.get_inner_expression() {
            Expression::ArrowFunctionExpression(function) => match function.body.as_expression() {
                Some(body) => self.config(body, depth + 1),
                None => self.returned(function.node_id.get(), depth + 1),
            },
            Expression::FunctionExpression(function) => {
                self.returned(function.node_id.get(), depth + 1)
            }
            Expression::Identifier(name) => self.config_of_name(name, depth),
            Expression::CallExpression(call) => match (&call.callee, call.arguments.as_slice()) {
                (Expression::Identifier(callee), [config]) if callee.name == "defineConfig" => {
                    let config = config.as_expression();
                    config.map_or_else(
                        || self.computed(call.span),
                        |config| self.config(config, depth + 1),
                    )
                }
                (Expression::Identifier(function), []) => self.config_of_name(function, depth),
                _ => self.computed(call.span),
            },
            // `export default await getConfig()`.
            Expression::AwaitExpression(awaited) => self.config(&awaited.argument, depth + 1),
            other => self.value(other, depth + 1),
        }
    }

    fn config_of_name(&self, name: &IdentifierReference<'a>, depth: usize) -> ConfigValue {
        let function = self
            .declaration(name)
            .and_then(|(_, declaration)| match declaration {
                AstKind::Function(function) => {
                    Some(self.returned(function.node_id.get(), depth + 1))
                }
                AstKind::VariableDeclarator(variable) => {
                    match variable.init.as_ref()?.get_inner_expression() {
                        function @ (Expression::ArrowFunctionExpression(_)
                        | Expression::FunctionExpression(_)) => {
                            Some(self.config(function, depth + 1))
                        }
                        _ => None,
                    }
                }
                _ => None,
            });
        function.unwrap_or_else(|| self.name(name, depth + 1))
    }

    fn returned(&self, function: NodeId, depth: usize) -> ConfigValue {
        let nodes = self.semantic.nodes();
        let is_function = |kind: AstKind| {
            matches!(
                kind,
                AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)
            )
        };
        let mut returned: Option<ConfigValue> = None;
        for node in nodes.iter() {
            let AstKind::ReturnStatement(statement) = node.kind() else {
                continue;
            };
            let mut around = nodes.ancestors(node.id());
            if around
                .find(|node| is_function(node.kind()))
                .map(AstNode::id)
                != Some(function)
            {
                continue;
            }
            let value = match &statement.argument {
                Some(value) => self.config(value, depth + 1),
                None => self.computed(statement.span),
            };
            returned = Some(match returned {
                Some(former) => former.or(value, self.line(statement.span)),
                None => value,
            });
        }
        returned.unwrap_or_else(|| self.computed(nodes.kind(function).span()))
    }

    fn value(&self, expression: &'a Expression<'a>, depth: usize) -> ConfigValue {
        let span = expression.span();
        if depth > MAX_DEPTH || !self.step(1) {
            return self.computed(span);
        }
        match expression.get_inner_expression() {
            Expression::NullLiteral(_) => ConfigValue::Absent,
            Expression::BooleanLiteral(literal) => ConfigValue::Bool(literal.value),
            Expression::NumericLiteral(literal) => ConfigValue::Number(literal.value),
            Expression::StringLiteral(literal) => self.owned(literal.value.as_str(), span),
            Expression::TemplateLiteral(template) => self.template(template, depth),
            Expression::Identifier(name) => self.name(name, depth),
            Expression::ObjectExpression(object) => self.object(object, depth),
            Expression::ArrayExpression(array) => {
                let items = array.elements.iter();
                ConfigValue::List(items.flat_map(|item| self.item(item, depth)).collect())
            }
            Expression::StaticMemberExpression(member) if !member.optional => {
                let object = self.value(&member.object, depth + 1);
                self.field(&object, member.property.name.as_str(), span)
            }
            Expression::ComputedMemberExpression(member) if !member.optional => {
                match key_text(&self.value(&member.expression, depth + 1)) {
                    Some(key) => self.field(&self.value(&member.object, depth + 1), &key, span),
                    None => self.computed(span),
                }
            }
            Expression::ConditionalExpression(condition) => {
                match self.value(&condition.test, depth + 1).truth() {
                    Some(true) => self.value(&condition.consequent, depth + 1),
                    Some(false) => self.value(&condition.alternate, depth + 1),
                    None => {
                        let one = self.value(&condition.consequent, depth + 1);
                        one.or(self.value(&condition.alternate, depth + 1), self.line(span))
                    }
                }
            }
            Expression::LogicalExpression(logical) => {
                let left = self.value(&logical.left, depth + 1);
                let takes_right = match logical.operator {
                    LogicalOperator::And => left.truth(),
                    LogicalOperator::Or => left.truth().map(|truth| !truth),
                    LogicalOperator::Coalesce => left.truth().map(|_| left == ConfigValue::Absent),
                };
                match takes_right {
                    Some(true) => self.value(&logical.right, depth + 1),
                    Some(false) => left,
                    None => self.computed(span),
                }
            }
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::LogicalNot => {
                let truth = self.value(&unary.argument, depth + 1).truth();
                truth.map_or_else(|| self.computed(span), |truth| ConfigValue::Bool(!truth))
            }
            Expression::BinaryExpression(sum) if sum.operator == BinaryOperator::Addition => {
                let left = self.value(&sum.left, depth + 1);
                match (left, self.value(&sum.right, depth + 1)) {
                    (ConfigValue::Text(left), ConfigValue::Text(right)) => {
                        self.owned(&(left + &right), span)
                    }
                    _ => self.computed(span),
                }
            }
            Expression::CallExpression(call) => self.resolved_path(call, depth),
            _ => self.computed(span),
        }
    }

    fn owned(&self, text: &str, span: Span) -> ConfigValue {
        if self.step(text.len() / BYTES_PER_STEP) {
            ConfigValue::Text(text.to_owned())
        } else {
            self.computed(span)
        }
    }

    fn template(&self, template: &'a TemplateLiteral<'a>, depth: usize) -> ConfigValue {
        let mut text = String::new();
        for (at, part) in template.quasis.iter().enumerate() {
            text.push_str(part.value.cooked.as_ref().map_or("", |text| text.as_str()));
            let Some(expression) = template.expressions.get(at) else {
                continue;
            };
            match self.value(expression, depth + 1) {
                ConfigValue::Text(value) => text.push_str(&value),
                _ => return self.computed(template.span),
            }
        }
        self.owned(&text, template.span)
    }

    /// The value of `require.resolve('name')`: `name` itself, which suffices to recognise a package.
    fn resolved_path(&self, call: &'a CallExpression<'a>, depth: usize) -> ConfigValue {
        if let Expression::StaticMemberExpression(member) = &call.callee
            && matches!(&member.object, Expression::Identifier(name) if name.name == "require")
            && member.property.name == "resolve"
            && let [argument] = call.arguments.as_slice()
            && let Some(argument) = argument.as_expression()
        {
            return self.value(argument, depth + 1);
        }
        let path = self.site_path(call, depth);
        path.map_or_else(|| self.computed(call.span), ConfigValue::SitePath)
    }

    /// The path in `path.join(__dirname, '..', 'docs')`, relative to the site.
    fn site_path(&self, call: &'a CallExpression<'a>, depth: usize) -> Option<String> {
        let function = call.callee.as_member_expression()?;
        let joins = matches!(function.static_property_name(), Some("join" | "resolve"));
        let (folder, parts) = call.arguments.split_first()?;
        let is = |expression: &Expression, expected: &str| matches!(expression, Expression::Identifier(name) if name.name == expected);
        if !joins || !is(function.object(), "path") || !is(folder.as_expression()?, "__dirname") {
            return None;
        }
        let parts = parts
            .iter()
            .map(|part| self.value(part.as_expression()?, depth + 1).text());
        let parts = parts.collect::<Option<Vec<String>>>()?;
        let are_relative = parts.iter().all(|part| !part.starts_with('/'));
        let path = joined("", &parts.join("/"));
        (are_relative && !path.is_empty()).then_some(path)
    }

    /// A field of a value. A computed object may have any value in the field.
    fn field(&self, object: &ConfigValue, key: &str, span: Span) -> ConfigValue {
        match object {
            ConfigValue::Map(_) | ConfigValue::List(_) => {
                let field = object.get(key).clone();
                // Every list also has methods and `length`.
                let inherited =
                    field == ConfigValue::Absent && matches!(object, ConfigValue::List(_));
                if inherited {
                    self.computed(span)
                } else {
                    field
                }
            }
            _ => self.computed(span),
        }
    }

    fn item(&self, item: &'a ArrayExpressionElement<'a>, depth: usize) -> Vec<ConfigValue> {
        match item {
            ArrayExpressionElement::SpreadElement(spread) => {
                match self.value(&spread.argument, depth + 1) {
                    ConfigValue::List(items) => items,
                    _ => vec![self.computed(spread.span)],
                }
            }
            ArrayExpressionElement::Elision(_) => vec![ConfigValue::Absent],
            item => match item.as_expression() {
                Some(item) => vec![self.value(item, depth + 1)],
                None => vec![self.computed(item.span())],
            },
        }
    }

    fn object(&self, object: &'a ObjectExpression<'a>, depth: usize) -> ConfigValue {
        let mut map = ConfigMap::new();
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    map.spread(self.spread(&spread.argument, depth + 1));
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let value = if property.kind == PropertyKind::Init {
                        self.value(&property.value, depth + 1)
                    } else {
                        self.computed(property.span)
                    };
                    match self.key(property, depth) {
                        Some(key) => map.insert(key, value),
                        None => map.spread(self.computed(property.span)),
                    }
                }
            }
        }
        ConfigValue::Map(map)
    }

    /// The fields that a spread adds: `cond && {…}` adds the fields or nothing.
    fn spread(&self, expression: &'a Expression<'a>, depth: usize) -> ConfigValue {
        if let Expression::LogicalExpression(logical) = expression.get_inner_expression()
            && logical.operator == LogicalOperator::And
            && self.value(&logical.left, depth + 1).truth().is_none()
        {
            let fields = self.value(&logical.right, depth + 1);
            return fields.or(ConfigValue::Map(ConfigMap::new()), self.line(logical.span));
        }
        self.value(expression, depth)
    }

    fn key(&self, property: &'a ObjectProperty<'a>, depth: usize) -> Option<String> {
        if !property.computed {
            return property.key.static_name().map(|name| name.to_string());
        }
        key_text(&self.value(property.key.as_expression()?, depth + 1))
    }

    fn declaration(&self, name: &IdentifierReference<'a>) -> Option<(SymbolId, AstKind<'a>)> {
        let scoping = self.semantic.scoping();
        let symbol = scoping
            .get_reference(name.reference_id.get()?)
            .symbol_id()?;
        let declared_again = !scoping.symbol_redeclarations(symbol).is_empty();
        if declared_again || scoping.symbol_is_mutated(symbol) {
            return None;
        }
        Some((symbol, self.semantic.symbol_declaration(symbol).kind()))
    }

    /// The value that a name was declared with, including later changes.
    fn name(&self, name: &IdentifierReference<'a>, depth: usize) -> ConfigValue {
        let known = match self.declaration(name) {
            Some((symbol, AstKind::VariableDeclarator(variable))) => {
                match (&variable.id, &variable.init) {
                    (BindingPattern::BindingIdentifier(_), Some(init)) => Some((symbol, init)),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some((symbol, init)) = known else {
            let is_global = name.name == "undefined";
            return if is_global {
                ConfigValue::Absent
            } else {
                self.computed(name.span)
            };
        };
        let mut value = self.value(init, depth + 1);
        if value.is_shared() {
            let changes = self.changes_of(symbol);
            if !self.step(changes.len()) {
                return self.computed(name.span);
            }
            for change in changes.iter() {
                self.apply(change, &mut value, depth + 1);
            }
        }
        value
    }

    fn changes_of(&self, symbol: SymbolId) -> Rc<[Change<'a>]> {
        let known = self.changes.borrow().get(&symbol).cloned();
        known.unwrap_or_else(|| {
            let changes: Rc<[Change]> = changes_of_symbol(self.semantic, symbol).into();
            self.changes
                .borrow_mut()
                .insert(symbol, Rc::clone(&changes));
            changes
        })
    }

    fn apply(&self, change: &Change<'a>, config: &mut ConfigValue, depth: usize) {
        match change {
            Change::Set { path, value, .. } if !path.is_empty() => {
                config.set(path, self.value(value, depth + 1));
            }
            Change::Set { span, .. } => *config = self.computed(*span),
            Change::Unknown { path, span } => config.set(path, self.computed(*span)),
            Change::Shared { path, span } => {
                if config.at(path).is_shared() {
                    config.set(path, self.computed(*span));
                }
            }
            Change::ItemsShared { path, span } => {
                let computed = self.computed(*span);
                for key in config.at(path).shared_items() {
                    let path = [path.as_slice(), &[key]].concat();
                    config.set(&path, computed.clone());
                }
            }
        }
    }
}

/// A key in JavaScript's notation, which uses the shortest text for a number.
fn key_text(value: &ConfigValue) -> Option<String> {
    match value {
        ConfigValue::Text(text) => Some(text.clone()),
        ConfigValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
