//! The extensions of Markdown that the config of a site and the options of its plugins name.

use super::origin::Picker;
use super::value::ConfigValue;
use crate::dialect::ADMONITIONS;

/// True if shortcodes such as `:gear:` are shown as emojis.
pub(super) fn emoji(config: &ConfigValue, picker: &mut Picker) -> bool {
    let emoji = config.get("markdown").get("emoji");
    let emoji = picker.config_only("markdown.emoji", emoji, ConfigValue::bool);
    emoji.unwrap_or(true)
}

/// Returns the comments in code that select lines for highlighting (`themeConfig.prism.magicComments`); `None` for Docusaurus's own.
pub(super) fn magic_comments(config: &ConfigValue, picker: &mut Picker) -> Option<Vec<String>> {
    let comments = config.get("themeConfig").get("prism").get("magicComments");
    picker
        .config_only("themeConfig.prism.magicComments", comments, |comments| {
            let ConfigValue::List(comments) = comments else {
                return None;
            };
            comments.iter().map(comments_of).collect::<Option<Vec<_>>>()
        })
        .map(|comments| comments.concat())
}

/// Returns the comments of an entry: `{line: 'next', block: {start: 'from', end: 'to'}}`. `None` if one is computed.
fn comments_of(entry: &ConfigValue) -> Option<Vec<String>> {
    let block = entry.get("block");
    [entry.get("line"), block.get("start"), block.get("end")]
        .into_iter()
        .filter(|comment| **comment != ConfigValue::Absent)
        .map(ConfigValue::text)
        .collect()
}

/// Returns the containers that are admonitions in the pages of a plugin with these options; `None` for Docusaurus's own.
pub(super) fn admonitions(options: &ConfigValue, picker: &mut Picker) -> Option<Vec<String>> {
    picker
        .config_only(
            "admonitions",
            options.get("admonitions"),
            |admonitions| match admonitions {
                ConfigValue::Bool(true) => Some(None),
                ConfigValue::Bool(false) => Some(Some(Vec::new())),
                ConfigValue::Map(_) => {
                    let mut keywords = match admonitions.get("keywords") {
                        ConfigValue::Absent => Vec::new(),
                        keywords => keywords.texts()?,
                    };
                    let extends = admonitions.get("extendDefaults");
                    if *extends == ConfigValue::Absent || extends.bool()? {
                        keywords.extend(ADMONITIONS.map(str::to_owned));
                    }
                    Some(Some(keywords))
                }
                _ => None,
            },
        )
        .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{DEFAULT_INSTANCE, SiteSettings};

    fn settings(config: &str) -> SiteSettings {
        let config = format!("export default {{ {config} }}");
        let files = BTreeMap::from([("docusaurus.config.js".to_owned(), config)]);
        SiteSettings::read(&files, true).unwrap()
    }

    #[test]
    fn the_config_names_what_its_markdown_extends() {
        let admonitions = |options: &str| {
            let config = format!("presets: [['classic', {{ docs: {{ {options} }} }}]]");
            let settings = settings(&config);
            settings.instance(DEFAULT_INSTANCE).admonitions.clone()
        };
        assert_eq!(admonitions(""), None);
        assert_eq!(admonitions("admonitions: true"), None);
        assert_eq!(admonitions("admonitions: false"), Some(Vec::new()));
        let own = "admonitions: { keywords: ['spec'], extendDefaults: false }";
        assert_eq!(admonitions(own), Some(vec!["spec".to_owned()]));
        let names = admonitions("admonitions: { keywords: ['spec'] }").unwrap_or_default();
        assert!(
            ["spec", "note", "danger"]
                .iter()
                .all(|name| names.contains(&(*name).to_owned()))
        );
        let magic = "themeConfig: { prism: { magicComments: [{ className: 'a', line: 'one', block: { start: 'two', end: 'three' } }, { line: 'four' }] } }";
        let comments = settings(magic).magic_comments.unwrap_or_default();
        assert_eq!(comments, ["one", "two", "three", "four"]);
        assert!(settings("").emoji && !settings("markdown: { emoji: false }").emoji);
    }

    #[test]
    fn a_computed_list_is_named_in_a_warning() {
        for config in [
            "themeConfig: { prism: { magicComments: load() } }",
            "presets: [['classic', { docs: { admonitions: { keywords: load() } } }]]",
            "markdown: { emoji: load() }",
        ] {
            let warnings = settings(config).warnings;
            assert!(
                warnings.len() == 1 && warnings[0].contains("line 1"),
                "{config}: {warnings:?}"
            );
        }
    }
}
