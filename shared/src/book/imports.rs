//! The Markdown files that a page imports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

static PARTIAL_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)^import\s+([\w$]+)?\s*,?\s*(?:\{([^{}]*)\}\s*)?from\s*["']([^"'\n]+\.mdx?)["']"#,
    )
    .expect("the pattern is a constant")
});

/// The Markdown files that a page imports: component name → path as written.
pub(super) fn imported_partials(body: &str) -> BTreeMap<String, String> {
    let imports = PARTIAL_IMPORT.captures_iter(body).filter_map(|import| {
        let named_default = || {
            let mut names = import.get(2)?.as_str().split(',');
            names.find_map(|name| name.trim().strip_prefix("default as ").map(str::trim))
        };
        let name = import.get(1).map(|name| name.as_str());
        Some((
            name.or_else(named_default)?.to_owned(),
            import[3].to_owned(),
        ))
    });
    imports.collect()
}

/// The path of an import relative to the site: `./_x.mdx` beside the page, `@site/…` from the site's root. It never leads out of it.
pub(super) fn resolve_import(source: &str, import: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let path = match import.strip_prefix("@site/") {
        Some(path) => path,
        None => {
            parts.extend(source.split('/'));
            parts.pop();
            import
        }
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stay_inside_the_site() {
        let resolved = |import| resolve_import("docs/a/page.md", import);
        assert_eq!(resolved("./_x.mdx"), "docs/a/_x.mdx");
        assert_eq!(resolved("../../shared/_x.mdx"), "shared/_x.mdx");
        assert_eq!(resolved("@site/shared/_x.mdx"), "shared/_x.mdx");
        assert_eq!(resolved("../../../../etc/x.md"), "etc/x.md");
        assert_eq!(resolved("@site/../other/x.md"), "other/x.md");
        assert_eq!(resolved("@site//etc/x.md"), "etc/x.md");
    }
}
