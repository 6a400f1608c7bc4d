//! The function and the command, as steps of a history.

use std::collections::BTreeSet;

use super::super::super::{
    Change, Ingest, IngestError, MassDeletion, OpenMode, SyncError, SyncOptions, sync,
};
use super::NEXT_POLICY;
use ::book::is_settings_file;

/// Handles an event, as the function does.
pub(super) async fn serve(ingest: Ingest, path: String) -> Result<(), IngestError> {
    for source in ingest.concerned(&path).await? {
        ingest.ingest_document(&source).await?;
    }
    Ok(())
}

/// Like [`serve`], where the settings or the deployment may change at any time.
pub(super) async fn serve_with_settings(ingest: Ingest, path: String) -> Result<(), IngestError> {
    let ingest = ingest.reopened(OpenMode::Write).await?;
    let sources: BTreeSet<String> = if is_settings_file(&path) {
        let status = ingest.status("").await?;
        let pending = status.pending.into_iter();
        pending.map(|pending| pending.source).collect()
    } else {
        ingest.concerned(&path).await?
    };
    let mut committed = false;
    for source in sources {
        let change = ingest.ingest_document(&source).await?.change;
        committed |= !matches!(change, Change::Unchanged | Change::NotAPage);
    }
    if committed && ingest.settings_changed().await? {
        return Err(IngestError::Contended { path });
    }
    Ok(())
}

/// Runs over the whole book, as the command does.
pub(super) async fn run_over_the_book(ingest: Ingest) -> Result<(), IngestError> {
    // Running the former deployment's command after the switch takes the index back.
    let mode = if ingest.options.policy.name == NEXT_POLICY.name {
        OpenMode::TakeOver
    } else {
        OpenMode::Write
    };
    let ingest = ingest.reopened(mode).await?;
    let options = SyncOptions {
        mass_deletion: MassDeletion::Allow,
    };
    match sync(&ingest, options, |_| {}).await {
        Ok(_) => Ok(()),
        Err(SyncError::Ingest(error)) => Err(error),
        Err(SyncError::Source(error)) => Err(error.into()),
        Err(SyncError::SettingsChanged) => Err(IngestError::Contended {
            path: "the book".to_owned(),
        }),
        Err(error @ (SyncError::NoPages(_) | SyncError::MassDeletion { .. })) => {
            panic!("{error}")
        }
    }
}
