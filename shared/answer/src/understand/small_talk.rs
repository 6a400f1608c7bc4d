//! Answers greetings, thanks, questions about the assistant itself, and abuse.

use crate::{Answerer, Question, proposals};

/// The number of questions that are proposed after small talk.
const PROPOSED: usize = 3;

/// The answer to small talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmallTalk {
    pub(crate) reply: String,
    /// Questions that the book answers.
    pub(crate) proposals: Vec<String>,
}

impl Answerer {
    /// Adds questions that the book answers to a reply.
    pub(crate) async fn small_talk(&self, reply: String, question: &Question) -> SmallTalk {
        let page_url = question.page_url.as_deref();
        let found = proposals(&self.retriever, &question.filters, page_url, PROPOSED);
        let found = found.await.unwrap_or_else(|error| {
            tracing::warn!(stage = "proposals", %error, "no question is proposed");
            Vec::new()
        });
        SmallTalk {
            reply,
            proposals: found.into_iter().map(|found| found.question).collect(),
        }
    }
}

/// What a reader says instead of asking about the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A greeting, or a question about who answers and what can be asked.
    Greeting,
    Thanks,
    Abuse,
}

/// The small talk of a language. Phrases are in lower case, without marks, and separated by commas.
struct Talk {
    greetings: &'static str,
    thanks: &'static str,
    /// Words of which one makes a text abuse.
    abuse: &'static str,
    /// The replies to a greeting, thanks and abuse; `{book}` is the book's title.
    replies: [&'static str; 3],
}

/// Returns the reply to a text that consists of greetings, thanks and questions about the assistant alone; `None` for any other text.
pub(crate) fn reply(text: &str, book: &str) -> Option<String> {
    let said = phrase(text);
    TALKS.iter().find_map(|talk| {
        let kind = talk.kind(&said)?;
        Some(talk.reply(kind, book))
    })
}

/// Returns the reply to a text with an insult; `None` for any other text.
pub(crate) fn reply_to_abuse(text: &str, book: &str) -> Option<String> {
    let said = phrase(text);
    let talk = TALKS.iter().find(|talk| {
        let mut words = said.split(' ');
        words.any(|word| phrases(talk.abuse).any(|known| known == word))
    })?;
    Some(talk.reply(Kind::Abuse, book))
}

/// Returns the words of a text in lower case, with single spaces and without marks.
fn phrase(text: &str) -> String {
    let text = text.to_lowercase().replace(['\'', '’'], "");
    let words = text.split(|c: char| !(c.is_alphanumeric() || is_combining(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// True for a vowel sign of an Indic script, which is part of a word.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{0900}'..='\u{0963}')
}

fn phrases(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

impl Talk {
    /// Returns the kind of a text that consists of known phrases; that of the last one.
    fn kind(&self, said: &str) -> Option<Kind> {
        let known = [
            (Kind::Greeting, self.greetings),
            (Kind::Thanks, self.thanks),
        ];
        let known = known
            .iter()
            .flat_map(|(kind, list)| phrases(list).map(|phrase| (*kind, phrase)));
        let known: Vec<(Kind, &str)> = known.collect();
        let (mut rest, mut last) = (said, None);
        while !rest.is_empty() {
            let (kind, phrase) = known
                .iter()
                .filter(|(_, phrase)| begins_with(rest, phrase))
                .max_by_key(|(_, phrase)| phrase.len())?;
            last = Some(*kind);
            rest = rest[phrase.len()..].trim_start();
        }
        last
    }

    fn reply(&self, kind: Kind, book: &str) -> String {
        self.replies[kind as usize].replace("{book}", book)
    }
}

/// True if a text begins with a phrase that ends at the end of a word.
fn begins_with(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

const TALKS: [Talk; 11] = [
    // English
    Talk {
        greetings: "hi, hello, hey, yo, there, greetings, good morning, good afternoon, good evening, good day, how are you, how are you doing, \
            whats up, who are you, what are you, whats your name, what is your name, what can you do, what do you do, what do you know, \
            what can i ask, what can i ask you, what can i ask here, how can you help, how can you help me, can you help me, how do you work, \
            are you a bot, are you a robot, are you human, are you an ai, are you chatgpt",
        thanks: "thanks, thank you, thank you very much, thank you so much, thanks a lot, many thanks, so much, very much, thx, ty, cheers, great, \
            cool, nice, perfect, awesome, ok, okay, got it, bye, goodbye, see you, that helped, that worked, it works, it worked",
        abuse: "fuck, fucking, fuckin, shit, shitty, bullshit, suck, sucks, stupid, idiot, idiotic, useless, moron",
        replies: [
            "Hello! I answer questions about {book} from its own pages, and link to where each answer stands.",
            "You are welcome! Ask again whenever you like.",
            "I am sorry that this was no help. Tell me what you are trying to do, and I look for it in {book}.",
        ],
    },
    // German
    Talk {
        greetings: "hallo, guten morgen, guten tag, guten abend, moin, servus, grüß gott, grüezi, wie gehts, wie geht es dir, wer bist du, \
            wer sind sie, was bist du, was kannst du, was können sie, was kann ich fragen, was kann ich dich fragen, wie funktionierst du, bist du ein bot, \
            wie heißt du",
        thanks: "danke, danke schön, dankeschön, danke sehr, vielen dank, herzlichen dank, besten dank, super, toll, prima, tschüss, auf wiedersehen",
        abuse: "scheiße, scheiß, scheiss, scheisse, nutzlos, idiot",
        replies: [
            "Hallo! Ich beantworte Fragen zu {book} aus den eigenen Seiten und verlinke, wo die Antwort steht.",
            "Gern geschehen! Fragen Sie jederzeit weiter.",
            "Es tut mir leid, dass das nicht geholfen hat. Sagen Sie mir, was Sie vorhaben, dann suche ich danach in {book}.",
        ],
    },
    // Spanish
    Talk {
        greetings: "hola, buenas, buenos días, buenas tardes, buenas noches, qué tal, cómo estás, quién eres, qué eres, qué puedes hacer, qué sabes hacer, \
            qué puedo preguntar, cómo funcionas, eres un bot, cómo te llamas",
        thanks: "gracias, muchas gracias, mil gracias, genial, perfecto, vale, adiós, hasta luego",
        abuse: "mierda, inútil, estúpido, estúpida, idiota",
        replies: [
            "¡Hola! Respondo preguntas sobre {book} a partir de sus propias páginas y enlazo el lugar de cada respuesta.",
            "¡De nada! Pregunta cuando quieras.",
            "Siento no haber ayudado. Dime qué intentas hacer y lo busco en {book}.",
        ],
    },
    // French
    Talk {
        greetings: "bonjour, bonsoir, salut, coucou, ça va, comment ça va, comment vas tu, comment allez vous, qui es tu, qui êtes vous, tu es qui, \
            que peux tu faire, que pouvez vous faire, que sais tu faire, quest ce que tu peux faire, que puis je demander, comment tu marches, es tu un robot",
        thanks: "merci, merci beaucoup, merci bien, super, parfait, génial, au revoir, à bientôt",
        abuse: "merde, inutile, stupide, idiot",
        replies: [
            "Bonjour ! Je réponds aux questions sur {book} à partir de ses propres pages, avec un lien vers chaque passage.",
            "Avec plaisir ! N'hésitez pas à poser d'autres questions.",
            "Désolé de ne pas avoir aidé. Dites-moi ce que vous voulez faire, et je le cherche dans {book}.",
        ],
    },
    // Portuguese
    Talk {
        greetings: "olá, oi, bom dia, boa tarde, boa noite, tudo bem, como vai, quem é você, quem és tu, o que você é, o que você pode fazer, \
            o que você faz, o que posso perguntar, como você funciona, você é um robô",
        thanks: "obrigado, obrigada, muito obrigado, muito obrigada, valeu, ótimo, perfeito, tchau, até logo",
        abuse: "merda, inútil, estúpido, estúpida, idiota",
        replies: [
            "Olá! Respondo perguntas sobre {book} a partir das próprias páginas, com um link para cada trecho.",
            "De nada! Pergunte quando quiser.",
            "Lamento não ter ajudado. Diga o que você quer fazer e eu procuro em {book}.",
        ],
    },
    // Russian
    Talk {
        greetings: "привет, здравствуй, здравствуйте, добрый день, доброе утро, добрый вечер, как дела, кто ты, кто вы, что ты умеешь, что вы умеете, \
            что ты можешь, о чём можно спросить, как ты работаешь, ты бот, как тебя зовут",
        thanks: "спасибо, большое спасибо, спасибо большое, благодарю, отлично, супер, пока, до свидания",
        abuse: "дерьмо, хрень, бесполезный, бесполезно, тупой, идиот, дурак",
        replies: [
            "Здравствуйте! Я отвечаю на вопросы о {book} по его страницам и даю ссылку на место каждого ответа.",
            "Пожалуйста! Спрашивайте ещё.",
            "Жаль, что это не помогло. Скажите, что вы хотите сделать, и я поищу это в {book}.",
        ],
    },
    // Chinese
    Talk {
        greetings: "你好, 您好, 嗨, 哈喽, 早上好, 下午好, 晚上好, 你是谁, 您是谁, 你是什么, 你能做什么, 你可以做什么, 你会什么, 我可以问什么, 你叫什么名字, 你是机器人吗",
        thanks: "谢谢, 谢谢你, 多谢, 非常感谢, 感谢, 好的, 再见",
        abuse: "废物, 傻逼",
        replies: [
            "您好！我根据 {book} 自己的页面回答问题，并链接到每个答案的出处。",
            "不客气！欢迎随时提问。",
            "很抱歉没有帮上忙。请告诉我您想做什么，我会在 {book} 中查找。",
        ],
    },
    // Japanese
    Talk {
        greetings: "こんにちは, こんばんは, おはよう, おはようございます, はじめまして, やあ, あなたは誰, あなたは誰ですか, 誰ですか, 何ができますか, 何ができるの, \
            何を聞けますか, 何を質問できますか, あなたは何ですか",
        thanks: "ありがとう, ありがとうございます, ありがとうございました, どうも, 助かりました, さようなら",
        abuse: "クソ, くそ, 役立たず, バカ, ばか",
        replies: [
            "こんにちは！{book} のページをもとに質問にお答えし、答えの場所へのリンクを示します。",
            "どういたしまして！いつでもご質問ください。",
            "お役に立てず申し訳ありません。何をしたいか教えていただければ、{book} の中を探します。",
        ],
    },
    // Hindi
    Talk {
        greetings: "नमस्ते, नमस्कार, हैलो, आप कैसे हैं, आप कौन हैं, तुम कौन हो, आप क्या कर सकते हैं, मैं क्या पूछ सकता हूँ",
        thanks: "धन्यवाद, शुक्रिया, बहुत धन्यवाद, बहुत बहुत धन्यवाद, अलविदा",
        abuse: "बकवास, बेकार, मूर्ख",
        replies: [
            "नमस्ते! मैं {book} के बारे में प्रश्नों के उत्तर उसी के पृष्ठों से देता हूँ, और हर उत्तर के स्थान का लिंक देता हूँ।",
            "आपका स्वागत है! जब चाहें फिर पूछें।",
            "खेद है कि इससे मदद नहीं मिली। बताइए आप क्या करना चाहते हैं, मैं उसे {book} में खोजूँगा।",
        ],
    },
    // Urdu
    Talk {
        greetings: "السلام علیکم, ہیلو, سلام, آپ کیسے ہیں, آپ کون ہیں, تم کون ہو, آپ کیا کر سکتے ہیں, میں کیا پوچھ سکتا ہوں",
        thanks: "شکریہ, بہت شکریہ, آپ کا شکریہ, خدا حافظ",
        abuse: "بکواس, بیکار, احمق",
        replies: [
            "السلام علیکم! میں {book} کے بارے میں سوالوں کے جواب اسی کے صفحات سے دیتا ہوں، اور ہر جواب کی جگہ کا لنک دیتا ہوں۔",
            "خوش آمدید! جب چاہیں پھر پوچھیں۔",
            "معذرت کہ اس سے مدد نہیں ملی۔ بتائیں آپ کیا کرنا چاہتے ہیں، میں اسے {book} میں تلاش کروں گا۔",
        ],
    },
    // Arabic
    Talk {
        greetings: "مرحبا, مرحباً, أهلا, أهلاً, السلام عليكم, صباح الخير, مساء الخير, كيف حالك, من أنت, ماذا يمكنك أن تفعل, ماذا تستطيع أن تفعل, ماذا يمكنني أن أسأل",
        thanks: "شكرا, شكراً, شكرا جزيلا, شكراً جزيلاً, مع السلامة",
        abuse: "غبي, تافه, هراء",
        replies: [
            "مرحبًا! أجيب عن الأسئلة حول {book} من صفحاته نفسها، مع رابط إلى موضع كل إجابة.",
            "على الرحب والسعة! اسأل متى شئت.",
            "آسف لأن هذا لم يفدك. أخبرني بما تحاول فعله وسأبحث عنه في {book}.",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the language, by its place in the table, and the kind of a text.
    fn heard(text: &str) -> Option<(usize, Kind)> {
        let said = phrase(text);
        let mut talks = TALKS.iter().enumerate();
        talks.find_map(|(at, talk)| Some((at, talk.kind(&said)?)))
    }

    #[test]
    fn greetings_and_thanks_are_answered_in_their_language() {
        for (text, language, kind) in [
            ("hi", 0, Kind::Greeting),
            ("Hello there!", 0, Kind::Greeting),
            ("hi, who are you?", 0, Kind::Greeting),
            ("What can you do?", 0, Kind::Greeting),
            ("OK, thanks a lot!!", 0, Kind::Thanks),
            ("Guten Tag", 1, Kind::Greeting),
            ("Vielen Dank!", 1, Kind::Thanks),
            ("¡Hola! ¿Qué tal?", 2, Kind::Greeting),
            ("Qu'est-ce que tu peux faire ?", 3, Kind::Greeting),
            ("Obrigada", 4, Kind::Thanks),
            ("Спасибо!", 5, Kind::Thanks),
            ("你好！", 6, Kind::Greeting),
            ("ありがとうございます。", 7, Kind::Thanks),
            ("धन्यवाद", 8, Kind::Thanks),
            ("السلام علیکم", 9, Kind::Greeting),
            ("شكرا", 10, Kind::Thanks),
        ] {
            assert_eq!(heard(text), Some((language, kind)), "{text}");
        }
        let reply = reply("hola", "Sprig").unwrap();
        assert!(reply.starts_with("¡Hola!") && reply.contains("Sprig"));
    }

    #[test]
    fn a_question_about_the_book_is_no_small_talk() {
        for text in [
            "hello world example",
            "how do I say hello",
            "thanks, but how do I calibrate it?",
            "what can the robot do?",
            "help",
            "",
            "42",
            "hi-res images",
            "what is this?",
        ] {
            assert_eq!(heard(text), None, "{text}");
        }
    }

    #[test]
    fn abuse_is_answered_calmly() {
        let reply = reply_to_abuse("this is fucking useless, your docs suck", "Sprig");
        assert!(reply.unwrap().starts_with("I am sorry"));
        assert!(
            reply_to_abuse("Das ist doch scheiße", "Sprig")
                .unwrap()
                .starts_with("Es tut")
        );
        assert_eq!(reply_to_abuse("who won the world cup?", "Sprig"), None);
    }
}
