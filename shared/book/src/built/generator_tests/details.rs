//! Details, whose summary is the label of what they hide.

use super::page;
use crate::block::MarkKind;

/// Returns each block of the content with its labels; the text of a label has asterisks.
fn shown(html: &str) -> Vec<String> {
    let page = page(&format!("<main>{html}</main>"));
    let blocks = page.blocks.iter().map(|block| {
        let whole = (MarkKind::Strong, 0, block.text.len()).into();
        let marks = if block.marks.contains(&whole) {
            "**"
        } else {
            ""
        };
        format!("{}: {marks}{}", block.panels.join("/"), block.text)
    });
    blocks.collect()
}

#[test]
fn a_summary_is_the_label_of_its_details() {
    for (html, expected) in [
        (
            "<details><summary>A <b>b</b> <code>c</code></summary><p>d</p><ul><li>e</li></ul></details><p>f</p>",
            &[": **A b c", "A b c: d", "A b c: - e", ": f"][..],
        ),
        // Docusaurus.
        (
            "<details class=alert data-collapsed=true><summary>A</summary><div><div class=collapsibleContent><p>b</p></div></div></details>c",
            &[": **A", "A: b", ": c"],
        ),
        (
            "<details open><summary><div><p>A</p></div></summary>b</details>",
            &[": **A", "A: b"],
        ),
        (
            "<details><summary>A</summary>b<details><summary>C</summary>d</details>e</details>f",
            &[": **A", "A: b", "A: **C", "A/C: d", "A: e", ": f"],
        ),
        // End tags are missing.
        (
            "<div><details><summary>A</summary><p>b</div>c",
            &[": **A", "A: b", ": c"],
        ),
    ] {
        assert_eq!(shown(html), expected, "{html}");
    }
}

#[test]
fn a_summary_that_is_no_paragraph_of_details_is_no_label() {
    for (html, expected) in [
        (
            "<details><summary><h3>A</h3></summary>b</details>",
            &[": A", ": b"][..],
        ),
        (
            "<details><summary><p>A</p><p>B</p></summary>c</details>",
            &[": A", ": B", ": c"],
        ),
        ("<details><summary></summary>a</details>b", &[": a", ": b"]),
        ("<details>a</details>b", &[": a", ": b"]),
        ("<summary>A</summary><p>b</p>", &[": A", ": b"]),
        (
            "<details><summary>A</summary>b<summary>C</summary>d</details>",
            &[": **A", "A: b", "A: C", "A: d"],
        ),
        (
            "<table><tr><td><details><summary>A</summary>b</details></td><td>c</td></tr></table>d",
            &[": A b | c", ": d"],
        ),
    ] {
        assert_eq!(shown(html), expected, "{html}");
    }
}
