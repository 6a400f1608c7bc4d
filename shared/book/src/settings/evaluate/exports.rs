//! The exported config: an object, or what a function returns.

use std::collections::HashMap;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ExportDefaultDeclarationKind, Expression, IdentifierReference, ModuleExportName, Program,
    ReturnStatement, Statement,
};
use oxc_semantic::{NodeId, Semantic};
use oxc_span::GetSpan;

use super::super::budget::{Paid, VALUE_COST};
use super::super::changes::{Effect, changes_of_exports};
use super::super::value::{ConfigValue, Decision};
use super::{Evaluator, MAX_DEPTH};

/// The `return` statements of each function.
pub(super) type Returns<'a> = HashMap<NodeId, Vec<&'a ReturnStatement<'a>>>;

/// Finds the `return` statements of all functions of a file.
pub(super) fn returns_of_functions<'a>(semantic: &Semantic<'a>) -> Returns<'a> {
    let nodes = semantic.nodes();
    // The innermost function around each node. A node has a greater index than the one around it.
    let mut functions: Vec<Option<NodeId>> = vec![None; nodes.len()];
    let mut returns = Returns::new();
    for node in nodes.iter() {
        let parent = nodes.parent_id(node.id());
        let is_in_function = is_function_kind(nodes.kind(parent));
        let function = if is_in_function {
            Some(parent)
        } else {
            functions[parent.index()]
        };
        functions[node.id().index()] = function;
        if let (AstKind::ReturnStatement(statement), Some(function)) = (node.kind(), function) {
            returns.entry(function).or_default().push(statement);
        }
    }
    returns
}

fn is_function_kind(kind: AstKind) -> bool {
    matches!(
        kind,
        AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)
    )
}

/// True for a function that is written here.
fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}

impl<'a> Evaluator<'_, 'a> {
    /// Returns the value of `export default`, `export =` or `module.exports =`.
    pub(super) fn exported(&self, program: &'a Program<'a>) -> Paid<ConfigValue> {
        for statement in &program.body {
            match statement {
                Statement::ExportDefaultDeclaration(export) => {
                    return match &export.declaration {
                        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                            self.returned(function.node_id.get(), 0)
                        }
                        declaration => match declaration.as_expression() {
                            Some(expression) => self.config(expression, 0),
                            None => Ok(self.computed(export.span)),
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

    /// Returns the value assigned to `module.exports`, with later assignments to its fields.
    fn module_exports(&self) -> Paid<ConfigValue> {
        let mut config = None;
        for change in changes_of_exports(self.semantic, &self.budget)? {
            match (change.effect, &mut config) {
                (Effect::Set(value), None) if change.path.is_empty() => {
                    config = Some(self.config(value, 0)?);
                }
                (_, Some(config)) => self.apply(&change, config, 0)?,
                (_, None) => return Ok(self.computed(change.span)),
            }
        }
        Ok(config.unwrap_or(ConfigValue::Computed(1)))
    }

    /// Returns the config that an exported expression evaluates to, or that the function it names returns.
    fn config(&self, expression: &'a Expression<'a>, depth: usize) -> Paid<ConfigValue> {
        self.budget.pay(VALUE_COST, expression.span())?;
        if depth > MAX_DEPTH {
            return Ok(self.computed(expression.span()));
        }
        match self.inner(expression)? {
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
                    match config.as_expression() {
                        Some(config) => self.config(config, depth + 1),
                        None => Ok(self.computed(call.span)),
                    }
                }
                (Expression::Identifier(function), []) => self.config_of_name(function, depth),
                // Also `(async () => …)()`, whose promise Docusaurus awaits.
                (function, []) if is_function(function.get_inner_expression()) => {
                    self.config(function, depth + 1)
                }
                _ => self.call(call, depth + 1),
            },
            // `export default await getConfig()`.
            Expression::AwaitExpression(awaited) => self.config(&awaited.argument, depth + 1),
            other => self.value(other, depth + 1),
        }
    }

    fn config_of_name(&self, name: &IdentifierReference<'a>, depth: usize) -> Paid<ConfigValue> {
        match self.declaration(name) {
            Some((_, AstKind::Function(function))) => {
                self.returned(function.node_id.get(), depth + 1)
            }
            Some((_, AstKind::VariableDeclarator(variable))) => match &variable.init {
                Some(init) if self.is_made_by_function(init)? => self.config(init, depth + 1),
                _ => self.name(name, depth + 1),
            },
            _ => self.name(name, depth + 1),
        }
    }

    /// True for a function, and for the result of one that is called where it is written.
    fn is_made_by_function(&self, expression: &'a Expression<'a>) -> Paid<bool> {
        match self.inner(expression)? {
            Expression::CallExpression(call) => Ok(is_function(self.inner(&call.callee)?)),
            other => Ok(is_function(other)),
        }
    }

    /// Returns the value that a function returns: one of several, if it has several `return` statements.
    pub(super) fn returned(&self, function: NodeId, depth: usize) -> Paid<ConfigValue> {
        let mut returned: Option<ConfigValue> = None;
        for statement in self.returns.get(&function).into_iter().flatten() {
            let value = match &statement.argument {
                Some(value) => self.config(value, depth + 1)?,
                None => self.computed(statement.span),
            };
            returned = Some(match returned {
                Some(former) => {
                    let decision = Decision::at(self.line(statement.span));
                    self.either(former, value, decision, statement.span)?
                }
                None => value,
            });
        }
        let nodes = self.semantic.nodes();
        Ok(returned.unwrap_or_else(|| self.computed(nodes.kind(function).span())))
    }
}
