//! The command line as given to clap, with examples and environment variables for each command.

use bookrag::config::Variable;
use clap::CommandFactory;

use super::Arguments;

/// The part of a command's `--help` below its options.
pub(crate) struct Help {
    command: &'static str,
    /// Arguments after `bookrag`, and what they do.
    examples: &'static [(&'static str, &'static str)],
    pub(crate) variables: &'static [&'static str],
}

/// The variables of all commands that answer questions.
const ANSWERING: &[&str] = &[
    "BOOKRAG_DATA",
    "BOOKRAG_EMBEDDER",
    "BOOKRAG_GENERATOR",
    "BOOKRAG_CHAT_MODEL",
    "BOOKRAG_CHAT_BASE_URL",
    "OPENAI_API_KEY",
    "BOOKRAG_NOT_COVERED",
];
/// The variables of all commands that build an index.
const INDEXING: &[&str] = &[
    "BOOKRAG_DATA",
    "BOOKRAG_EMBEDDER",
    "BOOKRAG_CHUNK_POLICY",
    "BOOKRAG_SITE",
];
const STORES: &[&str] = &["BOOKRAG_DATA", "DATABASE_URL", "QDRANT_URL"];

const HELP: [Help; 20] = [
    Help {
        command: "serve",
        examples: &[
            (
                "serve my-site",
                "index the site, and answer on http://127.0.0.1:8080",
            ),
            (
                "serve my-site --watch --port 8081",
                "answer from saved pages a moment later",
            ),
            (
                "serve s3://bucket/prefix",
                "serve a book that is in a bucket",
            ),
        ],
        variables: &[
            "BOOKRAG_DATA",
            "BOOKRAG_EMBEDDER",
            "BOOKRAG_GENERATOR",
            "BOOKRAG_CHAT_MODEL",
            "BOOKRAG_CHAT_BASE_URL",
            "BOOKRAG_QUESTIONS_BUDGET",
            "BOOKRAG_ORIGINS",
            "BOOKRAG_STORE_QUESTIONS",
            "BOOKRAG_LOG",
        ],
    },
    Help {
        command: "sync",
        examples: &[
            ("sync my-site", "index what changed"),
            (
                "sync my-site --strict",
                "fail if a page cannot be read, as in CI",
            ),
        ],
        variables: INDEXING,
    },
    Help {
        command: "ask",
        examples: &[
            (
                "ask how do I calibrate the probe",
                "ask the book of this folder",
            ),
            (
                "ask --site my-site --json what is a node",
                "ask another book, and print JSON",
            ),
        ],
        variables: ANSWERING,
    },
    Help {
        command: "search",
        examples: &[(
            "search wheel torque --top-k 3",
            "list the three best sections",
        )],
        variables: &["BOOKRAG_DATA", "BOOKRAG_EMBEDDER", "BOOKRAG_RERANKER"],
    },
    Help {
        command: "mcp",
        examples: &[
            ("mcp my-site", "what a coding agent is configured to run"),
            (
                "mcp my-site --site-url https://book.example",
                "link to the built site",
            ),
        ],
        variables: &["BOOKRAG_DATA", "BOOKRAG_ORIGINS"],
    },
    Help {
        command: "eval",
        examples: &[
            (
                "eval --init questions.jsonl --site my-site",
                "write a first file of questions, to be completed",
            ),
            ("eval questions.jsonl --site my-site", "print the metrics"),
            (
                "eval questions.jsonl --site my-site --baseline before.json",
                "fail if a metric is worse than before",
            ),
        ],
        variables: INDEXING,
    },
    Help {
        command: "diff",
        examples: &[
            (
                "diff main..HEAD",
                "compare two commits with the questions of readers",
            ),
            (
                "diff --questions bookrag.questions.txt",
                "compare uncommitted edits with the last commit",
            ),
        ],
        variables: &["BOOKRAG_DATA", "BOOKRAG_EMBEDDER"],
    },
    Help {
        command: "insights",
        examples: &[
            ("insights --days 7", "report on the last week"),
            ("insights --html report.html", "write it as a page"),
            (
                "insights --gaps gaps.md",
                "write tasks for an author or a coding agent",
            ),
        ],
        variables: &[
            "BOOKRAG_STORE_QUESTIONS",
            "BOOKRAG_RETENTION_DAYS",
            "BOOKRAG_DATA",
            "DATABASE_URL",
        ],
    },
    Help {
        command: "questions",
        examples: &[
            (
                "questions todo my-site --jsonl",
                "print the sections without questions, for a coding agent",
            ),
            (
                "questions import my-site written.jsonl",
                "write the agent's questions into files of the site",
            ),
            (
                "questions write my-site --dry-run",
                "say what it costs to have a chat model write them",
            ),
            (
                "questions export my-site",
                "write those that serve had written into files of the site",
            ),
            (
                "questions add my-site docs/power.md#charging no-light-on-the-dock",
                "teach the book what a reader asked",
            ),
            (
                "questions check my-site --min 0.9",
                "fail if too few questions find their section, as in CI",
            ),
        ],
        variables: &[
            "BOOKRAG_GENERATOR",
            "BOOKRAG_CHAT_MODEL",
            "BOOKRAG_CHAT_BASE_URL",
            "BOOKRAG_CHAT_PRICE",
            "OPENAI_API_KEY",
            "BOOKRAG_DATA",
            "BOOKRAG_EMBEDDER",
        ],
    },
    Help {
        command: "chunks",
        examples: &[
            ("chunks my-site", "list the chunks"),
            ("chunks my-site --ledger", "show that no text is lost"),
            (
                "chunks my-site --policy window-500 --jsonl",
                "print the chunks of another policy as JSON",
            ),
        ],
        variables: &["BOOKRAG_CHUNK_POLICY", "BOOKRAG_EMBEDDER"],
    },
    Help {
        command: "files",
        examples: &[
            ("files my-site", "list the files of the book"),
            (
                "files my-site --null",
                "list them for `tar --null --files-from -` and others",
            ),
        ],
        variables: &[],
    },
    Help {
        command: "export",
        examples: &[(
            "export my-site --out my-site/build",
            "write Markdown beside the built pages",
        )],
        variables: &[],
    },
    Help {
        command: "doctor",
        examples: &[
            ("doctor my-site", "check the site and its index"),
            ("doctor my-site --repair", "rebuild what is damaged"),
        ],
        variables: STORES,
    },
    Help {
        command: "health",
        examples: &[
            ("health", "check the server on this machine"),
            (
                "health https://abc.execute-api.eu-central-1.amazonaws.com --deep",
                "check a deployed one with its stores",
            ),
        ],
        variables: &[],
    },
    Help {
        command: "reset",
        examples: &[("reset my-site --yes", "delete without asking")],
        variables: STORES,
    },
    Help {
        command: "books",
        examples: &[(
            "books delete handbook --yes",
            "delete a book that BOOKRAG_BOOKS no longer lists",
        )],
        variables: &[
            "BOOKRAG_BOOKS",
            "BOOKRAG_SOURCE",
            "BOOKRAG_COLLECTION",
            "DATABASE_URL",
            "DATABASE_URL_DIRECT",
            "BOOKRAG_DATABASE_CA",
            "QDRANT_URL",
            "QDRANT_API_KEY",
        ],
    },
    Help {
        command: "migrate",
        examples: &[("migrate", "migrate the catalog that DATABASE_URL names")],
        variables: &["DATABASE_URL", "DATABASE_URL_DIRECT", "BOOKRAG_DATABASE_CA"],
    },
    Help {
        command: "models",
        examples: &[("models bge-small multilingual", "download two models")],
        variables: &["BOOKRAG_MODELS"],
    },
    Help {
        command: "completions",
        examples: &[
            (
                "completions bash",
                "write them to ~/.local/share/bash-completion/completions/bookrag",
            ),
            (
                "completions zsh",
                "write them to a file `_bookrag` in a folder of $fpath",
            ),
        ],
        variables: &[],
    },
    Help {
        command: "man",
        examples: &[("man target/man", "write a page for each command")],
        variables: &[],
    },
];

/// Returns the command line with the examples and variables of each command.
#[must_use]
pub fn command() -> clap::Command {
    HELP.iter().fold(Arguments::command(), |command, help| {
        command.mut_subcommand(help.command, |command| command.after_help(help.text()))
    })
}

impl Help {
    /// Returns the help of a command.
    #[cfg(test)]
    pub(crate) fn for_command(command: &str) -> Option<&'static Self> {
        HELP.iter().find(|help| help.command == command)
    }

    pub(crate) fn examples(&self) -> String {
        let mut text = String::from("Examples:");
        for (arguments, what) in self.examples {
            text.push_str(&format!("\n  bookrag {arguments}\n      {what}"));
        }
        text
    }

    fn text(&self) -> String {
        let mut text = self.examples();
        let variables = self
            .variables
            .iter()
            .filter_map(|name| Variable::named(name));
        for (position, variable) in variables.enumerate() {
            if position == 0 {
                text.push_str("\n\nEnvironment (docs/configuration.md lists all variables):");
            }
            let summary = variable.summary.replace('`', "");
            text.push_str(&format!("\n  {}\n      {summary}", variable.name));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_that_it_accepts() {
        for subcommand in Arguments::command().get_subcommands() {
            let name = subcommand.get_name();
            let help = HELP.iter().find(|help| help.command == name);
            let help = help.unwrap_or_else(|| panic!("{name} has no help"));
            assert!(!help.examples.is_empty(), "{name}");
            for (arguments, _) in help.examples {
                assert_eq!(arguments.split(' ').next(), Some(name));
                let typed = format!("bookrag {arguments}");
                let parsed = command().try_get_matches_from(typed.split(' '));
                assert!(parsed.is_ok(), "{typed}: {parsed:?}");
            }
        }
    }

    #[test]
    fn every_variable_that_help_names_exists() {
        for name in HELP.iter().flat_map(|help| help.variables) {
            assert!(Variable::named(name).is_some(), "{name}");
        }
    }
}
