//! The files that a page imports and shows: Markdown as components, and other files as text (`{source}`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::decoding::decode;
use crate::inputs::{Input, InputUse, Inputs};
use crate::modules::{Imported, Module, page_imports};
use crate::paths::joined;

/// The extensions tried for a specifier without one, in the order of Docusaurus's bundler.
const MODULE_EXTENSIONS: [&str; 5] = ["mjs", "js", "jsx", "ts", "tsx"];

/// The longest chain of modules that re-export a component.
const MAX_MODULE_DEPTH: usize = 8;

/// The most modules resolved for one page; each may require trying a dozen files.
const MAX_MODULES: usize = 50;

/// The most exports followed for one page, so that modules that re-export each other end.
const MAX_EXPORTS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Partials {
    /// Paths relative to the site, by component name, or by [`shown_text_file`] for files shown as text. The files need not exist.
    pub(super) paths: BTreeMap<String, String>,
    /// Files that are needed to resolve imports, with their uses.
    pub(super) wanted: BTreeMap<String, InputUse>,
    /// True if the page imports more modules than are followed.
    pub(super) is_cut: bool,
}

impl Partials {
    /// Returns the partials of an MDX page or partial, as far as `inputs` hold the modules that re-export them.
    pub(super) fn new(source: &str, body: &str, inputs: &Inputs) -> Self {
        let mut resolver = Resolver {
            inputs,
            modules: HashMap::new(),
            exports_left: MAX_EXPORTS,
            partials: Self::default(),
        };
        for (name, imported) in page_imports(body) {
            if let Some(file) = raw_file(&imported.specifier) {
                let shown = shown_text_file(&name);
                if body.contains(&shown) || body.contains(&format!("{{ {name} }}")) {
                    let path = resolve_import(source, file);
                    resolver.want(&path, InputUse::Text);
                    resolver.partials.paths.insert(shown, path);
                }
                continue;
            }
            // Most modules are not Markdown, so resolve them only if the page uses their component.
            if !is_markdown(&imported.specifier) && !body.contains(&format!("<{name}")) {
                continue;
            }
            if let Some(path) = resolver.resolve(source, &imported, 0) {
                resolver.partials.paths.insert(name, path);
            }
        }
        resolver.partials
    }
}

struct Resolver<'a> {
    inputs: &'a Inputs,
    modules: HashMap<String, Option<Rc<FoundModule>>>,
    exports_left: usize,
    partials: Partials,
}

struct FoundModule {
    file: String,
    passes: Module,
}

impl Resolver<'_> {
    /// Requests a file unless it is known. If it has several uses, the strictest one counts.
    fn want(&mut self, path: &str, usage: InputUse) {
        if !self.inputs.contains_key(path) {
            let known = self.partials.wanted.entry(path.to_owned());
            let known = known.or_insert(usage);
            *known = usage.max(*known);
        }
    }

    /// Returns the Markdown file that an import in the file `source` resolves to.
    fn resolve(&mut self, source: &str, imported: &Imported, depth: usize) -> Option<String> {
        let specifier = imported.specifier.as_str();
        self.exports_left = self.exports_left.checked_sub(1)?;
        if depth > MAX_MODULE_DEPTH || specifier.contains(['!', '?']) {
            return None;
        }
        let path = resolve_import(source, specifier);
        if is_markdown(specifier) {
            // Only the default export of a Markdown file is its text.
            let is_text = imported.name == "default";
            if is_text {
                self.want(&path, InputUse::Markdown);
            }
            return is_text.then_some(path);
        }
        let is_of_site = ["./", "../", "@site/", "/"]
            .iter()
            .any(|start| specifier.starts_with(start));
        if !is_of_site && !matches!(specifier, "." | "..") {
            return None;
        }
        let module = self.module(path)?;
        if let Some(next) = module.passes.exports.get(&imported.name) {
            return self.resolve(&module.file, next, depth + 1);
        }
        // `export *` passes on all exports except the default.
        let stars = module
            .passes
            .stars
            .iter()
            .filter(|_| imported.name != "default");
        for specifier in stars {
            let next = Imported {
                specifier: specifier.clone(),
                name: imported.name.clone(),
            };
            let path = self.resolve(&module.file, &next, depth + 1);
            if path.is_some() || self.exports_left == 0 {
                return path;
            }
        }
        None
    }

    /// Returns the module at a path, which may lack its extension.
    fn module(&mut self, path: String) -> Option<Rc<FoundModule>> {
        if let Some(known) = self.modules.get(&path) {
            return known.clone();
        }
        if self.modules.len() == MAX_MODULES {
            self.partials.is_cut = true;
            return None;
        }
        let module = self.find(&path).map(Rc::new);
        self.modules.insert(path, module.clone());
        module
    }

    /// Looks for a module at its possible paths. Requests the first one not yet read.
    fn find(&mut self, path: &str) -> Option<FoundModule> {
        for file in module_files(path) {
            match self.inputs.get(&file) {
                Some(Input::Content(bytes)) => {
                    let text = decode(bytes).unwrap_or_default();
                    let passes = Module::read(&file, &text);
                    return Some(FoundModule { file, passes });
                }
                Some(Input::Absent | Input::Refused(_)) => {}
                None => {
                    self.want(&file, InputUse::Lookup);
                    return None;
                }
            }
        }
        None
    }
}

/// Returns the expression that shows an imported text: `{name}`. No component has such a name.
pub(super) fn shown_text_file(name: &str) -> String {
    format!("{{{name}}}")
}

pub(super) fn is_shown_text_file(name: &str) -> bool {
    name.starts_with('{')
}

/// Returns the file in a specifier that imports a file's text: `!!raw-loader!./a.js` or `./a.js?raw`.
fn raw_file(specifier: &str) -> Option<&str> {
    let (loaders, file) = specifier.rsplit_once('!').unwrap_or(("", specifier));
    match loaders.trim_start_matches(['!', '-']) {
        "raw-loader" => Some(file),
        "" => file.strip_suffix("?raw"),
        _ => None,
    }
}

fn is_markdown(path: &str) -> bool {
    matches!(path.rsplit_once('.'), Some((_, "md" | "mdx")))
}

/// Returns the files that a module's path may refer to; none for other kinds of files, such as styles and images.
fn module_files(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    if let Some((_, extension)) = name.rsplit_once('.') {
        let is_module = MODULE_EXTENSIONS.contains(&extension);
        return is_module.then(|| path.to_owned()).into_iter().collect();
    }
    let folder = if path.is_empty() {
        String::new()
    } else {
        format!("{path}/")
    };
    let files = MODULE_EXTENSIONS
        .iter()
        .map(|extension| format!("{path}.{extension}"));
    let files = files.filter(|_| !path.is_empty());
    files
        .chain(
            MODULE_EXTENSIONS
                .iter()
                .map(|extension| format!("{folder}index.{extension}")),
        )
        .collect()
}

/// True if a path was looked for because an import has no extension: then other extensions were tried, the first or second of them always.
pub(super) fn is_guess(path: &str, looked_for: &BTreeSet<String>) -> bool {
    let Some((name, extension)) = path.rsplit_once('.') else {
        return false;
    };
    let [first, second, ..] = MODULE_EXTENSIONS;
    let other = if extension == first { second } else { first };
    MODULE_EXTENSIONS.contains(&extension) && looked_for.contains(&format!("{name}.{other}"))
}

/// Returns the path of an import relative to the site: `./_x.mdx` is beside the page, `@site/…` and `/…` below the site's root, as for Docusaurus's
/// bundler. The source decides whether a path that leads out of the site may be read.
fn resolve_import(source: &str, import: &str) -> String {
    match import
        .strip_prefix("@site/")
        .or_else(|| import.strip_prefix('/'))
    {
        Some(path) => joined("", path),
        None => {
            let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
            joined(folder, import)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The partials of a page among these files, and the files that were read.
    fn resolved(body: &str, files: &[(&str, &str)]) -> (BTreeMap<String, String>, Vec<String>) {
        let mut inputs = Inputs::new();
        loop {
            let partials = Partials::new("docs/a/page.mdx", body, &inputs);
            if partials.wanted.is_empty() {
                return (partials.paths, inputs.into_keys().collect());
            }
            for path in partials.wanted.into_keys() {
                let file = files.iter().find(|(name, _)| *name == path);
                let content = file.map(|(_, text)| text.as_bytes().to_vec());
                inputs.insert(path, content.into());
            }
        }
    }

    fn path_of(body: &str, files: &[(&str, &str)]) -> Option<String> {
        resolved(body, files).0.remove("A")
    }

    #[test]
    fn imports_are_relative_to_their_page_or_to_the_site() {
        let resolved = |import| resolve_import("docs/a/page.md", import);
        assert_eq!(resolved("./_x.mdx"), "docs/a/_x.mdx");
        assert_eq!(resolved("../../shared/_x.mdx"), "shared/_x.mdx");
        assert_eq!(resolved("@site/shared/_x.mdx"), "shared/_x.mdx");
        assert_eq!(resolved("../../../shared/x.md"), "../shared/x.md");
        assert_eq!(resolved("@site/../other/x.md"), "../other/x.md");
        assert_eq!(resolved("@site//etc/x.md"), "etc/x.md");
        assert_eq!(resolved("/docs/_old.mdx"), "docs/_old.mdx");
    }

    #[test]
    fn a_partial_is_found_through_the_modules_that_pass_it_on() {
        let named = "import {A} from './parts'

<A/>
";
        let default = "import A from './parts'

<A/>
";
        for (body, files) in [
            (
                named,
                &[("docs/a/parts.js", "export {default as A} from './_a.mdx'")][..],
            ),
            (
                named,
                &[("docs/a/parts.tsx", "import A from './_a.mdx'; export {A}")],
            ),
            (
                named,
                &[(
                    "docs/a/parts.ts",
                    "import B from './_a.mdx'; export {B as A}",
                )],
            ),
            (
                default,
                &[(
                    "docs/a/parts.jsx",
                    "import A from './_a.mdx'; export default A",
                )],
            ),
            (
                default,
                &[("docs/a/parts.mjs", "export {default} from './_a.mdx'")],
            ),
            (
                named,
                &[(
                    "docs/a/parts/index.js",
                    "export {default as A} from '../_a.mdx'",
                )],
            ),
            (
                named,
                &[
                    ("docs/a/parts/index.tsx", "export * from './all'"),
                    (
                        "docs/a/parts/all.js",
                        "export {default as A} from '@site/docs/a/_a.mdx'",
                    ),
                ],
            ),
            (
                "import {A} from './parts.js'

<A/>
",
                &[("docs/a/parts.js", "export {default as A} from './_a.mdx'")],
            ),
            (
                "import {A} from '..'

<A/>
",
                &[("docs/index.js", "export {default as A} from './a/_a.mdx'")],
            ),
            (
                "import {B as A} from '@site/src/b'

<A/>
",
                &[("src/b.ts", "export {default as B} from '../docs/a/_a.mdx'")],
            ),
            (r"import A from './\_a.mdx'", &[]),
        ] {
            assert_eq!(
                path_of(body, files).as_deref(),
                Some("docs/a/_a.mdx"),
                "{body} {files:?}"
            );
        }
    }

    #[test]
    fn a_module_that_passes_nothing_on_gives_no_partial() {
        let body = "import {A} from './parts'
import B from '@theme/B'
import c from './c.css'

<A/><B/>
";
        for files in [
            &[][..],
            &[("docs/a/parts.js", "export const A = () => null")],
            &[("docs/a/parts.js", "export {A} from './parts'")],
            &[
                (
                    "docs/a/parts.js",
                    "export * from './parts'; export * from './other'",
                ),
                ("docs/a/other.js", "export * from './parts'"),
            ],
            &[("docs/a/parts.js", "export {A} from './_a.mdx'")],
            &[("docs/a/parts.js", "export {A} from 'package'")],
            &[("docs/a/parts.js", "export {")],
        ] {
            assert_eq!(path_of(body, files), None, "{files:?}");
        }
    }

    #[test]
    fn a_file_whose_text_is_shown_is_read() {
        let files = [("docs/a/code.js", "let a;"), ("src/b.md", "# B")];
        for (specifier, path) in [
            ("!!raw-loader!./code.js", "docs/a/code.js"),
            ("raw-loader!./code.js", "docs/a/code.js"),
            ("!!raw-loader!@site/src/b.md", "src/b.md"),
            ("./code.js?raw", "docs/a/code.js"),
            ("!!./code.js?raw", "docs/a/code.js"),
        ] {
            let body =
                format!("import code from '{specifier}'\n\n<CodeBlock>{{code}}</CodeBlock>\n");
            let (paths, looked_at) = resolved(&body, &files);
            assert_eq!(paths["{code}"], path, "{specifier}");
            assert_eq!(looked_at, [path], "{specifier}");
        }
        for body in [
            "import code from '!!raw-loader!./code.js'\n\n<Show code={code.length}/>\n",
            "import code from '!!yaml-loader!./code.js'\n\n{code}\n",
            "import code from './code.js?url'\n\n{code}\n",
        ] {
            let (paths, looked_at) = resolved(body, &files);
            assert!(
                paths.is_empty() && looked_at.is_empty(),
                "{body}: {looked_at:?}"
            );
        }
    }

    #[test]
    fn only_what_may_be_a_partial_is_looked_for() {
        let body = "import A from './_a.mdx'
import {B} from './b'
import {C} from './c'
import D from 'd'
import E from './e.svg'

<C/> <E/> <D/>
";
        let (_, looked_at) = resolved(
            body,
            &[("docs/a/c.js", "export {default as C} from './_a.mdx'")],
        );
        assert_eq!(looked_at, ["docs/a/_a.mdx", "docs/a/c.js", "docs/a/c.mjs"]);
    }

    #[test]
    fn what_is_looked_at_has_a_bound() {
        let names: Vec<String> = (0..2_000).map(|n| format!("A{n}")).collect();
        let imports: String = names
            .iter()
            .map(|name| {
                format!(
                    "import {name} from './{name}'
"
                )
            })
            .collect();
        let uses: String = names
            .iter()
            .map(|name| {
                format!(
                    "<{name}/>
"
                )
            })
            .collect();
        let (paths, looked_at) = resolved(
            &format!(
                "{imports}
{uses}"
            ),
            &[],
        );
        assert!(paths.is_empty() && looked_at.len() <= MAX_MODULES * 2 * MODULE_EXTENSIONS.len());
        let stars: String = (0..2_000)
            .map(|n| {
                format!(
                    "export * from './s{}';
",
                    n % 40
                )
            })
            .collect();
        let files: Vec<(String, &str)> = (0..40)
            .map(|n| (format!("docs/a/s{n}.js"), stars.as_str()))
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (name.as_str(), *text))
            .collect();
        assert_eq!(
            path_of(
                "import {A} from './s0'

<A/>
",
                &files
            ),
            None
        );
    }
}
