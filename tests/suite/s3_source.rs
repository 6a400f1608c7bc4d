//! Reads a book from S3: existing files, missing files, and errors that look like missing files.

use axum::{Router, http::StatusCode, routing::any};
use bookrag::book::{MAX_PAGE_BYTES, etag};
use bookrag::source::{S3Source, Source, SourceError};
use bookrag_tests::moto::{Moto, client};
use tokio::net::TcpListener;

/// More than one page of a listing.
const MANY: usize = 1_001;

fn source(moto: &Moto, url: &str) -> Source {
    Source::S3(S3Source::new(moto.client(), url).unwrap())
}

#[tokio::test]
async fn a_prefix_is_a_folder() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    for key in [
        "site/docs/a b.md",
        "site/docs/",
        "site/ä+%.md",
        "site/%2B\u{1}.md",
        "site2/c.md",
        "site",
    ] {
        moto.put("books", key, key).await;
    }
    moto.put("books", "site/empty.md", "").await;
    let at_prefix = source(&moto, "s3://books/site/");
    let listing = at_prefix.listing().await.unwrap();
    let listed = Vec::from_iter(listing.paths);
    assert_eq!(listed, ["%2B\u{1}.md", "docs/a b.md", "empty.md", "ä+%.md"]);
    for path in &listed {
        let bytes = at_prefix.read(path).await.unwrap().unwrap();
        assert_eq!(listing.etags[path], etag(&bytes), "{path}");
    }
    for path in &listed[..2] {
        let bytes = at_prefix.read(path).await.unwrap().unwrap();
        assert_eq!(bytes, format!("site/{path}").as_bytes());
    }
    assert_eq!(
        at_prefix.read("ä+%.md").await.unwrap().unwrap(),
        "site/ä+%.md".as_bytes()
    );
    assert_eq!(at_prefix.read("empty.md").await.unwrap(), Some(Vec::new()));
    assert_eq!(at_prefix.read("docs/none.md").await.unwrap(), None);
    assert_eq!(
        at_prefix.settings().await.unwrap().instances[0].path,
        "docs"
    );

    let at_root = source(&moto, "s3://books");
    assert!(at_root.list().await.unwrap().contains("site2/c.md"));
    assert_eq!(
        at_root.read("site2/c.md").await.unwrap().unwrap(),
        b"site2/c.md"
    );
    assert_eq!(at_root.settings().await.unwrap().instances[0].path, "");
}

#[tokio::test]
async fn a_site_that_was_found_is_known_as_long_as_its_config_exists() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let config = "module.exports = {title: 'A'}";
    let (first, second) = (
        "book/website/docusaurus.config.js",
        "book/other/bookrag.toml",
    );
    moto.put("books", first, config).await;
    let bucket = S3Source::new(moto.client(), "s3://books/book").unwrap();
    let opened = async || Source::S3(bucket.clone()).opened().await;
    let path = |source: Source| source.path_of_site("website/docs/a.md");
    assert_eq!(path(opened().await.unwrap().0), "docs/a.md");

    // Another site is not looked for each time.
    moto.put("books", second, "title = 'B'").await;
    assert_eq!(path(opened().await.unwrap().0), "docs/a.md");
    let fresh = S3Source::new(moto.client(), "s3://books/book").unwrap();
    let error = Source::S3(fresh).opened().await.unwrap_err();
    assert!(matches!(error, SourceError::SeveralSites { .. }), "{error}");

    moto.delete("books", first).await;
    let (source, settings) = opened().await.unwrap();
    assert_eq!(path(source), "../website/docs/a.md");
    assert_eq!(settings.title.as_deref(), Some("B"));
}

#[tokio::test]
async fn listings_of_several_pages_are_read_to_their_end_and_files_to_the_limit() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    for number in 0..MANY {
        moto.put("books", &format!("docs/{number}.md"), "x").await;
    }
    let source = source(&moto, "s3://books");
    assert_eq!(source.list().await.unwrap().len(), MANY);
    for (excess, kept) in [(0, 0), (1, 1), (100_000, 1)] {
        moto.put("books", "big.md", vec![b'x'; MAX_PAGE_BYTES + excess])
            .await;
        let bytes = source.read("big.md").await.unwrap().unwrap();
        assert_eq!(bytes.len(), MAX_PAGE_BYTES + kept);
    }
}

#[tokio::test]
async fn a_missing_bucket_is_not_an_empty_book() {
    let moto = Moto::start().await;
    let source = source(&moto, "s3://nowhere/site");
    for failure in [
        source.list().await.unwrap_err(),
        source.read("docs/a.md").await.unwrap_err(),
    ] {
        assert_eq!(failure.to_string(), "the bucket nowhere does not exist");
    }
}

/// Starts a server that answers every request in the same way.
async fn source_that_answers(status: StatusCode, body: &'static str) -> Source {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(any(async move || (status, body)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Source::S3(S3Source::new(client(&url), "s3://books").unwrap())
}

#[tokio::test]
async fn keys_are_decoded_where_the_listing_says_that_they_are_encoded() {
    let key = "site/a+b%2B%C3%A4%25%01.md";
    for (encoding, expected) in [
        ("<EncodingType>url</EncodingType>", "a b+ä%\u{1}.md"),
        // Some servers do not know the parameter.
        ("", "a+b%2B%C3%A4%25%01.md"),
    ] {
        let listing = format!(
            "<ListBucketResult>{encoding}<Contents><Key>{key}</Key></Contents></ListBucketResult>"
        );
        let source = source_that_answers(StatusCode::OK, listing.leak()).await;
        let listed = source.list().await.unwrap();
        assert_eq!(Vec::from_iter(listed), [format!("site/{expected}")]);
    }
    let listing = "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%FF.md</Key></Contents></ListBucketResult>";
    let source = source_that_answers(StatusCode::OK, listing).await;
    let failure = source.list().await.unwrap_err().to_string();
    assert!(failure.contains("the key `%FF.md`"), "{failure}");
}

#[tokio::test]
async fn only_the_store_itself_can_say_that_a_file_is_gone() {
    let forbidden = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    let source = source_that_answers(StatusCode::FORBIDDEN, forbidden).await;
    let failure = source.read("docs/a.md").await.unwrap_err();
    assert!(
        matches!(failure, SourceError::Forbidden { .. }),
        "{failure}"
    );
    let expected = "docs/a.md may not be read: 403 AccessDenied: Access Denied";
    assert_eq!(failure.to_string(), expected);
    let failure = source.list().await.unwrap_err();
    assert!(
        matches!(failure, SourceError::Forbidden { .. }),
        "{failure}"
    );

    let source = source_that_answers(StatusCode::NOT_FOUND, "<html>Not found</html>").await;
    let failure = source.read("docs/a.md").await.unwrap_err();
    assert!(
        matches!(failure, SourceError::Unavailable { .. }),
        "{failure}"
    );

    let gone = "<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>";
    let source = source_that_answers(StatusCode::NOT_FOUND, gone).await;
    assert_eq!(source.read("docs/a.md").await.unwrap(), None);

    let busy = "<Error><Code>InternalError</Code><Message>again</Message></Error>";
    let source = source_that_answers(StatusCode::INTERNAL_SERVER_ERROR, busy).await;
    let failure = source.read("docs/a.md").await.unwrap_err();
    assert!(
        matches!(failure, SourceError::Unavailable { .. }),
        "{failure}"
    );

    let nobody = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let source = Source::S3(S3Source::new(client(&url), "s3://books").unwrap());
    let failure = source.read("docs/a.md").await.unwrap_err();
    assert!(
        matches!(failure, SourceError::Unavailable { .. }),
        "{failure}"
    );
}

#[test]
fn addresses_are_read_strictly_and_keys_by_the_prefix() {
    let at = |url: &str| S3Source::new(client("http://127.0.0.1:1"), url);
    for wrong in [
        "",
        "books/site",
        "s3://",
        "s3:///site",
        "https://books.s3.amazonaws.com",
    ] {
        let failure = at(wrong).unwrap_err();
        assert!(
            failure.to_string().contains(&format!("`{wrong}`")),
            "{failure}"
        );
    }
    let source = at("s3://books/a/site//").unwrap();
    assert_eq!(
        (source.bucket(), source.url().as_str()),
        ("books", "s3://books/a/site")
    );
    assert_eq!(source.path_of("a/site/docs/x.md"), Some("docs/x.md"));
    for outside in [
        "a/site",
        "a/site/",
        "a/site/docs/",
        "a/site2/x.md",
        "docs/x.md",
        "",
    ] {
        assert_eq!(source.path_of(outside), None, "{outside}");
    }
    assert_eq!(at("s3://books/").unwrap().path_of("x.md"), Some("x.md"));
    assert_eq!(at("s3://books").unwrap().url(), "s3://books");
}
