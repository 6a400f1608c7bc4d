//! Calls whose value is known: methods of lists, and functions of the config itself.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, FormalParameters};
use oxc_semantic::NodeId;
use oxc_span::{GetSpan, Span};

use super::super::budget::{MAP_COST, Paid, VALUE_COST};
use super::super::value::{ConfigMap, ConfigValue};
use super::Evaluator;
use crate::paths::joined;

/// A function of the config.
struct Function<'a> {
    id: NodeId,
    parameters: &'a FormalParameters<'a>,
    /// The body of `x => value`; `None` if it has statements.
    value: Option<&'a Expression<'a>>,
}

impl<'a> Evaluator<'_, 'a> {
    pub(super) fn call(&self, call: &'a CallExpression<'a>, depth: usize) -> Paid<ConfigValue> {
        let arguments = call.arguments.iter().map(Argument::as_expression);
        let arguments: Option<Vec<&'a Expression<'a>>> = arguments.collect();
        let Some(arguments) = arguments else {
            return Ok(self.computed(call.span));
        };
        if let Some(value) = self.resolved_path(call, &arguments, depth)? {
            return Ok(value);
        }
        if let Some(value) = self.required(call, &arguments)? {
            return Ok(value);
        }
        if let Some(value) = self.method(call, &arguments, depth)? {
            return Ok(value);
        }
        let value = self.own_function(call, &arguments, depth)?;
        Ok(value.unwrap_or_else(|| self.computed(call.span)))
    }

    /// Returns the value of `require.resolve('name')`: `name` itself, which suffices to recognise a package. Also the path in
    /// `path.join(__dirname, '..', 'docs')`, relative to the site.
    fn resolved_path(
        &self,
        call: &'a CallExpression<'a>,
        arguments: &[&'a Expression<'a>],
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let (Some((object, name)), Some((first, parts))) =
            (method_of(call), arguments.split_first())
        else {
            return Ok(None);
        };
        if is_named(object, "require") && name == "resolve" && parts.is_empty() {
            return self.value(first, depth + 1).map(Some);
        }
        let joins = is_named(object, "path") && matches!(name, "join" | "resolve");
        if !joins || !is_named(first, "__dirname") {
            return Ok(None);
        }
        let mut texts = Vec::new();
        for part in parts {
            match self.value(part, depth + 1)? {
                ConfigValue::Text(text) if !text.starts_with('/') => texts.push(text),
                _ => return Ok(None),
            }
        }
        // The parts of a path take more memory than its text.
        let len: usize = texts.iter().map(|text| 1 + text.len()).sum();
        self.budget.pay(len.saturating_mul(VALUE_COST), call.span)?;
        let path = joined("", &texts.join("/"));
        Ok((!path.is_empty()).then_some(ConfigValue::SitePath(path)))
    }

    /// Returns the value of `require('./versions.json')`.
    fn required(
        &self,
        call: &'a CallExpression<'a>,
        arguments: &[&'a Expression<'a>],
    ) -> Paid<Option<ConfigValue>> {
        match arguments {
            [Expression::StringLiteral(file)] if is_named(&call.callee, "require") => {
                self.json(file.value.as_str(), call.span)
            }
            _ => Ok(None),
        }
    }

    fn method(
        &self,
        call: &'a CallExpression<'a>,
        arguments: &[&'a Expression<'a>],
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let Some((object, name)) = method_of(call) else {
            return Ok(None);
        };
        if is_named(object, "Object") {
            return match arguments {
                [_, ..] if name == "assign" => self.assigned(arguments, call.span, depth),
                [object] => {
                    let object = self.value(object, depth + 1)?;
                    self.budget.pay(3 * VALUE_COST * object.len(), call.span)?;
                    Ok(object.into_items_by(name))
                }
                _ => Ok(None),
            };
        }
        let ConfigValue::List(list) = self.value(object, depth + 1)? else {
            return Ok(None);
        };
        Ok(match (name, arguments) {
            ("map", [function]) => self.mapped(&list, function, depth)?.map(ConfigValue::List),
            ("flatMap", [function]) => match self.mapped(&list, function, depth)? {
                Some(lists) => Some(self.flat(lists, call.span)?),
                None => None,
            },
            ("flat", []) => Some(self.flat(list, call.span)?),
            ("filter", [function]) => self.filtered(list, function, depth)?,
            ("concat", others) => {
                let mut lists = vec![ConfigValue::List(list)];
                for other in others {
                    lists.push(self.value(other, depth + 1)?);
                }
                Some(self.flat(lists, call.span)?)
            }
            ("slice", bounds) => self.sliced(list, bounds, depth)?,
            ("join", [separator]) => match self.value(separator, depth + 1)? {
                ConfigValue::Text(separator) => self.joined_items(&list, &separator, call.span)?,
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns the object that `Object.assign` makes.
    fn assigned(
        &self,
        objects: &[&'a Expression<'a>],
        at: Span,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        self.budget.pay(MAP_COST, at)?;
        let mut map = ConfigMap::new();
        for object in objects {
            let fields = self.value(object, depth + 1)?;
            self.spread(&mut map, fields, at)?;
        }
        Ok(Some(ConfigValue::Map(map)))
    }

    fn mapped(
        &self,
        list: &[ConfigValue],
        function: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<Option<Vec<ConfigValue>>> {
        let mut results = Vec::new();
        for (at, item) in (0_u32..).zip(list) {
            let item = self.copy(item, function.span())?;
            let arguments = vec![item, ConfigValue::Number(f64::from(at))];
            match self.result_of(function, arguments, depth)? {
                Some(result) => results.push(result),
                None => return Ok(None),
            }
        }
        Ok(Some(results))
    }

    /// Filters a list. Items that may be absent are kept, because readers of the list skip absent ones.
    fn filtered(
        &self,
        list: Vec<ConfigValue>,
        function: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let mut kept = Vec::new();
        if is_named(function, "Boolean") {
            kept.extend(list.into_iter().filter(|item| item.truth() != Some(false)));
            return Ok(Some(ConfigValue::List(kept)));
        }
        let Some(results) = self.mapped(&list, function, depth)? else {
            return Ok(None);
        };
        for (item, result) in list.into_iter().zip(results) {
            match result.truth() {
                Some(true) => kept.push(item),
                Some(false) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(ConfigValue::List(kept)))
    }

    fn sliced(
        &self,
        list: Vec<ConfigValue>,
        bounds: &[&'a Expression<'a>],
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let mut limits = [0, list.len()];
        for (limit, bound) in limits.iter_mut().zip(bounds) {
            match self.value(bound, depth + 1)?.index() {
                Some(index) => *limit = index,
                None => return Ok(None),
            }
        }
        let [from, to] = limits;
        let items = list.into_iter().take(to).skip(from);
        Ok(Some(ConfigValue::List(items.collect())))
    }

    fn joined_items(
        &self,
        list: &[ConfigValue],
        separator: &str,
        at: Span,
    ) -> Paid<Option<ConfigValue>> {
        let texts = list.iter().map(|item| match item {
            ConfigValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        match texts.collect::<Option<Vec<&str>>>() {
            Some(texts) => self.joined(&texts, separator, at).map(Some),
            None => Ok(None),
        }
    }

    /// Joins the lists among the items.
    fn flat(&self, items: Vec<ConfigValue>, at: Span) -> Paid<ConfigValue> {
        let mut list = Vec::new();
        for item in items {
            self.budget.pay(VALUE_COST * (1 + item.len()), at)?;
            match item {
                ConfigValue::List(items) => list.extend(items),
                item => list.push(item),
            }
        }
        Ok(ConfigValue::List(list))
    }

    /// Returns the result of a call of a function of the config, by its name or where it is written.
    fn own_function(
        &self,
        call: &'a CallExpression<'a>,
        arguments: &[&'a Expression<'a>],
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument, depth + 1)?);
        }
        let Expression::Identifier(name) = &call.callee else {
            return self.result_of(&call.callee, values, depth);
        };
        match self.declaration(name) {
            Some((_, AstKind::Function(function))) if !function.r#async && !function.generator => {
                let function = Function {
                    id: function.node_id.get(),
                    parameters: &function.params,
                    value: None,
                };
                self.run(&function, values, depth)
            }
            Some((_, AstKind::VariableDeclarator(variable))) => match &variable.init {
                Some(function) => self.result_of(function, values, depth),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Returns the result of a function expression for these arguments.
    fn result_of(
        &self,
        function: &'a Expression<'a>,
        arguments: Vec<ConfigValue>,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let function = match self.inner(function)? {
            Expression::ArrowFunctionExpression(arrow) if !arrow.r#async => Function {
                id: arrow.node_id.get(),
                parameters: &arrow.params,
                value: arrow.body.as_expression(),
            },
            Expression::FunctionExpression(own) if !own.r#async && !own.generator => Function {
                id: own.node_id.get(),
                parameters: &own.params,
                value: None,
            },
            _ => return Ok(None),
        };
        self.run(&function, arguments, depth)
    }

    /// Evaluates a call. `None` if the function has a rest parameter, a parameter cannot be bound, or the function calls itself: a parameter has one
    /// value at a time.
    fn run(
        &self,
        function: &Function<'a>,
        arguments: Vec<ConfigValue>,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        let id = function.id;
        if function.parameters.rest.is_some() || !self.running.borrow_mut().insert(id) {
            return Ok(None);
        }
        let mut arguments = arguments.into_iter();
        let mut are_bound = true;
        for parameter in &function.parameters.items {
            let argument = arguments.next().unwrap_or(ConfigValue::Absent);
            let value = match (&parameter.initializer, argument) {
                (Some(default), ConfigValue::Absent) => self.value(default, depth + 1)?,
                (_, argument) => argument,
            };
            if !self.bind(&parameter.pattern, value, depth)? {
                are_bound = false;
                break;
            }
        }
        let result = match function.value {
            _ if !are_bound => None,
            Some(value) => Some(self.value(value, depth + 1)?),
            None => Some(self.returned(id, depth + 1)?),
        };
        self.running.borrow_mut().remove(&id);
        Ok(result)
    }

    /// Gives the names in a pattern their values. Returns `false` if one of the values is unknown.
    pub(super) fn bind(
        &self,
        pattern: &'a BindingPattern<'a>,
        value: ConfigValue,
        depth: usize,
    ) -> Paid<bool> {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                let Some(symbol) = name.symbol_id.get() else {
                    return Ok(false);
                };
                self.arguments.borrow_mut().insert(symbol, value);
            }
            BindingPattern::AssignmentPattern(assigned) => {
                let value = match value {
                    ConfigValue::Absent => self.value(&assigned.right, depth + 1)?,
                    value => value,
                };
                return self.bind(&assigned.left, value, depth);
            }
            BindingPattern::ObjectPattern(object) if object.rest.is_none() => {
                for property in &object.properties {
                    let key = property.key.static_name().filter(|_| !property.computed);
                    let Some(key) = key else {
                        return Ok(false);
                    };
                    let field = self.copy(value.get(&key), property.span)?;
                    if !self.bind(&property.value, field, depth)? {
                        return Ok(false);
                    }
                }
            }
            BindingPattern::ArrayPattern(list) if list.rest.is_none() => {
                for (at, element) in list.elements.iter().enumerate() {
                    let Some(element) = element else { continue };
                    let item = self.copy(value.get(&at.to_string()), list.span)?;
                    if !self.bind(element, item, depth)? {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the object and the name of the method that is called.
fn method_of<'a>(call: &'a CallExpression<'a>) -> Option<(&'a Expression<'a>, &'a str)> {
    let function = call.callee.as_member_expression()?;
    Some((function.object(), function.static_property_name()?))
}

pub(super) fn is_named(expression: &Expression, expected: &str) -> bool {
    matches!(expression, Expression::Identifier(name) if name.name == expected)
}
