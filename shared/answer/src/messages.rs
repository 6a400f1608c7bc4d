//! Fixed sentences of answers, by language.

use crate::{NOT_COVERED, NOT_IN_SELECTION, Rules, UNCERTAIN};
use text::language_code;

/// Replaces a refusal if the embedder does not support the question's language.
const UNREAD: &str = "The search does not read the language of this question, so only its exact words were looked for. Please ask in the language of these pages.";

/// Follows a quote that ends before its section.
const CONTINUES: &str = "Continues on the page.";

/// Introduces the sections below a quoted one.
const BELOW: &str = "In this section:";

/// Replaces a refusal if nothing but a model could explain the selected text.
const UNEXPLAINED: &str =
    "Explaining this in other words needs a chat model, and none is set up here.";

/// Fixed sentences of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Messages {
    /// Says that the book does not cover the question.
    pub(crate) not_covered: String,
    /// Introduces the closest passage.
    pub(crate) uncertain: String,
    /// Says that the selection does not answer the question.
    pub(crate) not_in_selection: String,
    /// Says that the embedder does not support the question's language.
    pub(crate) unread: String,
    /// Says that the section goes on after the quote.
    pub(crate) continues: String,
    /// Introduces the sections below the quoted one.
    pub(crate) below: String,
    /// Says that only a model could explain the selected text.
    pub(crate) unexplained: String,
}

impl Messages {
    /// Returns the sentences for a locale: the configured ones, else those in its language, else English ones.
    pub(crate) fn in_locale(rules: &Rules, locale: &str) -> Self {
        let code = language_code(locale);
        let translated = TRANSLATED.iter().find(|(language, _)| *language == code);
        let [
            not_covered,
            uncertain,
            not_in_selection,
            unread,
            continues,
            below,
            unexplained,
        ] = translated.map_or(ENGLISH, |(_, sentences)| *sentences);
        Self {
            not_covered: configured(rules.not_covered.as_ref(), not_covered),
            uncertain: configured(rules.uncertain.as_ref(), uncertain),
            not_in_selection: configured(rules.not_in_selection.as_ref(), not_in_selection),
            unread: unread.to_owned(),
            continues: continues.to_owned(),
            below: below.to_owned(),
            unexplained: unexplained.to_owned(),
        }
    }
}

fn configured(own: Option<&String>, translated: &str) -> String {
    own.map_or(translated, String::as_str).to_owned()
}

/// True if the sentences are translated into a language.
pub(crate) fn is_translated(code: &str) -> bool {
    TRANSLATED.iter().any(|(language, _)| *language == code)
}

/// Returns the languages that the sentences are in.
pub(crate) fn languages() -> impl Iterator<Item = &'static str> {
    let translated = TRANSLATED.iter().map(|(language, _)| *language);
    std::iter::once("en").chain(translated)
}

/// The English sentences, in the order of the fields of [`Messages`].
const ENGLISH: [&str; 7] = [
    NOT_COVERED,
    UNCERTAIN,
    NOT_IN_SELECTION,
    UNREAD,
    CONTINUES,
    BELOW,
    UNEXPLAINED,
];

/// The sentences in other languages.
const TRANSLATED: [(&str, [&str; 7]); 10] = [
    (
        "ar",
        [
            "لا أجد معلومات عن ذلك هنا.",
            "ربما هذا:",
            "لا يمكنني الإجابة عن هذا السؤال بناءً على المعلومات المتاحة.",
            "البحث لا يقرأ لغة هذا السؤال، لذلك بُحث عن كلماته كما هي فقط. يُرجى طرح السؤال بلغة هذه الصفحات.",
            "تتمة النص في الصفحة.",
            "في هذا القسم:",
            "شرح ذلك بكلمات أخرى يحتاج إلى نموذج محادثة، ولا يوجد واحد مُعدّ هنا.",
        ],
    ),
    (
        "de",
        [
            "Dazu finde ich hier keine Informationen.",
            "Vielleicht diese Stelle:",
            "Ich kann diese Frage anhand der vorliegenden Informationen nicht beantworten.",
            "Die Suche liest die Sprache dieser Frage nicht, daher wurde nur nach ihren genauen Wörtern gesucht. Bitte in der Sprache dieser Seiten fragen.",
            "Auf der Seite geht es weiter.",
            "In diesem Abschnitt:",
            "Um das mit anderen Worten zu erklären, braucht es ein Chatmodell, und hier ist keines eingerichtet.",
        ],
    ),
    (
        "es",
        [
            "Aquí no encuentro información sobre eso.",
            "Quizá este pasaje:",
            "No puedo responder a esta pregunta con la información proporcionada.",
            "La búsqueda no lee el idioma de esta pregunta, así que solo se buscaron sus palabras exactas. Pregunta en el idioma de estas páginas.",
            "Continúa en la página.",
            "En esta sección:",
            "Explicar esto con otras palabras requiere un modelo de chat, y aquí no hay ninguno configurado.",
        ],
    ),
    (
        "fr",
        [
            "Je ne trouve pas d'information à ce sujet ici.",
            "Peut-être ce passage :",
            "Je ne peux pas répondre à cette question à partir des informations fournies.",
            "La recherche ne lit pas la langue de cette question : seuls ses mots exacts ont été cherchés. Posez la question dans la langue de ces pages.",
            "La suite est sur la page.",
            "Dans cette section :",
            "Expliquer cela en d'autres mots demande un modèle de chat, et aucun n'est configuré ici.",
        ],
    ),
    (
        "hi",
        [
            "इस बारे में मुझे यहाँ कोई जानकारी नहीं मिली।",
            "शायद यह:",
            "दी गई जानकारी के आधार पर मैं इस प्रश्न का उत्तर नहीं दे सकता।",
            "खोज इस प्रश्न की भाषा नहीं पढ़ती, इसलिए केवल इसके ठीक यही शब्द खोजे गए। कृपया इन पृष्ठों की भाषा में पूछें।",
            "आगे पृष्ठ पर जारी है।",
            "इस अनुभाग में:",
            "इसे दूसरे शब्दों में समझाने के लिए चैट मॉडल चाहिए, और यहाँ कोई मॉडल नहीं है।",
        ],
    ),
    (
        "ja",
        [
            "これに関する情報はここにはありません。",
            "これかもしれません：",
            "提供された情報からは、この質問に答えられません。",
            "検索はこの質問の言語を読めないため、質問の語そのものだけを探しました。このページの言語で質問してください。",
            "続きはページにあります。",
            "この節の中：",
            "これを別の言葉で説明するにはチャットモデルが必要ですが、ここには設定されていません。",
        ],
    ),
    (
        "pt",
        [
            "Não encontro informações sobre isso aqui.",
            "Talvez este trecho:",
            "Não posso responder a esta pergunta com base nas informações fornecidas.",
            "A busca não lê o idioma desta pergunta, por isso só as suas palavras exatas foram procuradas. Pergunte no idioma destas páginas.",
            "Continua na página.",
            "Nesta seção:",
            "Explicar isso com outras palavras requer um modelo de chat, e nenhum está configurado aqui.",
        ],
    ),
    (
        "ru",
        [
            "Здесь нет сведений об этом.",
            "Возможно, это:",
            "Я не могу ответить на этот вопрос на основе предоставленной информации.",
            "Поиск не читает язык этого вопроса, поэтому искались только его слова как они есть. Задайте вопрос на языке этих страниц.",
            "Продолжение на странице.",
            "В этом разделе:",
            "Чтобы объяснить это иными словами, нужна чат-модель, а здесь она не настроена.",
        ],
    ),
    (
        "ur",
        [
            "اس بارے میں یہاں معلومات نہیں ملیں۔",
            "شاید یہ:",
            "دی گئی معلومات کی بنیاد پر میں اس سوال کا جواب نہیں دے سکتا۔",
            "تلاش اس سوال کی زبان نہیں پڑھتی، اس لیے صرف اس کے عین الفاظ تلاش کیے گئے۔ براہ کرم ان صفحات کی زبان میں پوچھیں۔",
            "باقی صفحے پر ہے۔",
            "اس حصے میں:",
            "اسے دوسرے الفاظ میں سمجھانے کے لیے چیٹ ماڈل درکار ہے، اور یہاں کوئی ماڈل نہیں ہے۔",
        ],
    ),
    (
        "zh",
        [
            "这里没有这方面的信息。",
            "可能是这里：",
            "根据所提供的信息，我无法回答这个问题。",
            "搜索无法读懂这个问题的语言，因此只查找了其中的原词。请用这些页面的语言提问。",
            "页面上还有后续内容。",
            "本节包含：",
            "换一种说法解释这一点需要聊天模型，而这里没有配置。",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_sentence_is_said_in_every_language() {
        let rules = Rules {
            not_covered: Some("Ask the helpdesk.".to_owned()),
            // A text that equals the English default counts, too.
            uncertain: Some(UNCERTAIN.to_owned()),
            ..Rules::default()
        };
        for (locale, selection) in [("de-AT", TRANSLATED[1].1[2]), ("eo", NOT_IN_SELECTION)] {
            let sentences = Messages::in_locale(&rules, locale);
            assert_eq!(sentences.not_covered, "Ask the helpdesk.");
            assert_eq!(sentences.uncertain, UNCERTAIN);
            assert_eq!(sentences.not_in_selection, selection);
        }
    }

    #[test]
    fn a_refusal_is_in_the_language_of_the_locale() {
        let languages: Vec<Messages> = ["en", "ur", "es", "pt-BR"]
            .map(|locale| Messages::in_locale(&Rules::default(), locale))
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
