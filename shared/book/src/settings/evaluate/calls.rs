//! Calls whose value is known: methods of lists, and functions of the config itself.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, FormalParameters};
use oxc_semantic::NodeId;

use super::super::super::paths::joined;
use super::super::value::ConfigValue;
use super::Evaluator;

impl<'a> Evaluator<'_, 'a> {
    pub(super) fn call(&self, call: &'a CallExpression<'a>, depth: usize) -> ConfigValue {
        let value = self
            .resolved_path(call, depth)
            .or_else(|| self.required(call))
            .or_else(|| self.method(call, depth))
            .or_else(|| self.own_function(call, depth));
        value.unwrap_or_else(|| self.computed(call.span))
    }

    /// The value of `require.resolve('name')`: `name` itself, which suffices to recognise a package. Also the path in
    /// `path.join(__dirname, '..', 'docs')`, relative to the site.
    fn resolved_path(&self, call: &'a CallExpression<'a>, depth: usize) -> Option<ConfigValue> {
        let function = call.callee.as_member_expression()?;
        let name = function.static_property_name()?;
        let (first, parts) = call.arguments.split_first()?;
        let first = first.as_expression()?;
        if is_named(function.object(), "require") && name == "resolve" && parts.is_empty() {
            return Some(self.value(first, depth + 1));
        }
        let joins = is_named(function.object(), "path") && matches!(name, "join" | "resolve");
        if !joins || !is_named(first, "__dirname") {
            return None;
        }
        let parts = parts
            .iter()
            .map(|part| self.value(part.as_expression()?, depth + 1).text());
        let parts = parts.collect::<Option<Vec<String>>>()?;
        let are_relative = parts.iter().all(|part| !part.starts_with('/'));
        let path = joined("", &parts.join("/"));
        (are_relative && !path.is_empty()).then_some(ConfigValue::SitePath(path))
    }

    /// The value of `require('./versions.json')`.
    fn required(&self, call: &'a CallExpression<'a>) -> Option<ConfigValue> {
        match (&call.callee, call.arguments.as_slice()) {
            (Expression::Identifier(name), [Argument::StringLiteral(file)])
                if name.name == "require" =>
            {
                self.json(file.value.as_str())
            }
            _ => None,
        }
    }

    fn method(&self, call: &'a CallExpression<'a>, depth: usize) -> Option<ConfigValue> {
        let function = call.callee.as_member_expression()?;
        let name = function.static_property_name()?;
        let arguments = call.arguments.iter().map(Argument::as_expression);
        let arguments: Vec<&'a Expression<'a>> = arguments.collect::<Option<_>>()?;
        if is_named(function.object(), "Object") {
            let [object] = arguments.as_slice() else {
                return None;
            };
            return self.value(object, depth + 1).items_by(name);
        }
        let ConfigValue::List(list) = self.value(function.object(), depth + 1) else {
            return None;
        };
        match (name, arguments.as_slice()) {
            ("map", [function]) => Some(ConfigValue::List(self.mapped(&list, function, depth)?)),
            ("flatMap", [function]) => Some(flat(self.mapped(&list, function, depth)?)),
            ("flat", []) => Some(flat(list)),
            ("filter", [function]) => self.filtered(list, function, depth),
            ("concat", others) => {
                let others = others.iter().map(|other| self.value(other, depth + 1));
                Some(flat(
                    [ConfigValue::List(list)]
                        .into_iter()
                        .chain(others)
                        .collect(),
                ))
            }
            ("slice", bounds) => {
                let bound = |at: usize| match bounds.get(at) {
                    None => Some(None),
                    Some(bound) => self.value(bound, depth + 1).index().map(Some),
                };
                let (from, to) = (bound(0)?.unwrap_or(0), bound(1)?.unwrap_or(list.len()));
                let items = list.into_iter().take(to).skip(from);
                Some(ConfigValue::List(items.collect()))
            }
            ("join", [separator]) => {
                let separator = self.value(separator, depth + 1).text()?;
                let texts: Option<Vec<String>> = list.iter().map(ConfigValue::text).collect();
                Some(self.owned(&texts?.join(&separator), call.span))
            }
            _ => None,
        }
    }

    fn mapped(
        &self,
        list: &[ConfigValue],
        function: &'a Expression<'a>,
        depth: usize,
    ) -> Option<Vec<ConfigValue>> {
        let items = (0_u32..).zip(list);
        let results = items.map(|(at, item)| {
            let arguments = [item.clone(), ConfigValue::Number(f64::from(at))];
            self.result_of(function, &arguments, depth)
        });
        results.collect()
    }

    /// Items that may be absent are kept, as their readers skip absent ones.
    fn filtered(
        &self,
        list: Vec<ConfigValue>,
        function: &'a Expression<'a>,
        depth: usize,
    ) -> Option<ConfigValue> {
        let mut kept = Vec::new();
        if is_named(function, "Boolean") {
            kept.extend(list.into_iter().filter(|item| item.truth() != Some(false)));
            return Some(ConfigValue::List(kept));
        }
        let results = self.mapped(&list, function, depth)?;
        for (item, result) in list.into_iter().zip(results) {
            if result.truth()? {
                kept.push(item);
            }
        }
        Some(ConfigValue::List(kept))
    }

    /// The result of a call of a function of the config, by its name or where it is written.
    fn own_function(&self, call: &'a CallExpression<'a>, depth: usize) -> Option<ConfigValue> {
        let arguments = call.arguments.iter().map(Argument::as_expression);
        let arguments = arguments.map(|argument| Some(self.value(argument?, depth + 1)));
        let arguments: Vec<ConfigValue> = arguments.collect::<Option<_>>()?;
        let Expression::Identifier(name) = &call.callee else {
            return self.result_of(&call.callee, &arguments, depth);
        };
        match self.declaration(name)?.1 {
            AstKind::Function(function) if !function.r#async && !function.generator => {
                let id = function.node_id.get();
                self.run(id, &function.params, &arguments, depth, || {
                    self.returned(id, depth + 1)
                })
            }
            AstKind::VariableDeclarator(variable) => {
                self.result_of(variable.init.as_ref()?, &arguments, depth)
            }
            _ => None,
        }
    }

    /// The result of a function expression for these arguments.
    fn result_of(
        &self,
        function: &'a Expression<'a>,
        arguments: &[ConfigValue],
        depth: usize,
    ) -> Option<ConfigValue> {
        let (id, parameters, result) = match function.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) if !arrow.r#async => (
                arrow.node_id.get(),
                &arrow.params,
                arrow.body.as_expression(),
            ),
            Expression::FunctionExpression(own) if !own.r#async && !own.generator => {
                (own.node_id.get(), &own.params, None)
            }
            _ => return None,
        };
        self.run(id, parameters, arguments, depth, || match result {
            Some(result) => self.value(result, depth + 1),
            None => self.returned(id, depth + 1),
        })
    }

    /// Evaluates the body of a function with these arguments. `None` if it calls itself, since a parameter has one value at a time.
    fn run(
        &self,
        function: NodeId,
        parameters: &'a FormalParameters<'a>,
        arguments: &[ConfigValue],
        depth: usize,
        body: impl FnOnce() -> ConfigValue,
    ) -> Option<ConfigValue> {
        if parameters.rest.is_some() || !self.running.borrow_mut().insert(function) {
            return None;
        }
        let bound = parameters.items.iter().enumerate().map(|(at, parameter)| {
            let argument = arguments.get(at).cloned().unwrap_or(ConfigValue::Absent);
            let value = match (&parameter.initializer, &argument) {
                (Some(default), ConfigValue::Absent) => self.value(default, depth + 1),
                _ => argument,
            };
            self.bind(&parameter.pattern, value, depth)
        });
        let bound: Option<()> = bound.collect();
        let result = bound.map(|()| body());
        self.running.borrow_mut().remove(&function);
        result
    }

    fn bind(
        &self,
        pattern: &'a BindingPattern<'a>,
        value: ConfigValue,
        depth: usize,
    ) -> Option<()> {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                let symbol = name.symbol_id.get()?;
                self.arguments.borrow_mut().insert(symbol, value);
            }
            BindingPattern::AssignmentPattern(assigned) => {
                let value = match value {
                    ConfigValue::Absent => self.value(&assigned.right, depth + 1),
                    value => value,
                };
                self.bind(&assigned.left, value, depth)?;
            }
            BindingPattern::ObjectPattern(object) if object.rest.is_none() => {
                for property in &object.properties {
                    let key = property.key.static_name().filter(|_| !property.computed)?;
                    self.bind(&property.value, value.get(&key).clone(), depth)?;
                }
            }
            BindingPattern::ArrayPattern(list) if list.rest.is_none() => {
                for (at, element) in list.elements.iter().enumerate() {
                    if let Some(element) = element {
                        self.bind(element, value.get(&at.to_string()).clone(), depth)?;
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }
}

pub(super) fn is_named(expression: &Expression, expected: &str) -> bool {
    matches!(expression, Expression::Identifier(name) if name.name == expected)
}

/// Joins the lists among the items.
fn flat(items: Vec<ConfigValue>) -> ConfigValue {
    let items = items.into_iter().flat_map(|item| match item {
        ConfigValue::List(items) => items,
        item => vec![item],
    });
    ConfigValue::List(items.collect())
}
