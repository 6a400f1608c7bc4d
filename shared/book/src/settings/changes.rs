//! Finds later changes of an object in a config file: assignments to its fields, and calls that modify it or may do so.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, AssignmentOperator, BindingPattern, CallExpression, Expression, LogicalOperator,
    MemberExpression, UnaryOperator,
};
use oxc_semantic::{NodeId, Semantic, SymbolId};
use oxc_span::{GetSpan, Span};

use super::budget::{Budget, Paid, VALUE_COST};

/// The longest chain of aliases followed for one object.
const MAX_NAMES: usize = 8;

/// Methods that neither modify a list nor expose its items.
const READING_METHODS: [&str; 6] = [
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "toString",
];

/// Methods that do not modify a list but expose its items, as results or to a callback.
const ITEM_METHODS: [&str; 15] = [
    "at",
    "concat",
    "entries",
    "every",
    "filter",
    "find",
    "findIndex",
    "flat",
    "flatMap",
    "forEach",
    "map",
    "reduce",
    "slice",
    "some",
    "values",
];

/// Objects whose functions do not modify their arguments, except for [`WRITING_FUNCTIONS`].
const READING_OBJECTS: [&str; 5] = ["Array", "JSON", "Object", "console", "path"];

/// Functions that modify their first argument.
const WRITING_FUNCTIONS: [&str; 4] = [
    "assign",
    "defineProperties",
    "defineProperty",
    "setPrototypeOf",
];

/// Functions whose result contains objects and lists from an argument.
const ITEM_FUNCTIONS: [&str; 4] = ["assign", "entries", "from", "values"];

/// A change of an object.
#[derive(Debug, Clone)]
pub(super) struct ObjectChange<'a> {
    /// The keys of the changed part.
    pub(super) path: Vec<String>,
    pub(super) effect: Effect<'a>,
    /// The conditions under which the change is made.
    pub(super) conditions: Vec<Condition<'a>>,
    pub(super) span: Span,
}

/// What a change does to a part of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect<'a> {
    /// An expression is assigned to it.
    Set(&'a Expression<'a>),
    /// Arguments of a call are added to the end of a list.
    Push(&'a [Argument<'a>]),
    /// Arguments of a call are added to the beginning of a list.
    Unshift(&'a [Argument<'a>]),
    /// The fields of the arguments after the first are assigned.
    Assign(&'a [Argument<'a>]),
    /// Something unknown is assigned.
    Unknown,
    /// Other code has the value and may change it if it is an object or a list.
    Shared,
    /// Other code has the objects and lists in its fields or items, and may change them.
    ItemsShared,
}

/// A condition that must have a truth value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition<'a> {
    pub(super) test: &'a Expression<'a>,
    pub(super) expected: bool,
}

impl ObjectChange<'_> {
    /// Returns the same change, marked as possibly concerning another object.
    fn uncertain(mut self) -> Self {
        if !matches!(self.effect, Effect::Shared | Effect::ItemsShared) {
            self.effect = Effect::Unknown;
            self.conditions.clear();
        }
        self
    }
}

/// Returns the changes of the object that a name is declared with.
///
/// # Errors
/// If they cost more than is left. Aliases of aliases can have far more changes than the file has bytes.
pub(super) fn changes_of_symbol<'a>(
    semantic: &Semantic<'a>,
    symbol: SymbolId,
    budget: &Budget,
) -> Paid<Vec<ObjectChange<'a>>> {
    changes_of(semantic, symbol, MAX_NAMES, budget)
}

fn changes_of<'a>(
    semantic: &Semantic<'a>,
    symbol: SymbolId,
    names: usize,
    budget: &Budget,
) -> Paid<Vec<ObjectChange<'a>>> {
    let scoping = semantic.scoping();
    let nodes = semantic.nodes();
    // Statements in the same block as the declaration run in order; others may run at any time, or never.
    let declaration = scoping.symbol_declaration(symbol);
    let block = nodes.parent_id(nodes.parent_id(declaration));
    let mut changes = Vec::new();
    for reference in scoping.get_resolved_references(symbol) {
        let walk = Walk::new(semantic, reference.node_id(), block, names, budget);
        changes.extend(walk.changes()?);
    }
    Ok(changes)
}

/// Returns the changes of `module.exports`; the first one assigns the config itself.
///
/// # Errors
/// If they cost more than is left.
pub(super) fn changes_of_exports<'a>(
    semantic: &Semantic<'a>,
    budget: &Budget,
) -> Paid<Vec<ObjectChange<'a>>> {
    let scoping = semantic.scoping();
    let references = scoping.root_unresolved_references().get("module");
    let mut exports = Vec::new();
    for id in references.into_iter().flatten() {
        let node = scoping.get_reference(*id).node_id();
        let walk = Walk::new(semantic, node, NodeId::ROOT, MAX_NAMES, budget);
        for mut change in walk.changes()? {
            if change.path.first().is_some_and(|key| key == "exports") {
                change.path.remove(0);
                exports.push(change);
            }
        }
    }
    Ok(exports)
}

/// A walk from a use of a name up to the expression that decides what happens to it.
struct Walk<'s, 'a> {
    semantic: &'s Semantic<'a>,
    at: NodeId,
    block: NodeId,
    names: usize,
    budget: &'s Budget,
    /// The keys read from the object.
    path: Vec<String>,
    /// True if the path is complete; after a computed key only its beginning is known.
    whole: bool,
    /// True if the expression is certainly this object.
    certain: bool,
}

impl<'s, 'a> Walk<'s, 'a> {
    fn new(
        semantic: &'s Semantic<'a>,
        name: NodeId,
        block: NodeId,
        names: usize,
        budget: &'s Budget,
    ) -> Self {
        Self {
            semantic,
            at: name,
            block,
            names,
            budget,
            path: Vec::new(),
            whole: true,
            certain: true,
        }
    }

    /// Returns the changes at one use of a name, by the expressions around it.
    fn changes(mut self) -> Paid<Vec<ObjectChange<'a>>> {
        loop {
            if let Some(changes) = self.up()? {
                return Ok(changes);
            }
        }
    }

    /// Goes to the parent; returns the changes if it decides them.
    fn up(&mut self) -> Paid<Option<Vec<ObjectChange<'a>>>> {
        let nodes = self.semantic.nodes();
        let span = nodes.kind(self.at).span();
        self.budget.pay(VALUE_COST, span)?;
        let parent = nodes.parent_id(self.at);
        match nodes.kind(parent) {
            AstKind::StaticMemberExpression(member) => {
                push(&mut self.path, self.whole, member.property.name.as_str());
            }
            AstKind::ComputedMemberExpression(member) if member.object.span() == span => {
                self.read_key(&member.expression);
            }
            AstKind::ParenthesizedExpression(_)
            | AstKind::ChainExpression(_)
            | AstKind::TSAsExpression(_)
            | AstKind::TSSatisfiesExpression(_)
            | AstKind::TSNonNullExpression(_)
            | AstKind::TSTypeAssertion(_) => {}
            // `object && other` is never the object, because objects are truthy.
            AstKind::LogicalExpression(logical)
                if logical.operator != LogicalOperator::And || logical.right.span() == span =>
            {
                self.certain = false;
            }
            AstKind::ConditionalExpression(condition) if condition.test.span() != span => {
                self.certain = false;
            }
            decides => return self.decided(decides, parent, span).map(Some),
        }
        self.at = parent;
        Ok(None)
    }

    fn read_key(&mut self, key: &Expression<'_>) {
        match key {
            Expression::StringLiteral(key) => push(&mut self.path, self.whole, key.value.as_str()),
            Expression::NumericLiteral(key) => {
                push(&mut self.path, self.whole, &key.value.to_string());
            }
            _ => self.whole = false,
        }
    }

    /// Returns the changes that the expression around `span` makes.
    fn decided(
        &mut self,
        by: AstKind<'a>,
        parent: NodeId,
        span: Span,
    ) -> Paid<Vec<ObjectChange<'a>>> {
        let path = std::mem::take(&mut self.path);
        Ok(match by {
            AstKind::AssignmentExpression(assignment) if assignment.left.span() == span => {
                let is_set = assignment.operator == AssignmentOperator::Assign;
                let set = Effect::Set(&assignment.right);
                let effect = if is_set { set } else { Effect::Unknown };
                vec![self.made(effect, Effect::Unknown, path, parent, span)?]
            }
            AstKind::UpdateExpression(_)
            | AstKind::ArrayAssignmentTarget(_)
            | AstKind::ObjectAssignmentTarget(_)
            | AstKind::AssignmentTargetRest(_)
            | AstKind::AssignmentTargetWithDefault(_)
            | AstKind::AssignmentTargetPropertyProperty(_) => {
                vec![change(Effect::Unknown, path, span)]
            }
            AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Delete => {
                vec![change(Effect::Unknown, path, span)]
            }
            AstKind::CallExpression(call) if call.callee.span() == span => {
                let called = self.called(call, parent, path, span)?;
                called.into_iter().collect()
            }
            AstKind::CallExpression(call) => {
                let passed = self.passed(call, parent, path, span)?;
                passed.into_iter().collect()
            }
            AstKind::NewExpression(_) | AstKind::ForOfStatement(_) => {
                vec![change(Effect::Shared, path, span)]
            }
            AstKind::VariableDeclarator(variable) => {
                let BindingPattern::BindingIdentifier(name) = &variable.id else {
                    return Ok(vec![change(Effect::Shared, path, span)]);
                };
                let changes = self.changes_by_other_name(name.symbol_id.get(), path, span)?;
                match self.conditions(parent)?.filter(|_| self.certain) {
                    Some(conditions) if conditions.is_empty() => changes,
                    _ => changes.into_iter().map(ObjectChange::uncertain).collect(),
                }
            }
            _ => Vec::new(),
        })
    }

    /// Returns the changes made through a second name for the object's part at `path`.
    fn changes_by_other_name(
        &self,
        symbol: Option<SymbolId>,
        path: Vec<String>,
        span: Span,
    ) -> Paid<Vec<ObjectChange<'a>>> {
        let Some(symbol) = symbol.filter(|_| self.names > 0) else {
            return Ok(vec![change(Effect::Shared, path, span)]);
        };
        let mut changes = changes_of(self.semantic, symbol, self.names - 1, self.budget)?;
        // Assigning to the other name itself does not change the object.
        changes.retain(|change| {
            !matches!(change.effect, Effect::Set(_) | Effect::Unknown) || !change.path.is_empty()
        });
        for change in &mut changes {
            self.budget.pay_for_path(&path, span)?;
            change.path.splice(0..0, path.iter().cloned());
        }
        Ok(changes)
    }

    /// Returns the change that an expression makes, or the `other` one if it may run at any time or concern another object.
    fn made(
        &self,
        effect: Effect<'a>,
        other: Effect<'a>,
        path: Vec<String>,
        expression: NodeId,
        span: Span,
    ) -> Paid<ObjectChange<'a>> {
        let conditions = self.conditions(expression)?;
        let conditions = conditions.filter(|_| self.whole && self.certain);
        let is_known = conditions.is_some();
        Ok(ObjectChange {
            path,
            effect: if is_known { effect } else { other },
            conditions: conditions.unwrap_or_default(),
            span,
        })
    }

    /// Returns the conditions under which an expression runs, as a statement of the block or of an `if` in it. `None` if it may run at any time.
    fn conditions(&self, expression: NodeId) -> Paid<Option<Vec<Condition<'a>>>> {
        let nodes = self.semantic.nodes();
        let mut conditions = Vec::new();
        let mut below = nodes.kind(expression).span();
        for node in nodes.ancestors(expression) {
            self.budget.pay(VALUE_COST, below)?;
            if node.id() == self.block {
                return Ok(Some(conditions));
            }
            match node.kind() {
                AstKind::ParenthesizedExpression(_)
                | AstKind::ExpressionStatement(_)
                | AstKind::BlockStatement(_)
                | AstKind::VariableDeclaration(_)
                | AstKind::ExportNamedDeclaration(_) => {}
                AstKind::IfStatement(statement) if statement.test.span() != below => {
                    conditions.push(Condition {
                        test: &statement.test,
                        expected: statement.consequent.span() == below,
                    });
                }
                AstKind::LogicalExpression(logical)
                    if logical.right.span() == below
                        && logical.operator != LogicalOperator::Coalesce =>
                {
                    conditions.push(Condition {
                        test: &logical.left,
                        expected: logical.operator == LogicalOperator::And,
                    });
                }
                _ => return Ok(None),
            }
            below = node.kind().span();
        }
        Ok(None)
    }

    /// Returns the change by calling a method of the object.
    fn called(
        &self,
        call: &'a CallExpression<'a>,
        parent: NodeId,
        mut path: Vec<String>,
        span: Span,
    ) -> Paid<Option<ObjectChange<'a>>> {
        let method = if self.whole {
            path.pop()
        } else {
            Some(String::new())
        };
        let Some(method) = method else {
            return Ok(None);
        };
        let effect = match method.as_str() {
            reads if READING_METHODS.contains(&reads) => return Ok(None),
            shows if ITEM_METHODS.contains(&shows) => {
                return Ok(Some(change(Effect::ItemsShared, path, span)));
            }
            "push" => Effect::Push(&call.arguments),
            "unshift" => Effect::Unshift(&call.arguments),
            _ => return Ok(Some(change(Effect::Shared, path, span))),
        };
        self.made(effect, Effect::Shared, path, parent, span)
            .map(Some)
    }

    /// Returns the change by passing the object to a function, which is called to change its argument, or for its result.
    fn passed(
        &self,
        call: &'a CallExpression<'a>,
        parent: NodeId,
        path: Vec<String>,
        span: Span,
    ) -> Paid<Option<ObjectChange<'a>>> {
        let is_for_result = !matches!(
            self.semantic.nodes().parent_kind(parent),
            AstKind::ExpressionStatement(_) | AstKind::AwaitExpression(_)
        );
        let Some(effect) = effect_on_argument(call, span) else {
            return Ok(None);
        };
        if let Effect::Assign(_) = effect {
            let assigned = self.made(effect, Effect::Shared, path, parent, span);
            return assigned.map(Some);
        }
        let is_unseen = matches!(effect, Effect::Shared) && is_for_result && !writes_first(call);
        Ok((!is_unseen).then(|| change(effect, path, span)))
    }
}

/// Returns a change that may be made at any time.
fn change(effect: Effect<'_>, path: Vec<String>, span: Span) -> ObjectChange<'_> {
    ObjectChange {
        path,
        effect,
        conditions: Vec::new(),
        span,
    }
}

/// True for a call of one of [`WRITING_FUNCTIONS`].
fn writes_first(call: &CallExpression) -> bool {
    let function = call.callee.as_member_expression();
    let name = function.and_then(MemberExpression::static_property_name);
    name.is_some_and(|name| WRITING_FUNCTIONS.contains(&name))
}

fn push(path: &mut Vec<String>, whole: bool, key: &str) {
    if whole {
        path.push(key.to_owned());
    }
}

/// Returns the effect of a call on the argument at `span`.
fn effect_on_argument<'a>(call: &'a CallExpression<'a>, span: Span) -> Option<Effect<'a>> {
    let Expression::StaticMemberExpression(function) = &call.callee else {
        return Some(Effect::Shared);
    };
    let reads = matches!(&function.object, Expression::Identifier(name) if READING_OBJECTS.contains(&name.name.as_str()));
    let name = function.property.name.as_str();
    let first = call
        .arguments
        .first()
        .is_some_and(|argument| argument.span() == span);
    if reads && first && name == "assign" {
        Some(Effect::Assign(&call.arguments[1..]))
    } else if !reads || (first && WRITING_FUNCTIONS.contains(&name)) {
        Some(Effect::Shared)
    } else if ITEM_FUNCTIONS.contains(&name) {
        Some(Effect::ItemsShared)
    } else {
        None
    }
}
