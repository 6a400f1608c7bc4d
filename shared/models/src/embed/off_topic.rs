//! Measures how near a question is to a book, and to questions that no documentation answers.

/// The nearest chunks: the mean of their cosines is the nearness to the book.
pub const NEAREST_CHUNKS: usize = 10;
/// The nearest off-topic questions are one in this many, ten if there are 208.
const ONE_QUESTION_OF: usize = 20;

/// The unit vectors of the off-topic questions.
#[derive(Debug, Clone, PartialEq)]
pub struct OffTopic(Vec<Vec<f32>>);

impl OffTopic {
    /// Keeps the vectors of questions that no documentation answers.
    #[must_use]
    pub fn new(vectors: &[Vec<f32>]) -> Self {
        Self(vectors.iter().map(|vector| unit(vector)).collect())
    }

    /// Returns one byte for each number, scaled so that the largest of its vector is 127.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.0.iter().flat_map(|vector| {
            let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            let scale = f32::from(i8::MAX) / largest.max(f32::MIN_POSITIVE);
            #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
            vector.iter().map(move |x| (x * scale).round() as i8)
        });
        bytes.map(i8::cast_unsigned).collect()
    }

    /// Reads what [`Self::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], dimensions: usize) -> Self {
        let vectors = bytes.chunks_exact(dimensions.max(1)).map(|vector| {
            let numbers = vector.iter().map(|byte| f32::from(byte.cast_signed()));
            unit(&numbers.collect::<Vec<f32>>())
        });
        Self(vectors.collect())
    }

    /// Returns how near a vector is to the questions whose numbers are wanted.
    #[must_use]
    pub fn nearness(&self, vector: &[f32], is_wanted: impl Fn(usize) -> bool) -> Option<f32> {
        let vector = unit(vector);
        let wanted = self.0.iter().zip(0..).filter(|(_, at)| is_wanted(*at));
        let cosines = wanted.map(|(other, _)| other.iter().zip(&vector).map(|(a, b)| a * b).sum());
        let cosines: Vec<f32> = cosines.collect();
        let nearest = (cosines.len() / ONE_QUESTION_OF).max(1);
        mean_of_best(cosines, nearest)
    }
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter().map(|x| x * scale).collect()
}

/// Returns the mean of the largest values; `None` if there are none.
#[must_use]
pub fn mean_of_best(mut values: Vec<f32>, count: usize) -> Option<f32> {
    values.sort_by(|a, b| b.total_cmp(a));
    values.truncate(count);
    #[expect(clippy::cast_precision_loss, reason = "a few values")]
    let mean = values.iter().sum::<f32>() / values.len() as f32;
    (!values.is_empty()).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_survive_storage_and_the_nearest_ones_count() {
        let vectors: Vec<Vec<f32>> = (0..8)
            .map(|at| {
                (0..4)
                    .map(|x| if x == at % 4 { 3.0 } else { 0.5 })
                    .collect()
            })
            .collect();
        let off_topic = OffTopic::new(&vectors);
        let read = OffTopic::from_bytes(&off_topic.to_bytes(), 4);
        for (a, b) in off_topic.0.iter().flatten().zip(read.0.iter().flatten()) {
            assert!((a - b).abs() < 0.01);
        }
        let near = read.nearness(&vectors[0], |_| true).unwrap();
        let without = read.nearness(&vectors[0], |at| at % 4 != 0).unwrap();
        assert!(near > without && without > 0.0);
        assert_eq!(OffTopic::new(&[]).nearness(&vectors[0], |_| true), None);
        assert_eq!(mean_of_best(vec![1.0, 3.0, 2.0], 2), Some(2.5));
    }
}
