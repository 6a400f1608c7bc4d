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
        let body = format!("import code from '{specifier}'\n\n<CodeBlock>{{code}}</CodeBlock>\n");
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

#[test]
fn a_page_has_the_constants_of_the_modules_that_it_shows() {
    let module = "export const query = `select 1\n  from a`;\nexport const other = f();";
    for (body, files) in [
        (
            "import {query} from './q'\n\n<Run code={query}/>\n",
            &[("docs/a/q.js", module)][..],
        ),
        (
            "import {\n  query\n} from '@site/src/q.ts'\n\n<Run code={ query } />\n",
            &[("src/q.ts", module)],
        ),
        (
            "import {query} from './all'\n\n<CodeBlock>{query}</CodeBlock>\n",
            &[
                ("docs/a/all.js", "export * from './q'"),
                ("docs/a/q.js", module),
            ],
        ),
    ] {
        let mut inputs = Inputs::new();
        let partials = loop {
            let partials = Partials::new("docs/a/page.mdx", body, &inputs);
            if partials.wanted.is_empty() {
                break partials;
            }
            for (path, usage) in partials.wanted {
                assert_eq!(usage, InputUse::Text, "{path}");
                let file = files.iter().find(|(name, _)| *name == path);
                let content = file.map(|(_, text)| text.as_bytes().to_vec());
                inputs.insert(path, content.into());
            }
        };
        let constant = &partials.constants["query"];
        let before = body.find("<Run").or(body.find("<Code")).unwrap_or_default();
        let line = body[..before].matches('\n').count();
        assert_eq!(constant.line as usize, line, "{body}");
        assert_eq!(constant.value, "select 1\n  from a", "{body}");
        assert_eq!(constant.path, files[files.len() - 1].0, "{body}");
    }
    for body in [
        "import {other} from './q'\n\n<Run code={other}/>\n",
        "import {query} from './q'\n\n<Run code={query.trim()}/>\n",
        "import {query} from 'q'\n\n<Run code={query}/>\n",
    ] {
        let file = Input::from(Some(module.as_bytes().to_vec()));
        let absent = ["mjs", "js"].map(|end| (format!("docs/a/q.{end}"), Input::Absent));
        let mut inputs = Inputs::from(absent);
        inputs.insert("docs/a/q.js".to_owned(), file);
        let partials = Partials::new("docs/a/page.mdx", body, &inputs);
        assert!(partials.constants.is_empty(), "{body}");
    }
}

#[test]
fn names_that_are_expressions_are_shown() {
    let body = "import {a} from './a'\nexport { b }\nfrom \"./b\"\n\n{c} {c}\n<D e={ $f }/>\n{g.h} {i()} {{j}} {\n  kö\n}\n{} {l";
    let shown: Vec<_> = shown_names(body).into_iter().collect();
    assert_eq!(shown, [("", 9), ("$f", 5), ("c", 4), ("j", 6), ("kö", 6)]);
}

#[test]
fn names_of_tags_end_before_their_members() {
    let names = tag_names("<A/> a < b <B.C d=\"<E\"></B.C> <F\n> <G-h> <ö1>");
    for name in ["A", "B", "E", "F", "G", "ö1"] {
        assert!(names.contains(name), "{name}");
    }
    assert!(!names.contains("C") && !names.contains("b"));
}

#[test]
fn a_file_of_a_package_is_not_looked_for() {
    for (specifier, package) in [
        ("@a/b/c/_d.md", "@a/b"),
        ("@a/d.md", "@a/d.md"),
        ("a/b/c.mdx", "a"),
    ] {
        let (mut paths, looked_at) =
            resolved(&format!("import A from '{specifier}'\n\n<A/>\n"), &[]);
        let path = paths.remove("A").unwrap_or_default();
        assert_eq!(package_of(&path), Some(package));
        assert!(looked_at.is_empty(), "{looked_at:?}");
    }
    assert_eq!(package_of("docs/a/_b.md"), None);
}
