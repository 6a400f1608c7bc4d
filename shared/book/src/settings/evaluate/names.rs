//! The values of names: of their declarations, with the later changes of the object.

use std::rc::Rc;

use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, Expression, IdentifierReference};
use oxc_semantic::SymbolId;
use oxc_span::Span;

use super::super::budget::{MAP_COST, Paid, VALUE_COST};
use super::super::changes::{ObjectChange, changes_of_symbol};
use super::super::value::ConfigValue;
use super::Evaluator;
use super::json::read_json;

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
            None => self.imported(symbol),
        }
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
        let (path, span) = (change.path(), change.span());
        self.budget.pay_for_path(path, span)?;
        match change {
            ObjectChange::Set { value, .. } if !path.is_empty() => {
                self.budget.pay(MAP_COST, span)?;
                config.set(path, self.value(value, depth + 1)?);
            }
            ObjectChange::Set { .. } => *config = self.computed(span),
            ObjectChange::Unknown { .. } => {
                self.budget.pay(MAP_COST, span)?;
                config.set(path, self.computed(span));
            }
            ObjectChange::Shared { .. } => {
                if config.at(path).is_shared() {
                    config.set(path, self.computed(span));
                }
            }
            ObjectChange::ItemsShared { .. } => {
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
}
