//! Parses the two states to compare.

use std::str::FromStr;

/// `BASE`, `BASE..HEAD` or `BASE...HEAD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) base: Base,
    /// The revision after the change; `None` for the working tree.
    pub(super) head: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    Revision(String),
    /// The merge base of this revision and the head.
    MergeBase(String),
}

impl FromStr for Range {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (base, head) = if let Some((base, head)) = typed.split_once("...") {
            (Base::MergeBase(base.to_owned()), head)
        } else {
            let (base, head) = typed.split_once("..").unwrap_or((typed, ""));
            (Base::Revision(base.to_owned()), head)
        };
        let (Base::Revision(name) | Base::MergeBase(name)) = &base;
        if name.is_empty() || name.starts_with('-') || head.starts_with(['-', '.']) {
            return Err(format!(
                "`{typed}` names no states; write BASE..HEAD, such as main..HEAD, or BASE for a comparison with the working tree"
            ));
        }
        Ok(Self {
            base,
            head: Some(head)
                .filter(|head| !head.is_empty())
                .map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_are_parsed_like_git() {
        let revision = |name: &str| Base::Revision(name.to_owned());
        let merge_base = |name: &str| Base::MergeBase(name.to_owned());
        for (typed, base, head) in [
            ("main..HEAD", revision("main"), Some("HEAD")),
            ("main..", revision("main"), None),
            ("HEAD~2", revision("HEAD~2"), None),
            ("v1.0..v1.1", revision("v1.0"), Some("v1.1")),
            ("main...topic", merge_base("main"), Some("topic")),
            ("main...", merge_base("main"), None),
        ] {
            let head = head.map(str::to_owned);
            assert_eq!(typed.parse(), Ok(Range { base, head }), "{typed}");
        }
        for typed in ["", "..HEAD", "...HEAD", "--all", "a..--all", "a....b"] {
            let refused = typed.parse::<Range>();
            assert!(refused.is_err(), "{typed}: {refused:?}");
        }
    }
}
