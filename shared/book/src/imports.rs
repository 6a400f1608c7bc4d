//! What a page imports and shows: Markdown as components, other files as text (`{source}`), and constants of modules.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::decoding::decode;
use crate::inputs::{Input, InputUse, Inputs};
use crate::modules::{Imported, Module, page_imports};
use crate::paths::joined;

/// The extensions tried for a specifier without one, in the order of Docusaurus's bundler.
const MODULE_EXTENSIONS: [&str; 5] = ["mjs", "js", "jsx", "ts", "tsx"];

/// The folder of packages, which are not published with a site, so nothing in it is read.
const PACKAGES: &str = "node_modules/";

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
    /// The constants of modules that the page shows, by their names in the page.
    pub(super) constants: BTreeMap<String, ImportedConstant>,
    /// Files that are needed to resolve imports, with their uses.
    pub(super) wanted: BTreeMap<String, InputUse>,
    /// True if the page imports more modules than are followed.
    pub(super) is_cut: bool,
}

/// A text or number that a module exports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImportedConstant {
    pub(super) value: String,
    /// The module's path.
    pub(super) path: String,
    /// The line of the page on which it is first shown, from 0.
    pub(super) line: u32,
}

/// What an import resolves to.
enum Export {
    /// A Markdown file, by its path.
    Markdown(String),
    Constant {
        value: String,
        path: String,
    },
}

impl Partials {
    /// Returns the partials of an MDX page or partial and the constants that it shows, as far as `inputs` hold the modules that export them.
    pub(super) fn new(source: &str, body: &str, inputs: &Inputs) -> Self {
        let mut resolver = Resolver {
            inputs,
            modules: HashMap::new(),
            exports_left: MAX_EXPORTS,
            partials: Self::default(),
        };
        let imports = page_imports(body);
        let shown = shown_names(body);
        let tags = tag_names(body);
        // Values are first, because a module whose text is shown must be published.
        for (name, imported) in &imports {
            let Some(&line) = shown.get(name.as_str()) else {
                continue;
            };
            if let Some(file) = raw_file(&imported.specifier) {
                let path = resolve_import(source, file);
                resolver.want(&path, InputUse::Text);
                let paths = &mut resolver.partials.paths;
                paths.insert(shown_text_file(name), path);
            } else if let Some(Export::Constant { value, path }) =
                resolver.resolve(source, imported, InputUse::Text, 0)
            {
                let constant = ImportedConstant { value, path, line };
                let constants = &mut resolver.partials.constants;
                constants.insert(name.clone(), constant);
            }
        }
        for (name, imported) in imports {
            // Most modules are not Markdown, so resolve them only if the page uses their component.
            if !is_markdown(&imported.specifier) && !tags.contains(name.as_str()) {
                continue;
            }
            if let Some(Export::Markdown(path)) =
                resolver.resolve(source, &imported, InputUse::Lookup, 0)
            {
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

    /// Returns what an import in the file `source` resolves to. Modules on the way are read for `usage`.
    fn resolve(
        &mut self,
        source: &str,
        imported: &Imported,
        usage: InputUse,
        depth: usize,
    ) -> Option<Export> {
        let specifier = imported.specifier.as_str();
        self.exports_left = self.exports_left.checked_sub(1)?;
        if depth > MAX_MODULE_DEPTH || specifier.contains(['!', '?']) {
            return None;
        }
        let is_of_site = ["./", "../", "@site/", "/"]
            .iter()
            .any(|start| specifier.starts_with(start));
        if !is_of_site && !matches!(specifier, "." | "..") {
            let is_text = is_markdown(specifier) && imported.name == "default";
            return is_text.then(|| Export::Markdown(format!("{PACKAGES}{specifier}")));
        }
        let path = resolve_import(source, specifier);
        if is_markdown(specifier) {
            // Only the default export of a Markdown file is its text.
            let is_text = imported.name == "default";
            if is_text {
                self.want(&path, InputUse::Markdown);
            }
            return is_text.then_some(Export::Markdown(path));
        }
        let module = self.module(path, usage)?;
        if let Some(value) = module.passes.constants.get(&imported.name) {
            return Some(Export::Constant {
                value: value.clone(),
                path: module.file.clone(),
            });
        }
        if let Some(next) = module.passes.exports.get(&imported.name) {
            return self.resolve(&module.file, next, usage, depth + 1);
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
            let export = self.resolve(&module.file, &next, usage, depth + 1);
            if export.is_some() || self.exports_left == 0 {
                return export;
            }
        }
        None
    }

    /// Returns the module at a path, which may lack its extension.
    fn module(&mut self, path: String, usage: InputUse) -> Option<Rc<FoundModule>> {
        if let Some(known) = self.modules.get(&path) {
            return known.clone();
        }
        if self.modules.len() == MAX_MODULES {
            self.partials.is_cut = true;
            return None;
        }
        let module = self.find(&path, usage).map(Rc::new);
        self.modules.insert(path, module.clone());
        module
    }

    /// Looks for a module at its possible paths. Requests the first one not yet read.
    fn find(&mut self, path: &str, usage: InputUse) -> Option<FoundModule> {
        for file in module_files(path) {
            match self.inputs.get(&file) {
                Some(Input::Content(bytes)) => {
                    let text = decode(bytes).unwrap_or_default();
                    let passes = Module::read(&file, &text);
                    return Some(FoundModule { file, passes });
                }
                Some(Input::Absent | Input::Refused(_)) => {}
                None => {
                    self.want(&file, usage);
                    return None;
                }
            }
        }
        None
    }
}

/// Returns the names that are expressions (`{name}`), each with the line on which the first one begins, from 0.
fn shown_names(body: &str) -> BTreeMap<&str, u32> {
    let mut shown = BTreeMap::new();
    let (mut line, mut from) = (0, 0);
    for (at, brace) in body.match_indices('{') {
        line += u32::try_from(body[from..at].matches('\n').count()).unwrap_or_default();
        from = at;
        let inner = body[at + brace.len()..].trim_start();
        let name = &inner[..inner.find(ends_name).unwrap_or(inner.len())];
        let after = inner[name.len()..].trim_start().strip_prefix('}');
        if after.is_some_and(|after| !follows_import(after)) {
            shown.entry(name).or_insert(line);
        }
    }
    shown
}

/// Returns the names with which tags begin: `Tabs` for `<Tabs.Item>`.
fn tag_names(body: &str) -> BTreeSet<&str> {
    let names = body.match_indices('<').map(|(at, mark)| {
        let tag = &body[at + mark.len()..];
        &tag[..tag.find(ends_name).unwrap_or(tag.len())]
    });
    names.collect()
}

/// True for a character that ends a name in JavaScript.
fn ends_name(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// True if a text goes on like an import after its names: `from './a'`.
fn follows_import(text: &str) -> bool {
    let source = text.trim_start().strip_prefix("from");
    source.is_some_and(|source| source.trim_start().starts_with(['"', '\'']))
}

/// Returns the package or alias that the path of a partial is of: `@a/b` for `node_modules/@a/b/c.md`.
pub(super) fn package_of(path: &str) -> Option<&str> {
    let specifier = path.strip_prefix(PACKAGES)?;
    let names = if specifier.starts_with('@') { 2 } else { 1 };
    let mut ends = specifier.match_indices('/').map(|(at, _)| at);
    Some(&specifier[..ends.nth(names - 1).unwrap_or(specifier.len())])
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
mod tests;
