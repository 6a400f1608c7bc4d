//! Docs whose folder only the site's build makes.

use book::{ContentKind, Origin, SiteSettings};

use super::site_folder::SiteFolder;
use super::{Source, SourceError, folder_origin};

impl Source {
    /// Finds the folder from which the site's build makes a docs folder, and has the docs read from it, as far as that can be known.
    pub(super) async fn find_made_docs(
        &self,
        settings: &mut SiteSettings,
    ) -> Result<(), SourceError> {
        let (_, site) = self.root(settings);
        let docs: Vec<usize> = (0..settings.instances.len())
            .filter(|at| {
                let instance = &settings.instances[*at];
                instance.kind == ContentKind::Docs && !instance.is_assumed && !instance.is_built
            })
            .collect();
        for at in &docs {
            let is_in_toml = folder_origin(settings, &settings.instances[*at]) == Origin::toml();
            let instance = &mut settings.instances[*at];
            if instance.current_version {
                let may_be_made = docs.len() == 1 && !is_in_toml;
                if !may_be_made || self.has_docs(&instance.path).await? != Some(false) {
                    continue;
                }
                let Some(folder) = self.written_docs(&site).await? else {
                    continue;
                };
                let name = instance.path_setting();
                let mut origins = settings.origins.iter_mut();
                if let Some(setting) = origins.find(|setting| setting.name == name) {
                    setting.value = format!("{folder:?}");
                }
                settings.warnings.push(instance.read_from(folder));
            } else if let Some(first) = instance.version_folder(instance.default_version()) {
                let is_made = self.has_docs(&first).await? == Some(false);
                if is_made && self.has_docs(&instance.path).await? == Some(true) {
                    settings.warnings.push(instance.show_hidden_docs_first());
                }
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
