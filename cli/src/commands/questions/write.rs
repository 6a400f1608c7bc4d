//! `bookrag questions write`: a chat model writes the questions of sections that have none or stale ones.

use std::io::{IsTerminal, stdin};

use bookrag::chat::ChatModel;
use bookrag::config::Config;
use bookrag::context::{StartError, generator};
use bookrag::generate::Generator;
use bookrag::invisible::visible;
use bookrag::prices::dollars;
use bookrag::question_writer::{USUAL_QUESTIONS_TOKENS, questions_prompt, tokens_of_prompt};
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};

use super::super::serve::interrupted;
use super::super::{CommandError, Exit, Output, output};
use super::calls::{Calls, Outcome};
use super::files::QuestionFolder;
use super::sections::{PageSection, Selection, SiteArguments, State, counted, place};
use crate::local::LocalError;

const NO_MODEL: &str = "no chat model is set; set BOOKRAG_GENERATOR=openai with OPENAI_API_KEY, or with BOOKRAG_CHAT_BASE_URL and \
    BOOKRAG_CHAT_MODEL for Ollama and other servers. `bookrag questions todo` lists the sections for a coding agent instead";
const NO_PRICE: &str = "--budget needs the model's price, which is unknown; set BOOKRAG_CHAT_PRICE=INPUT/OUTPUT, in dollars for a million tokens";
/// Which model is worth it: of two measured writers, the small one moved the first section found from .23 to .30, a capable one to .60.
const ADVICE: &str = "note: use a capable model. Small ones repeat the heading, and gain little; `bookrag questions check` reports the share";
const MICRO: f64 = 1e6;

#[derive(Debug, Args)]
pub(super) struct WriteArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[command(flatten)]
    selection: Selection,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Only say how many sections, tokens and dollars.
    #[arg(long)]
    dry_run: bool,
    /// Stop before the calls cost more than this.
    #[arg(long, value_name = "USD", value_parser = usd)]
    budget: Option<f64>,
    /// How many sections are written at once.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    parallel: u8,
}

fn usd(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok();
    amount
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| format!("must be an amount in dollars such as 0.50, got `{text}`"))
}

/// What a run is expected to need.
struct Estimate {
    sections: usize,
    pages: usize,
    input_tokens: u64,
    output_tokens: u64,
    /// Dollars, if the price is known.
    usd: Option<f64>,
}

/// What a run did.
#[derive(Default)]
struct Totals {
    sections: usize,
    questions: usize,
    failed: Vec<Value>,
    left: usize,
}

pub(super) async fn run(
    config: &Config,
    arguments: &WriteArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let Some(server) = config.chat_server() else {
        return Err(CommandError::Usage(NO_MODEL.to_owned()));
    };
    let name = visible(server.model).replace(['\n', '\r'], " ");
    let Generator::Model(model) = generator(config)
        .map_err(StartError::Generate)
        .map_err(LocalError::from)?
    else {
        return Err(CommandError::Usage(NO_MODEL.to_owned()));
    };
    let site = arguments.site.read().await?;
    let folder = QuestionFolder::open(&site.site)?;
    let sections = site.sections(&arguments.selection, |state| state != State::Current)?;
    let estimate = Estimate::new(&sections, &model);
    if arguments.budget.is_some() && estimate.usd.is_none() {
        return Err(CommandError::Usage(NO_PRICE.to_owned()));
    }
    if sections.is_empty() || arguments.dry_run {
        estimate.print(&name, output);
        return Ok(Exit::Done);
    }
    output::status(&estimate.text(&name));
    output::status(ADVICE);
    if !arguments.yes && !confirmed()? {
        return Ok(Exit::Failed);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a budget is not negative, and a larger one saturates"
    )]
    let budget = arguments.budget.map(|usd| (usd * MICRO) as u64);
    let calls = Calls::new(model, budget);
    let writer = Writer {
        folder: &folder,
        calls: &calls,
        name: &name,
        parallel: usize::from(arguments.parallel),
    };
    let totals = tokio::select! {
        // First, so that a signal is noticed from the moment that the run starts.
        biased;
        _ = interrupted() => {
            return Err(CommandError::Message(format!(
                "stopped; the finished pages are written. The same command continues: bookrag questions write {}",
                arguments.site.path().display()
            )));
        }
        totals = writer.write(&sections) => totals?,
    };
    totals.print(&calls, output);
    Ok(if totals.failed.is_empty() && totals.left == 0 {
        Exit::Done
    } else {
        Exit::Partial
    })
}

fn confirmed() -> Result<bool, CommandError> {
    if !stdin().is_terminal() {
        return Err(CommandError::Usage(
            "the sections' texts are sent to the model; add --yes to do so".to_owned(),
        ));
    }
    output::status("send the sections' texts to the model? [y/N]");
    let mut answer = String::new();
    let read = stdin().read_line(&mut answer);
    read.map_err(|error| CommandError::Message(format!("no answer could be read: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

struct Writer<'a> {
    folder: &'a QuestionFolder,
    calls: &'a Calls,
    name: &'a str,
    parallel: usize,
}

impl Writer<'_> {
    /// Asks for the sections' questions, several at once, and writes each page's file once all of its sections are there.
    async fn write(&self, sections: &[PageSection<'_>]) -> Result<Totals, CommandError> {
        let mut totals = Totals::default();
        let mut page: Vec<(&PageSection<'_>, Vec<String>)> = Vec::new();
        let asked = futures::stream::iter(sections).map(|section| self.calls.ask(section));
        let mut outcomes = asked.buffered(self.parallel);
        for (position, section) in sections.iter().enumerate() {
            let source = &section.document.file.source;
            let outcome = outcomes.next().await.unwrap_or(Outcome::Left);
            match outcome {
                Outcome::Written(questions) => page.push((section, questions)),
                Outcome::Failed(reason) => {
                    let at = place(source, &section.section.anchor);
                    output::status(&format!("{at}: {reason}"));
                    totals.failed.push(json!({"section": at, "reason": reason}));
                }
                Outcome::Left => totals.left += 1,
            }
            let next = sections.get(position + 1);
            if next.is_some_and(|next| next.document.file.source == *source) || page.is_empty() {
                continue;
            }
            totals.sections += page.len();
            totals.questions += self.write_page(source, &page)?;
            output::status(&format!(
                "{source}: {} written ({} of {})",
                counted(page.len(), "section"),
                position + 1,
                sections.len()
            ));
            page.clear();
        }
        Ok(totals)
    }

    /// Adds the questions to the page's file as it is now, which a person may have edited meanwhile.
    fn write_page(
        &self,
        source: &str,
        sections: &[(&PageSection<'_>, Vec<String>)],
    ) -> Result<usize, CommandError> {
        let mut file = self.folder.read(source)?;
        let mut count = 0;
        for (section, questions) in sections {
            let written = file.section_mut(&section.section.anchor);
            written.remove_those_of_a_model();
            let is_new = written.questions.is_empty();
            for question in questions {
                // The parser keeps to the limits of a question; a section that is full keeps what it has.
                count += usize::from(written.add(question).is_ok());
            }
            written.text_hash = Some(section.section.text_hash.clone());
            if is_new {
                written.sign(self.name);
            }
        }
        self.folder.write(source, &file)?;
        Ok(count)
    }
}

impl Estimate {
    fn new(sections: &[PageSection<'_>], model: &ChatModel) -> Self {
        let fence = bookrag::chat::fence(uuid::Uuid::nil());
        let prompts = sections
            .iter()
            .map(|it| questions_prompt(&it.section, &fence));
        let input_tokens = prompts.map(|prompt| tokens_of_prompt(&prompt)).sum();
        let output_tokens = USUAL_QUESTIONS_TOKENS * sections.len() as u64;
        let mut pages: Vec<&str> = sections
            .iter()
            .map(|section| section.document.file.source.as_str())
            .collect();
        pages.dedup();
        Self {
            sections: sections.len(),
            pages: pages.len(),
            input_tokens,
            output_tokens,
            usd: model
                .price()
                .map(|price| dollars(price.micro_usd(input_tokens, output_tokens))),
        }
    }

    fn text(&self, model: &str) -> String {
        if self.sections == 0 {
            return "every section has questions for its text".to_owned();
        }
        let price = match self.usd {
            Some(usd) => format!("about ${usd:.2}"),
            None => "the price is unknown (BOOKRAG_CHAT_PRICE sets it)".to_owned(),
        };
        format!(
            "{} of {} without questions or with stale ones; {model} reads about {} tokens and writes {}: {price}",
            counted(self.sections, "section"),
            counted(self.pages, "page"),
            self.input_tokens,
            self.output_tokens
        )
    }

    fn print(&self, model: &str, output: Output) {
        if output == Output::Json {
            output::json(&json!({
                "sections": self.sections,
                "pages": self.pages,
                "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens,
                "usd": self.usd,
            }));
        } else {
            output::line(&self.text(model));
        }
    }
}

impl Totals {
    fn print(&self, calls: &Calls, output: Output) {
        let usd = calls.spent().map(dollars);
        if output == Output::Json {
            output::json(&json!({
                "sections": self.sections,
                "questions": self.questions,
                "failed": self.failed,
                "left": self.left,
                "ended": calls.end(),
                "usd": usd,
            }));
            return;
        }
        let mut text = format!(
            "{} for {}",
            counted(self.questions, "question"),
            counted(self.sections, "section")
        );
        if let Some(usd) = usd {
            text.push_str(&format!(", ${usd:.4}"));
        }
        if !self.failed.is_empty() {
            text.push_str(&format!("; {} failed", self.failed.len()));
        }
        if let Some(end) = calls.end() {
            text.push_str(&format!("; {end}, {} left", self.left));
        }
        if !self.failed.is_empty() || self.left > 0 {
            text.push_str(". The next run continues with them");
        }
        output::line(&text);
    }
}
