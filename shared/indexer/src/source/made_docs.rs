//! Docs whose folder only the site's build makes.

use book::{ContentKind, Instance, Origin, SiteSettings};

use super::site_folder::SiteFolder;
use super::{Source, SourceError, folder_origin};

impl Source {
    /// Reads docs whose folder only the site's build makes from the folder that the build makes it of, as far as that can be told.
    pub(super) async fn find_made_docs(
        &self,
        settings: &mut SiteSettings,
    ) -> Result<(), SourceError> {
        let (_, site) = self.root(settings);
        let is_in_toml = |docs: &Instance| folder_origin(settings, docs) == Origin::toml();
        let are_in_toml: Vec<bool> = settings.instances.iter().map(is_in_toml).collect();
        let docs = settings.instances.iter_mut().zip(are_in_toml);
        let docs =
            docs.filter(|(it, _)| it.kind == ContentKind::Docs && !(it.is_assumed || it.is_built));
        let mut docs: Vec<(&mut Instance, bool)> = docs.collect();
        let are_alone = docs.len() == 1;
        for (docs, is_in_toml) in &mut docs {
            let is_made = docs.current_version && are_alone && !*is_in_toml;
            if is_made && self.has_docs(&docs.path).await? == Some(false) {
                let Some(folder) = self.written_docs(&site).await? else {
                    continue;
                };
                let name = docs.path_setting();
                let mut origins = settings.origins.iter_mut();
                if let Some(setting) = origins.find(|setting| setting.name == name) {
                    setting.value = format!("{folder:?}");
                }
                settings.warnings.push(docs.read_from(folder));
            }
            let first = docs.version_folder(docs.default_version());
            let Some(first) = first.filter(|_| !docs.current_version) else {
                continue;
            };
            let is_first_made = self.has_docs(&first).await? == Some(false);
            if is_first_made && self.has_docs(&docs.path).await? == Some(true) {
                settings.warnings.push(docs.show_hidden_docs_first());
            }
        }
        Ok(())
    }

    /// Returns the folder in which docs usually are, in the site's folder or beside it, if it has Markdown.
    async fn written_docs(&self, site: &SiteFolder) -> Result<Option<&'static str>, SourceError> {
        for folder in ["docs", "../docs"] {
            let is_inside = site.folder(folder).is_some();
            if is_inside && self.has_docs(folder).await? == Some(true) {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }

    /// True if there is Markdown in the folder; `None` if that cannot be told.
    async fn has_docs(&self, name: &str) -> Result<Option<bool>, SourceError> {
        match self {
            Self::Folder(folder) => Ok(folder.has_docs(name)),
            Self::Git(commit) => Ok(Some(commit.has_docs(name))),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.has_docs(name).await,
            #[cfg(test)]
            Self::Memory(_) => Ok(None),
        }
    }
}
