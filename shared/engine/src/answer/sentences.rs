//! Fixed sentences of answers, by language.

use std::time::Duration;

use tokio::time::timeout;

use super::{NOT_COVERED, NOT_IN_SELECTION, Rules, UNCERTAIN};
use crate::retrieve::{Retrieved, Retriever};

/// The field of a chunk that only textbooks have.
const MODULE_NUMBER: &str = "module_number";
/// Time limit for listing the numbers of a book's modules.
const MODULES_DEADLINE: Duration = Duration::from_secs(2);

/// The English refusal of a site without modules and chapters, which is no textbook. The other languages say "book" for every site.
const NOT_DOCUMENTED: &str = "This documentation does not cover that.";
/// Introduces a refusal if the embedder does not support the question's language.
const UNREAD: &str = "The search does not read the language of this question, so only its exact words were looked for.";

/// Follows a quote that ends before its section.
const CONTINUES: &str = "Continues on the page.";

/// Fixed sentences of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentences {
    /// The book does not cover the question.
    pub(super) not_covered: String,
    /// Introduces the closest passages.
    pub(super) uncertain: String,
    /// The selection does not answer the question.
    pub(super) not_in_selection: String,
    /// The embedder does not support the question's language.
    pub(super) unread: String,
    /// The section goes on after the quote.
    pub(super) continues: String,
}

impl Sentences {
    /// Returns the sentences for a locale: the configured ones, else those in its language, else English ones.
    pub(super) fn of(rules: &Rules, locale: &str, is_textbook: bool) -> Self {
        let code = locale.split(['-', '_']).next().unwrap_or_default();
        let translated = TRANSLATED.iter().find(|(language, _)| *language == code);
        let [not_covered, uncertain, not_in_selection, unread, continues] =
            translated.map_or(ENGLISH, |(_, sentences)| *sentences);
        let not_covered = if not_covered == NOT_COVERED && !is_textbook {
            NOT_DOCUMENTED
        } else {
            not_covered
        };
        let configured = |own: &str, english: &str, sentence: &str| {
            if own == english { sentence } else { own }.to_owned()
        };
        Self {
            not_covered: configured(&rules.not_covered, NOT_COVERED, not_covered),
            uncertain: configured(&rules.uncertain, UNCERTAIN, uncertain),
            not_in_selection: configured(
                &rules.not_in_selection,
                NOT_IN_SELECTION,
                not_in_selection,
            ),
            unread: unread.to_owned(),
            continues: continues.to_owned(),
        }
    }
}

/// True if the book has modules: in the sections found, or anywhere if filters left none. False while the catalog is unavailable, because the
/// wording for other sites fits a textbook too.
pub(super) async fn is_textbook(retriever: &Retriever, found: &Retrieved) -> bool {
    let candidates = &found.candidates;
    if !candidates.is_empty() {
        return candidates.iter().any(|it| it.chunk.module_number.is_some());
    }
    let index_id = retriever.index.index_id;
    let numbers = retriever.catalog().values(index_id, MODULE_NUMBER);
    let numbers = timeout(MODULES_DEADLINE, numbers).await;
    matches!(numbers, Ok(Ok(numbers)) if !numbers.is_empty())
}

/// The English sentences, in the order of the fields of [`Sentences`].
const ENGLISH: [&str; 5] = [NOT_COVERED, UNCERTAIN, NOT_IN_SELECTION, UNREAD, CONTINUES];

/// The sentences in other languages.
const TRANSLATED: [(&str, [&str; 5]); 10] = [
    (
        "ar",
        [
            "ليست لديّ معلومات عن ذلك في الكتاب.",
            "لست متأكدًا من أن الكتاب يجيب عن هذا السؤال. هذا أقرب ما فيه:",
            "لا يمكنني الإجابة عن هذا السؤال بناءً على المعلومات المتاحة.",
            "البحث لا يقرأ لغة هذا السؤال، لذلك بُحث عن كلماته كما هي فقط.",
            "تتمة النص في الصفحة.",
        ],
    ),
    (
        "de",
        [
            "Dazu habe ich im Buch keine Informationen.",
            "Ich bin nicht sicher, ob das Buch diese Frage beantwortet. Das kommt ihr am nächsten:",
            "Ich kann diese Frage anhand der vorliegenden Informationen nicht beantworten.",
            "Die Suche liest die Sprache dieser Frage nicht, daher wurde nur nach ihren genauen Wörtern gesucht.",
            "Auf der Seite geht es weiter.",
        ],
    ),
    (
        "es",
        [
            "No tengo información sobre eso en el libro.",
            "No estoy seguro de que el libro responda a esto. Esto es lo más cercano:",
            "No puedo responder a esta pregunta con la información proporcionada.",
            "La búsqueda no lee el idioma de esta pregunta, así que solo se buscaron sus palabras exactas.",
            "Continúa en la página.",
        ],
    ),
    (
        "fr",
        [
            "Je n'ai pas d'information à ce sujet dans le livre.",
            "Je ne suis pas sûr que le livre réponde à cette question. Voici ce qui s'en rapproche le plus :",
            "Je ne peux pas répondre à cette question à partir des informations fournies.",
            "La recherche ne lit pas la langue de cette question : seuls ses mots exacts ont été cherchés.",
            "La suite est sur la page.",
        ],
    ),
    (
        "hi",
        [
            "इस बारे में पुस्तक में मेरे पास कोई जानकारी नहीं है।",
            "मुझे यकीन नहीं है कि पुस्तक इसका उत्तर देती है। यह सबसे निकट है:",
            "दी गई जानकारी के आधार पर मैं इस प्रश्न का उत्तर नहीं दे सकता।",
            "खोज इस प्रश्न की भाषा नहीं पढ़ती, इसलिए केवल इसके ठीक यही शब्द खोजे गए।",
            "आगे पृष्ठ पर जारी है।",
        ],
    ),
    (
        "ja",
        [
            "この本にはそれに関する情報がありません。",
            "この本がこの質問に答えているかどうか確信がありません。最も近い箇所は次のとおりです：",
            "提供された情報からは、この質問に答えられません。",
            "検索はこの質問の言語を読めないため、質問の語そのものだけを探しました。",
            "続きはページにあります。",
        ],
    ),
    (
        "pt",
        [
            "Não tenho informações sobre isso no livro.",
            "Não tenho certeza de que o livro responda a isso. Isto é o que mais se aproxima:",
            "Não posso responder a esta pergunta com base nas informações fornecidas.",
            "A busca não lê o idioma desta pergunta, por isso só as suas palavras exatas foram procuradas.",
            "Continua na página.",
        ],
    ),
    (
        "ru",
        [
            "В книге нет сведений об этом.",
            "Я не уверен, что книга отвечает на этот вопрос. Ближе всего вот что:",
            "Я не могу ответить на этот вопрос на основе предоставленной информации.",
            "Поиск не читает язык этого вопроса, поэтому искались только его слова как они есть.",
            "Продолжение на странице.",
        ],
    ),
    (
        "ur",
        [
            "کتاب میں اس بارے میں میرے پاس معلومات نہیں ہیں۔",
            "مجھے یقین نہیں کہ کتاب اس کا جواب دیتی ہے۔ یہ سب سے قریب ہے:",
            "دی گئی معلومات کی بنیاد پر میں اس سوال کا جواب نہیں دے سکتا۔",
            "تلاش اس سوال کی زبان نہیں پڑھتی، اس لیے صرف اس کے عین الفاظ تلاش کیے گئے۔",
            "باقی صفحے پر ہے۔",
        ],
    ),
    (
        "zh",
        [
            "书中没有这方面的信息。",
            "我不确定书中是否回答了这个问题。以下内容最为接近：",
            "根据所提供的信息，我无法回答这个问题。",
            "搜索无法读懂这个问题的语言，因此只查找了其中的原词。",
            "页面上还有后续内容。",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_sentence_is_said_in_every_language() {
        let rules = Rules {
            not_covered: "Ask the helpdesk.".to_owned(),
            ..Rules::default()
        };
        for (locale, selection) in [("de-AT", TRANSLATED[1].1[2]), ("eo", NOT_IN_SELECTION)] {
            let sentences = Sentences::of(&rules, locale, false);
            assert_eq!(sentences.not_covered, "Ask the helpdesk.");
            assert_eq!(sentences.not_in_selection, selection);
        }
    }

    #[test]
    fn only_a_textbook_is_called_one() {
        let of = |locale, is_textbook| Sentences::of(&Rules::default(), locale, is_textbook);
        assert_eq!(of("en", true).not_covered, NOT_COVERED);
        assert_eq!(of("en", false).not_covered, NOT_DOCUMENTED);
        assert_eq!(of("de", false), of("de", true));
    }

    #[test]
    fn a_refusal_is_in_the_language_of_the_locale() {
        let languages: Vec<Sentences> = ["en", "ur", "es", "pt-BR"]
            .map(|locale| Sentences::of(&Rules::default(), locale, true))
            .into();
        assert_eq!(languages[0].not_covered, NOT_COVERED);
        for (at, sentences) in languages.iter().enumerate().skip(1) {
            assert!(
                languages[..at]
                    .iter()
                    .all(|other| other.not_covered != sentences.not_covered)
            );
        }
    }
}
