//! The generated parts of `docs/cli.md` and `docs/configuration.md`: the command line as defined in clap, and the variables of the configuration.
//! The rest of these pages is written by hand, outside the marks `<!-- generated: NAME -->` and `<!-- end -->`.

use std::fmt::Write;
use std::path::Path;

use bookrag::config::{GROUPS, Preset, Variable};
use clap::{Arg, Command};

use crate::commands::{Help, command};

/// The variable that writes the files instead of comparing with them.
const UPDATE: &str = "BOOKRAG_TEST_UPDATE";

/// The heading level of commands; their subcommands are one level deeper.
const TOP_LEVEL: usize = 3;

/// Replaces the generated part `name` of a page.
fn with_part(page: &str, name: &str, content: &str) -> String {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("the page has no line {begin}"));
    let (_, after) = rest
        .split_once("<!-- end -->")
        .unwrap_or_else(|| panic!("the part {name} has no end"));
    format!("{before}{begin}\n{content}\n<!-- end -->{after}")
}

/// Returns a table of variables.
fn variables(variables: &[Variable]) -> String {
    let mut table = String::from("| variable | default | |\n|---|---|---|\n");
    for Variable {
        name,
        default,
        summary,
        details,
    } in variables
    {
        let default = match default {
            Preset::None => "none".to_owned(),
            Preset::Value(value) => format!("`{value}`"),
            Preset::Described(words) => (*words).to_owned(),
        };
        let details = match *details {
            "" => String::new(),
            details => format!(". {details}"),
        };
        let _ = writeln!(table, "| `{name}` | {default} | {summary}{details} |");
    }
    table
}

/// Returns a section for each command that is not hidden.
fn commands() -> String {
    let mut command = command();
    command.build();
    let mut sections = String::new();
    for subcommand in command.get_subcommands() {
        if subcommand.is_hide_set() || subcommand.get_name() == "help" {
            continue;
        }
        section(subcommand, "bookrag", TOP_LEVEL, &mut sections);
    }
    sections
}

/// Appends a command's section with a heading of this level, and those of its subcommands.
fn section(command: &Command, parent: &str, level: usize, sections: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let _ = writeln!(
        sections,
        "{} {name}\n\n{}.\n\n```\n{usage}\n```\n",
        "#".repeat(level),
        escaped(&about.unwrap_or_default()),
    );
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "json"))
        .collect();
    if !arguments.is_empty() {
        sections.push_str("| argument | |\n|---|---|\n");
        for argument in arguments {
            let _ = writeln!(
                sections,
                "| `{}` | {} |",
                argument.to_string().replace('|', "\\|"),
                meaning(argument)
            );
        }
        sections.push('\n');
    }
    // The help of `export` is not that of `questions export`.
    let help = Help::for_command(command.get_name()).filter(|_| level == TOP_LEVEL);
    if let Some(help) = help {
        let _ = writeln!(sections, "```\n{}\n```\n", help.examples());
        let names: Vec<String> = help
            .variables
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        if !names.is_empty() {
            let _ = writeln!(sections, "Environment: {}.\n", names.join(", "));
        }
    }
    for subcommand in command.get_subcommands() {
        if subcommand.get_name() != "help" {
            section(subcommand, &name, level + 1, sections);
        }
    }
}

/// Returns an argument's meaning, default and values.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string);
    let mut meaning = escaped(&help.unwrap_or_default());
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        let _ = write!(meaning, ". Values: {}", values.join(", "));
    }
    let defaults: Vec<_> = argument
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        let _ = write!(meaning, ". Default: {}", defaults.join(", "));
    }
    meaning
}

/// Escapes text for a table's cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a page with the generated parts, or writes it if `BOOKRAG_TEST_UPDATE` is set.
    fn check(name: &str, parts: &[(&str, String)]) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../docs")
            .join(name);
        let written = std::fs::read_to_string(&file).expect("the page is there");
        let made = parts.iter().fold(written.clone(), |page, (part, content)| {
            with_part(&page, part, content)
        });
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&file, &made).expect("the page is written");
            return;
        }
        assert!(
            made == written,
            "docs/{name} is not what the code makes; {UPDATE}=1 cargo test -p bookrag-cli --lib reference writes it"
        );
    }

    #[test]
    fn the_page_of_settings_is_the_one_the_code_makes() {
        let parts = GROUPS.map(|(group, of_group)| (group, variables(of_group)));
        check("configuration.md", &parts);
    }

    #[test]
    fn the_page_of_commands_is_the_one_the_code_makes() {
        check("cli.md", &[("commands", commands())]);
    }
}
