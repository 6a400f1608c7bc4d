//! How the site looks, as far as its config says so.

use super::value::ConfigValue;
use crate::paths::{is_outside, joined};

/// The most style sheets of a site that are read.
const MAX_STYLE_SHEETS: usize = 16;

/// What the site's theme shows on every page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Appearance {
    /// `themeConfig.navbar.title`.
    pub navbar_title: Option<String>,
    /// `themeConfig.navbar.logo.src`, a path in the static folders.
    pub logo: Option<String>,
    /// `themeConfig.navbar.logo.srcDark`.
    pub logo_dark: Option<String>,
    /// `favicon`, a path in the static folders.
    pub favicon: Option<String>,
    /// `theme.customCss`: paths relative to the site, the last one of which decides.
    pub style_sheets: Vec<String>,
    /// The mode that the site begins with; `None` if it follows the reader's system, or the config does not say.
    pub color_mode: Option<ColorMode>,
    /// `themeConfig.colorMode.disableSwitch`: readers cannot choose another mode.
    pub is_mode_fixed: bool,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorMode {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

impl Appearance {
    pub(super) fn read(config: &ConfigValue) -> Self {
        let theme = config.get("themeConfig");
        let (navbar, modes) = (theme.get("navbar"), theme.get("colorMode"));
        let logo = navbar.get("logo");
        let is_mode_fixed = modes.get("disableSwitch").bool() == Some(true);
        let respects_system = modes.get("respectPrefersColorScheme").bool() == Some(true);
        let default_mode = match modes.get("defaultMode").text().as_deref() {
            Some("dark") => Some(ColorMode::Dark),
            Some("light") => Some(ColorMode::Light),
            _ => is_mode_fixed.then_some(ColorMode::Light),
        };
        Self {
            navbar_title: navbar.get("title").text().filter(|title| !title.is_empty()),
            logo: own_file(logo.get("src")),
            logo_dark: own_file(logo.get("srcDark")),
            favicon: own_file(config.get("favicon")),
            style_sheets: style_sheets(config),
            color_mode: default_mode.filter(|_| is_mode_fixed || !respects_system),
            is_mode_fixed,
        }
    }
}

/// Returns the path of a file of the site itself.
fn own_file(value: &ConfigValue) -> Option<String> {
    let path = value.path().filter(|path| !path.contains(':'));
    let path = path.filter(|path| !path.starts_with("//"))?;
    let path = joined("", &path);
    (!path.is_empty() && !is_outside(&path)).then_some(path)
}

fn style_sheets(config: &ConfigValue) -> Vec<String> {
    let mut sheets = Vec::new();
    for list in ["presets", "themes", "plugins"] {
        let ConfigValue::List(entries) = config.get(list) else {
            continue;
        };
        for options in entries.iter().map(|entry| entry.get("1")) {
            for css in [
                options.get("theme").get("customCss"),
                options.get("customCss"),
            ] {
                match css {
                    ConfigValue::List(several) => {
                        sheets.extend(several.iter().filter_map(own_file));
                    }
                    one => sheets.extend(own_file(one)),
                }
            }
        }
    }
    sheets.truncate(MAX_STYLE_SHEETS);
    sheets
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::SiteSettings;
    use super::*;

    fn appearance(name: &str, text: &str) -> Appearance {
        let files = BTreeMap::from([(name.to_owned(), text.to_owned())]);
        SiteSettings::read(&files, true).unwrap().appearance
    }

    #[test]
    fn the_look_is_read_from_the_config() {
        let config = "export default { favicon: 'img/favicon.ico', presets: [['classic', { theme: { customCss: [\
            require.resolve('./src/css/custom.css'), '../elsewhere.css', path.resolve(__dirname, 'src', 'b.css')] } }]], \
            themeConfig: { colorMode: { defaultMode: 'dark' }, navbar: { title: 'Robots', \
            logo: { src: '/img/logo.svg', srcDark: 'https://cdn.example/logo.svg' } } } }";
        let expected = Appearance {
            navbar_title: Some("Robots".to_owned()),
            logo: Some("img/logo.svg".to_owned()),
            favicon: Some("img/favicon.ico".to_owned()),
            style_sheets: vec!["src/css/custom.css".to_owned(), "src/b.css".to_owned()],
            color_mode: Some(ColorMode::Dark),
            ..Appearance::default()
        };
        assert_eq!(appearance("docusaurus.config.js", config), expected);
    }

    #[test]
    fn a_mode_that_readers_cannot_change_is_the_only_one() {
        for (modes, mode, is_fixed) in [
            ("", None, false),
            (
                "defaultMode: 'dark', respectPrefersColorScheme: true",
                None,
                false,
            ),
            ("disableSwitch: true", Some(ColorMode::Light), true),
            (
                "disableSwitch: true, defaultMode: 'dark'",
                Some(ColorMode::Dark),
                true,
            ),
        ] {
            let config =
                format!("export default {{ themeConfig: {{ colorMode: {{ {modes} }} }} }}");
            let read = appearance("docusaurus.config.js", &config);
            assert_eq!((read.color_mode, read.is_mode_fixed), (mode, is_fixed));
        }
    }

    #[test]
    fn a_built_site_has_the_icon_and_the_style_sheets_of_its_front_page() {
        let html = "<!doctype html><link rel=canonical href=https://example.org/book/><link rel='shortcut icon' href=/book/img/icon.png>\
            <link rel=stylesheet href=/book/assets/styles.css><link rel=stylesheet href=theme.css>\
            <link rel=stylesheet href=https://cdn.example/x.css><title>Book</title><main><h1>Book</h1><p>Text</p></main>";
        let read = appearance("index.html", html);
        assert_eq!(read.favicon.as_deref(), Some("img/icon.png"));
        assert_eq!(read.style_sheets, ["assets/styles.css", "theme.css"]);
    }
}
