//! Reads the config object of a `docusaurus.config` without running it.
//!
//! Literals, names of literals, and some calls on them have known values; a condition leaves one of several. Every other expression is
//! [`ConfigValue::Computed`]: only running the file would determine its value.

mod calls;
mod conditions;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrayExpressionElement, BindingPattern, ExportDefaultDeclarationKind, Expression,
    IdentifierReference, ModuleExportName, ObjectExpression, ObjectProperty, ObjectPropertyKind,
    Program, PropertyKind, Statement, TemplateLiteral, UnaryOperator,
};
use oxc_semantic::{AstNode, NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, Span};

use super::super::script::{SyntaxError, language_of, line_of, parse};
use super::changes::{ObjectChange, changes_of_exports, changes_of_symbol};
use super::value::{ConfigMap, ConfigValue, Decision};

/// The deepest nesting of values; a config has about ten levels.
const MAX_DEPTH: usize = 64;

/// The most expressions evaluated per file, hundreds of times the usual number; later ones are computed. Each use of a name evaluates
/// its value again, which a hostile file can exploit.
const MAX_STEPS: usize = 500_000;

/// Nodes of the syntax tree whose search counts as one step.
const NODES_PER_STEP: usize = 64;

/// Bytes of text that count as one step.
const BYTES_PER_STEP: usize = 64;

/// Reads the config object that the file `name` among the settings files exports. Without an export, the config is computed.
///
/// # Errors
/// The first syntax error.
pub(super) fn read_config(
    name: &str,
    files: &BTreeMap<String, String>,
) -> Result<ConfigValue, SyntaxError> {
    let text = files.get(name).map_or("", String::as_str);
    parse(text, language_of(name), |program| {
        let semantic = SemanticBuilder::new()
            .with_build_nodes(true)
            .build(program)
            .semantic;
        let evaluator = Evaluator {
            semantic: &semantic,
            text,
            files,
            steps: Cell::new(MAX_STEPS),
            changes: RefCell::default(),
            arguments: RefCell::default(),
            running: RefCell::default(),
            without_environment: Cell::new(false),
        };
        match evaluator.exported(program) {
            config @ (ConfigValue::Map(_) | ConfigValue::Computed(_)) => config,
            _ => ConfigValue::Computed(1),
        }
    })
}

/// True for a function that is written here.
fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression.get_inner_expression(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}

struct Evaluator<'s, 'a> {
    semantic: &'s Semantic<'a>,
    text: &'s str,
    /// The texts of the site's settings files, which the config may import.
    files: &'s BTreeMap<String, String>,
    steps: Cell<usize>,
    changes: RefCell<HashMap<SymbolId, Rc<[ObjectChange<'a>]>>>,
    /// The functions that are being evaluated, and the values of their parameters.
    running: RefCell<HashSet<NodeId>>,
    arguments: RefCell<HashMap<SymbolId, ConfigValue>>,
    /// True while variables of the environment are taken to be unset.
    without_environment: Cell<bool>,
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
                (ObjectChange::Set { path, value, .. }, None) if path.is_empty() => {
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
                // Also `(async () => …)()`, whose promise Docusaurus awaits.
                (function, []) if is_function(function) => self.config(function, depth + 1),
                _ => self.call(call, depth + 1),
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
                    let init = variable.init.as_ref()?;
                    let is_called = matches!(init.get_inner_expression(),
                        Expression::CallExpression(call) if is_function(&call.callee));
                    (is_called || is_function(init)).then(|| self.config(init, depth + 1))
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
        if !self.step(nodes.len() / NODES_PER_STEP) {
            return self.computed(nodes.kind(function).span());
        }
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
                Some(former) => former.or(value, Decision::at(self.line(statement.span))),
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
        if let Some(variable) = self.variable(expression) {
            return variable;
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
            Expression::ConditionalExpression(condition) => self.conditional(condition, depth),
            Expression::LogicalExpression(logical) => self.logical(logical, depth),
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::LogicalNot => {
                match self.value(&unary.argument, depth + 1).truth() {
                    Some(truth) => ConfigValue::Bool(!truth),
                    None => self.true_or_false(expression, depth),
                }
            }
            Expression::BinaryExpression(binary) => self.binary(expression, binary, depth),
            Expression::CallExpression(call) => self.call(call, depth),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                ConfigValue::Function(self.line(span))
            }
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
                let items = self.value(&spread.argument, depth + 1).into_items();
                items.unwrap_or_else(|| vec![self.computed(spread.span)])
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
                    map.spread(self.value(&spread.argument, depth + 1));
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

    /// The expression that a name was declared with.
    fn initial_value(&self, name: &IdentifierReference<'a>) -> Option<&'a Expression<'a>> {
        match self.declaration(name)?.1 {
            AstKind::VariableDeclarator(variable) => match &variable.id {
                BindingPattern::BindingIdentifier(_) => variable.init.as_ref(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of a name's declaration, including later changes.
    fn name(&self, name: &IdentifierReference<'a>, depth: usize) -> ConfigValue {
        let declaration = self.declaration(name);
        let argument =
            declaration.and_then(|(symbol, _)| self.arguments.borrow().get(&symbol).cloned());
        if let Some((_, AstKind::Function(_))) = declaration {
            return ConfigValue::Function(self.line(name.span));
        }
        let value = argument
            .or_else(|| Some(self.value(self.initial_value(name)?, depth + 1)))
            .or_else(|| self.imported(declaration?.0));
        let (Some(mut value), Some((symbol, _))) = (value, declaration) else {
            let is_global = name.name == "undefined";
            return if is_global {
                ConfigValue::Absent
            } else {
                self.computed(name.span)
            };
        };
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

    /// The value of `import versions from './versions.json'`.
    fn imported(&self, symbol: SymbolId) -> Option<ConfigValue> {
        let specifier = self.semantic.symbol_declaration(symbol);
        let AstKind::ImportDefaultSpecifier(_) = specifier.kind() else {
            return None;
        };
        match self.semantic.nodes().parent_kind(specifier.id()) {
            AstKind::ImportDeclaration(import) => self.json(import.source.value.as_str()),
            _ => None,
        }
    }

    /// The value of a settings file in JSON.
    fn json(&self, specifier: &str) -> Option<ConfigValue> {
        let text = self.files.get(specifier.strip_prefix("./")?)?;
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        self.step(text.len() / BYTES_PER_STEP).then(|| value.into())
    }

    fn changes_of(&self, symbol: SymbolId) -> Rc<[ObjectChange<'a>]> {
        let known = self.changes.borrow().get(&symbol).cloned();
        known.unwrap_or_else(|| {
            let changes: Rc<[ObjectChange]> = changes_of_symbol(self.semantic, symbol).into();
            self.changes
                .borrow_mut()
                .insert(symbol, Rc::clone(&changes));
            changes
        })
    }

    fn apply(&self, change: &ObjectChange<'a>, config: &mut ConfigValue, depth: usize) {
        match change {
            ObjectChange::Set { path, value, .. } if !path.is_empty() => {
                config.set(path, self.value(value, depth + 1));
            }
            ObjectChange::Set { span, .. } => *config = self.computed(*span),
            ObjectChange::Unknown { path, span } => config.set(path, self.computed(*span)),
            ObjectChange::Shared { path, span } => {
                if config.at(path).is_shared() {
                    config.set(path, self.computed(*span));
                }
            }
            ObjectChange::ItemsShared { path, span } => {
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
