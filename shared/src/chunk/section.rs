//! Sections: what stands between two headings of level 1 or 2.

use serde::{Deserialize, Serialize};

use crate::book::{Block, BlockKind, shortened_title};

/// What a section is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SectionType {
    /// Learning objectives, takeaways, quizzes and the like.
    Structural,
    /// Concepts and explanations.
    Instructional,
    /// Two blocks of code or more.
    CodeHeavy,
}

impl SectionType {
    /// The name on the wire and in the index.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Structural => "structural",
            Self::Instructional => "instructional",
            Self::CodeHeavy => "code-heavy",
        }
    }
}

/// Titles (beginnings, lower case) of structural sections, after S2.
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

/// Two blocks of code make a section code-heavy (S2 FR-005).
const CODE_HEAVY_BLOCKS: usize = 2;

/// A section of a document.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// Its blocks, the heading first if it has one.
    pub(super) blocks: &'a [Block],
    /// The headings above its first block.
    above: HeadingPath,
}

/// The headings a text stands under, outermost first, and where a link to it lands.
#[derive(Debug, Clone, Default)]
pub(super) struct HeadingPath {
    headings: Vec<(u8, String)>,
    anchor: Option<String>,
}

impl HeadingPath {
    /// Goes below a heading: those of its level and deeper end.
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

    pub(super) fn titles(&self) -> Vec<String> {
        self.headings
            .iter()
            .map(|(_, title)| title.clone())
            .collect()
    }

    /// The anchor of the nearest heading above that has one, of whatever level: a link to it lands just above the text.
    pub(super) fn anchor(&self) -> Option<String> {
        self.anchor.clone()
    }
}

impl Section<'_> {
    /// The title: of its own heading, if it begins with one.
    pub(super) fn title(&self) -> Option<&str> {
        let first = self.blocks.first()?;
        first.heading_level().map(|_| first.text.as_str())
    }

    /// The headings above its blocks, one place after another.
    pub(super) fn headings(&self) -> Headings<'_> {
        Headings {
            blocks: self.blocks,
            at: 0,
            path: self.above.clone(),
        }
    }
}

/// Goes through a section from its start.
pub(super) struct Headings<'a> {
    blocks: &'a [Block],
    at: usize,
    path: HeadingPath,
}

impl Headings<'_> {
    /// The headings above the block at `index`, its own aside. Each call goes on from the one before.
    pub(super) fn before(&mut self, index: usize) -> &HeadingPath {
        for block in self.blocks.get(self.at..index).unwrap_or_default() {
            if let Some(level) = block.heading_level() {
                self.path.enter(level, block);
            }
        }
        self.at = self.at.max(index);
        &self.path
    }
}

/// Cuts a document's blocks in sections: at each heading of level 1 or 2 (a page's own title starts with the text below it).
pub(super) fn sections_of(blocks: &[Block]) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut path = HeadingPath::default();
    let mut above = HeadingPath::default();
    let mut from = 0;
    for (at, block) in blocks.iter().enumerate() {
        let Some(level) = block.heading_level() else {
            continue;
        };
        if level <= 2 && at > from {
            sections.push(Section {
                blocks: &blocks[from..at],
                above: std::mem::take(&mut above),
            });
            from = at;
            above.clone_from(&path);
        }
        path.enter(level, block);
    }
    if from < blocks.len() {
        sections.push(Section {
            blocks: &blocks[from..],
            above,
        });
    }
    sections
}

pub(super) fn classify(section: &Section<'_>) -> SectionType {
    let title = section.title().unwrap_or_default().to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphabetic());
    let structural = STRUCTURAL_TITLES.iter().any(|name| title.starts_with(name));
    let code_blocks = section
        .blocks
        .iter()
        .filter(|block| block.is_code())
        .count();
    if structural {
        SectionType::Structural
    } else if code_blocks >= CODE_HEAVY_BLOCKS {
        SectionType::CodeHeavy
    } else {
        SectionType::Instructional
    }
}
