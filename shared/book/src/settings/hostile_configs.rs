//! Configs that describe values of any size, for tests.

use proptest::prelude::*;

/// The longest text of an expression that a repetition makes, in bytes.
const MAX_REPEATED: usize = 8_000;

/// Repeats a text, as far as the file stays small.
fn repeated(text: &str, times: usize) -> String {
    text.repeat(times.min(MAX_REPEATED / text.len().max(1)).max(1))
}

/// Generates an expression of constants, arguments and calls: of the functions `f0`, `f1`, … and of methods.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("x".to_owned()),
        Just("y".to_owned()),
        Just("[1]".to_owned()),
        Just("'abcdefgh'".to_owned()),
        Just("({k: 'v'})".to_owned()),
        Just("c0".to_owned()),
        Just("c1".to_owned()),
        Just("versions".to_owned()),
        Just("process.env.A".to_owned()),
        Just("unknown()".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let times = prop_oneof![Just(1_usize), Just(2), Just(10), Just(200)];
        let repetitions = (inner.clone(), times).prop_flat_map(|(one, times)| {
            let list = repeated(&format!("{one},"), times);
            let fields: String = (0..times.min(20))
                .map(|n| format!("a{n}: {one},"))
                .collect();
            prop_oneof![
                Just(format!("[{list}]")),
                Just(format!("[{}]", repeated(&format!("...{one},"), times))),
                Just(format!("[{one}].concat({list})")),
                Just(format!("`{}`", repeated(&format!("${{{one}}}"), times))),
                Just(format!("({{{fields}}})")),
                Just(format!("({{{}}})", repeated(&format!("...{one},"), times))),
                Just(format!("({}1)", repeated(&format!("{one} || "), times))),
                Just(repeated("f1(", times.min(40)) + &one + &")".repeat(times.min(40))),
            ]
        });
        let pairs = (inner.clone(), inner).prop_flat_map(|(one, two)| {
            prop_oneof![
                Just(format!("f0({one})")),
                Just(format!("f1({one}, {two})")),
                Just(format!("f2(f2(f2({one}, {two})))")),
                Just(format!("(x => {two})({one})")),
                Just(format!("(({{k}}, [y]) => {two})({one}, {one})")),
                Just(format!("{one}.map(x => {two})")),
                Just(format!("{one}.flatMap((x, y) => {two})")),
                Just(format!("{one}.filter(x => {two}).flat().slice(0, 9)")),
                Just(format!("{one}.join({two})")),
                Just(format!("Object.entries({one})")),
                Just(format!("({one} + {two})")),
                Just(format!("({one} === {two})")),
                Just(format!("(process.env.B ? {one} : {two})")),
                Just(format!("(process.env.C && {one})")),
                Just(format!("{one}.k")),
            ]
        });
        prop_oneof![repetitions, pairs]
    })
}

/// Generates a config of functions, constants with later changes, and a value made of them.
pub(crate) fn config() -> impl Strategy<Value = String> {
    let functions = (expression(), expression(), expression(), expression());
    let constants = (expression(), expression(), expression());
    let kind = prop_oneof![Just("const"), Just("let")];
    (functions, constants, kind, expression()).prop_map(
        |((f0, f1, f2, default), (c0, c1, change), kind, exported)| {
            format!(
                "import versions from './versions.json';
                {kind} c0 = {c0}, c1 = {c1};
                {kind} f0 = x => {f0};
                const f1 = (x, y = {default}) => {f1};
                function f2(x, y) {{ if (x) return {f2}; return f1(x, y); }}
                const alias = c1 || c1 || c1 || c0;
                c0.a = {{}};
                c0.a.b = {change};
                alias.k = c1;
                c0.push(...c1, {change});
                if (process.env.D) {{ c1.unshift({change}); Object.assign(c1, {change}); }}
                module.exports = {{title: 'T', presets: [['classic', {{docs: {{exclude: {exported}}}}}]],
                  plugins: {exported}, customFields: {{a: {exported}}}}};"
            )
        },
    )
}

/// Calls a function many times: `f(f(f(1)))`.
fn nested(function: &str, times: usize, argument: &str) -> String {
    format!(
        "{}{argument}{}",
        format!("{function}(").repeat(times),
        ")".repeat(times)
    )
}

/// Configs whose values are far larger than their text, with what each repeats.
pub(crate) fn bombs() -> Vec<(&'static str, String)> {
    let functions = [
        (
            "arguments in a list",
            format!("x => [{}]", "x,".repeat(10)),
            9,
            "1",
        ),
        (
            "arguments in an object",
            "x => ({a: x, b: x, c: x, d: x, e: x, f: x, g: x, h: x})".to_owned(),
            10,
            "1",
        ),
        (
            "spread arguments",
            "x => [...x, ...x]".to_owned(),
            30,
            "[1]",
        ),
        (
            "concatenated lists",
            format!("x => x.concat({})", "x,".repeat(9)),
            9,
            "[1]",
        ),
        (
            "templates",
            format!("x => `{}`", "${x}".repeat(1_000)),
            4,
            "'abcdefgh'",
        ),
        ("joined texts", "x => x + x".to_owned(), 40, "'abcdefgh'"),
        (
            "separators",
            format!("x => [{}].join(x)", "'a',".repeat(1_000)),
            9,
            "'abcdefgh'",
        ),
        (
            "defaults of parameters",
            "(x, y = [...x, ...x]) => [...y]".to_owned(),
            30,
            "[1]",
        ),
        (
            "results for items",
            format!("x => [{}].map(y => x)", "1,".repeat(10)),
            9,
            "1",
        ),
    ];
    let calls = functions.map(|(name, function, times, argument)| {
        let value = nested("d", times, argument);
        (
            name,
            format!("const d = {function};\n{}", exporting(&value)),
        )
    });
    let deep = (1..20).map(|n| format!("const d{n} = x => d{}(d{}(x));\n", n - 1, n - 1));
    let deep: String = deep.collect();
    let aliases = (1..8).map(|n| {
        let former = format!("a{} || ", n - 1).repeat(20);
        format!("const a{n} = {former} a0;\n")
    });
    let aliases: String = aliases.collect();
    let others = [
        (
            "nesting",
            format!("const d0 = x => [x];\n{deep}{}", exporting("d19(1)")),
        ),
        (
            "other names of a name",
            format!("const a0 = {{}};\n{aliases}{}", exporting("a0")),
        ),
        (
            "uses of a name",
            format!(
                "let n = {{a: 1}};\n{}",
                exporting(&format!("[{}]", "n,\n".repeat(250_000)))
            ),
        ),
    ];
    calls.into_iter().chain(others).collect()
}

fn exporting(value: &str) -> String {
    format!("module.exports = {{title: 'T', presets: ['classic'],\ncustomFields: {{a: {value}}}}};")
}
