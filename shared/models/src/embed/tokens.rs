//! Token vectors of a text, and their similarity to those of a question.
//!
//! A local model computes a state for each token before the text's vector. Projected to 96 dimensions and rounded to 8 bits, the states show which
//! words of a question a text resembles, at the cost of a single forward pass.

/// Length of a token's vector.
pub const TOKEN_DIMENSIONS: usize = 96;

/// The most token vectors of a text; later ones are dropped.
const MAX_TOKENS: usize = 512;

/// The stored value of a coordinate of 1.
const ONE: f32 = 127.0;

/// A token's vector: coordinates of a unit vector times 127, rounded.
pub type TokenVector = [i8; TOKEN_DIMENSIONS];

/// The vectors of a text's tokens in order, without punctuation. Empty if the model has no token vectors, or the text no words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenVectors(Vec<TokenVector>);

/// A token of a question with the weight of its word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedToken {
    /// The token's vector.
    pub vector: TokenVector,
    /// The weight, at least 0.
    pub weight: f32,
}

impl TokenVectors {
    /// Takes the first 512 vectors.
    pub fn new(vectors: impl IntoIterator<Item = TokenVector>) -> Self {
        Self(vectors.into_iter().take(MAX_TOKENS).collect())
    }

    /// Reads the format of [`Self::to_bytes`]; `None` if the bytes are not a whole number of vectors.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (vectors, rest) = bytes.as_chunks::<TOKEN_DIMENSIONS>();
        let vectors = vectors.iter().map(|row| row.map(u8::cast_signed));
        rest.is_empty().then(|| Self(vectors.collect()))
    }

    /// Returns one byte per coordinate, one vector after the other.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let coordinates = self.0.iter().flatten();
        coordinates.map(|value| value.cast_unsigned()).collect()
    }

    /// Iterates over the vectors.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TokenVector> {
        self.0.iter()
    }

    /// Returns the number of vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no vectors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Scales a vector to length 1 and rounds it. A zero vector stays zero.
#[must_use]
pub fn rounded(vector: &[f32; TOKEN_DIMENSIONS]) -> TokenVector {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = if length > 0.0 { ONE / length } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, reason = "from −127 to 127")]
    vector.map(|value| (value * scale).round() as i8)
}

/// Returns a token's vector as 32-bit floats, with a length of about 1.
#[must_use]
pub fn widened(vector: &TokenVector) -> [f32; TOKEN_DIMENSIONS] {
    vector.map(|value| f32::from(value) / ONE)
}

/// A question's tokens, prepared for comparison with many texts.
#[derive(Debug, Clone)]
pub struct MaxSim {
    /// Stored as 16-bit numbers, which processors multiply and add in pairs.
    tokens: Vec<([i16; TOKEN_DIMENSIONS], f32)>,
    weights: f32,
}

impl MaxSim {
    /// Prepares a question's tokens. `None` if all have weight 0.
    #[must_use]
    pub fn new(question: &[WeightedToken]) -> Option<Self> {
        let tokens: Vec<_> = question
            .iter()
            .filter(|token| token.weight > 0.0)
            .map(|token| (token.vector.map(i16::from), token.weight))
            .collect();
        let weights = tokens.iter().map(|(_, weight)| weight).sum();
        (!tokens.is_empty()).then_some(Self { tokens, weights })
    }

    /// Returns the sum of the tokens' weights.
    #[must_use]
    pub fn weights(&self) -> f32 {
        self.weights
    }

    /// Returns the weights of the question's tokens; tokens with weight 0 are left out.
    #[must_use]
    pub fn token_weights(&self) -> Vec<f32> {
        self.tokens.iter().map(|(_, weight)| *weight).collect()
    }

    /// Returns how well a text matches the question's tokens, about −1 to 1; `None` if the text has no token vectors.
    ///
    /// score = Σ over the question's tokens of weight × the largest dot product with a token of the text / Σ weight.
    /// Source: Khattab and Zaharia, `ColBERT`, SIGIR 2020, which has no weights.
    #[must_use]
    pub fn score(&self, text: &TokenVectors) -> Option<f32> {
        let similarities = self.similarities(text.iter())?;
        let weighted: f32 = self
            .tokens
            .iter()
            .zip(similarities)
            .map(|((_, weight), similarity)| weight * similarity)
            .sum();
        Some(weighted / self.weights)
    }

    /// Returns, for each token of the question, its largest dot product with a token of a text, about −1 to 1; `None` without tokens.
    pub fn similarities<'a>(
        &self,
        text: impl ExactSizeIterator<Item = &'a TokenVector>,
    ) -> Option<Vec<f32>> {
        if text.len() == 0 {
            return None;
        }
        let mut best = vec![i32::MIN; self.tokens.len()];
        for token in text {
            let token = token.map(i16::from);
            for ((asked, _), best) in self.tokens.iter().zip(&mut best) {
                *best = dot(asked, &token).max(*best);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 96 × 127²")]
        let similarities = best.into_iter().map(|best| best as f32 / (ONE * ONE));
        Some(similarities.collect())
    }
}

fn dot(left: &[i16; TOKEN_DIMENSIONS], right: &[i16; TOKEN_DIMENSIONS]) -> i32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| i32::from(*left) * i32::from(*right))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The largest error of a dot product of two rounded unit vectors: each coordinate is off by at most half of 1 / 127.
    const TOLERANCE: f32 = 0.08;

    fn vector() -> impl Strategy<Value = [f32; TOKEN_DIMENSIONS]> {
        proptest::array::uniform(-1.0_f32..1.0)
    }

    fn unit(vector: &[f32; TOKEN_DIMENSIONS]) -> [f32; TOKEN_DIMENSIONS] {
        let length = plain_dot(vector, vector).sqrt();
        vector.map(|value| value / length)
    }

    fn plain_dot(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(a, b)| a * b).sum()
    }

    proptest! {
        #[test]
        fn rounding_keeps_length_and_direction(vector in vector(), scale in 0.01_f32..100.0) {
            let widened = widened(&rounded(&vector.map(|value| value * scale)));
            prop_assert!((plain_dot(&widened, &widened).sqrt() - 1.0).abs() < 0.02);
            prop_assert!(plain_dot(&widened, &unit(&vector)) > 0.98);
        }

        #[test]
        fn a_score_is_what_comparing_every_pair_gives(
            question in proptest::collection::vec((vector(), 0.0_f32..9.0), 1..9),
            text in proptest::collection::vec(vector(), 1..40),
        ) {
            let weights: f32 = question.iter().map(|(_, weight)| weight).sum();
            prop_assume!(weights > 0.0);
            let plain = question.iter().map(|(asked, weight)| {
                let dots = text.iter().map(|token| plain_dot(&unit(asked), &unit(token)));
                weight * dots.fold(f32::MIN, f32::max)
            });
            let plain = plain.sum::<f32>() / weights;
            let question: Vec<WeightedToken> = question
                .iter()
                .map(|(vector, weight)| WeightedToken { vector: rounded(vector), weight: *weight })
                .collect();
            let text = TokenVectors::new(text.iter().map(rounded));
            let score = MaxSim::new(&question).unwrap().score(&text).unwrap();
            prop_assert!((score - plain).abs() < TOLERANCE, "{score} {plain}");
        }

        #[test]
        fn vectors_are_read_as_they_were_written(vectors in proptest::collection::vec(vector(), 0..5)) {
            let vectors = TokenVectors::new(vectors.iter().map(rounded));
            let mut bytes = vectors.to_bytes();
            prop_assert_eq!(TokenVectors::from_bytes(&bytes), Some(vectors));
            bytes.push(0);
            prop_assert_eq!(TokenVectors::from_bytes(&bytes), None);
        }
    }

    #[test]
    fn a_text_has_its_first_512_tokens() {
        let token = |number: i16| rounded(&[f32::from(number); TOKEN_DIMENSIONS]);
        let vectors = TokenVectors::new((0..600).map(|number| token(number - 511)));
        assert_eq!(vectors.len(), MAX_TOKENS);
        assert_eq!(vectors.iter().last(), Some(&token(0)));
    }

    #[test]
    fn nothing_to_compare_has_no_score() {
        let vector = rounded(&[1.0; TOKEN_DIMENSIONS]);
        let question = |weight| [WeightedToken { vector, weight }];
        assert!(MaxSim::new(&[]).is_none() && MaxSim::new(&question(0.0)).is_none());
        let asked = MaxSim::new(&question(2.0)).unwrap();
        assert_eq!(asked.score(&TokenVectors::default()), None);
        let score = asked.score(&TokenVectors::new([vector])).unwrap();
        assert!((score - 1.0).abs() < 0.02, "{score}");
        assert_eq!(rounded(&[0.0; TOKEN_DIMENSIONS]), [0; TOKEN_DIMENSIONS]);
    }
}
