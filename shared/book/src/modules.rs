//! Imports and exports of modules. An MDX page is a module as well.

mod constants;

use std::collections::BTreeMap;

use oxc_ast::ast::{ExportDefaultDeclarationKind, ImportDeclarationSpecifier, Program, Statement};

use crate::lines::{Fence, closes, is_esm, opens_fence, split_container_prefix};
use crate::mdx_code_block::Unwrapped;
use crate::script::{language_of, parse};
use constants::constants;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Imported {
    /// The module as written, with escapes resolved: `./_part.mdx`.
    pub(super) specifier: String,
    pub(super) name: String,
}

/// What a module exports, as far as it is known without running it.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Each re-exported import, by its exported name.
    pub(super) exports: BTreeMap<String, Imported>,
    /// The texts and numbers among its constants, by their exported names.
    pub(super) constants: BTreeMap<String, String>,
    /// Modules of which all exports are re-exported.
    pub(super) stars: Vec<String>,
}

impl Module {
    /// Reads a module. One that cannot be parsed exports nothing.
    pub(super) fn read(path: &str, text: &str) -> Self {
        parse(text, language_of(path), Self::from_program).unwrap_or_default()
    }

    fn from_program(program: &Program) -> Self {
        let imports: BTreeMap<String, Imported> = imports(program).into_iter().collect();
        let mut module = Self {
            constants: constants(program),
            ..Self::default()
        };
        for statement in &program.body {
            match statement {
                Statement::ExportFromDeclaration(export) => {
                    for name in &export.specifiers {
                        let imported = Imported {
                            specifier: export.source.value.to_string(),
                            name: name.local.name().to_string(),
                        };
                        module
                            .exports
                            .insert(name.exported.name().to_string(), imported);
                    }
                }
                Statement::ExportNamedDeclaration(export) => {
                    for name in &export.specifiers {
                        if let Some(imported) = imports.get(name.local.name().as_str()) {
                            module
                                .exports
                                .insert(name.exported.name().to_string(), imported.clone());
                        }
                    }
                }
                Statement::ExportDefaultDeclaration(export) => {
                    let name = match &export.declaration {
                        ExportDefaultDeclarationKind::Identifier(name) => name.name.as_str(),
                        _ => continue,
                    };
                    if let Some(imported) = imports.get(name) {
                        module
                            .exports
                            .insert("default".to_owned(), imported.clone());
                    }
                }
                Statement::ExportAllDeclaration(export) if export.exported.is_none() => {
                    module.stars.push(export.source.value.to_string());
                }
                _ => {}
            }
        }
        module
    }
}

/// Returns the local names of a program's imports, with their sources.
fn imports(program: &Program) -> Vec<(String, Imported)> {
    let mut imports = Vec::new();
    for statement in &program.body {
        let Statement::ImportDeclaration(declaration) = statement else {
            continue;
        };
        for specifier in declaration.specifiers.iter().flatten() {
            let name = match specifier {
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => "default".to_owned(),
                ImportDeclarationSpecifier::ImportSpecifier(import) => {
                    import.imported.name().to_string()
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => continue,
            };
            let imported = Imported {
                specifier: declaration.source.value.to_string(),
                name,
            };
            imports.push((specifier.name().to_string(), imported));
        }
    }
    imports
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct EsmBlock {
    pub(super) lines: usize,
    imports: Vec<(String, Imported)>,
    /// The exported constants that are texts or numbers, as an expression with their name shows them.
    constants: BTreeMap<String, String>,
}

/// Bytes to parse per page; each attempt counts at least [`BYTES_PER_PARSE`]. Once they are used up, which only hostile pages reach,
/// no more blocks are recognised.
const MAX_PARSED_BYTES: usize = 1024 * 1024;
const BYTES_PER_PARSE: usize = 1024;

pub(super) fn page_imports(body: &str) -> BTreeMap<String, Imported> {
    let blocks = esm_blocks(&Unwrapped::new(body).text).into_values();
    blocks.flat_map(|block| block.imports).collect()
}

/// Returns the blocks of imports and exports in an unwrapped MDX page, by the offset of their first byte.
pub(super) fn esm_blocks(body: &str) -> BTreeMap<usize, EsmBlock> {
    let mut blocks = BTreeMap::new();
    let mut budget = MAX_PARSED_BYTES;
    // The open fence with the number of its quotes.
    let mut fence: Option<(Fence, usize)> = None;
    let mut at = 0;
    while at < body.len() {
        let line = body[at..].split('\n').next().unwrap_or_default();
        let (prefix, content) = split_container_prefix(line);
        let quotes = prefix.matches('>').count();
        if let Some((open, depth)) = fence {
            if closes(open, content) && quotes == depth {
                fence = None;
            }
        } else if let Some((open, _)) = opens_fence(content) {
            fence = Some((open, quotes));
        } else if budget > 0
            && is_esm(line)
            && let Some((bytes, block)) = esm_block(&body[at..], &mut budget)
        {
            blocks.insert(at, block);
            at += bytes;
            continue;
        }
        at += line.len() + 1;
    }
    blocks
}

impl EsmBlock {
    fn from_program(program: &Program) -> Self {
        Self {
            lines: 0,
            imports: imports(program),
            constants: constants(program),
        }
    }

    pub(super) fn take_constants(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.constants)
    }
}

/// Parses the block at the start of `text` and returns its length. It ends at the first blank line where it is complete, as in MDX.
/// An error before the end cannot be corrected by later lines, so they are not tried.
fn esm_block(text: &str, budget: &mut usize) -> Option<(usize, EsmBlock)> {
    let mut bytes = 0;
    let mut lines = 0;
    let mut rest = text.split_inclusive('\n').peekable();
    while let Some(line) = rest.next() {
        bytes += line.len();
        lines += 1;
        if rest.peek().is_some_and(|next| !next.trim().is_empty()) {
            continue;
        }
        let left = budget.checked_sub(bytes.max(BYTES_PER_PARSE));
        *budget = left.unwrap_or_default();
        left?;
        match parse(
            &text[..bytes],
            language_of("page.jsx"),
            EsmBlock::from_program,
        ) {
            Ok(block) => return Some((bytes, EsmBlock { lines, ..block })),
            Err(error) if error.is_at_end => {}
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdx::tests::MDX;
    use crate::mdx::{PageValues, prepare};
    use crate::omission::OmissionReason;

    fn imported(specifier: &str, name: &str) -> Imported {
        Imported {
            specifier: specifier.to_owned(),
            name: name.to_owned(),
        }
    }

    fn imports_of(body: &str) -> Vec<(String, Imported)> {
        page_imports(body).into_iter().collect()
    }

    fn one(name: &str, specifier: &str, export: &str) -> Vec<(String, Imported)> {
        vec![(name.to_owned(), imported(specifier, export))]
    }

    #[test]
    fn imports_are_read_as_javascript() {
        for (body, name, specifier, export) in [
            ("import A from './_a.mdx';\n", "A", "./_a.mdx", "default"),
            (r"import A from './\_a.md'", "A", "./_a.md", "default"),
            ("import A from \"./\\u005fa.md\"", "A", "./_a.md", "default"),
            (
                "import {default as A} from './_a.mdx'",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "import {\n  B as A, // why\n} from\n  './b';\n\nText",
                "A",
                "./b",
                "B",
            ),
            (
                "import A\n  from './_a.mdx' /* import B from 'b' */",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "Text.\n\nimport A from './_a.mdx'\n\nText.",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "# Heading\nimport A from './_a.mdx'\n",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "```mdx-code-block\nimport A from './_a.mdx'\n\n<A/>\n```\n",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "export const a = {\n\n  b: ')',\n\n};\nimport A from './_a.mdx'\n",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "export const a = 'x(';\n\nimport A from './_a.mdx'\n",
                "A",
                "./_a.mdx",
                "default",
            ),
        ] {
            assert_eq!(imports_of(body), one(name, specifier, export), "{body}");
        }
        let two = imports_of(
            "import A from './a.mdx'; import {B, C as D} from './b'\nimport E, {F} from './e';\n",
        );
        let names: Vec<&str> = two.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "B", "D", "E", "F"]);
        assert_eq!(two[2].1, imported("./b", "C"));
    }

    #[test]
    fn what_is_no_import_of_the_page_is_none() {
        for body in [
            "```js\nimport A from './_a.mdx'\n```\n",
            "~~~\n\nimport A from './_a.mdx'\n~~~\n",
            "> ```js\n> x\n> ```\n\nimport things from the shelf\n",
            "  import A from './_a.mdx'\n",
            "`import A from './_a.mdx'`\n",
            "import * as A from './a'\n",
            "import './a.css'\n",
            "export const a = 1\n",
        ] {
            assert_eq!(imports_of(body), [], "{body}");
        }
    }

    #[test]
    fn the_blocks_that_are_read_are_those_that_leave_the_text() {
        for body in [
            "import A from './_a.mdx'\n\nText.\n",
            "import A from './(_a.mdx'\n\nText (one.\n\nText) two.\n",
            "import {\n  A,\n\n  B,\n} from './a'\n\nText.\n",
            "export const a = () => {\n\n  return '}';\n\n};\n\nText.\n",
            "Text.\n\nimport A from './_a.mdx';\nimport B from './_b.mdx'; export const c = `\n\n{`;\n\nText.\n",
            "```js\nimport A from 'a'\n\nimport B from 'b'\n```\n\nText.\n",
            "> ```js\n> import A from 'a'\n> ```\n\nimport A from './_a.mdx'\n",
            "````mdx-code-block\nimport A from './_a.mdx'\n\nText.\n````\n\nimport B from './_b.mdx'",
        ] {
            let blocks = esm_blocks(&Unwrapped::new(body).text);
            let read: usize = blocks.values().map(|block| block.lines).sum();
            let prepared = prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default());
            let gone = prepared.omissions.iter();
            let gone = gone.filter(|omission| omission.reason == OmissionReason::Import);
            let gone: u32 = gone
                .map(|omission| omission.end_line - omission.start_line + 1)
                .sum();
            assert_eq!(
                gone as usize, read,
                "{body}: {blocks:?}, {:?}",
                prepared.text
            );
            assert!(
                !prepared.text.contains("_b.mdx"),
                "{body}: {:?}",
                prepared.text
            );
        }
    }

    #[test]
    fn a_block_may_have_blank_lines_wherever_javascript_allows_them() {
        for block in [
            "import {\n\n  A,\n\n} from './a'",
            "import A\n\nfrom './a'",
            "export const a = `\n\n{ ${\n\n'b'\n\n} \n\n`",
            "export const a = 1 + /* why\n\n */ 2",
            "export const a = [\n\n  1,\n\n  {b: 2,\n\n  c: [\n\n3]}]",
            "export const a = {\n\n  b() {\n\n    return 1;\n\n  },\n\n}",
            "export const A = () => (\n\n  <b>\n\n    don't {\n\n1} <i\n\nc='d\n\n'>e</i>\n\n  </b>\n\n)",
            "export const A = () => <>\n\n  text\n\n</>",
            "export const A = () => <b>\n\n  text\n\n</b>",
            "export const A = <b>\n\n  <i>\n\n text </i></b>",
            "export default function A() {\n\n  if (1) {\n\n  } else {\n\n  }\n\n  switch (1) {\n\n case 1:\n\n default: }\n\n}",
            "export class A {\n\n  b = 1;\n\n  c() {\n\n for (;;) {\n\n } }\n\n}",
            "export const a =\n\n  1",
            "export const a = f(\n\n  'b',\n\n)",
            "export const a = b ?\n\n  1 :\n\n  2",
        ] {
            let page = format!("{block}\n\nText.\n");
            let blocks = esm_blocks(&page);
            let lines = blocks.values().map(|block| block.lines).sum::<usize>();
            assert_eq!(lines, block.lines().count(), "{block}: {blocks:?}");
        }
    }

    #[test]
    fn a_module_passes_its_imports_on() {
        let module = |text: &str| Module::read("docs/index.tsx", text);
        let exports =
            |text: &str| -> Vec<(String, Imported)> { module(text).exports.into_iter().collect() };
        for (text, name, specifier, export) in [
            (
                "export {default as A} from './_a.mdx'",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "export {default} from './_a.mdx'",
                "default",
                "./_a.mdx",
                "default",
            ),
            (
                "import A from './_a.mdx'; export {A}",
                "A",
                "./_a.mdx",
                "default",
            ),
            (
                "export {A as B}; import A from './_a.mdx'",
                "B",
                "./_a.mdx",
                "default",
            ),
            (
                "import A from './_a.mdx';\nexport default A;",
                "default",
                "./_a.mdx",
                "default",
            ),
            (
                "import {A} from './a';\nexport {A as default};",
                "default",
                "./a",
                "A",
            ),
            (
                "import type {T} from 't'; export {X} from './x'; const y: T = 1;",
                "X",
                "./x",
                "X",
            ),
        ] {
            assert_eq!(exports(text), one(name, specifier, export), "{text}");
        }
        assert_eq!(
            module("export * from './a'; export * as b from './b'").stars,
            ["./a"]
        );
        assert_eq!(
            exports("export default function A() { return <b>don't</b>; }"),
            []
        );
        assert_eq!(exports("export {"), []);
    }

    #[test]
    fn a_hostile_page_ends_soon() {
        for line in [
            "import x\n\n",
            "import {\n\n",
            "export const a = (\n\n",
            "import x",
            "export default [[\n",
        ] {
            esm_blocks(&line.repeat(200_000));
        }
    }
}
