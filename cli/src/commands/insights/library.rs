//! The insights of a server with several books: their counts, with links to the page of each.

use std::time::Duration;

use bookrag::catalog::CatalogError;
use bookrag::context::Context;

use super::html::{ICON, POLICY};
use super::{DAY, DEFAULT_DAYS};
use crate::html::escaped;
use crate::look::Look;

/// What readers asked one of several books.
#[derive(Debug)]
pub(crate) struct CountedBook {
    title: String,
    /// The path of its own page.
    page: String,
    questions: u64,
    uncertain: u64,
    not_covered: u64,
}

impl CountedBook {
    /// Counts the questions of a book below a path of the server.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub(crate) async fn read(
        context: &Context,
        title: &str,
        place: &str,
    ) -> Result<Self, CatalogError> {
        let since = Duration::from_secs(DEFAULT_DAYS * DAY);
        let days = context.catalog().insights(since).await?.days;
        Ok(Self {
            title: title.to_owned(),
            page: format!("{place}/insights"),
            questions: days.iter().map(|day| day.questions).sum(),
            uncertain: days.iter().map(|day| day.uncertain).sum(),
            not_covered: days.iter().map(|day| day.not_covered).sum(),
        })
    }

    fn row(&self) -> String {
        format!(
            "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escaped(&self.page),
            escaped(&self.title),
            self.questions,
            self.uncertain,
            self.not_covered
        )
    }
}

/// Returns the page that lists the books.
pub(crate) fn page_of_books(books: &[CountedBook]) -> String {
    let look = Look::neutral();
    let rows: String = books.iter().map(CountedBook::row).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>Questions about all books</title>\n{ICON}<style>\n{}{}\
         table{{border-collapse:collapse}}th,td{{padding:.4rem 1rem .4rem 0;text-align:left}}\n</style>\n</head>\n\
         <body>\n<header><div><p class=\"back\"><a href=\"./\">← Ask the docs</a></p><h1>Questions about all books</h1>\n\
         <p>The last {DEFAULT_DAYS} days.</p></div></header>\n<main>\n\
         <table><thead><tr><th>Book</th><th>Questions</th><th>In doubt</th><th>Not covered</th></tr></thead><tbody>\n{rows}</tbody></table>\n\
         </main>\n</body>\n</html>\n",
        look.attributes(),
        look.style_sheet(),
        include_str!("style.css"),
    )
}
