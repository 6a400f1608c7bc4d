//! The content of a page with its partials inserted.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::{Block, BlockKind, Nesting};
use crate::decoding::decode;
use crate::dialect::{Dialect, Flavor};
use crate::escape::fenced;
use crate::front_matter::{FrontMatter, SplitPage, split_front_matter};
use crate::imports::{Partials, is_shown_text_file, package_of};
use crate::inputs::{Input, Inputs, TextFile};
use crate::links::Origin;
use crate::markdown::{Placed, parse_blocks};
use crate::mdx::{PageValues, prepare};
use crate::omission::{Omission, OmissionReason};
use crate::openapi::Generated;
use crate::placeholder::{Contents, Placeholder};
use crate::settings::{ContentKind, Instance, MarkdownFormat, SiteSettings};
use crate::skip_reason::MAX_PAGE_BYTES;
use crate::slug::Slugger;

pub(super) const MAX_PARTIAL_DEPTH: usize = 8;

/// The most bytes that partials may add to a page, so that partials that use each other many times end.
const MAX_PARTIAL_BYTES: usize = MAX_PAGE_BYTES;

/// The most lists of headings per page, since their size grows with the square of the headings.
const MAX_CONTENTS: usize = 8;

pub(super) struct Reading<'a> {
    pub(super) settings: &'a SiteSettings,
    pub(super) inputs: &'a Inputs,
}

impl<'a> Reading<'a> {
    pub(super) fn partials(&self, source: &str, split: &SplitPage<'_>) -> Partials {
        match self.flavor(source, &split.front_matter) {
            Flavor::Mdx => Partials::new(source, split.body, self.inputs),
            Flavor::Markdown => Partials::default(),
        }
    }

    /// Returns the flavor of the file at `source`, from its front matter or else the site's settings.
    fn flavor(&self, source: &str, front_matter: &FrontMatter) -> Flavor {
        let own = front_matter.format.as_deref();
        let format = own
            .and_then(MarkdownFormat::named)
            .unwrap_or(self.settings.markdown_format);
        match format {
            MarkdownFormat::Mdx => Flavor::Mdx,
            MarkdownFormat::Md => Flavor::Markdown,
            MarkdownFormat::Detect if source.ends_with('x') => Flavor::Mdx,
            MarkdownFormat::Detect => Flavor::Markdown,
        }
    }

    /// Returns the dialect of a file with this flavor in the pages of a plugin.
    fn dialect(&self, flavor: Flavor, instance: &'a Instance) -> Dialect<'a> {
        Dialect {
            flavor,
            math: self.settings.math,
            comment_ids: self.settings.comment_ids && flavor == Flavor::Markdown,
            emoji: self.settings.emoji,
            admonitions: instance.admonitions.as_deref(),
            magic_comments: self.settings.magic_comments.as_deref(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) blocks: Vec<Block>,
    pub(super) omissions: Vec<Omission>,
    pub(super) warnings: Vec<String>,
    pub(super) text_files: BTreeSet<TextFile>,
    /// The imported files that do not exist, with the page's line that first uses each.
    missing: BTreeMap<String, u32>,
    /// The indexes of the blocks that list the page's headings.
    contents: Vec<(usize, Contents)>,
    partial_bytes: usize,
    /// The page's line that uses the partial being read.
    partial_line: u32,
    /// True if the page's own heading of level 1 is shown as its title.
    pub(super) shows_own_title: bool,
}

impl Body {
    /// Reads the blocks of a page or partial. Inserts partials where they are used.
    pub(super) fn read(
        &mut self,
        source: &str,
        split: &SplitPage<'_>,
        raw_lines: &[&str],
        reading: &Reading<'_>,
        origin: &Origin<'_>,
        depth: usize,
    ) {
        let partials = reading.partials(source, split);
        if partials.is_cut {
            self.warnings.push(format!(
                "{source}: some of its many imports are not followed"
            ));
        }
        for constant in partials.constants.values() {
            let line = match depth {
                0 => split.lines_before + 1 + constant.line,
                _ => self.partial_line,
            };
            let path = constant.path.clone();
            self.text_files.insert(TextFile { line, path });
        }
        let imported = partials.constants.into_iter();
        let imported = imported.map(|(name, constant)| (name, constant.value));
        let partials = partials.paths;
        let instance = reading.settings.instance(&origin.page.instance);
        let flavor = reading.flavor(source, &split.front_matter);
        let dialect = reading.dialect(flavor, instance);
        let values = PageValues {
            constants: split
                .front_matter
                .shown_fields()
                .into_iter()
                .chain(imported)
                .collect(),
            // Partials are not generated.
            generated: Generated::from_front_matter(&split.front_matter).filter(|_| depth == 0),
        };
        let first_line = split.lines_before + 1;
        let prepared = prepare(split.body, first_line, dialect, &partials, values);
        let mut slugger = Slugger::new(reading.settings.keep_anchor_case);
        if depth == 0 && instance.kind == ContentKind::Blog {
            slugger = slugger.without_title();
        }
        let mut parsed = parse_blocks(&prepared, raw_lines, dialect, &mut slugger);
        for block in &mut parsed.blocks {
            origin.resolve(source, &mut block.marks);
        }
        if depth == 0 {
            self.shows_own_title = parsed.begins_with_title;
            self.omissions.extend(prepared.omissions);
            self.omissions.extend(parsed.omissions);
        }
        let mut placeholders = parsed.placeholders.into_iter().peekable();
        let mut blocks = parsed.blocks.into_iter().enumerate();
        loop {
            let next = blocks.next();
            let place = next.as_ref().map_or(usize::MAX, |(at, _)| *at);
            while let Some(placed) = placeholders.next_if(|placed| placed.at <= place) {
                self.insert(placed, &partials, reading, origin, depth);
            }
            match next {
                Some((_, block)) => self.blocks.push(block),
                None => return,
            }
        }
    }

    /// Inserts what a placeholder stands for.
    fn insert(
        &mut self,
        placed: Placed,
        partials: &BTreeMap<String, String>,
        reading: &Reading<'_>,
        origin: &Origin<'_>,
        depth: usize,
    ) {
        let Placed {
            lines,
            nesting,
            panels,
            ..
        } = placed;
        let from = self.blocks.len();
        match placed.placeholder {
            Placeholder::Partial(name) => {
                if depth == 0 {
                    self.partial_line = lines.start;
                }
                let path = partials.get(&name).map(String::as_str);
                let shown = if is_shown_text_file(&name) {
                    Shown::Text
                } else {
                    Shown::Blocks(origin)
                };
                self.read_partial(path, reading, shown, depth);
            }
            Placeholder::Contents(_) if self.contents.len() == MAX_CONTENTS => {}
            Placeholder::Contents(contents) => {
                self.contents.push((from, contents));
                self.blocks.push(contents_block());
            }
        }
        // A partial's lines belong to another file, so its blocks get the line that uses it.
        for block in &mut self.blocks[from..] {
            block.start_line = lines.start;
            block.end_line = lines.end;
            block.nesting.quotes += nesting.quotes;
            block.nesting.admonitions += nesting.admonitions;
            block.nesting.items += nesting.items;
            block.panels.splice(0..0, panels.iter().cloned());
        }
    }

    /// Reads the blocks of a partial, or a file's text. Heading ids of partials do not depend on the page.
    fn read_partial(
        &mut self,
        path: Option<&str>,
        reading: &Reading<'_>,
        shown: Shown<'_>,
        depth: usize,
    ) {
        let line = self.partial_line;
        let path = path.unwrap_or_default();
        if let Some(package) = package_of(path) {
            let warning = format!("imported files of the package or alias {package} are not read");
            self.warnings.push(warning);
            self.omit_partial(line, path);
            return;
        }
        let input = reading.inputs.get(path);
        let bytes = input.and_then(Input::content);
        let was_full = self.partial_bytes > MAX_PARTIAL_BYTES;
        self.partial_bytes += bytes.map_or(0, <[u8]>::len);
        let is_left_out = bytes.is_some() && self.partial_bytes > MAX_PARTIAL_BYTES;
        let problem = match bytes.map(decode) {
            None => match input {
                Some(Input::Refused(reason)) => format!("is not read: {reason}"),
                _ => {
                    self.missing.entry(path.to_owned()).or_insert(line);
                    self.omit_partial(line, path);
                    return;
                }
            },
            Some(_) if is_left_out => format!(
                "and those after it are left out: the page's partials have more than {MAX_PARTIAL_BYTES} bytes"
            ),
            Some(_) if depth == MAX_PARTIAL_DEPTH => "is nested too deeply".to_owned(),
            Some(Err(reason)) => format!("is left out: {reason}"),
            Some(Ok(text)) => match (shown, split_front_matter(&text)) {
                (Shown::Text, _) => {
                    self.blocks.push(code_block(path, text.trim_end()));
                    let path = path.to_owned();
                    self.text_files.insert(TextFile { line, path });
                    return;
                }
                (Shown::Blocks(_), Err(reason)) => format!("is left out: {reason}"),
                (Shown::Blocks(origin), Ok(split)) => {
                    let raw_lines: Vec<&str> = text.lines().collect();
                    self.read(path, &split, &raw_lines, reading, origin, depth + 1);
                    return;
                }
            },
        };
        // The warning for the first partial that does not fit covers all later ones.
        if !(was_full && is_left_out) {
            self.warnings
                .push(format!("line {line}: the imported file {path} {problem}"));
        }
        self.omit_partial(line, path);
    }

    fn omit_partial(&mut self, line: u32, path: &str) {
        self.omissions.push(Omission {
            start_line: line,
            end_line: line,
            reason: OmissionReason::MissingPartial,
            text: path.to_owned(),
        });
    }

    /// Returns the warnings of imported files that do not exist. Many have one cause.
    pub(super) fn missing_files(&self) -> Vec<String> {
        let mut files: Vec<(u32, &String)> = self
            .missing
            .iter()
            .map(|(path, line)| (*line, path))
            .collect();
        files.sort_unstable();
        match files.as_slice() {
            [(line, path), _, _, _, ..] => vec![format!(
                "line {line}: {} imported files do not exist, the first is {path}",
                files.len()
            )],
            few => few
                .iter()
                .map(|(line, path)| format!("line {line}: the imported file {path} does not exist"))
                .collect(),
        }
    }

    pub(super) fn list_contents(&mut self) {
        for (at, contents) in &self.contents {
            let text = contents_text(&self.blocks, contents);
            let block = &mut self.blocks[*at];
            block.markdown.clone_from(&text);
            block.text = text;
        }
        self.blocks
            .retain(|block| block.kind != BlockKind::Contents || !block.text.is_empty());
    }
}

/// The form in which an imported file is shown.
enum Shown<'a> {
    /// As Markdown of this page.
    Blocks(&'a Origin<'a>),
    Text,
}

/// Returns the text of an imported file as a block of code; its extension tells the language.
fn code_block(path: &str, text: &str) -> Block {
    let name = path.rsplit('/').next().unwrap_or(path);
    let language = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let kind = BlockKind::Code {
        language: language.to_owned(),
        title: None,
    };
    inserted_block(kind, text.to_owned(), fenced(text, language, ""))
}

fn contents_block() -> Block {
    inserted_block(BlockKind::Contents, String::new(), String::new())
}

/// Creates a block that the page's own lines do not contain.
fn inserted_block(kind: BlockKind, text: String, markdown: String) -> Block {
    Block {
        kind,
        text,
        marks: Vec::new(),
        markdown,
        start_line: 1,
        end_line: 1,
        nesting: Nesting::default(),
        panels: Vec::new(),
    }
}

/// Returns the headings that a `<TOCInline>` lists, one per line, indented by level.
fn contents_text(blocks: &[Block], contents: &Contents) -> String {
    let headings = blocks.iter().filter_map(|block| match block.kind {
        BlockKind::Heading {
            level,
            listed: true,
            ..
        } if level > 1 => Some((level, &block.text)),
        _ => None,
    });
    let listed = headings
        .skip(contents.skip)
        .filter(|(level, _)| (contents.min_level..=contents.max_level).contains(level));
    let lines: Vec<String> = listed
        .map(|(level, text)| {
            let indent = "  ".repeat(usize::from(level - contents.min_level));
            format!("{indent}- {text}")
        })
        .collect();
    lines.join("\n")
}
