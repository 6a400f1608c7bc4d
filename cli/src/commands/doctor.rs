//! `bookrag doctor`: what was read of a site from where, and what is wrong with it. Needs no model and no store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bookrag::book::{SiteSettings, SkipReason};
use bookrag::chunk::{ChunkPolicy, chunk_document, ledger};
use bookrag::config::Config;
use bookrag::source::{FolderSource, Source};
use clap::Args;
use serde::Serialize;

use super::pages::{ReadPage, read_pages};
use super::{CommandError, Exit, output};

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// The site's folder.
    site: PathBuf,
}

/// What is known of a site before anything is indexed.
#[derive(Debug, Serialize)]
struct Diagnosis {
    settings: Vec<SettingLine>,
    /// What the settings' files hold and could not be read.
    not_read: Vec<String>,
    pages: usize,
    chunks: usize,
    /// Pages of each locale and version.
    editions: BTreeMap<String, usize>,
    skipped: Vec<Finding>,
    /// Pages that are not in a production build.
    drafts: Vec<String>,
    warnings: Vec<Finding>,
    /// Text that is in no chunk and was not left out for a reason.
    lost: Vec<Finding>,
    /// Chunks longer than the policy flags.
    oversized: Vec<Finding>,
    /// URLs that several pages claim.
    shared_urls: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct SettingLine {
    name: &'static str,
    value: String,
    from: String,
}

/// Something about a page, or about a URL.
#[derive(Debug, Serialize)]
struct Finding {
    at: String,
    what: String,
}

pub(super) async fn run(
    config: &Config,
    arguments: &DoctorArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let source = Source::Folder(FolderSource::open(&arguments.site)?);
    let settings = source.settings().await?;
    let pages = read_pages(&source, &settings).await?;
    let diagnosis = diagnose(settings, &pages, &config.chunk_policy);
    if json {
        output::json(&serde_json::json!(diagnosis));
    } else {
        print(&diagnosis);
    }
    let well = diagnosis.skipped.is_empty() && diagnosis.lost.is_empty() && diagnosis.pages > 0;
    Ok(if well { Exit::Done } else { Exit::Partial })
}

fn diagnose(settings: SiteSettings, pages: &[ReadPage], policy: &ChunkPolicy) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        settings: settings
            .origins
            .into_iter()
            .map(|setting| SettingLine {
                name: setting.name,
                value: setting.value,
                from: setting.origin.to_string(),
            })
            .collect(),
        not_read: settings.warnings,
        pages: 0,
        chunks: 0,
        editions: BTreeMap::new(),
        skipped: Vec::new(),
        drafts: Vec::new(),
        warnings: Vec::new(),
        lost: Vec::new(),
        oversized: Vec::new(),
        shared_urls: Vec::new(),
    };
    let mut urls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for page in pages {
        let at = page.file.source.clone();
        let document = match &page.document {
            Ok(document) => document,
            Err(SkipReason::Draft) => {
                diagnosis.drafts.push(at);
                continue;
            }
            Err(reason) => {
                let what = reason.to_string();
                diagnosis.skipped.push(Finding { at, what });
                continue;
            }
        };
        diagnosis.pages += 1;
        let edition = format!("{}, version {}", page.file.locale, page.file.version);
        *diagnosis.editions.entry(edition).or_default() += 1;
        urls.entry(&document.url)
            .or_default()
            .push(&page.file.source);
        let warnings = document.warnings.iter().cloned();
        diagnosis.warnings.extend(warnings.map(|what| Finding {
            at: at.clone(),
            what,
        }));
        let chunks = chunk_document(document, policy);
        diagnosis.chunks += chunks.len();
        let oversized = chunks.iter().filter(|chunk| chunk.oversized);
        diagnosis.oversized.extend(oversized.map(|chunk| Finding {
            at: format!("{at}, lines {} to {}", chunk.start_line, chunk.end_line),
            what: format!("{} tokens", chunk.token_count),
        }));
        let entries = ledger(&page.text, document, &chunks);
        let lost = entries.iter().filter(|entry| !entry.unaccounted.is_empty());
        diagnosis.lost.extend(lost.map(|entry| Finding {
            at: format!("{at}, line {}", entry.start_line),
            what: entry.unaccounted.join(" "),
        }));
    }
    let shared = urls.into_iter().filter(|(_, sources)| sources.len() > 1);
    diagnosis.shared_urls = shared
        .map(|(url, sources)| Finding {
            at: url.to_owned(),
            what: sources.join(", "),
        })
        .collect();
    diagnosis
}

fn print(diagnosis: &Diagnosis) {
    output::line("settings");
    for setting in &diagnosis.settings {
        output::line(&format!(
            "  {:<20} {:<24} {}",
            setting.name, setting.from, setting.value
        ));
    }
    for warning in &diagnosis.not_read {
        output::line(&format!("  not read: {warning}"));
    }
    output::line(&format!(
        "{} pages, {} chunks",
        diagnosis.pages, diagnosis.chunks
    ));
    for (edition, pages) in &diagnosis.editions {
        output::line(&format!("  {edition}: {pages} pages"));
    }
    for draft in &diagnosis.drafts {
        output::line(&format!("  {draft}: a draft, not indexed"));
    }
    for (title, findings) in [
        ("pages skipped", &diagnosis.skipped),
        ("text lost", &diagnosis.lost),
        ("URLs that several pages claim", &diagnosis.shared_urls),
        (
            "long chunks, of code or tables that are not cut",
            &diagnosis.oversized,
        ),
        ("warnings", &diagnosis.warnings),
    ] {
        if !findings.is_empty() {
            output::line(&format!("{title}: {}", findings.len()));
        }
        for finding in findings {
            output::line(&format!("  {}: {}", finding.at, finding.what));
        }
    }
}
