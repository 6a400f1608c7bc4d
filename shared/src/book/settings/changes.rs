//! What a config file does to an object after it is written down: assignments to its fields, calls that may change it.

use oxc_ast::AstKind;
use oxc_ast::ast::{AssignmentOperator, BindingPattern, CallExpression, Expression, UnaryOperator};
use oxc_semantic::{NodeId, Semantic, SymbolId};
use oxc_span::{GetSpan, Span};

/// How many names may stand for one object, each for a part of the one before.
const MAX_NAMES: usize = 8;

/// Methods of lists and texts that leave them as they are.
const READING_METHODS: [&str; 26] = [
    "at",
    "concat",
    "endsWith",
    "entries",
    "every",
    "filter",
    "find",
    "findIndex",
    "flat",
    "flatMap",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "map",
    "reduce",
    "replace",
    "slice",
    "some",
    "split",
    "startsWith",
    "toLowerCase",
    "toString",
    "values",
];

/// Objects whose functions leave their arguments as they are, those of [`WRITING_FUNCTIONS`] excepted.
const READING_OBJECTS: [&str; 5] = ["Array", "JSON", "Object", "console", "path"];

/// Functions that change their first argument.
const WRITING_FUNCTIONS: [&str; 4] = [
    "assign",
    "defineProperties",
    "defineProperty",
    "setPrototypeOf",
];

/// A change of an object, at a path of fields.
#[derive(Debug, Clone)]
pub(super) enum Change<'a> {
    /// It is assigned a value, by a statement that always runs.
    Set {
        path: Vec<String>,
        value: &'a Expression<'a>,
        span: Span,
    },
    /// It is assigned something else.
    Unknown { path: Vec<String>, span: Span },
    /// If it is an object or a list, other code has it and may change it.
    Shared { path: Vec<String>, span: Span },
}

impl Change<'_> {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Set { span, .. } | Self::Unknown { span, .. } | Self::Shared { span, .. } => {
                *span
            }
        }
    }

    fn path_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Set { path, .. } | Self::Unknown { path, .. } | Self::Shared { path, .. } => path,
        }
    }
}

/// The changes of the object that a variable was declared with, in the order they are written.
pub(super) fn changes_of_symbol<'a>(semantic: &Semantic<'a>, symbol: SymbolId) -> Vec<Change<'a>> {
    changes_of(semantic, symbol, MAX_NAMES)
}

fn changes_of<'a>(semantic: &Semantic<'a>, symbol: SymbolId, names: usize) -> Vec<Change<'a>> {
    let scoping = semantic.scoping();
    let nodes = semantic.nodes();
    // The statements beside the declaration run in order; others may run at any time, or never.
    let declaration = scoping.symbol_declaration(symbol);
    let block = nodes.parent_id(nodes.parent_id(declaration));
    let references = scoping.get_resolved_references(symbol);
    references
        .flat_map(|reference| changes_at(semantic, reference.node_id(), block, names))
        .collect()
}

/// The changes of `module.exports`; the first is the assignment of the config itself.
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

/// The changes that one use of a name makes.
fn changes_at<'a>(
    semantic: &Semantic<'a>,
    name: NodeId,
    block: NodeId,
    names: usize,
) -> Vec<Change<'a>> {
    let nodes = semantic.nodes();
    let mut path = Vec::new();
    // Whether the path is all of it: after a computed key only its beginning is known.
    let mut whole = true;
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
            AstKind::AssignmentExpression(assignment) if assignment.left.span() == span => {
                let statement = nodes.parent_id(parent);
                let runs = matches!(nodes.kind(statement), AstKind::ExpressionStatement(_))
                    && nodes.parent_id(statement) == block;
                if runs && whole && assignment.operator == AssignmentOperator::Assign {
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
                let reads = method.is_none_or(|method| READING_METHODS.contains(&method.as_str()));
                return if reads {
                    Vec::new()
                } else {
                    vec![Change::Shared { path, span }]
                };
            }
            AstKind::CallExpression(call) if leaves(call, span) => return Vec::new(),
            AstKind::CallExpression(_) | AstKind::NewExpression(_) | AstKind::ForOfStatement(_) => {
                return vec![Change::Shared { path, span }];
            }
            AstKind::VariableDeclarator(variable) => {
                let BindingPattern::BindingIdentifier(name) = &variable.id else {
                    return vec![Change::Shared { path, span }];
                };
                return changes_by_other_name(semantic, name.symbol_id.get(), path, span, names);
            }
            _ => return Vec::new(),
        }
        at = parent;
    }
}

fn push(path: &mut Vec<String>, whole: bool, key: &str) {
    if whole {
        path.push(key.to_owned());
    }
}

/// Whether a call leaves the argument at `span` as it is.
fn leaves(call: &CallExpression, span: Span) -> bool {
    let Expression::StaticMemberExpression(function) = &call.callee else {
        return false;
    };
    let reads = matches!(&function.object, Expression::Identifier(name) if READING_OBJECTS.contains(&name.name.as_str()));
    let writes = WRITING_FUNCTIONS.contains(&function.property.name.as_str());
    let first = call
        .arguments
        .first()
        .is_some_and(|argument| argument.span() == span);
    reads && !(writes && first)
}

/// The changes of a part of the object, at `path`, that has a name of its own.
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
    // To assign the name itself changes the name, not the object.
    changes.retain_mut(|change| {
        matches!(change, Change::Shared { .. }) || !change.path_mut().is_empty()
    });
    for change in &mut changes {
        change.path_mut().splice(0..0, path.iter().cloned());
    }
    changes
}
