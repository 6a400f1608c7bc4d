//! Projects a model's token states to the vectors that are stored.
//!
//! Each projection was fitted by `fit_token_projection.py` on open documentation, excluding the books that this project measures with.

use rten_simd::SimdOp as _;

use super::LocalModel;
use super::files::sha256_hex;
use super::kernels::Project;

/// The projection for bge-small: 384 rows of [`DIMENSIONS`] little-endian 16-bit numbers. Fitted on the documentation of React Native, Rust, ROS 2,
/// Prettier and a course on reinforcement learning.
const BGE_SMALL: &[u8] = include_bytes!("bge_small_token_projection.bin");
/// The projection for `MiniLM`. Fitted on the documentation of npm and undici, readme files of 60 crates, GNOME's help and the Debian Handbook.
const MINI_LM: &[u8] = include_bytes!("minilm_token_projection.bin");
/// The projection for multilingual-e5-small. Fitted on the same texts and their translations into 22 languages, `LibreOffice`'s help, and the
/// Universal Declaration of Human Rights in ten; orthogonal to the mean state of each language.
const MULTILINGUAL: &[u8] = include_bytes!("multilingual_token_projection.bin");

/// The length of a projected state. A compile-time check keeps it equal to the length in `embed`.
const DIMENSIONS: usize = 96;

/// Digits of the file's hash in a projection's name.
const HASH_DIGITS: usize = 8;

/// A linear map from a model's states to [`DIMENSIONS`].
#[derive(Debug)]
pub(crate) struct TokenProjection {
    identity: String,
    /// A row for each dimension of a state. Units do not matter, because only directions are stored.
    shares: Vec<[f32; DIMENSIONS]>,
}

impl TokenProjection {
    /// Returns the model's projection; `None` if it has none.
    pub(crate) fn for_model(model: LocalModel) -> Option<Self> {
        match model {
            LocalModel::BgeSmall => Some(Self::read(BGE_SMALL)),
            LocalModel::MiniLm => Some(Self::read(MINI_LM)),
            LocalModel::Multilingual => Some(Self::read(MULTILINGUAL)),
            LocalModel::MsMarco => None,
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks();
        let numbers: Vec<f32> = numbers
            .iter()
            .map(|number| f32::from(i16::from_le_bytes(*number)))
            .collect();
        let (shares, _) = numbers.as_chunks();
        let hash = sha256_hex(bytes);
        Self {
            identity: format!("pca{DIMENSIONS} {}", &hash[..HASH_DIGITS]),
            shares: shares.to_vec(),
        }
    }

    /// Returns the projection's name and the beginning of its hash.
    pub(crate) fn identity(&self) -> String {
        self.identity.clone()
    }

    /// Projects a token's state, of any scale.
    pub(crate) fn project(&self, state: &[f32]) -> [f32; DIMENSIONS] {
        let mut output = [0.0; DIMENSIONS];
        Project {
            state,
            shares: &self.shares,
            output: &mut output,
        }
        .dispatch();
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Principal components are orthogonal and of equal length, and the file has one row for each dimension of the states.
    #[test]
    fn each_projection_is_orthonormal() {
        const UNIT: f32 = 32_767.0;
        for model in LocalModel::EMBEDDERS {
            let projection = TokenProjection::for_model(model).unwrap();
            assert_eq!(projection.shares.len(), 384);
            for (row, other) in [(0, 0), (95, 95), (0, 1), (40, 95)] {
                let dot: f32 = projection
                    .shares
                    .iter()
                    .map(|shares| shares[row] * shares[other] / (UNIT * UNIT))
                    .sum();
                let expected = f32::from(u8::from(row == other));
                assert!(
                    (dot - expected).abs() < 1e-3,
                    "{model:?} {row} {other}: {dot}"
                );
            }
        }
    }

    #[test]
    fn a_projected_state_has_its_products_with_each_dimension() {
        let projection = TokenProjection::for_model(LocalModel::BgeSmall).unwrap();
        let mut state = [0.0; 384];
        (state[3], state[380]) = (2.0, -0.5);
        let [first, last] = [3, 380].map(|row| projection.shares[row]);
        let projected = projection.project(&state);
        for (projected, (first, last)) in projected.iter().zip(first.iter().zip(last)) {
            assert!((projected - (2.0 * first - 0.5 * last)).abs() < 1e-3);
        }
    }
}
