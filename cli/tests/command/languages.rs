//! Books in languages that the default model does not support.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::support::{Workshop, copy, fixture};

const MULTILINGUAL: (&str, &str) = ("BOOKRAG_EMBEDDER", "multilingual");

fn lines_of_json(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn a_locale_that_the_model_does_not_read_is_named_with_the_variable_to_set() {
    let workshop = Workshop::small();
    workshop.write(
        "docusaurus.config.js",
        "module.exports = {title: 'Garden', baseUrl: '/', i18n: {defaultLocale: 'en', locales: ['en', 'es', 'ur']}};",
    );
    for (locale, text) in [
        (
            "es",
            "# Sonda\n\nLa sonda de humedad necesita una calibración.\n",
        ),
        (
            "ur",
            "# نمی کا سینسر\n\nنمی کے سینسر کو `probe` کی کیلیبریشن کی ضرورت ہے۔\n",
        ),
    ] {
        let folder = format!("i18n/{locale}/docusaurus-plugin-content-docs/current");
        fs::create_dir_all(workshop.site().join(&folder)).unwrap();
        workshop.write(&format!("{folder}/probe.md"), text);
    }
    let told = "bge-small-en-v1.5 does not read the locale ur: questions there are answered by words alone; to compare their \
                meaning as well, set BOOKRAG_EMBEDDER=multilingual";
    let synced = workshop.run(&["sync", "book"]);
    let said = String::from_utf8(synced.stderr).unwrap();
    assert!(said.contains(&format!("note: {told}")), "{said}");
    let examined = workshop.run(&["doctor", "book"]);
    let said = String::from_utf8(examined.stdout).unwrap();
    assert!(said.contains(told), "{said}");
}

#[test]
fn a_site_in_another_language_gets_the_multilingual_model() {
    let workshop = Workshop::small();
    workshop.write(
        "docusaurus.config.js",
        "module.exports = {title: '花园', baseUrl: '/', i18n: {defaultLocale: 'zh', locales: ['zh']}};",
    );
    workshop.write(
        "docs/pump.md",
        "# 水泵\n\n## 安装\n\n请先安装数据库，再启动水泵。\n",
    );
    let synced = workshop.run(&["sync", "book"]);
    let said = String::from_utf8(synced.stderr).unwrap();
    assert!(said.contains("the site's language is zh"), "{said}");
    // A command that reads the index takes the model that it was made with.
    let found = workshop.run(&["--json", "search", "如何安装数据库", "--site", "book"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let first = &found["data"]["results"][0];
    assert_eq!(first["source"], "docs/pump.md", "{found}");
    assert!(first["scores"]["dense"].is_number(), "{found}");
}

/// Nine questions per language about translated pages, beside English ones. The fixture has three more questions per language about
/// untranslated pages, which are not asserted: the model prefers chunks in the question's language.
#[test]
fn questions_in_each_language_of_the_book_find_their_page() {
    const LEAST: f64 = 0.8;
    let workshop = Workshop::new();
    copy(&fixture("translations/i18n"), &workshop.site().join("i18n"));
    let config = workshop.site().join("docusaurus.config.js");
    let settings = fs::read_to_string(&config).unwrap();
    let locales = "locales: ['en', 'ar', 'es', 'hi', 'ur']";
    let settings = settings.replace("locales: ['en']", locales);
    assert!(settings.contains(locales));
    fs::write(config, settings).unwrap();

    let questions = fixture("translations/questions.jsonl");
    let details = workshop.path().join("details.jsonl");
    let mut command = workshop.command(&["eval", questions.to_str().unwrap(), "--site", "book"]);
    command.arg("--details").arg(&details);
    command.envs([MULTILINGUAL, ("BOOKRAG_RERANKER", "none")]);
    let evaluated = command.output().unwrap();
    assert!(evaluated.status.success(), "{evaluated:?}");
    let said = String::from_utf8(evaluated.stderr).unwrap();
    assert!(!said.contains("does not read"), "{said}");

    let mut found: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let questions = fs::read_to_string(questions).unwrap();
    let details = fs::read_to_string(details).unwrap();
    for (question, details) in lines_of_json(&questions).zip(lines_of_json(&details)) {
        assert_eq!(question["id"], details["id"]);
        let results = details["results"].as_array().unwrap().iter();
        let source = question["source"].as_str().unwrap();
        if !source.starts_with("i18n/") {
            continue;
        }
        let is_found = results.take(5).any(|result| result["source"] == source);
        let (right, all) = found
            .entry(question["locale"].as_str().unwrap().to_owned())
            .or_default();
        *right += u32::from(is_found);
        *all += 1;
    }
    eprintln!("{found:?}");
    assert_eq!(found.len(), 4);
    for (locale, (right, all)) in found {
        let share = f64::from(right) / f64::from(all);
        assert!(share >= LEAST, "{locale}: {right} of {all}");
    }
}
