//! Paths of files, relative to the site's folder. Docs may lie beside it; such paths begin with `..`, as in Docusaurus's own `@site/../docs/a.md`.

use percent_encoding::percent_decode_str;

/// Returns the path that `path` has in a folder: without empty parts and `.`, and with `..` only at its beginning.
#[must_use]
pub fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the first name in a path that nothing published has: one that begins with a dot, such as `.env` and `.git`, or `node_modules`.
#[must_use]
pub fn private_name(path: &str) -> Option<&str> {
    let mut names = path.split('/').filter(|name| !matches!(*name, "." | ".."));
    names.find(|name| name.starts_with('.') || *name == "node_modules")
}

/// True if a path, as [`joined`] returns it, leads out of the folder that it is relative to.
#[must_use]
pub fn is_outside(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// Returns the URL path of a file at a path. Characters that a URL gives another meaning are encoded; all others are as readers know them.
pub(crate) fn url_of_path(path: &str) -> String {
    path.replace('%', "%25")
        .replace('#', "%23")
        .replace('?', "%3F")
}

/// Returns the percent-decoded form of a URL path, which all of its forms share: browsers encode more characters than the URLs of pages do.
#[must_use]
pub fn decoded_url(url: &str) -> String {
    percent_decode_str(url).decode_utf8_lossy().into_owned()
}

/// Returns the path of a URL, or of an address from the root of the site's host, without its query and fragment. `None` for relative addresses and
/// other schemes.
pub(crate) fn path_of_address(address: &str) -> Option<String> {
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"));
    let path = match rest {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => address,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.starts_with('/').then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_path_decodes_to_the_path() {
        for (path, url) in [
            ("/C#.html", "/C%23.html"),
            ("/why?.html", "/why%3F.html"),
            ("/100%25.html", "/100%2525.html"),
            ("/a b/\u{6771}.html", "/a b/\u{6771}.html"),
        ] {
            assert_eq!(url_of_path(path), url);
            assert_eq!(decoded_url(url), path);
        }
    }

    #[test]
    fn parts_that_lead_upwards_stand_at_the_beginning_alone() {
        for (folder, path, expected) in [
            ("", "./docs/", "docs"),
            ("", "../docs", "../docs"),
            ("", "a/../../docs/./b", "../docs/b"),
            ("../docs/a", "../b.md", "../docs/b.md"),
            ("../docs", "../../b.md", "../../b.md"),
            ("docs", "..", ""),
            ("docs", "/x//y", "docs/x/y"),
        ] {
            assert_eq!(joined(folder, path), expected, "{folder} {path}");
        }
        for (path, expected) in [
            ("docs/a.md", None),
            ("../../a..b/..c.md", Some("..c.md")),
            ("../.env", Some(".env")),
            ("./.git/config", Some(".git")),
            ("a/node_modules/b.js", Some("node_modules")),
            ("node_modules2/b.js", None),
        ] {
            assert_eq!(private_name(path), expected, "{path}");
        }
        for (path, expected) in [("..", true), ("../a", true), ("..a/b", false), ("a", false)] {
            assert_eq!(is_outside(path), expected, "{path}");
        }
    }
}
