//! A prefix of an S3 bucket.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::str::Utf8Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aws_config::environment::region::EnvironmentVariableRegionProvider;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::ProfileFileRegionProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use aws_sdk_s3::operation::list_objects_v2::builders::ListObjectsV2FluentBuilder;
use aws_sdk_s3::types::{EncodingType, Object};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use percent_encoding::percent_decode_str;

use book::{MAX_PAGE_BYTES, SETTINGS_FILES, is_markdown, private_name};

use super::site_folder::SiteFolder;
use super::{Listing, SourceError, commit_hash, is_config};

const SCHEME: &str = "s3://";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time until the response to an attempt begins; the client makes three attempts.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time for one call with all its attempts, and again for reading a file's content.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The region if none is configured, like that of AWS's own tools.
const FALLBACK_REGION: &str = "us-east-1";
/// The object, below the prefix, in which an upload writes its commit when it is complete (`infra/upload_book.py`).
const COMMIT_FILE: &str = "bookrag-commit.txt";
/// After this time a site is looked for again, because the prefix may hold another one as well.
const SITE_IS_KNOWN_FOR: Duration = Duration::from_mins(10);

/// Returns the base configuration of AWS clients: region, credentials and endpoint as AWS's tools find them.
pub async fn aws_config() -> SdkConfig {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    // Not the whole default chain: querying the machine's metadata needs another client and time.
    let region = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new())
        .or_else(ProfileFileRegionProvider::new())
        .or_else(Region::new(FALLBACK_REGION));
    aws_config::defaults(BehaviorVersion::latest())
        .region(region)
        .http_client(Builder::new().tls_provider(tls).build_https())
        .timeout_config(timeouts)
        .load()
        .await
}

/// The book's files in a bucket.
#[derive(Debug, Clone)]
pub struct S3Source {
    client: Client,
    bucket: String,
    /// Empty, or ends with a slash.
    prefix: String,
    /// The site's folder below the prefix.
    pub(super) site: SiteFolder,
    /// The site that was found last; clones share it.
    last_site: Arc<Mutex<Option<FoundSite>>>,
}

/// The site that a prefix was found to hold.
#[derive(Debug, Clone)]
struct FoundSite {
    /// The path of its config below the prefix.
    config: String,
    at: Instant,
}

impl S3Source {
    /// Connects to `s3://bucket/prefix` with the region, credentials and endpoint that AWS's tools would use.
    ///
    /// Sends no request yet. With `AWS_ENDPOINT_URL` or `AWS_ENDPOINT_URL_S3`, the path names the bucket, as servers other than
    /// Amazon's require.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the URL is invalid.
    pub async fn connect(url: &str) -> Result<Self, SourceError> {
        let shared = aws_config().await;
        let own_endpoint =
            shared.endpoint_url().is_some() || std::env::var_os("AWS_ENDPOINT_URL_S3").is_some();
        let config = aws_sdk_s3::config::Builder::from(&shared)
            .force_path_style(own_endpoint)
            .build();
        Self::new(Client::from_conf(config), url)
    }

    /// Uses an existing client for `s3://bucket/prefix`.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the URL is invalid.
    pub fn new(client: Client, url: &str) -> Result<Self, SourceError> {
        let rest = url.strip_prefix(SCHEME).unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            let problem = format!("the bucket in `{url}` (expected s3://bucket/prefix)");
            return Err(SourceError::NotFound(problem));
        }
        let prefix = prefix.trim_matches('/');
        Ok(Self {
            client,
            bucket: bucket.to_owned(),
            site: SiteFolder::default(),
            last_site: Arc::default(),
            prefix: if prefix.is_empty() {
                String::new()
            } else {
                format!("{prefix}/")
            },
        })
    }

    /// Returns the URL without a trailing slash, which is the site's name if it has no other.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{SCHEME}{}/{}", self.bucket, self.prefix)
            .trim_end_matches('/')
            .to_owned()
    }

    /// Returns the bucket's name.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the path below the prefix of the object at `key`; `None` if the key is outside of the prefix, represents a folder or cannot be the name
    /// of a file.
    #[must_use]
    pub fn path_of<'key>(&self, key: &'key str) -> Option<&'key str> {
        let path = key.strip_prefix(self.prefix.as_str())?;
        (!path.is_empty() && !path.ends_with('/') && !path.contains('\0')).then_some(path)
    }

    /// Looks below the prefix for the one site that it holds, as `bookrag serve` does below a folder. Returns whether there is one.
    ///
    /// Lists the whole prefix. A site that was found is remembered for [`SITE_IS_KNOWN_FOR`] while its config exists. Without one, the next call lists
    /// again, because a file of a new site must not be taken for a page of the prefix itself.
    ///
    /// # Errors
    /// [`SourceError::SeveralSites`] if there are several.
    pub(super) async fn find_site(&mut self) -> Result<bool, SourceError> {
        let known = self.lock_site().clone();
        let known = known.filter(|known| known.at.elapsed() < SITE_IS_KNOWN_FOR);
        if let Some(known) = known
            && self.exists(&known.config).await?
        {
            self.site = SiteFolder::new(folder_of(&known.config));
            return Ok(true);
        }
        let listing = self.list().await?;
        let configs = listing.paths.iter().filter(|path| is_config_of_site(path));
        let sites: BTreeMap<&str, &String> =
            configs.map(|config| (folder_of(config), config)).collect();
        let mut found = sites.iter();
        match (found.next(), found.next()) {
            (Some((site, config)), None) => {
                *self.lock_site() = Some(FoundSite {
                    config: (*config).clone(),
                    at: Instant::now(),
                });
                self.site = SiteFolder::new(site);
            }
            (None, _) => return Ok(false),
            _ => {
                let sites = sites.into_keys().map(str::to_owned).collect();
                return Err(SourceError::SeveralSites {
                    at: self.url(),
                    sites,
                });
            }
        }
        Ok(true)
    }

    fn lock_site(&self) -> MutexGuard<'_, Option<FoundSite>> {
        self.last_site
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// True if there is an object at this path below the prefix.
    async fn exists(&self, path: &str) -> Result<bool, SourceError> {
        let key = format!("{}{path}", self.prefix);
        let keys = self.keys_from(&key, 1).await?;
        Ok(keys.contains(&key))
    }

    /// Returns the commit that the last complete upload was of.
    pub(super) async fn commit(&self) -> Result<Option<String>, SourceError> {
        let root = Self {
            site: SiteFolder::default(),
            ..self.clone()
        };
        let written = root.read(COMMIT_FILE).await?;
        let text = written.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.as_deref().and_then(commit_hash))
    }

    pub(super) async fn has_folder(&self, name: &str) -> Result<bool, SourceError> {
        Ok(!self.first_keys(name, 1).await?.is_empty())
    }

    /// True if there is Markdown in the folder; `None` if the first objects are others, and there may be more.
    pub(super) async fn has_docs(&self, name: &str) -> Result<Option<bool>, SourceError> {
        const COUNT: i32 = 20;
        let keys = self.first_keys(name, COUNT).await?;
        let has_docs = keys.iter().any(|key| is_markdown(key));
        let is_whole = i32::try_from(keys.len()).is_ok_and(|count| count < COUNT);
        Ok((has_docs || is_whole).then_some(has_docs))
    }

    /// Returns the first keys of the objects in a folder.
    async fn first_keys(&self, name: &str, count: i32) -> Result<Vec<String>, SourceError> {
        let folder = match self.site.in_root(name) {
            None => return Ok(Vec::new()),
            Some(root) if root.is_empty() => self.prefix.clone(),
            Some(folder) => format!("{}{folder}/", self.prefix),
        };
        self.keys_from(&folder, count).await
    }

    /// Returns the first keys that begin with `start`.
    async fn keys_from(&self, start: &str, count: i32) -> Result<Vec<String>, SourceError> {
        let page = self
            .listed(start)
            .max_keys(count)
            .send()
            .await
            .map_err(|error| self.failed(start, &error))?;
        let objects = page.contents().iter();
        objects
            .filter_map(|object| self.key_in(&page, object).transpose())
            .collect()
    }

    /// Lists the objects whose keys begin with a prefix. Encoded keys may hold characters that XML cannot.
    fn listed(&self, prefix: &str) -> ListObjectsV2FluentBuilder {
        self.client
            .list_objects_v2()
            .bucket(&self.bucket)
            .prefix(prefix)
            .encoding_type(EncodingType::Url)
    }

    /// Returns the key of an object in a listing, decoded if the server encoded it, which not every server does.
    fn key_in(
        &self,
        page: &ListObjectsV2Output,
        object: &Object,
    ) -> Result<Option<String>, SourceError> {
        let Some(key) = object.key() else {
            return Ok(None);
        };
        if page.encoding_type() != Some(&EncodingType::Url) {
            return Ok(Some(key.to_owned()));
        }
        let decoded = decoded_key(key).map_err(|error| SourceError::Unavailable {
            path: self.url(),
            reason: format!("the key `{key}` in its listing cannot be decoded: {error}"),
        });
        decoded.map(Some)
    }

    pub(super) async fn list(&self) -> Result<Listing, SourceError> {
        let mut pages = self.listed(&self.prefix).into_paginator().send();
        let mut listing = Listing::default();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| self.failed(&self.url(), &error))?;
            for object in page.contents() {
                let key = self.key_in(&page, object)?;
                let Some(path) = key.as_deref().and_then(|key| self.path_of(key)) else {
                    continue;
                };
                let path = self.site.of_root(path);
                if private_name(&path).is_some() {
                    continue;
                }
                if let Some(etag) = object.e_tag() {
                    let etag = etag.trim_matches('"').to_owned();
                    listing.etags.insert(path.clone(), etag);
                }
                listing.paths.insert(path);
            }
        }
        Ok(listing)
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let Some(file) = self.site.in_root(path) else {
            return Ok(None);
        };
        let key = format!("{}{file}", self.prefix);
        let object = match self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key)
            .send()
            .await
        {
            Ok(object) => object,
            // Check the code, not the status: a 404 of a proxy or a wrong endpoint must not delete a book.
            Err(error) if error.code() == Some("NoSuchKey") => return Ok(None),
            Err(error) => return Err(self.failed(path, &error)),
        };
        let mut body = object.body;
        let mut bytes = Vec::new();
        // No `Range` header: S3 answers 416 for any range of an empty object.
        let read = async {
            while bytes.len() <= MAX_PAGE_BYTES
                && let Some(part) = body.try_next().await?
            {
                bytes.extend_from_slice(&part);
            }
            Ok::<_, aws_sdk_s3::primitives::ByteStreamError>(())
        };
        let reason = match tokio::time::timeout(CALL_TIMEOUT, read).await {
            Ok(Ok(())) => {
                bytes.truncate(MAX_PAGE_BYTES + 1);
                return Ok(Some(bytes));
            }
            Ok(Err(error)) => causes(&error),
            Err(_) => {
                let seconds = CALL_TIMEOUT.as_secs();
                format!("it did not arrive within {seconds} seconds")
            }
        };
        Err(SourceError::Unavailable {
            path: path.to_owned(),
            reason,
        })
    }

    fn failed<E>(&self, path: &str, error: &SdkError<E, HttpResponse>) -> SourceError
    where
        E: Error + ProvideErrorMetadata + 'static,
    {
        let path = path.to_owned();
        let status = error
            .raw_response()
            .map(|response| response.status().as_u16());
        let reason = match (status, error.code()) {
            (Some(status), Some(code)) => {
                format!("{status} {code}: {}", error.message().unwrap_or_default())
            }
            (Some(status), None) => format!("the response was {status}"),
            (None, _) => causes(error),
        };
        match (status, error.code()) {
            (_, Some("NoSuchBucket")) => {
                SourceError::NotFound(format!("the bucket {}", self.bucket))
            }
            (Some(403), _) => SourceError::Forbidden { path, reason },
            _ => SourceError::Unavailable { path, reason },
        }
    }
}

/// Decodes a key of a listing or a notification, which is encoded like a form field: `+` is a space.
///
/// # Errors
/// If the key is not UTF-8.
pub fn decoded_key(key: &str) -> Result<String, Utf8Error> {
    let spaced = key.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map(Cow::into_owned)
}

/// Formats an error with its causes, because the client's own errors name only their kind.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// True for the path of a file by which a site is found.
fn is_config_of_site(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_config(name) && SETTINGS_FILES.contains(&name)
}

/// Returns the folder of a file; empty for a file at the prefix itself.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_like_form_fields() {
        for (encoded, key) in [
            ("docs/a+b%20c.md", "docs/a b c.md"),
            ("docs%2Fa%2Bb.md", "docs/a+b.md"),
            ("%D8%A7%D8%B1/100%25%01.md", "ار/100%\u{1}.md"),
            ("100%.md", "100%.md"),
        ] {
            assert_eq!(decoded_key(encoded).as_deref(), Ok(key));
        }
        decoded_key("%FF.md").unwrap_err();
    }
}
