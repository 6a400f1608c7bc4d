//! Detects the blocks of a text stored without marks.

use book::{Mark, MarkKind, marker_length};

/// Marks the blocks of a text. Inline code cannot be detected.
pub(super) fn blocks_of(text: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut fence = String::new();
    let mut end = 0;
    let mut is_new = true;
    for line in text.split_inclusive('\n') {
        let (start, shown) = (end, line.trim_end());
        end += line.len();
        let ticks: String = shown.chars().take_while(|c| *c == '`').collect();
        let stops = start + shown.len();
        if !fence.is_empty() {
            extend(&mut marks, stops);
            if shown == fence {
                fence.clear();
                is_new = true;
            }
            continue;
        }
        let kind = match shown {
            "" => {
                is_new = true;
                continue;
            }
            _ if ticks.len() >= 3 => MarkKind::Fence,
            _ if marker_length(shown) > 0 => MarkKind::ListItem,
            _ if shown.contains(" | ") => MarkKind::Table,
            _ => MarkKind::Paragraph,
        };
        let goes_on = !is_new && marks.last().is_some_and(|last| last.kind == kind);
        if goes_on && kind != MarkKind::ListItem {
            extend(&mut marks, stops);
        } else {
            if kind == MarkKind::Fence {
                fence = ticks;
            }
            marks.push(Mark::from((kind, start, stops)));
        }
        is_new = false;
    }
    marks
}

fn extend(marks: &mut [Mark], end: usize) {
    if let Some(last) = marks.last_mut() {
        last.end = end;
    }
}
