//! Calibration: cosines differ between models and books, so each index measures them with questions that it should not answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::{Stream, StreamExt, TryStreamExt, stream};

use super::batches::embed_all;
use super::{Ingest, IngestError};
use book::chunk::count_tokens;
use models::embed::{NEAREST_CHUNKS, OffTopic, Purpose, mean_of_best};
use store::catalog::{Calibration, IndexState, Scales};
use store::index::{Filters, IndexError, ScoredPoint, VectorQuery};
use text::language_code;

/// Questions that no documentation answers, by language, one a line; half are general knowledge, half are about other software. The lists are
/// translations of each other. The first is for a default locale without a list.
const OFF_TOPIC: [(&str, &str); 13] = [
    ("en", include_str!("off_topic_questions/en.txt")),
    ("ar", include_str!("off_topic_questions/ar.txt")),
    ("de", include_str!("off_topic_questions/de.txt")),
    ("es", include_str!("off_topic_questions/es.txt")),
    ("fr", include_str!("off_topic_questions/fr.txt")),
    ("hi", include_str!("off_topic_questions/hi.txt")),
    ("it", include_str!("off_topic_questions/it.txt")),
    ("ja", include_str!("off_topic_questions/ja.txt")),
    ("ko", include_str!("off_topic_questions/ko.txt")),
    ("nl", include_str!("off_topic_questions/nl.txt")),
    ("pt", include_str!("off_topic_questions/pt.txt")),
    ("ru", include_str!("off_topic_questions/ru.txt")),
    ("zh", include_str!("off_topic_questions/zh.txt")),
];
/// The number of questions in each list.
const QUESTIONS: usize = 104;
/// Each question is measured whole and short: short phrases are nearer to any page than whole questions, and farther from whole questions.
const FORMS: usize = 2;
/// A word that this many questions of a list have asks, such as "how", and is not in their short forms. From 3 to 10 is as good.
const FREQUENT: usize = 5;
const SEARCHES: usize = 4;

impl Ingest {
    /// Calibrates this index if it is the live one, has enough chunks, and has never been calibrated or has grown by half since. Returns the number
    /// of embedded tokens.
    pub async fn calibrate(&self) -> Result<u64, IngestError> {
        let index_id = self.index_row.index_id;
        let indexes = self.catalog.indexes().await?;
        let Some(index) = indexes
            .iter()
            .find(|index| index.index_id == index_id && index.state == IndexState::Live)
        else {
            return Ok(0);
        };
        let chunks = self.catalog.stats(index_id).await?.chunks;
        if chunks < NEAREST_CHUNKS as u64
            || index
                .calibration
                .as_ref()
                .is_some_and(|it| !it.is_outgrown(chunks) && self.has_all_questions(it))
        {
            return Ok(0);
        }
        let locales = self.measured_locales();
        let lists: BTreeSet<usize> = locales.values().copied().collect();
        let questions = lists.iter().flat_map(|list| both_forms(OFF_TOPIC[*list].1));
        let questions: Vec<String> = questions.collect();
        let embedded = embed_all(&self.embedder, &questions, Purpose::Query).await?;
        let vectors: Vec<Vec<f32>> = embedded.into_iter().map(|text| text.vector).collect();
        let mut measured = BTreeMap::new();
        for (locale, list) in locales {
            let first = lists.range(..list).count() * QUESTIONS * FORMS;
            let scales = self.scales(&locale, &vectors, first).await?;
            measured.insert(locale, scales);
        }
        let Some(scales) = measured.remove(&self.index_row.site.default_locale) else {
            return Ok(0);
        };
        let calibration = Calibration {
            scales,
            locales: measured,
            chunks,
        };
        self.catalog
            .set_calibration(index_id, calibration, OffTopic::new(&vectors).to_bytes())
            .await?;
        Ok(questions.iter().map(|text| count_tokens(text) as u64).sum())
    }

    /// Returns the site's default locale and the others that have a list of questions, each with its list's place in [`OFF_TOPIC`].
    fn measured_locales(&self) -> BTreeMap<String, usize> {
        let site = &self.index_row.site;
        let others = site
            .locales
            .iter()
            .filter_map(|locale| Some((locale, list_of(locale)?)));
        let default = &site.default_locale;
        others
            .chain([(default, list_of(default).unwrap_or_default())])
            .map(|(locale, list)| (locale.clone(), list))
            .collect()
    }

    /// True if a calibration has every locale that would be measured now, with as many questions.
    fn has_all_questions(&self, calibration: &Calibration) -> bool {
        let default = &self.index_row.site.default_locale;
        let mut locales = self.measured_locales().into_keys();
        locales.all(|locale| {
            let scales = match &locale {
                locale if locale == default => Some(&calibration.scales),
                locale => calibration.locales.get(locale),
            };
            scales.is_some_and(|it| it.questions.1 - it.questions.0 == QUESTIONS * FORMS)
        })
    }

    /// Measures a locale with the questions in its language, whose vectors begin at `first`.
    async fn scales(
        &self,
        locale: &str,
        vectors: &[Vec<f32>],
        first: usize,
    ) -> Result<Scales, IndexError> {
        let end = first + QUESTIONS * FORMS;
        let own = &vectors[first..end];
        let off_topic = OffTopic::new(own);
        let to_others = own.iter().zip(0..).filter_map(|(vector, at)| {
            off_topic.nearness(vector, |other| other % QUESTIONS != at % QUESTIONS)
        });
        let to_others: Vec<f32> = to_others.collect();
        let to_book = self.nearness(own, &self.filters_of(locale)).await?;
        Ok(Scales::measured(&to_book, &to_others, (first, end)))
    }

    /// Returns how near each question comes to the book.
    async fn nearness(
        &self,
        vectors: &[Vec<f32>],
        filters: &Filters,
    ) -> Result<Vec<f32>, IndexError> {
        let found: Vec<Vec<ScoredPoint>> = self.nearest(vectors, filters).try_collect().await?;
        let nearness = found.iter().filter_map(|points| {
            let cosines = points.iter().map(|point| point.score).collect();
            mean_of_best(cosines, NEAREST_CHUNKS)
        });
        Ok(nearness.collect())
    }

    /// Returns the nearest points of each question.
    fn nearest<'a>(
        &'a self,
        vectors: &'a [Vec<f32>],
        filters: &'a Filters,
    ) -> impl Stream<Item = Result<Vec<ScoredPoint>, IndexError>> + Send + 'a {
        let collection = &self.index_row.collection;
        let searches = vectors.iter().map(move |vector| async move {
            let query = VectorQuery {
                terms: &[],
                vector,
                tokens: &[],
                with_questions: false,
                filters,
                limit: NEAREST_CHUNKS,
            };
            self.index.search(collection, &query).await
        });
        stream::iter(searches).buffered(SEARCHES)
    }

    /// Returns the filters of a reader of a locale who chooses no version.
    fn filters_of(&self, locale: &str) -> Filters {
        let site = &self.index_row.site;
        Filters {
            locale: non_empty(locale),
            versions_beside: site
                .other_instances
                .iter()
                .map(|docs| docs.default_version.clone())
                .collect(),
            version: non_empty(&site.docs.default_version),
            ..Filters::default()
        }
    }
}

/// Returns the place of the questions in a locale's language; `None` without any.
fn list_of(locale: &str) -> Option<usize> {
    let language = language_code(locale);
    OFF_TOPIC.iter().position(|(code, _)| *code == language)
}

/// Returns the questions of a list, and then the same without marks and the words that many of them have, as readers shorten them. In scripts without
/// spaces, only the marks are left out.
fn both_forms(list: &str) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for question in list.lines() {
        let different: BTreeSet<String> = words(question).map(str::to_lowercase).collect();
        for word in different {
            *counts.entry(word).or_default() += 1;
        }
    }
    let short = list.lines().map(|question| {
        let kept = words(question).filter(|word| counts[&word.to_lowercase()] < FREQUENT);
        kept.collect::<Vec<_>>().join(" ")
    });
    list.lines().map(str::to_owned).chain(short).collect()
}

fn words(question: &str) -> impl Iterator<Item = &str> {
    let words = question.split_whitespace();
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
}

fn non_empty(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(all(test, feature = "embedded"))]
mod tests;
