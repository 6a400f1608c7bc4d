//! Tests of what the evaluation of a config may cost.

use proptest::prelude::*;

use super::super::budget::{MAX_COST, cost_of};
use super::super::hostile_configs::{bombs, config};
use super::*;

fn evaluate(text: &str) -> (Result<ConfigValue, SyntaxError>, usize) {
    let name = "docusaurus.config.js".to_owned();
    let versions = r#"["3.0", "2.0", {"a": [1, null, true]}]"#.to_owned();
    let files = BTreeMap::from([
        (name.clone(), text.to_owned()),
        ("versions.json".to_owned(), versions),
    ]);
    let (_, budget) = evaluated(&name, text, &files).unwrap_or_else(|error| panic!("{error:?}"));
    (read_config(&name, &files), budget.paid())
}

#[test]
fn a_short_config_of_a_large_value_is_refused_with_the_line() {
    for (name, text) in bombs() {
        let (config, paid) = evaluate(&text);
        let error = config.map(drop).expect_err(name);
        assert!(
            error.reason.starts_with("the config computes too much"),
            "{name}: {error:?}"
        );
        assert!(error.line <= text.lines().count(), "{name}: {error:?}");
        assert_eq!(paid, MAX_COST, "{name}");
    }
}

#[test]
fn the_line_of_the_expression_that_exceeds_the_budget_is_named() {
    let text = format!(
        "const a = 1;\nconst b = [\n{}];\nmodule.exports = {{b}};",
        "a,\n".repeat(300_000)
    );
    let (config, _) = evaluate(&text);
    let line = config.expect_err("more values than may be made").line;
    assert!((100_000..300_000).contains(&line), "{line}");
}

#[test]
fn a_large_config_of_literals_is_read() {
    let redirect = "{from: '/a/page/that/was/here', to: '/another/page/there'},\n";
    let text = format!(
        "const redirects = [{}];\nmodule.exports = {{title: 'T', plugins: [['redirects', {{redirects}}]]}};",
        redirect.repeat(10_000)
    );
    let (config, paid) = evaluate(&text);
    assert!(matches!(config, Ok(ConfigValue::Map(_))), "{config:?}");
    assert!(paid > text.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn each_part_of_a_config_was_paid_for(text in config()) {
        let (config, paid) = evaluate(&text);
        match config {
            Ok(config) => prop_assert!(cost_of(&config, 0) <= paid, "{} > {paid}", cost_of(&config, 0)),
            Err(error) => prop_assert!(paid == MAX_COST, "{error:?}"),
        }
    }
}
