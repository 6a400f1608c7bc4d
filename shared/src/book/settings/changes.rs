//! Finds later changes of an object in a config file: assignments to its fields, and calls that may modify it.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentOperator, BindingPattern, CallExpression, Expression, LogicalOperator,
    MemberExpression, UnaryOperator,
};
use oxc_semantic::{NodeId, Semantic, SymbolId};
use oxc_span::{GetSpan, Span};

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

/// A change of an object, at a path of fields.
#[derive(Debug, Clone)]
pub(super) enum Change<'a> {
    /// An assignment that always runs.
    Set {
        path: Vec<String>,
        value: &'a Expression<'a>,
        span: Span,
    },
    /// Any other assignment.
    Unknown { path: Vec<String>, span: Span },
    /// Other code has the value and may change it if it is an object or a list.
    Shared { path: Vec<String>, span: Span },
    /// Other code has the objects and lists in its fields or items, and may change them.
    ItemsShared { path: Vec<String>, span: Span },
}

impl Change<'_> {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Set { span, .. }
            | Self::Unknown { span, .. }
            | Self::Shared { span, .. }
            | Self::ItemsShared { span, .. } => *span,
        }
    }

    fn path_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Set { path, .. }
            | Self::Unknown { path, .. }
            | Self::Shared { path, .. }
            | Self::ItemsShared { path, .. } => path,
        }
    }

    /// Returns the same change, marked as possibly concerning another object.
    fn uncertain(self) -> Self {
        match self {
            Self::Set { path, span, .. } => Self::Unknown { path, span },
            change => change,
        }
    }
}

pub(super) fn changes_of_symbol<'a>(semantic: &Semantic<'a>, symbol: SymbolId) -> Vec<Change<'a>> {
    changes_of(semantic, symbol, MAX_NAMES)
}

fn changes_of<'a>(semantic: &Semantic<'a>, symbol: SymbolId, names: usize) -> Vec<Change<'a>> {
    let scoping = semantic.scoping();
    let nodes = semantic.nodes();
    // Statements in the same block as the declaration run in order; others may run at any time, or never.
    let declaration = scoping.symbol_declaration(symbol);
    let block = nodes.parent_id(nodes.parent_id(declaration));
    let references = scoping.get_resolved_references(symbol);
    references
        .flat_map(|reference| changes_at(semantic, reference.node_id(), block, names))
        .collect()
}

/// Returns the changes of `module.exports`; the first one assigns the config itself.
pub(super) fn changes_of_exports<'a>(semantic: &Semantic<'a>) -> Vec<Change<'a>> {
    let scoping = semantic.scoping();
    let Some(references) = scoping.root_unresolved_references().get("module") else {
        return Vec::new();
    };
    let ids = references.iter();
    let changes = ids.flat_map(|id| {
        let node = scoping.get_reference(*id).node_id();
        changes_at(semantic, node, NodeId::ROOT, MAX_NAMES)
    });
    let exports = changes.filter_map(|mut change| {
        let path = change.path_mut();
        (path.first().map(String::as_str) == Some("exports")).then(|| path.remove(0))?;
        Some(change)
    });
    exports.collect()
}

fn changes_at<'a>(
    semantic: &Semantic<'a>,
    name: NodeId,
    block: NodeId,
    names: usize,
) -> Vec<Change<'a>> {
    let nodes = semantic.nodes();
    let mut path = Vec::new();
    // True if the path is complete; after a computed key only its beginning is known.
    let mut whole = true;
    // True if the expression is certainly this object.
    let mut certain = true;
    let mut at = name;
    loop {
        let span = nodes.kind(at).span();
        let parent = nodes.parent_id(at);
        match nodes.kind(parent) {
            AstKind::StaticMemberExpression(member) => {
                push(&mut path, whole, member.property.name.as_str());
            }
            AstKind::ComputedMemberExpression(member) if member.object.span() == span => {
                match &member.expression {
                    Expression::StringLiteral(key) => push(&mut path, whole, key.value.as_str()),
                    Expression::NumericLiteral(key) => {
                        push(&mut path, whole, &key.value.to_string());
                    }
                    _ => whole = false,
                }
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
                certain = false;
            }
            AstKind::ConditionalExpression(condition) if condition.test.span() != span => {
                certain = false;
            }
            AstKind::AssignmentExpression(assignment) if assignment.left.span() == span => {
                let statement = nodes.parent_id(parent);
                let runs = matches!(nodes.kind(statement), AstKind::ExpressionStatement(_))
                    && nodes.parent_id(statement) == block;
                if runs && whole && certain && assignment.operator == AssignmentOperator::Assign {
                    let value = &assignment.right;
                    return vec![Change::Set { path, value, span }];
                }
                return vec![Change::Unknown { path, span }];
            }
            AstKind::UpdateExpression(_)
            | AstKind::ArrayAssignmentTarget(_)
            | AstKind::ObjectAssignmentTarget(_)
            | AstKind::AssignmentTargetRest(_)
            | AstKind::AssignmentTargetWithDefault(_)
            | AstKind::AssignmentTargetPropertyProperty(_) => {
                return vec![Change::Unknown { path, span }];
            }
            AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Delete => {
                return vec![Change::Unknown { path, span }];
            }
            AstKind::CallExpression(call) if call.callee.span() == span => {
                let method = if whole {
                    path.pop()
                } else {
                    Some(String::new())
                };
                return method
                    .and_then(|method| change_by_method(&method, path, span))
                    .into_iter()
                    .collect();
            }
            AstKind::CallExpression(call) => {
                // A function is called to change its argument, or for its result.
                let is_for_result = !matches!(
                    nodes.parent_kind(parent),
                    AstKind::ExpressionStatement(_) | AstKind::AwaitExpression(_)
                );
                let change = change_by_argument(call, path, span);
                let has_result = |change: &Change| {
                    is_for_result && matches!(change, Change::Shared { .. }) && !writes_first(call)
                };
                return change
                    .filter(|change| !has_result(change))
                    .into_iter()
                    .collect();
            }
            AstKind::NewExpression(_) | AstKind::ForOfStatement(_) => {
                return vec![Change::Shared { path, span }];
            }
            AstKind::VariableDeclarator(variable) => {
                let BindingPattern::BindingIdentifier(name) = &variable.id else {
                    return vec![Change::Shared { path, span }];
                };
                let symbol = name.symbol_id.get();
                let changes = changes_by_other_name(semantic, symbol, path, span, names);
                return if certain {
                    changes
                } else {
                    changes.into_iter().map(Change::uncertain).collect()
                };
            }
            _ => return Vec::new(),
        }
        at = parent;
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

fn change_by_method<'a>(method: &str, path: Vec<String>, span: Span) -> Option<Change<'a>> {
    if READING_METHODS.contains(&method) {
        None
    } else if ITEM_METHODS.contains(&method) {
        Some(Change::ItemsShared { path, span })
    } else {
        Some(Change::Shared { path, span })
    }
}

/// The effect of a call on the argument at `span`.
fn change_by_argument<'a>(
    call: &CallExpression,
    path: Vec<String>,
    span: Span,
) -> Option<Change<'a>> {
    let Expression::StaticMemberExpression(function) = &call.callee else {
        return Some(Change::Shared { path, span });
    };
    let reads = matches!(&function.object, Expression::Identifier(name) if READING_OBJECTS.contains(&name.name.as_str()));
    let name = function.property.name.as_str();
    let first = call
        .arguments
        .first()
        .is_some_and(|argument| argument.span() == span);
    if !reads || (first && WRITING_FUNCTIONS.contains(&name)) {
        Some(Change::Shared { path, span })
    } else if ITEM_FUNCTIONS.contains(&name) {
        Some(Change::ItemsShared { path, span })
    } else {
        None
    }
}

/// Returns the changes made through a second name for the object's part at `path`.
fn changes_by_other_name<'a>(
    semantic: &Semantic<'a>,
    symbol: Option<SymbolId>,
    path: Vec<String>,
    span: Span,
    names: usize,
) -> Vec<Change<'a>> {
    let Some(symbol) = symbol.filter(|_| names > 0) else {
        return vec![Change::Shared { path, span }];
    };
    let mut changes = changes_of(semantic, symbol, names - 1);
    // Assigning to the other name itself does not change the object.
    changes.retain_mut(|change| {
        matches!(change, Change::Shared { .. } | Change::ItemsShared { .. })
            || !change.path_mut().is_empty()
    });
    for change in &mut changes {
        change.path_mut().splice(0..0, path.iter().cloned());
    }
    changes
}
