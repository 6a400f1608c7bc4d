//! Sections: a heading and its content up to the next heading.

use serde::{Deserialize, Serialize};

use crate::block::{Block, BlockKind};
use crate::titles::shortened_title;

/// The type of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SectionType {
    /// Learning objectives, takeaways, quizzes and similar.
    Structural,
    /// Concepts and explanations.
    Instructional,
    /// At least two code blocks.
    CodeHeavy,
}

impl SectionType {
    /// Returns the name used in the API and the index.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Structural => "structural",
            Self::Instructional => "instructional",
            Self::CodeHeavy => "code-heavy",
        }
    }
}

/// Lower-case prefixes of the titles of structural sections.
const STRUCTURAL_TITLES: [&str; 19] = [
    "learning objectives",
    "learning outcomes",
    "objectives",
    "what you will learn",
    "what you'll learn",
    "key takeaways",
    "takeaways",
    "check your understanding",
    "knowledge check",
    "quiz",
    "review questions",
    "self-assessment",
    "next steps",
    "what's next",
    "prerequisites",
    "summary",
    "recap",
    "further reading",
    "additional resources",
];

const CODE_HEAVY_BLOCKS: usize = 2;

#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// The heading; `None` before the first heading of a page.
    pub(crate) heading: Option<&'a Block>,
    pub(crate) blocks: &'a [Block],
    pub(crate) path: HeadingPath,
}

/// The headings above a text, outermost first, and the anchor for links to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeadingPath {
    headings: Vec<(u8, String)>,
    anchor: Option<String>,
}

impl HeadingPath {
    /// Enters a heading: leaves those of its level and deeper.
    pub(super) fn enter(&mut self, level: u8, heading: &Block) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, shortened_title(&heading.text)));
        if let BlockKind::Heading {
            anchor: Some(anchor),
            ..
        } = &heading.kind
        {
            self.anchor = Some(anchor.clone());
        }
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        self.headings
            .iter()
            .map(|(_, title)| title.clone())
            .collect()
    }

    /// Returns the anchor of the nearest heading above that has one, of any level; a link to it lands just above the text.
    pub(crate) fn anchor(&self) -> Option<String> {
        self.anchor.clone()
    }
}

impl Section<'_> {
    pub(super) fn level(&self) -> Option<u8> {
        self.heading.and_then(Block::heading_level)
    }
}

/// Splits a document's blocks into sections, at each heading.
pub(crate) fn sections_of(blocks: &[Block]) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut path = HeadingPath::default();
    let mut rest = blocks;
    while !rest.is_empty() {
        let heading = rest
            .first()
            .and_then(|block| block.heading_level().map(|level| (level, block)));
        if let Some((level, block)) = heading {
            path.enter(level, block);
            rest = &rest[1..];
        }
        let end = rest
            .iter()
            .position(|block| block.heading_level().is_some());
        let (own, after) = rest.split_at(end.unwrap_or(rest.len()));
        sections.push(Section {
            heading: heading.map(|(_, block)| block),
            blocks: own,
            path: path.clone(),
        });
        rest = after;
    }
    sections
}

pub(super) fn classify(section: &Section<'_>) -> SectionType {
    let code_blocks = section.blocks.iter().filter(|block| block.is_code());
    let titles = section.path.titles();
    if titles.iter().any(|title| is_structural(title)) {
        SectionType::Structural
    } else if code_blocks.count() >= CODE_HEAVY_BLOCKS {
        SectionType::CodeHeavy
    } else {
        SectionType::Instructional
    }
}

fn is_structural(title: &str) -> bool {
    let title = title.to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphabetic());
    STRUCTURAL_TITLES.iter().any(|name| title.starts_with(name))
}
