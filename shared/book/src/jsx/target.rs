//! The address that a tag links to or shows as a picture.

use super::only_string;

/// Components that show a picture, from Docusaurus's themes and its plugin for ideal images.
const PICTURES: [&str; 4] = ["img", "Image", "IdealImage", "ThemedImage"];
/// Functions whose value is the address of the given file.
const CALLS: [&str; 2] = ["require(", "useBaseUrl("];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Target {
    Link(String),
    Picture(String),
}

impl Target {
    /// Returns the target that an attribute with this value gives to a tag.
    pub(super) fn of_attribute(tag: &str, attribute: &str, address: String) -> Option<Self> {
        // A template literal, whose value is only known when the page runs.
        if address.contains("${") {
            return None;
        }
        match attribute {
            "href" if matches!(tag, "a" | "Link") => Some(Self::Link(address)),
            "to" if tag == "Link" => Some(Self::Link(address)),
            "src" if PICTURES.contains(&tag) => Some(Self::Picture(address)),
            "img" | "sources" if PICTURES[1..].contains(&tag) => Some(Self::Picture(address)),
            _ => None,
        }
    }
}

/// Returns the address in an expression if it can be found without running it: a string, `require('…')`, `useBaseUrl('…')`, or the
/// first such value in an object (`{light: '…', dark: '…'}`).
pub(super) fn address_in(expression: &str) -> Option<String> {
    let expression = expression.trim();
    if let Some(fields) = expression.strip_prefix('{') {
        let (_, value) = fields.strip_suffix('}')?.split_once(':')?;
        let end = value.find(',').unwrap_or(value.len());
        return address(&value[..end]);
    }
    address(expression)
}

fn address(value: &str) -> Option<String> {
    let value = value.trim();
    let value = value.strip_suffix(".default").unwrap_or(value);
    let call = CALLS.iter().find_map(|call| value.strip_prefix(call));
    let text = match call {
        Some(arguments) => arguments.strip_suffix(')')?,
        None => value,
    };
    only_string(text)
}

#[cfg(test)]
mod tests {
    use super::super::{parse_tag, tag_start};
    use super::*;

    #[test]
    fn a_tags_target_is_known_if_it_is_written_down() {
        let link = |address: &str| Some(Target::Link(address.to_owned()));
        let picture = |address: &str| Some(Target::Picture(address.to_owned()));
        for (text, expected) in [
            ("<a href='/docs/a#b' class='x'>", link("/docs/a#b")),
            ("<a href=https://a.example>", link("https://a.example")),
            ("<Link to={'/docs/a'}>", link("/docs/a")),
            ("<Link to={useBaseUrl(\"/docs/a\")}>", link("/docs/a")),
            ("<Link href='./a.md'>", link("./a.md")),
            ("<img alt='a' src='/img/a.png'/>", picture("/img/a.png")),
            (
                "<img src={require('@site/static/img/a.png').default}/>",
                picture("@site/static/img/a.png"),
            ),
            ("<Image img={require('./a.png')}/>", picture("./a.png")),
            (
                "<ThemedImage sources={{light: useBaseUrl('/img/a.png'), dark: useBaseUrl('/img/b.png')}}/>",
                picture("/img/a.png"),
            ),
            ("<img src={logo}/>", None),
            ("<img src={`/img/${name}.png`}/>", None),
            ("<img src={base + '/a.png'}/>", None),
            ("<img src={require('./a.png') + require('./b.png')}/>", None),
            ("<ThemedImage sources={sources}/>", None),
            ("<a name='x'>", None),
            ("<a to='/docs/a'>", None),
            ("<Card href='/docs/a'>", None),
            ("<script src='/x.js'>", None),
        ] {
            let tag = parse_tag(text, tag_start(text).expect("a tag")).expect("a whole tag");
            assert_eq!(tag.target, expected, "{text}");
        }
    }
}
