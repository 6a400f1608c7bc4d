//! The colours of the pages that `serve` shows: those of the site, where its style sheets tell them.

mod color;

use std::collections::BTreeMap;

use bookrag::book::{Appearance, ColorMode, SiteSettings, is_outside, joined};
use bookrag::source::Source;

use color::Color;

const PRIMARY: &str = "--ifm-color-primary";

/// The longest chain of variables that refer to one another.
const MAX_VARIABLES: usize = 8;

/// The most style sheets that are read, with those that they import.
const MAX_SHEETS: usize = 32;

/// The colours of a mode besides the site's own: Infima's variables, which the panel uses, and those of code and charts.
const LIGHT: &str = "--ifm-font-color-base:#1c1e21;--ifm-color-content-secondary:#525860;--ifm-background-color:#fff;\
    --ifm-background-surface-color:#fff;--ifm-color-emphasis-100:#f5f6f7;--ifm-color-emphasis-300:#dadde1;--ifm-color-emphasis-600:#767c85;\
    --code-comment:#5f6470;--code-keyword:#8a1a5c;--code-string:#1f6b33;--code-number:#8a4600;--code-name:#1e54a3;\
    --chart-answered:#4f7fc9;--chart-uncertain:#d99a00;--chart-not-covered:#cf6153";
const DARK: &str = "--ifm-font-color-base:#e3e3e3;--ifm-color-content-secondary:#a8adb4;--ifm-background-color:#1b1b1d;\
    --ifm-background-surface-color:#202123;--ifm-color-emphasis-100:#2a2b2e;--ifm-color-emphasis-300:#3f4247;--ifm-color-emphasis-600:#868d96;\
    --code-comment:#a0a5ae;--code-keyword:#f0a0c8;--code-string:#97d3a0;--code-number:#eab37a;--code-name:#9cc2f5;\
    --chart-answered:#6f9be0;--chart-uncertain:#e0ad3a;--chart-not-covered:#ec7468";

/// The least contrast of a button with the page.
const SEEN: f64 = 1.1;

/// Sites put white text on colours down to this contrast, although text needs more. A button keeps a lighter colour, with black text.
const NEARLY_READABLE: f64 = 2.9;

/// Infima's own primary colour, which a site has that sets none.
const DEFAULT_PRIMARY: &str = "#3578e5";

/// The site's colours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    light: Color,
    dark: Color,
    /// The mode that the site begins with, if it is not that of the reader's system.
    mode: Option<ColorMode>,
    /// True if the site has no other mode.
    is_mode_fixed: bool,
}

impl Look {
    /// Reads the site's style sheets. Whatever cannot be read gets the colour of a new site.
    pub(crate) async fn read(source: &Source, settings: &SiteSettings) -> Self {
        let sheets = read_sheets(source, &settings.appearance.style_sheets).await;
        Self::new(&settings.appearance, &sheets)
    }

    fn new(appearance: &Appearance, sheets: &str) -> Self {
        let mut variables = Variables::default();
        variables.add(sheets);
        let default = Color::parse(DEFAULT_PRIMARY).unwrap_or(Color::BLACK);
        let light = variables.color(PRIMARY, ColorMode::Light);
        let dark = variables.color(PRIMARY, ColorMode::Dark);
        Self {
            light: light.unwrap_or(default),
            dark: dark.unwrap_or(default),
            mode: appearance.color_mode,
            is_mode_fixed: appearance.is_mode_fixed,
        }
    }

    /// Returns the colours of a site without style sheets.
    pub(crate) fn neutral() -> Self {
        Self::new(&Appearance::default(), "")
    }

    /// Returns a style sheet with the colours as variables, for both modes unless the site has only one.
    pub(crate) fn style_sheet(&self) -> String {
        let light = format!("color-scheme:light;{LIGHT};{}", accents(self.light, LIGHT));
        let dark = format!("color-scheme:dark;{DARK};{}", accents(self.dark, DARK));
        match self.mode.filter(|_| self.is_mode_fixed) {
            Some(ColorMode::Light) => format!(":root{{{light}}}\n"),
            Some(ColorMode::Dark) => format!(":root{{{dark}}}\n"),
            None => format!(
                ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
                 :root[data-theme=dark]{{{dark}}}\n"
            ),
        }
    }

    /// Returns the site's [`mode_attributes`].
    pub(crate) fn attributes(&self) -> &'static str {
        attributes_of(self.mode, self.is_mode_fixed)
    }

    /// Returns the primary colour for an icon, which stands on light and dark.
    pub(crate) fn icon_color(&self) -> String {
        self.light.to_string()
    }
}

/// Returns a site's colour mode as attributes of `<html>`: none if the page follows the reader's system. Reads no style sheet.
pub(crate) fn mode_attributes(appearance: &Appearance) -> &'static str {
    attributes_of(appearance.color_mode, appearance.is_mode_fixed)
}

fn attributes_of(mode: Option<ColorMode>, is_fixed: bool) -> &'static str {
    match (mode, is_fixed) {
        (Some(ColorMode::Light), false) => " data-theme=\"light\"",
        (Some(ColorMode::Dark), false) => " data-theme=\"dark\"",
        (Some(ColorMode::Light), true) => " data-theme=\"light\" data-fixed",
        (Some(ColorMode::Dark), true) => " data-theme=\"dark\" data-fixed",
        (None, _) => "",
    }
}

/// Returns the variables for a primary colour among a mode's other colours. The colour is changed as far as text in it must be readable, in links and
/// on buttons.
fn accents(primary: Color, neutral: &str) -> String {
    let raised = value(neutral, "--ifm-color-emphasis-100").unwrap_or(Color::WHITE);
    let accent = primary.readable_on(raised);
    let is_dark = raised.readable_text() == Color::WHITE;
    let is_darker = primary.contrast(Color::WHITE) > raised.contrast(Color::WHITE);
    let is_lost = primary.contrast(raised) < SEEN || (is_dark && is_darker);
    let seen = if is_lost { accent } else { primary };
    let button = if seen.contrast(Color::WHITE) < NEARLY_READABLE {
        seen
    } else {
        seen.readable_on(Color::WHITE)
    };
    format!(
        "{PRIMARY}:{accent};--bookrag-button-background:{button};--bookrag-button-color:{}",
        button.readable_text()
    )
}

/// Returns the colour of a variable among declarations.
fn value(declarations: &str, name: &str) -> Option<Color> {
    let (_, rest) = declarations.split_once(name)?;
    Color::parse(rest.strip_prefix(':')?.split(';').next()?)
}

/// Returns the text of style sheets, each after those that it imports.
async fn read_sheets(source: &Source, paths: &[String]) -> String {
    let mut text = String::new();
    let mut waiting = paths.to_vec();
    // From the end, since imports are only known once a sheet is read.
    for _ in 0..MAX_SHEETS {
        let Some(path) = waiting.pop() else { break };
        let Ok(Some(bytes)) = source.read(&path).await else {
            continue;
        };
        let sheet = String::from_utf8_lossy(&bytes);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        waiting.extend(imported(&sheet, folder));
        text = format!("{sheet}\n{text}");
    }
    text
}

/// Returns the paths in `@import './b.css'`.
fn imported(sheet: &str, folder: &str) -> Vec<String> {
    let rules = sheet.split("@import").skip(1);
    let names = rules.filter_map(|rule| {
        let rule = rule.split([';', '\n']).next()?;
        rule.split(['"', '\'']).nth(1)
    });
    let names = names.filter(|name| !name.contains(':') && name.starts_with('.'));
    let paths = names.map(|name| joined(folder, name));
    paths.filter(|path| !is_outside(path)).collect()
}

/// The variables that style sheets set for the whole page, by name.
#[derive(Debug, Default)]
struct Variables {
    light: BTreeMap<String, String>,
    dark: BTreeMap<String, String>,
}

impl Variables {
    /// Adds the variables of a style sheet, as far as its rules are plain ones.
    fn add(&mut self, sheet: &str) {
        let sheet = without_comments(sheet);
        // Of nested rules the innermost ones are read: what stands before a brace is a selector, also within `@media`.
        let mut rest = sheet.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let selector = before.rsplit(['}', ';']).next().unwrap_or_default();
            let end = after.find(['{', '}']).unwrap_or(after.len());
            for of_rule in selector.split(',') {
                self.add_rule(of_rule, &after[..end]);
            }
            rest = after;
        }
    }

    fn add_rule(&mut self, selector: &str, declarations: &str) {
        let mut selector = selector.replace(['"', '\'', ' ', '\n', '\r', '\t'], "");
        selector.make_ascii_lowercase();
        let element = selector.trim_start_matches(":root");
        let element = element.trim_start_matches("html");
        let variables = match element {
            "" if !selector.is_empty() => &mut self.light,
            "[data-theme=light]" => &mut self.light,
            "[data-theme=dark]" => &mut self.dark,
            _ => return,
        };
        for declaration in declarations.split(';') {
            let Some((name, value)) = declaration.split_once(':') else {
                continue;
            };
            let name = name.trim();
            if name.starts_with("--") {
                let value = value.trim().trim_end_matches("!important");
                variables.insert(name.to_owned(), value.trim().to_owned());
            }
        }
    }

    /// Returns the value of a variable in a mode, which in the dark one may be that of the light one.
    fn color(&self, name: &str, mode: ColorMode) -> Option<Color> {
        let mut name = name.to_owned();
        for _ in 0..MAX_VARIABLES {
            let dark = self.dark.get(&name).filter(|_| mode == ColorMode::Dark);
            let value = dark.or_else(|| self.light.get(&name))?;
            let Some(variable) = value.strip_prefix("var(") else {
                return Color::parse(value);
            };
            let variable = variable.split([',', ')']).next()?;
            variable.trim().clone_into(&mut name);
        }
        None
    }
}

fn without_comments(sheet: &str) -> String {
    let mut text = String::new();
    let mut rest = sheet;
    while let Some((before, after)) = rest.split_once("/*") {
        text.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primaries(sheet: &str) -> (String, String) {
        let look = Look::new(&Appearance::default(), sheet);
        (look.light.to_string(), look.dark.to_string())
    }

    fn pair(light: &str, dark: &str) -> (String, String) {
        (light.to_owned(), dark.to_owned())
    }

    #[test]
    fn the_primary_colors_are_those_of_the_whole_page() {
        let sheet = "/* :root { --ifm-color-primary: red } */ @import url('x.css');\n:root {\n  --brand: #2e8555;\n  --ifm-color-primary: var(--brand);\n}\n\
            .hero { --ifm-color-primary: #000 }\n@media (min-width: 9px) { .x { color: red } }\n\
            html[data-theme='dark'] { --ifm-color-primary: #25c2a0 !important; }";
        assert_eq!(primaries(sheet), pair("rgb(46 133 85)", "rgb(37 194 160)"));
        let minified = ":root,a{--ifm-color-primary:#3578e5}:root{--ifm-color-primary:#d94400}[data-theme=dark]{--x:1}";
        assert_eq!(primaries(minified), pair("rgb(217 68 0)", "rgb(217 68 0)"));
        let default = "rgb(53 120 229)";
        for sheet in [
            "",
            ":root{--ifm-color-primary:var(--a);--a:var(--ifm-color-primary)}",
            "{{{",
            "/*",
        ] {
            assert_eq!(primaries(sheet), pair(default, default), "{sheet}");
        }
    }

    #[test]
    fn both_modes_are_offered_unless_the_site_has_one() {
        let mut look = Look::neutral();
        let both = look.style_sheet();
        assert!(both.contains("prefers-color-scheme") && both.contains("color-scheme:light"));
        (look.mode, look.is_mode_fixed) = (Some(ColorMode::Dark), true);
        let dark = look.style_sheet();
        assert!(!dark.contains("prefers-color-scheme") && !dark.contains("color-scheme:light"));
        assert_eq!(look.attributes(), " data-theme=\"dark\" data-fixed");
    }

    #[test]
    fn text_in_the_sites_color_can_be_read() {
        let yellow = Look::new(&Appearance::default(), ":root{--ifm-color-primary:#ffe564}");
        let sheet = yellow.style_sheet();
        let button =
            "--bookrag-button-background:rgb(255 229 100);--bookrag-button-color:rgb(0 0 0)";
        assert_eq!(sheet.matches(button).count(), 3, "{sheet}");
        // As a link it is darker on a light page, and as it is on a dark one.
        assert_eq!(
            sheet
                .matches("--ifm-color-primary:rgb(255 229 100)")
                .count(),
            2,
            "{sheet}"
        );
        let black = Look::new(&Appearance::default(), ":root{--ifm-color-primary:#000}");
        assert_eq!(
            black.style_sheet().matches("background:rgb(0 0 0)").count(),
            1
        );
    }

    #[test]
    fn sheets_beside_a_sheet_are_imported() {
        let sheet = "@import './_colors.css';\n@import url(\"../base.css\") screen;@import 'https://x.example/a.css';@import '../../../x.css';";
        assert_eq!(
            imported(sheet, "src/css"),
            ["src/css/_colors.css", "src/base.css"]
        );
    }
}
