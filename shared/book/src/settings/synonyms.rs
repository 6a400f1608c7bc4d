//! `synonyms.txt`: one set of synonyms per line, separated by commas. `#` begins a comment.

use std::collections::BTreeMap;

use super::SettingsError;

/// The file beside `bookrag.toml`.
pub(super) const SYNONYMS_FILE: &str = "synonyms.txt";

/// The largest file in bytes, about 400 sets: each question is compared with all of them.
const MAX_BYTES: usize = 16 * 1024;

/// Reads a site's synonyms; empty without the file.
///
/// # Errors
/// If a line is not a set of at least two words, with the line.
pub(super) fn read_synonyms(
    files: &BTreeMap<String, String>,
) -> Result<Vec<Vec<String>>, SettingsError> {
    let Some(text) = files.get(SYNONYMS_FILE) else {
        return Ok(Vec::new());
    };
    if text.len() > MAX_BYTES {
        let reason = format!("it has {} bytes, at most {MAX_BYTES} are read", text.len());
        return Err(SettingsError::new(SYNONYMS_FILE, 1, &reason));
    }
    let mut sets = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let set = parse_set(line);
        sets.push(set.map_err(|reason| SettingsError::new(SYNONYMS_FILE, number, &reason))?);
    }
    Ok(sets)
}

fn parse_set(line: &str) -> Result<Vec<String>, String> {
    if line.contains("=>") {
        return Err(format!(
            "`{line}` has `=>`; write words that mean the same, separated by commas"
        ));
    }
    let words: Vec<String> = line.split(',').map(|word| word.trim().to_owned()).collect();
    let are_words = words.iter().all(|it| it.contains(char::is_alphanumeric));
    if words.len() < 2 || !are_words {
        return Err(format!(
            "`{line}` must be two words or more that mean the same, separated by commas, such as `CI, continuous integration`"
        ));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        let files = BTreeMap::from([(SYNONYMS_FILE.to_owned(), text.to_owned())]);
        read_synonyms(&files).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_a_set_of_words() {
        let text =
            "# Abbreviations\n\nCI, continuous integration # and more\n  k8s ,kubernetes,  kube\n";
        let sets = read(text).unwrap();
        assert_eq!(sets[0], ["CI", "continuous integration"]);
        assert_eq!(sets[1], ["k8s", "kubernetes", "kube"]);
        assert_eq!(sets.len(), 2);
        assert_eq!(read("").unwrap(), [[""; 0]; 0]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        for (text, line) in [
            ("a, b\nc", 2),
            ("a, b\n\nc, ,d", 3),
            ("a, -", 1),
            ("a => b, c", 1),
            (&"a, b\n".repeat(MAX_BYTES), 1),
        ] {
            let error = read(text).unwrap_err();
            let place = format!("synonyms.txt, line {line}: ");
            assert!(error.starts_with(&place), "{error}");
        }
    }
}
