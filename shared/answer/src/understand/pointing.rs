//! Tells questions that point back at the conversation from those that stand alone.

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

/// Words for another form of the same answer: simpler, shorter, in more detail, with an example.
const FORM: &str = "simple simpler short shorter longer words detail details example examples summary summarize summarise \
    einfach einfacher einfacheren einfachen kurz kürzer worten genauer ausführlicher mehr beispiel beispiele \
    sencillo sencillas palabras corto detalle detalles más ejemplo ejemplos simplement simples mots court détails plus exemple exemples \
    palavras curto detalhes mais exemplo exemplos semplice parole breve dettagli più esempio esempi \
    проще короче подробнее пример словами 簡単 例 簡潔 简单 例子 详细 쉽게 예시 بسيط مثال آسان";

/// True if a question has words other than stop words and question words.
pub(crate) fn has_subject(question: &str, language: Language) -> bool {
    let words = Words::new(language);
    words.of_question(question).next().is_some()
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
        &[JOINING, FORM, POINTING]
    } else {
        &[JOINING, FORM]
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
