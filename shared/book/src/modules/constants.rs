//! The constants that a module exports.

use std::collections::BTreeMap;

use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, Program, Statement,
    VariableDeclaration,
};

/// Returns the constants of a program that are texts or numbers, by their exported names.
pub(super) fn constants(program: &Program) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    let mut exported = BTreeMap::new();
    for statement in &program.body {
        match statement {
            Statement::VariableDeclaration(variables) => known.extend(values_of(variables)),
            Statement::ExportDeclaration(export) => {
                if let Declaration::VariableDeclaration(variables) = &export.declaration {
                    let values = values_of(variables);
                    known.extend(values.clone());
                    exported.extend(values);
                }
            }
            _ => {}
        }
    }
    for statement in &program.body {
        match statement {
            Statement::ExportNamedDeclaration(export) => {
                for name in &export.specifiers {
                    if let Some(value) = known.get(name.local.name().as_str()) {
                        exported.insert(name.exported.name().to_string(), value.clone());
                    }
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let value = match &export.declaration {
                    ExportDefaultDeclarationKind::Identifier(name) => {
                        known.get(name.name.as_str()).cloned()
                    }
                    other => other.as_expression().and_then(shown_value),
                };
                exported.extend(value.map(|value| ("default".to_owned(), value)));
            }
            _ => {}
        }
    }
    exported
}

/// Returns the texts and numbers that a declaration gives to constants, by their names.
fn values_of(variables: &VariableDeclaration) -> Vec<(String, String)> {
    let constants = variables.declarations.iter();
    constants
        .filter(|_| variables.kind.is_const())
        .filter_map(|variable| match (&variable.id, &variable.init) {
            (BindingPattern::BindingIdentifier(name), Some(value)) => {
                Some((name.name.to_string(), shown_value(value)?))
            }
            _ => None,
        })
        .collect()
}

/// Returns the text that a literal shows.
fn shown_value(value: &Expression) -> Option<String> {
    match value.get_inner_expression() {
        Expression::StringLiteral(text) => Some(text.value.to_string()),
        Expression::NumericLiteral(number) => Some(number.value.to_string()),
        Expression::TemplateLiteral(template) => {
            template.single_quasi().map(|text| text.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::modules::Module;

    #[test]
    fn a_module_exports_constants_that_are_texts() {
        for (text, name, value) in [
            ("export const a = `b\n  c`", "a", "b\n  c"),
            ("export const a: string = ('b') as const", "a", "b"),
            ("const b = 'c'; export {b as a, d}", "a", "c"),
            ("const a = `b`\nexport default a", "default", "b"),
            ("export default 'b'", "default", "b"),
            ("export const n = 2, m = f()", "n", "2"),
            ("export const n = 0.5", "n", "0.5"),
            ("export const a = 'b'; export {b} from './c'", "a", "b"),
            ("const a = 'b', c = a; export {a, c}", "a", "b"),
            ("export {a}; const a = 'b'", "a", "b"),
            ("const a = 'b'; export {a as 'c d'}", "c d", "b"),
            ("const a = 'b'; export {a as default}", "default", "b"),
            ("export default (`b`)", "default", "b"),
            ("export const a = ('b' satisfies string)!", "a", "b"),
            ("export const a = `\\n\\u{41}\\``", "a", "\nA`"),
            ("export const a = ''", "a", ""),
        ] {
            let constants = Module::read("docs/a.ts", text).constants;
            let constants: Vec<_> = constants.into_iter().collect();
            assert_eq!(constants, [(name.to_owned(), value.to_owned())], "{text}");
        }
        for text in [
            "export let a = 'b'",
            "const a = 'b'",
            "export const a = `${b}`",
            "export var a = 'b'",
            "let a = 'b'; export {a}",
            "let a = 'b'; export default a",
            "export const {a} = {a: 'b'}",
            "export const a = 'b' + 'c'",
            "export const a = ['b'], b = {c: 'd'}, d = tag`e`, e = -f",
            "function f() { const a = 'b' } export {a}",
            "export default function () { return 'b' }",
            "export const a = 'b'; (",
        ] {
            assert!(
                Module::read("docs/a.ts", text).constants.is_empty(),
                "{text}"
            );
        }
    }
}
