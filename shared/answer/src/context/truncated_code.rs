//! Prepares parts of one code block to be joined. Pure.

use book::MarkKind;
use store::index::ChunkPayload;

/// Removes the closing fence of `whole` if `next` begins with the rest of the same code. Returns the length of `next`'s opening fence, in bytes.
///
/// Parts of one code block have the same language and consecutive lines.
pub(crate) fn reopen(whole: &mut ChunkPayload, next: &ChunkPayload) -> Option<usize> {
    let (opening, _) = next.text.split_once('\n')?;
    let language = opening.trim_start_matches('`');
    let fence = &opening[..opening.len() - language.len()];
    let begins = next.marks.first().filter(|mark| mark.start == 0)?;
    let last = whole.marks.iter_mut().rfind(|mark| mark.is_block())?;
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
