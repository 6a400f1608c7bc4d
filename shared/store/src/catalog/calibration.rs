//! What cosines mean in an index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The meaning of cosines in an index, measured with questions that no documentation answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The scales of the default locale.
    #[serde(flatten)]
    pub scales: Scales,
    /// The scales of other locales, measured with questions in their languages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locales: BTreeMap<String, Scales>,
    /// The number of chunks at calibration.
    pub chunks: u64,
}

/// The meaning of cosines in a locale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scales {
    /// How near questions that no documentation answers come to the book.
    pub book: Scale,
    /// How near each of them comes to the others.
    pub off_topic: Scale,
    /// How much nearer each of them comes to the book than to the others.
    #[serde(default = "english_difference")]
    pub difference: Scale,
    /// The place of the first of these questions among the vectors that are stored with the calibration, and the place after the last.
    #[serde(default = "all_questions")]
    pub questions: (usize, usize),
}

/// The mean of eight indexes of the English model, for calibrations of older releases.
fn english_difference() -> Scale {
    Scale {
        median: 0.0,
        deviation: 0.73,
    }
}

/// Calibrations of older releases have questions in one language.
fn all_questions() -> (usize, usize) {
    (0, usize::MAX)
}

/// The distribution of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The median: a few questions that the book does answer do not move it.
    pub median: f32,
    /// The standard deviation.
    pub deviation: f32,
}

/// The weight of a question's nearness to questions about other things, relative to 1 for its nearness to the book. A logistic fit
/// to 442 questions of real users about thirteen sites gives .52.
const OFF_TOPIC_WEIGHT: f32 = 0.5;
/// The least deviation of usable cosines.
const MIN_DEVIATION: f32 = 1e-3;

impl Scale {
    /// Returns the median and the deviation of values.
    #[must_use]
    pub fn from_values(mut values: Vec<f32>) -> Self {
        values.sort_by(f32::total_cmp);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred values")]
        let count = values.len().max(1) as f32;
        let mean = values.iter().sum::<f32>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        Self {
            median: values.get(values.len() / 2).copied().unwrap_or_default(),
            deviation: (squares.sum::<f32>() / count).sqrt(),
        }
    }

    /// Returns a value's distance from the median in deviations; `None` if the values hardly differed.
    fn place(self, value: f32) -> Option<f32> {
        (self.deviation >= MIN_DEVIATION).then(|| (value - self.median) / self.deviation)
    }
}

impl Scales {
    /// Measures the scales with questions about other things: how near each comes to the book, and to the others.
    #[must_use]
    pub fn measured(book: &[f32], off_topic: &[f32], questions: (usize, usize)) -> Self {
        let mut scales = Self {
            book: Scale::from_values(book.to_vec()),
            off_topic: Scale::from_values(off_topic.to_vec()),
            difference: english_difference(),
            questions,
        };
        let pairs = book.iter().zip(off_topic);
        let differences =
            pairs.filter_map(|(book, other)| scales.difference_of(*book, Some(*other)));
        scales.difference = Scale::from_values(differences.collect());
        scales
    }

    /// Returns how much nearer a question is to the book than questions about other things are, in standard deviations. `None` if the index does not
    /// tell questions apart.
    #[must_use]
    pub fn z(&self, book: f32, off_topic: Option<f32>) -> Option<f32> {
        self.difference.place(self.difference_of(book, off_topic)?)
    }

    fn difference_of(&self, book: f32, off_topic: Option<f32>) -> Option<f32> {
        let other = off_topic.and_then(|value| self.off_topic.place(value));
        Some(self.book.place(book)? - OFF_TOPIC_WEIGHT * other.unwrap_or_default())
    }
}

impl Calibration {
    /// Returns the scales of a search in a locale; of one that was not measured, those of the default locale.
    #[must_use]
    pub fn scales_in(&self, locale: Option<&str>) -> Scales {
        let own = locale.and_then(|locale| self.locales.get(locale));
        own.copied().unwrap_or(self.scales)
    }

    /// True if the index has grown by half since calibration.
    #[must_use]
    pub fn is_outgrown(&self, chunks: u64) -> bool {
        chunks.saturating_mul(2) >= self.chunks.saturating_mul(3)
    }
}
