//! A skill for coding agents: what the book covers and how to read, search and ask it (<https://agentskills.io>), with the index by which agents
//! find it (Agent Skills Discovery 0.2.0).

use bookrag::book::{hex, slug};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::edition::Edition;
use super::{Book, INDEX};

/// The skill's file, also beside [`INDEX`] for agents that look there.
pub(crate) const SKILL: &str = "skill.md";
/// The folder of skills at the root of a host.
const FOLDER: &str = ".well-known/agent-skills";
/// The version of the index.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// The longest name and description of a skill, in characters.
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1_024;
/// The most chapters that are named.
const MAX_CHAPTERS: usize = 60;

impl Book<'_> {
    /// Returns the skill for an edition and, if the site is at the root of its host, where agents look for it, by path.
    pub(super) fn skill(&self, edition: &Edition<'_>) -> Vec<(String, String)> {
        let name = name_of(self.title);
        let description = description_of(self.title);
        let text = self.skill_text(edition, &name, &description);
        let beside = self.places.of(edition.locale, SKILL);
        let mut files = vec![(beside.file, text.clone())];
        if beside.url == format!("/{SKILL}") {
            let path = format!("{FOLDER}/{name}/SKILL.md");
            let digest = hex(&Sha256::digest(&text));
            let index = json!({
                "$schema": SCHEMA,
                "skills": [{
                    "name": name,
                    "type": "skill-md",
                    "description": description,
                    "url": format!("/{path}"),
                    "digest": format!("sha256:{digest}"),
                }],
            });
            files.push((path, text));
            files.push((format!("{FOLDER}/index.json"), format!("{index:#}\n")));
        }
        files
    }

    fn skill_text(&self, edition: &Edition<'_>, name: &str, description: &str) -> String {
        let title = bookrag::book::escaped(self.title);
        let list = self.places.of(edition.locale, INDEX);
        let list = self.link_to(INDEX, &list.url);
        // Every JSON string is valid YAML.
        let description = json!(description);
        let mut text = format!(
            "---\nname: {name}\ndescription: {description}\n---\n\n# {title}\n\n## Reading\n\n\
             - {list} lists the pages.\n\
             - Each page is Markdown at its address with `.md` at its end (`index.md` after a slash).\n"
        );
        if let Some(api) = self.api {
            text.push_str(&format!(
                "\n## Asking and searching\n\n\
                 - A question: `GET {api}/api/v1/ask?q=QUESTION` answers as Markdown, with the sections as footnotes. It says if the documentation has no answer.\n\
                 - A search: `GET {api}/api/v1/search?q=WORDS&top_k=5` returns sections as JSON (`data.results`), each with its `url`.\n\
                 - A section: `GET {api}/api/v1/page?url=URL` with `Accept: text/markdown`.\n\
                 - The Model Context Protocol: `{api}/mcp`, with the tools `search`, `fetch`, `ask` and `outline`.\n"
            ));
        }
        text.push_str("\n## What it covers\n\n");
        for chapter in self.chapter_titles(edition).take(MAX_CHAPTERS) {
            text.push_str(&format!("- {}\n", bookrag::book::escaped(&chapter)));
        }
        text
    }
}

/// Returns a title as a skill's name: lower-case ASCII letters, digits and single hyphens.
fn name_of(title: &str) -> String {
    let slug = slug(title);
    let ascii = slug.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = ascii.filter(|word| !word.is_empty()).collect();
    let name = words.join("-").to_ascii_lowercase();
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    match name.trim_end_matches('-') {
        "" => "documentation".to_owned(),
        name => name.to_owned(),
    }
}

fn description_of(title: &str) -> String {
    let words = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!(
        "The documentation of {words}. Use it for questions about {words}, before answering from memory or writing code that uses it."
    );
    text.chars().take(MAX_DESCRIPTION_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_skill_has_lower_case_letters_digits_and_hyphens() {
        for (title, name) in [
            ("Garden Robotics", "garden-robotics"),
            ("C++ & Käse_2", "c-k-se-2"),
            ("東京", "documentation"),
        ] {
            assert_eq!(name_of(title), name);
        }
        assert_eq!(name_of(&"a ".repeat(40)).len(), MAX_NAME_CHARS - 1);
    }
}
