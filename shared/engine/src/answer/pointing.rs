//! Tells questions that point back at the conversation from those that stand alone.

use crate::retrieve::{Language, Words};

/// Pronouns and conjunctions of the languages of the panel. They decide only about questions that would be refused alone: any other short question may
/// be searched for together with the one before.
const POINTING: &str = "it its this that these those they them their he she one ones other others another same instead else again then \
    and but or also \
    es das dies diese dieser dieses diesen davon dafür damit darin dabei daran dazu daraus sie ihn ihm ihr ihre andere anderen sonst stattdessen und aber oder auch \
    eso esto ese esta este estos esos lo los las ello ellos ellas otro otra otros otras mismo y e o pero también \
    ça cela ceci celui celle ceux en y il elle ils elles le la les lui leur autre autres même et ou mais aussi \
    isso isto esse essa este ele ela eles elas outro outra outros outras mesmo e mas ou também \
    questo quello questi quelli lo li lui lei loro altro altra altri stesso ma oppure anche \
    это этот эта эти он она они его её их другой другие тоже и а но или \
    これ それ あれ その この 这 那 它 这个 那个 它们 呢 그 그것 이것 그럼 \
    هذا هذه ذلك تلك هو هي و یہ وہ اس اور";

/// Words for another form of the same answer: simpler, shorter, in more detail, with an example.
const FORM: &str = "simple simpler short shorter longer words detail details example examples summary summarize summarise \
    einfach einfacher einfacheren einfachen kurz kürzer worten genauer ausführlicher mehr beispiel beispiele \
    sencillo sencillas palabras corto detalle detalles más ejemplo ejemplos simplement simples mots court détails plus exemple exemples \
    palavras curto detalhes mais exemplo exemplos semplice parole breve dettagli più esempio esempi \
    проще короче подробнее пример словами 簡単 例 簡潔 简单 例子 详细 쉽게 예시 بسيط مثال آسان";

/// True if a question says nothing without the conversation ("why?"), has a word that points back at it ("and how do I turn that off?"), or
/// asks for another form of its answer ("in simpler words").
pub(super) fn points_back(question: &str, language: Language) -> bool {
    let words = Words::of(language);
    if words.of_question(question).next().is_none() {
        return true;
    }
    let question = question.to_lowercase();
    let mut asked = question.split(|c: char| !c.is_alphanumeric());
    let is_spaced = |word: &str| word.chars().all(is_of_spaced_script);
    let known = POINTING.split_whitespace().chain(FORM.split_whitespace());
    let (spaced, unspaced): (Vec<&str>, Vec<&str>) = known.partition(|word| is_spaced(word));
    asked.any(|word| spaced.contains(&word)) || unspaced.iter().any(|word| question.contains(word))
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
