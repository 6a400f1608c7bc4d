//! Tells questions that point back at the conversation from those that stand alone.

use std::cmp::Reverse;

use crate::messages::languages;
use crate::retrieve::{Language, Words};
use text::is_unspaced;

/// Conjunctions of the languages of the panel. This list and the next ones decide only about questions that would be refused alone: any other short
/// question may be searched for together with the one before.
const JOINING: &str = "and but or also instead else und aber oder auch sonst stattdessen y e o pero también et ou mais aussi mas também \
    ma oppure anche и а но или тоже 그럼 و اور";

/// Pronouns and other words that point at something named before.
const POINTING: &str = "it its this that these those they them their he she one ones other others another same again then \
    es das dies diese dieser dieses diesen davon dafür damit darin dabei daran dazu daraus sie ihn ihm ihr ihre andere anderen \
    eso esto ese esta este estos esos lo los las ello ellos ellas otro otra otros otras mismo \
    ça cela ceci celui celle ceux en il elle ils elles le la les lui leur autre autres même \
    isso isto esse essa este ele ela eles elas outro outra outros outras mesmo \
    questo quello questi quelli lo li lui lei loro altro altra altri stesso \
    это этот эта эти он она они его её их другой другие \
    これ それ あれ その この 这 那 它 这个 那个 它们 呢 그 그것 이것 هذا هذه ذلك تلك هو هي یہ وہ اس";
/// The most words of its own that a question whose pronouns point back may have. "Is it gonna rain tomorrow" has three.
const FEW_WORDS: usize = 1;

/// Words for another form of the same answer: simpler, shorter, in more detail.
const FORM: &str = "simple simpler short shorter longer words detail details summary summarize summarise \
    einfach einfacher einfacheren einfachen kurz kürzer worten genauer ausführlicher mehr \
    sencillo sencillas palabras corto detalle detalles más simplement simples mots court détails plus \
    palavras curto detalhes mais semplice parole breve dettagli più \
    проще короче подробнее словами 簡単 簡潔 简单 详细 쉽게 بسيط آسان";

/// Words for an example.
const EXAMPLE: &str = "example examples beispiel beispiele ejemplo ejemplos exemple exemples exemplo exemplos esempio esempi пример 例 例子 예시 مثال";

/// Words that ask what something means, beside stop words.
const MEANING: &str = "explain explanation mean means meaning meant clarify clarification elaborate interpret understand \
    erkläre erklär erklären erklärung erläutere erläutern bedeutet bedeuten bedeutung heißt heisst gemeint verstehe verstehen kannst können könnten könntest bitte mal \
    explica explicar explícame explicame explicación significa significado quiere decir entiendo entender puedes podrías favor \
    explique expliquer expliquez explication explications signifie signification veut dire comprends comprendre peux pouvez pourriez svp plaît \
    explicação significado quer dizer entendo pode poderia spiega spiegami spiegare spiegazione vuol \
    объясни объясните объяснить поясни поясните объяснение значит значить означает значение смысл понимаю понять можешь можете пожалуйста \
    解释 说明 意思 含义 理解 什么 一下 是 的 请 我 不 懂 説明 意味 解説 教えて とは どういう 何 なに して ください 下さい について ですか です は が を の か \
    समझाइए समझाओ समझाएं समझाएँ मतलब अर्थ व्याख्या बताइए क्या है इसका इस का की को करें कृपया यह \
    سمجھائیں سمجھاؤ مطلب وضاحت معنی کیا ہے اسکا کا کی کو کریں براہ کرم اشرح اشرحه فسر فسره معنى يعني توضيح شرح وضح ماذا ما";

/// True if a question has words other than stop words and question words.
pub(crate) fn has_subject(question: &str, language: Language) -> bool {
    let words = Words::new(language);
    words.of_question(question).next().is_some()
}

/// True if a question about selected text asks only what the text means ("explain", "was heißt das?"): in one language, the text's or one of the
/// answers' languages, it has no word besides stop words, words that point at something, and words that ask for a meaning.
pub(crate) fn asks_for_meaning(question: &str, language: Language) -> bool {
    let lists = [MEANING, FORM, POINTING].map(str::split_whitespace);
    let (spaced, mut unspaced): (Vec<&str>, Vec<&str>) = lists
        .into_iter()
        .flatten()
        .partition(|word| word.chars().all(is_of_spaced_script));
    unspaced.sort_by_key(|word| Reverse(word.len()));
    let mut question = question.to_lowercase();
    for word in unspaced {
        question = question.replace(word, " ");
    }
    std::iter::once(language)
        .chain(languages().map(Language::of_locale))
        .any(|language| {
            Words::new(language)
                .of_question(&question)
                .all(|(word, _)| spaced.contains(&&*word))
        })
}

/// True if a question says nothing without the conversation ("why?"), continues it ("and in water?"), asks for another form of its answer ("in
/// simpler words"), or has a word that points back and hardly any of its own ("how do I know if it is?").
pub(crate) fn points_back(question: &str, language: Language) -> bool {
    let words = Words::new(language);
    let own: Vec<(String, String)> = words.of_question(question).collect();
    // A word of a script without spaces gives about two pairs of characters, and its ending or particle as many.
    let pairs = own.iter().filter(|(word, _)| word.contains(is_unspaced));
    let pairs = pairs.count();
    let lists: &[&str] = if own.len() - pairs + pairs / 4 <= FEW_WORDS {
        &[JOINING, FORM, EXAMPLE, POINTING]
    } else {
        &[JOINING, FORM, EXAMPLE]
    };
    own.is_empty() || lists.iter().any(|list| has_word_of(question, list))
}

/// True if a text has a word of a list.
fn has_word_of(text: &str, list: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let (spaced, unspaced): (Vec<&str>, Vec<&str>) = list
        .split_whitespace()
        .partition(|word| word.chars().all(is_of_spaced_script));
    words.any(|word| spaced.contains(&word)) || unspaced.iter().any(|word| text.contains(word))
}

/// True for a letter of a script that puts spaces between words.
fn is_of_spaced_script(letter: char) -> bool {
    !matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_a_selection_asks_for_its_meaning_in_any_language_of_the_answers() {
        for question in [
            "explain",
            "Explain this",
            "What does this mean?",
            "explain it in simpler words, please",
            "why?",
            "Erkläre das",
            "Kannst du mir das bitte erklären?",
            "Was ist damit gemeint?",
            "¿Qué significa esto?",
            "Explícame esto, por favor",
            "Qu'est-ce que ça veut dire ?",
            "Explique-moi ça",
            "O que isso quer dizer?",
            "Что это значит?",
            "Объясни, пожалуйста",
            "这是什么意思？",
            "请解释一下",
            "これはどういう意味ですか",
            "説明してください",
            "इसका मतलब क्या है?",
            "اس کا مطلب کیا ہے؟",
            "ماذا يعني هذا؟",
        ] {
            for locale in ["en", "de", "ja"] {
                let language = Language::of_locale(locale);
                assert!(asks_for_meaning(question, language), "{locale}: {question}");
            }
        }
        for question in [
            "Is it safe?",
            "Show me an example",
            "how long does this take",
            "Wie lange dauert das?",
            "¿Cuánto cuesta esto?",
            "Comment l'installer ?",
            "Сколько это стоит?",
            "这个怎么安装？",
            "いくらですか、料金は",
            "What is once?",
        ] {
            let language = Language::ENGLISH;
            assert!(!asks_for_meaning(question, language), "{question}");
        }
    }

    #[test]
    fn questions_that_need_the_one_before_point_back() {
        for (question, locale, expected) in [
            ("why?", "en", true),
            ("how do I know if it is?", "en", true),
            ("and in water?", "en", true),
            ("with the other one", "en", true),
            ("In simpler words, please", "en", true),
            ("In einfacheren Worten bitte", "de", true),
            ("und wenn die ID anders heißt?", "de", true),
            ("¿y con or?", "es", true),
            ("それは何ですか", "ja", true),
            ("那个怎么用", "zh", true),
            ("tell me a joke", "en", false),
            ("is it gonna rain tomorrow", "en", false),
            ("what's the weather in Paris?", "en", false),
            ("What does SPR-208 mean?", "en", false),
            ("Wer hat die WM gewonnen?", "de", false),
            ("天气怎么样", "zh", false),
        ] {
            let language = Language::of_locale(locale);
            assert_eq!(points_back(question, language), expected, "{question}");
        }
    }
}
