use bookrag::api::encoded_path;
use bookrag::book::SiteSettings;

use super::*;
use crate::export::place::ExportPath;

fn settings(toml: &str) -> SiteSettings {
    let files = [("bookrag.toml".to_owned(), toml.to_owned())];
    SiteSettings::read(&files.into(), true).unwrap()
}

fn export<'a>(settings: &'a SiteSettings, locale: Option<&'a str>) -> Export<'a> {
    Export {
        settings,
        site_url: "https://b.example".to_owned(),
        api: None,
        freshness: None,
        locale,
    }
}

#[test]
fn markdown_stands_beside_the_page_that_it_is_of() {
    let settings = settings("base_url = '/b/'\nlocales = ['en', 'ur']\n");
    let place = |locale, url| {
        let export = export(&settings, None);
        let place = Places::new(&export).of_page(locale, url);
        place.map(|ExportPath { file, url }| (file, url))
    };
    for (locale, url, file) in [
        ("en", "/b/docs/a", "docs/a.md"),
        ("en", "/b/docs/a/", "docs/a/index.md"),
        ("en", "/b/", "index.md"),
        ("en", "/b", "index.md"),
        ("en", "/b/docs/a.b", "docs/a.b.md"),
        ("ur", "/b/ur/docs/\u{6771}", "ur/docs/\u{6771}.md"),
        ("en", "/b/C%23.html", "C#.html.md"),
        ("en", "/b/100%2525 why%3F/", "100%25 why?/index.md"),
        ("ur", "/b/ur/", "ur/index.md"),
    ] {
        let expected = (file.to_owned(), encoded_path(&format!("/b/{file}")));
        assert_eq!(place(locale, url), Some(expected), "{url}");
    }
    let long = format!("/b/{}", "a".repeat(300));
    for url in [
        "/b/%2e%2e/x",
        "/b/../x",
        "/b/a//b",
        "/b/a\\b",
        "/b/./a",
        "/c/a",
        "/b/c:d",
        "/b/a\nb",
        &long,
    ] {
        assert_eq!(place("en", url), None, "{url}");
    }
    // A single locale is exported into its own folder.
    let export = export(&settings, Some("ur"));
    let place = Places::new(&export).of_page("ur", "/b/ur/docs/a").unwrap();
    assert_eq!(
        (&*place.file, &*place.url),
        ("docs/a.md", "/b/ur/docs/a.md")
    );
}
