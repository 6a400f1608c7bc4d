//! Code that was cut into several chunks, made one again. Pure.

use crate::book::MarkKind;
use crate::index::ChunkPayload;

/// Opens the code again that ends `whole`, if `next` begins with the lines that follow there. Returns how many bytes of `next` are
/// the second opening fence.
///
/// Parts of one code have the same language and follow each other line by line; other code has fences between.
pub(super) fn reopen(whole: &mut ChunkPayload, next: &ChunkPayload) -> Option<usize> {
    let (opening, _) = next.text.split_once('\n')?;
    let language = opening.trim_start_matches('`');
    let fence = &opening[..opening.len() - language.len()];
    let begins = next.marks.first().filter(|mark| mark.start == 0)?;
    let last = whole.marks.iter_mut().rfind(|mark| !mark.is_inline())?;
    let is_code = begins.kind == MarkKind::Fence && last.kind == MarkKind::Fence;
    let before = whole.text.get(last.range())?;
    let is_same = before.strip_prefix(opening)?.starts_with('\n');
    let end = last.end.checked_sub(fence.len())?;
    if !is_code || !is_same || last.end != whole.text.len() || whole.end_line + 1 != next.start_line
    {
        return None;
    }
    if whole.text.get(end..) != Some(fence) {
        return None;
    }
    last.end = end + begins.end - opening.len() - "\n".len();
    whole.text.truncate(end);
    Some(opening.len() + "\n".len())
}
