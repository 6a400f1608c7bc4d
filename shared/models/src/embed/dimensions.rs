//! The vector lengths of hosted models.

/// The default of `text-embedding-3-large`.
const LARGE: usize = 3_072;
/// The default of `OpenAI`'s other models, and of Cohere's `embed-v4.0`.
const USUAL: usize = 1_536;
/// The length of Cohere's `embed-english-v3.0` and `embed-multilingual-v3.0`.
const COHERE_V3: usize = 1_024;
const COHERE_V3_LIGHT: usize = 384;

/// The length of vectors, and whether requests name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// The model's default. Requests do not name it, because many servers reject the field.
    Native(usize),
    /// Named in each request (`text-embedding-3-*` and `embed-v4.0` can shorten their vectors).
    Requested(usize),
}

impl Dimensions {
    /// Returns the configured dimensions of a model, or the default of its name.
    #[must_use]
    pub fn of_model(model: &str, wanted: Option<usize>) -> Self {
        let native = native(model);
        match wanted {
            Some(wanted) if wanted != native => Self::Requested(wanted),
            _ => Self::Native(native),
        }
    }

    /// Returns the length of the vectors.
    pub(super) fn length(self) -> usize {
        match self {
            Self::Native(length) | Self::Requested(length) => length,
        }
    }

    /// Returns the length to name in requests.
    pub(super) fn requested(self) -> Option<usize> {
        match self {
            Self::Native(_) => None,
            Self::Requested(length) => Some(length),
        }
    }
}

fn native(model: &str) -> usize {
    if model.contains("3-large") {
        LARGE
    } else if model.starts_with("embed-") && model.ends_with("-light-v3.0") {
        COHERE_V3_LIGHT
    } else if model.starts_with("embed-") && model.ends_with("-v3.0") {
        COHERE_V3
    } else {
        USUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_its_native_dimensions() {
        for (model, native) in [
            ("text-embedding-3-small", 1_536),
            ("text-embedding-3-large", 3_072),
            ("text-embedding-ada-002", 1_536),
            ("embed-english-v3.0", 1_024),
            ("embed-multilingual-v3.0", 1_024),
            ("embed-english-light-v3.0", 384),
            ("embed-multilingual-light-v3.0", 384),
            ("embed-v4.0", 1_536),
        ] {
            let by_name = Dimensions::of_model(model, None);
            assert_eq!(by_name, Dimensions::Native(native), "{model}");
            let same = Dimensions::of_model(model, Some(native));
            assert_eq!(same, Dimensions::Native(native), "{model}");
            let other = Dimensions::of_model(model, Some(256));
            assert_eq!(other, Dimensions::Requested(256), "{model}");
        }
    }
}
