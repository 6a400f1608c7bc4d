//! Detects the language of a question. Pure.

use whatlang::{Detector, Lang, Script, detect};

use crate::messages::is_translated;
use crate::{Question, locale_of};
use store::catalog::SiteInfo;
use text::{Language, language_code};

/// The locale a question is answered from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerLocale {
    /// The locale of the question's language if the site has it, else the page's, else the filter's.
    pub(crate) locale: Option<String>,
    /// The locale of the book's text, if the site does not have the question's language.
    pub(crate) book_language: Option<String>,
    /// The ISO 639-1 code of the question's language, if the site does not have it.
    pub(crate) foreign: Option<&'static str>,
}

/// Chooses the locale a question is answered from. A locale filter of the client and the locale of selected text are kept.
pub(crate) fn answer_locale(
    question: &Question,
    standalone: &str,
    site: &SiteInfo,
) -> AnswerLocale {
    let page = locale_of(site, question.page_url.as_deref());
    let filtered = &question.filters.locale;
    let here = filtered.as_ref().or(page.as_ref());
    let here = here.unwrap_or(&site.default_locale);
    let spoken = match &question.selected_text {
        None => spoken(standalone, site, here),
        Some(_) => Spoken::Unknown,
    };
    let (own, foreign) = match spoken {
        Spoken::Locale(own) if filtered.is_none() => (Some(own), None),
        Spoken::Foreign(code) => (None, Some(code)),
        Spoken::Locale(_) | Spoken::Unknown => (None, None),
    };
    let book_language = foreign.is_some().then(|| here.clone());
    AnswerLocale {
        locale: own.or(page).or_else(|| filtered.clone()),
        book_language,
        foreign,
    }
}

/// The lead in stop words that decides for a language although the detector is unsure.
const CLEAR_LEAD: isize = 2;

/// The result of language detection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spoken {
    /// The site's locale for the language.
    Locale(String),
    /// The site does not have the language with this ISO 639-1 code.
    Foreign(&'static str),
    /// The language is uncertain.
    Unknown,
}

/// Detects the language of a question asked under `locale`.
///
/// Most questions are short and full of names, and a wrong language hides the right pages. So a language counts only if it is clearly ahead of the
/// site's other languages and the likeliest of all languages, and if the question has more of its stop words than of the locale's. A clear lead in
/// stop words is enough for a language that the site does not have. Of 672 English questions of real users none is detected as foreign; of 44 short
/// ones in German, Spanish, French and Japanese 38 are.
fn spoken(question: &str, site: &SiteInfo, locale: &str) -> Spoken {
    let mut locales = std::iter::once(&site.default_locale).chain(&site.locales);
    let known: Option<Vec<Lang>> = locales.clone().map(|own| language_of(own)).collect();
    let (Some(known), Some(here), Some(likeliest)) = (known, language_of(locale), detect(question))
    else {
        return Spoken::Unknown;
    };
    let (language, script) = (likeliest.lang(), likeliest.script());
    // Names and code are in Latin script in any language, and Chinese characters may be Japanese.
    let is_written = match script {
        Script::Latin => true,
        Script::Mandarin => known.iter().any(|own| [Lang::Cmn, Lang::Jpn].contains(own)),
        _ => known.iter().any(|own| script.langs().contains(own)),
    };
    // Other scripts say enough, and some of them have no spaces.
    let has_stop_words = script != Script::Latin
        || stop_word_lead(question, language, locale).is_none_or(|lead| lead > 0);
    let is_elsewhere = script != Script::Mandarin
        && likeliest.is_reliable()
        && !known.contains(&language)
        && has_stop_words;
    if !is_written || is_elsewhere {
        return Spoken::Foreign(code_of(language).unwrap_or_default());
    }
    if script == Script::Latin
        && let Some(code) = language_by_stop_words(question, language, &known, locale)
    {
        return Spoken::Foreign(code);
    }
    let is_decided =
        likeliest.is_reliable() || script != Script::Latin || script.langs().contains(&here);
    let is_known = Detector::with_allowlist(known)
        .detect(question)
        .is_some_and(|found| found.is_reliable() && found.lang() == language);
    if !is_decided || !is_known || (language != here && !has_stop_words) {
        return Spoken::Unknown;
    }
    if language == here {
        return Spoken::Locale(locale.to_owned());
    }
    locales
        .find(|own| language_of(own) == Some(language))
        .map_or(Spoken::Unknown, |own| Spoken::Locale(own.clone()))
}

/// Returns how many more stop words of a language than of a locale's a question has. Languages without a list of stop words cannot be compared.
fn stop_word_lead(question: &str, language: Lang, locale: &str) -> Option<isize> {
    let spoken = Language::of_locale(code_of(language)?).stop_words_in(question)?;
    let here = Language::of_locale(locale).stop_words_in(question)?;
    Some(spoken.cast_signed() - here.cast_signed())
}

/// Returns the language whose stop words lead the most, by at least [`CLEAR_LEAD`], or by less if it is the likeliest and the question has an accent
/// or another character beyond ASCII; `None` if that is a language of the site. On a tie, the likeliest is chosen, then one with translated sentences
/// of answers.
fn language_by_stop_words(
    question: &str,
    likeliest: Lang,
    known: &[Lang],
    locale: &str,
) -> Option<&'static str> {
    let leads = LANGUAGES.iter().filter_map(|(code, language)| {
        let lead = stop_word_lead(question, *language, locale)?;
        let is_likeliest = *language == likeliest;
        let is_clear = lead >= CLEAR_LEAD || lead > 0 && is_likeliest && !question.is_ascii();
        let preference = (is_likeliest, is_translated(code));
        is_clear.then_some(((lead, preference), *code, *language))
    });
    let (_, code, language) = leads.max_by_key(|(lead, ..)| *lead)?;
    (!known.contains(&language)).then_some(code)
}

/// Returns a language's ISO 639-1 code.
fn code_of(language: Lang) -> Option<&'static str> {
    let mut known = LANGUAGES.iter();
    known
        .find(|(_, known)| *known == language)
        .map(|(code, _)| *code)
}

/// Returns the language of a locale such as `pt-BR`; `None` if the detector does not support it.
fn language_of(locale: &str) -> Option<Lang> {
    let code = language_code(locale);
    let known = LANGUAGES.binary_search_by_key(&code.as_str(), |(code, _)| *code);
    known.ok().map(|at| LANGUAGES[at].1)
}

/// The detector's languages by ISO 639-1 code.
const LANGUAGES: [(&str, Lang); 70] = [
    ("af", Lang::Afr),
    ("ak", Lang::Aka),
    ("am", Lang::Amh),
    ("ar", Lang::Ara),
    ("az", Lang::Aze),
    ("be", Lang::Bel),
    ("bg", Lang::Bul),
    ("bn", Lang::Ben),
    ("ca", Lang::Cat),
    ("cs", Lang::Ces),
    ("da", Lang::Dan),
    ("de", Lang::Deu),
    ("el", Lang::Ell),
    ("en", Lang::Eng),
    ("eo", Lang::Epo),
    ("es", Lang::Spa),
    ("et", Lang::Est),
    ("fa", Lang::Pes),
    ("fi", Lang::Fin),
    ("fr", Lang::Fra),
    ("gu", Lang::Guj),
    ("he", Lang::Heb),
    ("hi", Lang::Hin),
    ("hr", Lang::Hrv),
    ("hu", Lang::Hun),
    ("hy", Lang::Hye),
    ("id", Lang::Ind),
    ("it", Lang::Ita),
    ("ja", Lang::Jpn),
    ("jv", Lang::Jav),
    ("ka", Lang::Kat),
    ("km", Lang::Khm),
    ("kn", Lang::Kan),
    ("ko", Lang::Kor),
    ("la", Lang::Lat),
    ("lt", Lang::Lit),
    ("lv", Lang::Lav),
    ("mk", Lang::Mkd),
    ("ml", Lang::Mal),
    ("mr", Lang::Mar),
    ("my", Lang::Mya),
    ("nb", Lang::Nob),
    ("ne", Lang::Nep),
    ("nl", Lang::Nld),
    ("no", Lang::Nob),
    ("or", Lang::Ori),
    ("pa", Lang::Pan),
    ("pl", Lang::Pol),
    ("pt", Lang::Por),
    ("ro", Lang::Ron),
    ("ru", Lang::Rus),
    ("si", Lang::Sin),
    ("sk", Lang::Slk),
    ("sl", Lang::Slv),
    ("sn", Lang::Sna),
    ("sr", Lang::Srp),
    ("sv", Lang::Swe),
    ("ta", Lang::Tam),
    ("te", Lang::Tel),
    ("th", Lang::Tha),
    ("tk", Lang::Tuk),
    ("tl", Lang::Tgl),
    ("tr", Lang::Tur),
    ("uk", Lang::Ukr),
    ("ur", Lang::Urd),
    ("uz", Lang::Uzb),
    ("vi", Lang::Vie),
    ("yi", Lang::Yid),
    ("zh", Lang::Cmn),
    ("zu", Lang::Zul),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn site(locales: &[&str]) -> SiteInfo {
        SiteInfo {
            base_url: "/".to_owned(),
            default_locale: locales[0].to_owned(),
            locales: locales[1..].iter().map(|own| (*own).to_owned()).collect(),
            ..SiteInfo::default()
        }
    }

    /// Returns the answer locale for a question asked on a page of locale `page`, and the language the reader is told about.
    fn told(question: &str, locales: &[&str], page: &str) -> (String, Option<String>) {
        let question = Question {
            page_url: Some(format!("/{page}/docs/a")),
            ..Question::new(question)
        };
        let told = answer_locale(&question, &question.query, &site(locales));
        (told.locale.unwrap(), told.book_language)
    }

    #[test]
    fn a_question_is_answered_in_its_language_if_the_site_has_it() {
        for (question, locales, page, expected) in [
            (
                "¿Cuál es la diferencia entre un servicio y una acción?",
                &["en", "es"][..],
                "",
                "es",
            ),
            (
                "What is the difference between a service and an action?",
                &["en", "es"],
                "es",
                "en",
            ),
            ("روس ون اور روس ٹو میں فرق", &["en", "ur"], "", "ur"),
            (
                "yaml فائل سے پیرامیٹر کیسے لوڈ کریں",
                &["en", "ur"],
                "",
                "ur",
            ),
            ("如何安装这个工具？", &["en", "zh-CN"], "", "zh-CN"),
        ] {
            let (locale, book_language) = told(question, locales, page);
            assert_eq!(
                (locale.as_str(), book_language),
                (expected, None),
                "{question}"
            );
        }
    }

    #[test]
    fn names_and_code_have_no_language() {
        for question in [
            "testEnvironment",
            "docker compose",
            "ROS 2 colcon build error",
            "QoS?",
            "babel.config.json",
            "🤖",
            "24.04",
        ] {
            for locales in [["ur", "en"], ["fr", "en"], ["de", "es"], ["en", "it"]] {
                let expected = (locales[0].to_owned(), None);
                assert_eq!(
                    told(question, &locales, ""),
                    expected,
                    "{question} {locales:?}"
                );
            }
        }
    }

    #[test]
    fn a_language_without_its_stop_words_is_none() {
        for question in [
            "electron 31.2.1, \"type\": \"module\" in package.json. main.js runs fine as ESM but src/preload.js with imports does not load",
            "theme and window size in a json file under userData, electron-store get/set with a schema",
        ] {
            for locales in [&["en", "de", "fr"][..], &["en"]] {
                let expected = ("en".to_owned(), None);
                assert_eq!(told(question, locales, ""), expected, "{question}");
            }
        }
    }

    #[test]
    fn a_language_that_the_site_does_not_have_is_told() {
        for question in [
            "فزیکل اے آئی سے کیا مراد ہے؟",
            "¿Cuál es la diferencia entre un servicio y una acción?",
            "Что такое узел?",
        ] {
            let expected = ("en".to_owned(), Some("en".to_owned()));
            assert_eq!(told(question, &["en", "fr"], ""), expected, "{question}");
        }
        // Kanji alone may be Chinese. Site languages that the detector does not support stay unknown.
        assert_eq!(told("環境変数 設定", &["ja"], "").1, None);
        assert_eq!(told("Что такое узел?", &["en", "sw"], "").1, None);
    }

    #[test]
    fn a_filter_and_a_selection_keep_their_locale() {
        let question = Question::new("Что такое узел, и как его запустить?");
        let site = site(&["en", "ru"]);
        let locale = |question: &Question| answer_locale(question, &question.query, &site).locale;
        assert_eq!(locale(&question).as_deref(), Some("ru"));
        let mut filtered = question.clone();
        filtered.filters.locale = Some("en".to_owned());
        assert_eq!(locale(&filtered).as_deref(), Some("en"));
        let selected = Question {
            selected_text: Some("A node".to_owned()),
            ..question
        };
        assert_eq!(locale(&selected), None);
    }

    #[test]
    fn stop_words_tell_the_language_of_a_short_question() {
        for (question, code) in [
            ("Wo finde ich die Konfiguration?", "de"),
            ("Wie füge ich eine Zeile ein?", "de"),
            ("¿Dónde configuro la base de datos?", "es"),
            ("Où est la configuration ?", "fr"),
        ] {
            let found = answer_locale(&Question::new(question), question, &site(&["en"]));
            assert_eq!(found.foreign, Some(code), "{question}");
        }
    }

    #[test]
    fn languages_are_sorted_by_their_codes() {
        assert!(LANGUAGES.is_sorted_by_key(|(code, _)| *code));
    }
}
