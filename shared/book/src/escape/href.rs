//! The addresses of links and pictures.

/// The longest address in bytes; longer ones are dropped.
const MAX_BYTES: usize = 2_048;

/// Escapes an address for every renderer. `None` unless it is a path from the site's root, or a web address without a user
/// name.
#[must_use]
pub fn of(address: &str) -> Option<String> {
    let host = ["https://", "http://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme));
    let is_web = host.is_some_and(|host| {
        let end = host.find(['/', '?', '#', '\\']).unwrap_or(host.len());
        let mut host = host[..end].chars();
        end > 0 && host.all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | ':'))
    });
    let is_path = address.starts_with('/') && !address.starts_with("//");
    ((is_web || is_path) && address.len() <= MAX_BYTES).then(|| encoded(address))
}

/// Percent-encodes characters that have a meaning in Markdown or in tables.
fn encoded(address: &str) -> String {
    use std::fmt::Write;
    let mut written = String::with_capacity(address.len());
    for byte in address.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/?#@+,=:%&".contains(&byte) {
            written.push(char::from(byte));
        } else {
            write!(written, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_site_and_of_the_web_are_addresses() {
        for (address, expected) in [
            ("/docs/a#b-c", Some("/docs/a#b-c")),
            ("/docs/a (b)|c", Some("/docs/a%20%28b%29%7Cc")),
            ("/docs/\u{6771}", Some("/docs/%E6%9D%B1")),
            (
                "https://a.example/x?y=1&copy;",
                Some("https://a.example/x?y=1&copy%3B"),
            ),
            ("/\\evil.example", Some("/%5Cevil.example")),
            ("//evil.example", None),
            ("https://user@evil.example/", None),
            ("https:///x", None),
            ("javascript:alert(1)", None),
            ("docs/a.md", None),
            ("", None),
        ] {
            assert_eq!(of(address).as_deref(), expected, "{address}");
        }
    }
}
