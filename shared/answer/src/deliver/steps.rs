//! Takes the steps of writing a prepared answer, and streams their events.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use async_stream::stream;
use futures::Stream;
use futures::future::{MaybeDone, maybe_done};
use tokio::time::{Instant, timeout};

use crate::cite::AllowedLinks;
use crate::context::explanation::Explanation;
use crate::context::links::linked_pages;
use crate::context::passages::numbered;
use crate::degradation::Degradation;
use crate::deliver::journal::Journal;
use crate::error::Error;
use crate::generate::Generator;
use crate::generate::cache::{Cache, Kept};
use crate::generate::first_token::{PendingGeneration, degradation_of};
use crate::guard::attribution::AnswerQuality;
use crate::guard::generation::{Generation, GenerationEnding};
use crate::guard::output_filter::OutputFilter;
use crate::guard::writer::Writer;
use crate::quote::{Passage, Quote};
use crate::{Answer, AnswerEvent, Mode, NOT_COVERED, NOT_IN_SELECTION, Outcome, Prepared};
use models::chat::{ChatModel, FunctionCall, Prompt, Usage};
use store::budget::{Reserved, Spent};
use store::catalog::QueryStatus;

/// How long the first text waits for the journal to record that the answer begins.
const BEGIN_GRACE: Duration = Duration::from_millis(200);

/// The next step of an answer.
enum Step {
    /// A model writes.
    Generate(Box<PendingGeneration>),
    /// A model looks something up before it writes.
    LookUp(Box<LookUp>),
    /// The text is known; the answer ends with it.
    Finish(AnswerText),
    /// The model broke off after the reader had seen a part of its text.
    Fail(Error),
}

/// The text of an answer.
enum AnswerText {
    /// A fixed sentence.
    Refusal,
    /// The reply to small talk.
    SmallTalk,
    /// A model's cached answer.
    Kept(Box<Kept>),
    /// Quotes of the book.
    Extracted(Vec<Quote>),
    /// A model's text, whose last events have not been sent.
    Generated(Vec<AnswerEvent>, Box<Answer>),
}

/// The functions that a model calls, and the prompt that it answered with these calls.
struct LookUp {
    model: ChatModel,
    prompt: Prompt,
    calls: Vec<FunctionCall>,
    /// When the answer must be complete.
    deadline: Instant,
}

impl Prepared {
    /// Writes the answer, or the refusal when the book does not cover the question. The last event is [`AnswerEvent::Done`], or an
    /// error.
    pub(crate) fn written_events(
        mut self,
    ) -> impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static {
        stream! {
            let journal = self.journal();
            let mut degraded = Vec::new();
            // The beginning is recorded while the answer is written.
            let mut begun = Box::pin(maybe_done(journal.begin()));
            let mut step = beside(begun.as_mut(), Box::pin(self.first_step(&mut degraded))).await;
            // Log the question even if the reader leaves at the first word, but do not wait for a catalog that hangs.
            let _ = timeout(BEGIN_GRACE, begun.as_mut()).await;
            let text = loop {
                step = match step {
                    Step::Generate(pending) => {
                        let limits = &self.answerer.rules.model;
                        let mut writing = Generation::new(*pending, self.draft(), limits);
                        while let Some(events) = beside(begun.as_mut(), Box::pin(writing.events())).await {
                            for event in events {
                                yield Ok(event);
                            }
                        }
                        self.conclude(writing, &mut degraded).await
                    }
                    Step::LookUp(looking) => {
                        for subject in looking.calls.iter().filter_map(|call| self.subject(call)) {
                            yield Ok(AnswerEvent::LookingUp(subject));
                        }
                        let asked = Box::pin(self.asked_again(*looking, &mut degraded));
                        beside(begun.as_mut(), asked).await
                    }
                    Step::Finish(text) => break text,
                    Step::Fail(error) => {
                        begun.await;
                        journal.fail(QueryStatus::Error, self.spent).await;
                        yield Err(error);
                        return;
                    }
                };
            };
            let mut answer = match text {
                AnswerText::Refusal => {
                    let answer = self.refusal();
                    yield Ok(AnswerEvent::Token(answer.text.clone()));
                    answer
                }
                AnswerText::SmallTalk => {
                    let answer = self.small_talk();
                    yield Ok(AnswerEvent::Token(answer.text.clone()));
                    answer
                }
                AnswerText::Kept(kept) => {
                    for event in kept.events() {
                        yield Ok(event);
                    }
                    self.given_again(*kept)
                }
                AnswerText::Extracted(quotes) => {
                    let (events, writer) = self.quoted(quotes);
                    for event in events {
                        yield Ok(event);
                    }
                    self.written(writer)
                }
                AnswerText::Generated(events, answer) => {
                    for event in events {
                        yield Ok(event);
                    }
                    *answer
                }
            };
            let is_from_book = matches!(answer.outcome, Outcome::Answered | Outcome::Uncertain);
            if is_from_book && answer.citations.is_empty() {
                degraded.push(Degradation::Citations);
            }
            begun.as_mut().await;
            let begun = begun.as_mut().take_output().unwrap_or(false);
            if !begun {
                degraded.push(Degradation::Catalog);
            }
            degraded.retain(|what| !answer.degraded.contains(what));
            answer.degraded.append(&mut degraded);
            // The reader has the answer only after requesting the next event.
            yield Ok(AnswerEvent::Done(Box::new(answer.clone())));
            journal.end(&answer, begun).await;
        }
    }

    pub(crate) fn catalog(&self) -> &store::catalog::Catalog {
        self.answerer.retriever.catalog()
    }

    fn journal(&self) -> Journal {
        Journal::new(
            self.catalog().clone(),
            &self.answerer.rules,
            self.asker.clone(),
            self.message_id,
            self.conversation_id,
            &self.question,
            self.started,
        )
    }

    /// Decides how to answer, and asks the model if there is one.
    async fn first_step(&mut self, degraded: &mut Vec<Degradation>) -> Step {
        if let Cache::Hit(kept) = &mut self.cache {
            return Step::Finish(AnswerText::Kept(std::mem::take(kept)));
        }
        match self.outcome {
            Outcome::NotCovered => return Step::Finish(AnswerText::Refusal),
            Outcome::SmallTalk => return Step::Finish(AnswerText::SmallTalk),
            Outcome::Answered | Outcome::Uncertain => {}
        }
        let Generator::Model(model) = self.answerer.generator.clone() else {
            return Step::Finish(self.extracted().await);
        };
        let deadline = Instant::now() + self.answerer.rules.model.answer;
        let prompt = self.prompt();
        self.asked(model, prompt, deadline, degraded).await
    }

    /// Asks a model again, with the results of its calls.
    async fn asked_again(&mut self, looking: LookUp, degraded: &mut Vec<Degradation>) -> Step {
        let prompt = self.looked_up(looking.prompt, looking.calls).await;
        let (model, deadline) = (looking.model, looking.deadline);
        self.asked(model, prompt, deadline, degraded).await
    }

    /// Asks a model; quotes the book if it writes nothing.
    async fn asked(
        &mut self,
        model: ChatModel,
        prompt: Prompt,
        deadline: Instant,
        degraded: &mut Vec<Degradation>,
    ) -> Step {
        match self.ask(model, prompt, deadline).await {
            Ok(pending) => Step::Generate(Box::new(pending)),
            Err((why, spent)) => {
                self.spent.include(spent);
                degraded.push(why);
                Step::Finish(self.extracted().await)
            }
        }
    }

    /// Pays for a model's text, and decides what follows it.
    async fn conclude(&mut self, writing: Generation, degraded: &mut Vec<Degradation>) -> Step {
        self.pay(&writing.model, writing.usage(), writing.reserved)
            .await;
        match writing.ending() {
            GenerationEnding::Refused => Step::Finish(self.doubted().await),
            GenerationEnding::Calls => Step::LookUp(Box::new(LookUp {
                model: writing.model,
                prompt: writing.prompt,
                calls: writing.calls,
                deadline: writing.deadline,
            })),
            GenerationEnding::Blank(finish) => {
                degraded.push(degradation_of(finish).unwrap_or(Degradation::Generator));
                Step::Finish(self.extracted().await)
            }
            GenerationEnding::Text(finish) => {
                degraded.extend(degradation_of(finish));
                Step::Finish(self.judged(writing, degraded).await)
            }
            GenerationEnding::BrokenOff(error) if writing.is_withheld() => {
                tracing::warn!(stage = "generate", error = %format_args!("the chat model {error}"), "answering with a quote");
                degraded.push(Degradation::Generator);
                Step::Finish(self.extracted().await)
            }
            GenerationEnding::BrokenOff(error) => {
                let cause = format!("the chat model {error}");
                Step::Fail(Error::broken_off(std::io::Error::other(cause)))
            }
        }
    }

    /// Judges a model's text. A text that is no answer is followed by quotes, or replaced by them if the reader saw none of it.
    async fn judged(
        &mut self,
        mut writing: Generation,
        degraded: &mut Vec<Degradation>,
    ) -> AnswerText {
        let quality = writing.draft.writer.worth();
        if quality != AnswerQuality::Answer {
            degraded.push(Degradation::Generator);
        }
        match quality {
            AnswerQuality::None => self.outcome = Outcome::Uncertain,
            AnswerQuality::Answer if self.is_proven(&writing.draft.writer) => {
                self.outcome = Outcome::Answered;
            }
            AnswerQuality::Answer | AnswerQuality::Repetition => {}
        }
        if quality != AnswerQuality::Answer && writing.is_withheld() {
            return self.extracted().await;
        }
        let mut events = writing.withheld();
        let mut writer = writing.draft.writer;
        events.extend(self.correct(quality, &mut writer));
        AnswerText::Generated(events, Box::new(self.written(writer)))
    }

    /// Returns the text in place of that of a model that refuses: a refusal, or for an untrusted model a quote marked as uncertain.
    async fn doubted(&mut self) -> AnswerText {
        let is_trusted = self.answerer.rules.model.is_trusted;
        match self.question.mode {
            Mode::GlobalBook if !is_trusted => {
                self.outcome = Outcome::Uncertain;
                self.extracted().await
            }
            Mode::GlobalBook | Mode::SelectedText => AnswerText::Refusal,
        }
    }

    /// Quotes the book; refuses if no section has text.
    async fn extracted(&mut self) -> AnswerText {
        self.texts.similarities = self.similarities().await;
        let is_doubted =
            self.outcome == Outcome::Uncertain && self.question.mode == Mode::GlobalBook;
        let quotes = self.quotes(&self.extractable(), is_doubted);
        if quotes.is_empty() {
            AnswerText::Refusal
        } else {
            AnswerText::Extracted(quotes)
        }
    }

    /// True if a model's text is an answer although the search is in doubt: the model is trusted, and a passage supports a sentence.
    fn is_proven(&self, writer: &Writer) -> bool {
        self.answerer.rules.model.is_trusted && writer.is_supported() == Some(true)
    }

    /// Returns the quotes that follow a model's text, unless the text is an answer.
    fn correct(&self, quality: AnswerQuality, writer: &mut Writer) -> Vec<AnswerEvent> {
        let is_doubted = match quality {
            AnswerQuality::Answer => return Vec::new(),
            AnswerQuality::Repetition => false,
            AnswerQuality::None => true,
        };
        let gap = Quote::Text("\n\n".to_owned());
        let quotes = self.quotes(&self.readable(), is_doubted);
        std::iter::once(gap)
            .chain(quotes)
            .flat_map(|quote| writer.quote(quote))
            .collect()
    }

    /// Returns the events of an extract, and the writer that produced them.
    fn quoted(&self, quotes: Vec<Quote>) -> (Vec<AnswerEvent>, Writer) {
        let mut writer = self.writer(&self.extractable());
        let quotes = quotes.into_iter();
        let events = quotes.flat_map(|quote| writer.quote(quote)).collect();
        (events, writer)
    }

    pub(crate) fn extractable(&self) -> Vec<Passage<'_>> {
        numbered(&self.texts.quotable)
    }

    pub(crate) fn readable(&self) -> Vec<Passage<'_>> {
        numbered(&self.texts.model_input.passages)
    }

    fn writer(&self, passages: &[Passage<'_>]) -> Writer {
        let labels = self.question.labels_in_text;
        Writer::new(passages, self.locale.as_deref(), labels)
    }

    /// Creates the reader of a model's text. The text may link to the book's pages and to the passages' link targets.
    fn draft(&self) -> OutputFilter {
        let passages = self.readable();
        let chunks = passages.iter().map(|passage| &passage.candidate.chunk);
        let links = chunks
            .clone()
            .flat_map(|chunk| chunk.links.iter().map(String::as_str));
        let pages = chunks
            .clone()
            .map(|chunk| chunk.url_in(self.locale.as_deref()).to_owned());
        let allowed = AllowedLinks::new(
            links.chain(chunks.map(|chunk| chunk.text.as_str())),
            pages.chain(linked_pages(&self.texts.model_input.passages)),
            &self.base_url,
        );
        let is_trusted = self.answerer.rules.model.is_trusted;
        let writer =
            self.writer(&passages)
                .of_model(&self.book, &self.standalone, allowed, is_trusted);
        let refusals = [self.refusal_sentence(), NOT_COVERED, NOT_IN_SELECTION];
        let most = self.answerer.rules.max_answer_tokens;
        OutputFilter::new(refusals, most, writer)
    }

    /// Records the tokens used, and settles what was reserved for them.
    async fn pay(&mut self, model: &ChatModel, usage: Usage, reserved: Reserved) {
        let mut spent = Spent::default();
        spent.add(model, usage);
        self.spent.include(spent);
        reserved.settle(self.catalog(), spent.micro_usd).await;
    }

    pub(crate) fn refusal_sentence(&self) -> &str {
        match self.question.mode {
            _ if self.explanation == Some(Explanation::Missing) => &self.sentences.unexplained,
            Mode::GlobalBook => &self.sentences.not_covered,
            Mode::SelectedText => &self.sentences.not_in_selection,
        }
    }
}

/// Runs the main task to completion, and polls the side task meanwhile.
async fn beside<T, Side: Future>(
    mut side: Pin<&mut MaybeDone<Side>>,
    main: impl Future<Output = T>,
) -> T {
    let mut main = pin!(main);
    poll_fn(|context| {
        // The caller checks later whether the side task is done.
        let _ = side.as_mut().poll(context);
        main.as_mut().poll(context)
    })
    .await
}
