//! The other files that are used to read a page.

use std::collections::BTreeMap;

use crate::skip_reason::{MAX_INPUT_BYTES, MAX_INPUTS};

/// The other files that were used or looked for while a page was read, by path.
pub type Inputs = BTreeMap<String, Input>;

/// A file that was used or looked for while a page was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The file's content.
    Content(Vec<u8>),
    /// There is no such file.
    Absent,
    /// The file is not published, for this reason. The page is read as if it did not exist, with a warning.
    Refused(String),
}

impl Input {
    /// Returns the content of a file that exists and may be read.
    #[must_use]
    pub fn content(&self) -> Option<&[u8]> {
        match self {
            Self::Content(bytes) => Some(bytes),
            Self::Absent | Self::Refused(_) => None,
        }
    }
}

impl From<Option<Vec<u8>>> for Input {
    fn from(content: Option<Vec<u8>>) -> Self {
        content.map_or(Self::Absent, Self::Content)
    }
}

/// What a page uses another file for, from the most lenient rule to the strictest. A file with several uses is read by the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputUse {
    /// A file whose name Docusaurus gives, such as labels and translations, or a module of which nothing is shown.
    Lookup,
    /// A Markdown file that the page imports.
    Markdown,
    /// A file of any kind that the page shows as text, or a module of which it shows a constant.
    Text,
}

/// A file whose text a page shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextFile {
    /// The page's line that shows it, or that uses the partial which does.
    pub line: u32,
    /// The path.
    pub path: String,
}

/// Returns the content of a file that exists and may be read.
pub(super) fn content_of<'a>(inputs: &'a Inputs, path: &str) -> Option<&'a [u8]> {
    inputs.get(path).and_then(Input::content)
}

/// True if a page needs so many other files that it is skipped.
#[must_use]
pub fn is_too_much(inputs: &Inputs) -> bool {
    let bytes = inputs.values().filter_map(Input::content).map(<[u8]>::len);
    inputs.len() > MAX_INPUTS || bytes.sum::<usize>() > MAX_INPUT_BYTES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        Document, PageFile, SiteSettings, imported_by_name, missing_inputs, page_file,
        read_document,
    };

    const PAGE: &str = "import Part from './_part.mdx'
import env from '!!raw-loader!../.env'
import {C} from './c'

# Page

<Part/> <C/>

<pre>{env}</pre>
";

    fn page() -> (SiteSettings, PageFile) {
        let settings = SiteSettings::read(&BTreeMap::new(), true).expect("default settings");
        let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
        (settings, page)
    }

    fn read(env: Input) -> Document {
        let (settings, page) = page();
        let part = Input::Content(b"A part.".to_vec());
        let inputs = [("docs/_part.mdx", part), (".env", env)];
        let inputs = inputs.map(|(path, input)| (path.to_owned(), input));
        let read = read_document(&settings, "", &page, PAGE.as_bytes(), &inputs.into());
        read.expect("the page can be read")
    }

    #[test]
    fn files_are_requested_for_what_they_are_used_for() {
        let (settings, page) = page();
        let wanted = missing_inputs(&settings, &page, PAGE.as_bytes(), &Inputs::new());
        assert_eq!(wanted[".env"], InputUse::Text);
        assert_eq!(wanted["docs/_part.mdx"], InputUse::Markdown);
        assert_eq!(wanted["docs/c.mjs"], InputUse::Lookup);
        assert_eq!(wanted["docs/_category_.json"], InputUse::Lookup);
        let both = format!("import Env from '../.env'\nimport E from '../.env.md'\n{PAGE}")
            .replace("../.env'", "../.env.md'");
        let wanted = missing_inputs(&settings, &page, both.as_bytes(), &Inputs::new());
        assert_eq!(wanted[".env.md"], InputUse::Text, "{wanted:?}");
    }

    #[test]
    fn files_that_a_page_names_are_told_from_those_that_are_only_looked_for() {
        let (settings, page) = page();
        let text =
            "import Code from '!!raw-loader!./hello.js'\nimport M from './m.mjs'\n\n{Code} <M/>\n";
        let text = format!("---\ntags: [a]\n---\n{PAGE}").replace("# Page", text);
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(&settings, &page, text.as_bytes(), &inputs);
            if missing.is_empty() {
                break;
            }
            inputs.extend(missing.into_keys().map(|path| (path, Input::Absent)));
        }
        let paths: BTreeSet<String> = inputs.into_keys().collect();
        for looked_for in [
            "docs/c.tsx",
            "docs/c/index.js",
            "docs/index.mdx",
            "docs/tags.yml",
        ] {
            assert!(paths.contains(looked_for), "{looked_for}: {paths:?}");
        }
        let named = imported_by_name(&settings, &page, &paths);
        assert_eq!(
            named,
            [".env", "docs/_part.mdx", "docs/hello.js", "docs/m.mjs"]
        );
    }

    #[test]
    fn a_file_that_is_not_published_is_named_with_the_line_that_shows_it() {
        let document = read(Input::Refused("because".to_owned()));
        assert_eq!(
            document.warnings,
            ["line 9: the imported file .env is not read: because"]
        );
        assert!(document.text_files.is_empty());
        let blocks = document.blocks.iter();
        assert!(
            blocks.clone().any(|block| block.text == "A part."),
            "{document:?}"
        );
        let document = read(Input::Content(b"TOKEN=1".to_vec()));
        let shown: Vec<(u32, &str)> = document
            .text_files
            .iter()
            .map(|file| (file.line, file.path.as_str()))
            .collect();
        assert_eq!(shown, [(9, ".env")]);
    }
}
