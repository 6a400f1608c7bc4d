//! The values of names: of their declarations, with the later changes of the object.

use std::rc::Rc;

use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, Expression, IdentifierReference};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};

use super::super::budget::{MAP_COST, Paid, VALUE_COST};
use super::super::changes::{Condition, Effect, ObjectChange, changes_of_symbol};
use super::super::value::{ConfigValue, Decision};
use super::Evaluator;
use super::json::read_json;

/// Whether a change is made.
enum Chance {
    Certain,
    /// The environment decides; without its variables the change is made if `usual`.
    Possible {
        usual: bool,
        line: usize,
    },
    /// Something unknown on this line decides.
    Unknown {
        line: usize,
    },
}

impl<'a> Evaluator<'_, 'a> {
    /// Returns the declaration of a name that always has its first value.
    pub(super) fn declaration(
        &self,
        name: &IdentifierReference<'a>,
    ) -> Option<(SymbolId, AstKind<'a>)> {
        let scoping = self.semantic.scoping();
        let symbol = scoping
            .get_reference(name.reference_id.get()?)
            .symbol_id()?;
        let known = self.is_constant.borrow().get(&symbol).copied();
        let is_constant = known.unwrap_or_else(|| {
            // This looks at all uses of the name.
            let is_constant = scoping.symbol_redeclarations(symbol).is_empty()
                && !scoping.symbol_is_mutated(symbol);
            self.is_constant.borrow_mut().insert(symbol, is_constant);
            is_constant
        });
        let declaration = self.semantic.symbol_declaration(symbol).kind();
        is_constant.then_some((symbol, declaration))
    }

    /// Returns the expression that a name was declared with.
    pub(super) fn initial_value(
        &self,
        name: &IdentifierReference<'a>,
    ) -> Option<&'a Expression<'a>> {
        match self.declaration(name)?.1 {
            AstKind::VariableDeclarator(variable) => match &variable.id {
                BindingPattern::BindingIdentifier(_) => variable.init.as_ref(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value of a name's declaration, including later changes.
    pub(super) fn name(&self, name: &IdentifierReference<'a>, depth: usize) -> Paid<ConfigValue> {
        let Some((symbol, declaration)) = self.declaration(name) else {
            let is_global = name.name == "undefined";
            return Ok(if is_global {
                ConfigValue::Absent
            } else {
                self.computed(name.span)
            });
        };
        if let AstKind::Function(_) = declaration {
            return Ok(ConfigValue::Function(self.line(name.span)));
        }
        if !self.names.borrow_mut().insert(symbol) {
            // Its value is made of itself, as in `config.plugins = [...config.plugins, other]`.
            return Ok(self.computed(name.span));
        }
        let value = self.changed(name, symbol, depth);
        self.names.borrow_mut().remove(&symbol);
        value
    }

    /// Returns the value that a name was declared with, including later changes.
    fn changed(
        &self,
        name: &IdentifierReference<'a>,
        symbol: SymbolId,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let Some(mut value) = self.declared(name, symbol, depth)? else {
            return Ok(self.computed(name.span));
        };
        if value.is_shared() {
            let changes = self.changes_of(symbol)?;
            for change in changes.iter() {
                self.apply(change, &mut value, depth + 1)?;
            }
        }
        Ok(value)
    }

    /// Returns the value that a name was declared with: an argument, an expression, or an imported file.
    fn declared(
        &self,
        name: &IdentifierReference<'a>,
        symbol: SymbolId,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        if let Some(argument) = self.arguments.borrow().get(&symbol) {
            return self.copy(argument, name.span).map(Some);
        }
        match self.initial_value(name) {
            Some(initial) => self.value(initial, depth + 1).map(Some),
            None => match self.imported(symbol)? {
                None => self.taken(symbol, depth),
                value => Ok(value),
            },
        }
    }

    /// Returns the value of `b` in `const {a, b = 1} = value`.
    fn taken(&self, symbol: SymbolId, depth: usize) -> Paid<Option<ConfigValue>> {
        let AstKind::VariableDeclarator(variable) = self.semantic.symbol_declaration(symbol).kind()
        else {
            return Ok(None);
        };
        let Some(initial) = &variable.init else {
            return Ok(None);
        };
        let value = self.value(initial, depth + 1)?;
        let value = self.bound(&variable.id, value, symbol, depth)?;
        if value.is_none() && self.is_of_environment(initial, depth)? {
            let unset = self.usual_value(initial, depth)?;
            let default = self.bound(&variable.id, unset, symbol, depth)?;
            return Ok(default.filter(|it| *it != ConfigValue::Absent));
        }
        Ok(value)
    }

    /// Returns the value that a name has in a pattern; `None` if it is unknown.
    fn bound(
        &self,
        pattern: &'a BindingPattern<'a>,
        value: ConfigValue,
        symbol: SymbolId,
        depth: usize,
    ) -> Paid<Option<ConfigValue>> {
        self.bind(pattern, value, depth)?;
        let mut arguments = self.arguments.borrow_mut();
        let value = arguments.remove(&symbol);
        for name in pattern.get_binding_identifiers() {
            if let Some(other) = name.symbol_id.get() {
                arguments.remove(&other);
            }
        }
        Ok(value.filter(|it| !matches!(it, ConfigValue::Computed(_))))
    }

    /// Returns the value of `import versions from './versions.json'`.
    fn imported(&self, symbol: SymbolId) -> Paid<Option<ConfigValue>> {
        let specifier = self.semantic.symbol_declaration(symbol);
        let AstKind::ImportDefaultSpecifier(_) = specifier.kind() else {
            return Ok(None);
        };
        match self.semantic.nodes().parent_kind(specifier.id()) {
            AstKind::ImportDeclaration(import) => {
                self.json(import.source.value.as_str(), import.span)
            }
            _ => Ok(None),
        }
    }

    /// Returns the value of a settings file in JSON.
    pub(super) fn json(&self, specifier: &str, at: Span) -> Paid<Option<ConfigValue>> {
        let file = specifier.strip_prefix("./");
        match file.and_then(|file| self.files.get(file)) {
            Some(text) => read_json(text, &self.budget, at),
            None => Ok(None),
        }
    }

    fn changes_of(&self, symbol: SymbolId) -> Paid<Rc<[ObjectChange<'a>]>> {
        if let Some(known) = self.changes.borrow().get(&symbol) {
            return Ok(Rc::clone(known));
        }
        let changes: Rc<[ObjectChange]> =
            changes_of_symbol(self.semantic, symbol, &self.budget)?.into();
        self.changes
            .borrow_mut()
            .insert(symbol, Rc::clone(&changes));
        Ok(changes)
    }

    pub(super) fn apply(
        &self,
        change: &ObjectChange<'a>,
        config: &mut ConfigValue,
        depth: usize,
    ) -> Paid<()> {
        let (path, span) = (change.path.as_slice(), change.span);
        self.budget.pay_for_path(path, span)?;
        self.budget.pay(MAP_COST, span)?;
        let Some(chance) = self.chance(&change.conditions, depth)? else {
            return Ok(());
        };
        match change.effect {
            Effect::Set(value) if !path.is_empty() => {
                let former = self.copy(config.at(path), span)?;
                let value = self.value(value, depth + 1)?;
                config.set(path, self.perhaps(value, former, &chance, span)?);
            }
            Effect::Set(_) | Effect::Unknown => config.set(path, self.computed(span)),
            Effect::Push(arguments) | Effect::Unshift(arguments) => {
                let mut items = Vec::new();
                for item in self.items(arguments, depth)? {
                    items.push(self.perhaps(item, ConfigValue::Absent, &chance, span)?);
                }
                match config.at_mut(path) {
                    Some(ConfigValue::List(list)) => {
                        let is_end = matches!(change.effect, Effect::Push(_));
                        let at = if is_end { list.len() } else { 0 };
                        list.splice(at..at, items);
                    }
                    _ => config.set(path, self.computed(span)),
                }
            }
            Effect::Assign(arguments) => {
                for argument in arguments {
                    let fields = match argument.as_expression() {
                        Some(argument) => self.value(argument, depth + 1)?,
                        None => self.computed(span),
                    };
                    let fields = self.perhaps(fields, ConfigValue::Absent, &chance, span)?;
                    match config.at_mut(path) {
                        Some(ConfigValue::Map(map)) => self.spread(map, fields, span)?,
                        _ => config.set(path, self.computed(span)),
                    }
                }
            }
            Effect::Shared => {
                if config.at(path).is_shared() {
                    config.set(path, self.computed(span));
                }
            }
            Effect::ItemsShared => {
                let items = config.at(path).len();
                self.budget.pay(items * VALUE_COST, span)?;
                for key in config.at(path).shared_items() {
                    let path = [path, &[key]].concat();
                    self.budget.pay_for_path(&path, span)?;
                    config.set(&path, self.computed(span));
                }
            }
        }
        Ok(())
    }

    /// Returns whether a change under these conditions is made; `None` if never.
    fn chance(&self, conditions: &[Condition<'a>], depth: usize) -> Paid<Option<Chance>> {
        let mut chance = Chance::Certain;
        for Condition { test, expected } in conditions {
            match self.value(test, depth + 1)?.truth() {
                Some(truth) if truth == *expected => continue,
                Some(_) => return Ok(None),
                None => {}
            }
            let usual = self.usual_truth(test, depth)?;
            let usual = usual.map(|truth| truth == *expected);
            let usual = match chance {
                Chance::Possible { usual: false, .. } => Some(false),
                Chance::Unknown { .. } => usual.filter(|usual| !usual),
                Chance::Certain | Chance::Possible { .. } => usual,
            };
            let line = self.line(test.span());
            chance = match usual {
                Some(usual) => Chance::Possible { usual, line },
                None => Chance::Unknown { line },
            };
        }
        Ok(Some(chance))
    }

    /// Returns the value after a change that is perhaps made, and else has the `former` value.
    fn perhaps(
        &self,
        value: ConfigValue,
        former: ConfigValue,
        chance: &Chance,
        at: Span,
    ) -> Paid<ConfigValue> {
        let usual_first = true;
        match *chance {
            Chance::Certain => Ok(value),
            Chance::Possible { usual, line } => {
                let decision = Decision { line, usual_first };
                let (first, second) = if usual {
                    (value, former)
                } else {
                    (former, value)
                };
                self.either(first, second, decision, at)
            }
            Chance::Unknown { line } => self.either(former, value, Decision::at(line), at),
        }
    }
}
