//! Loops over bytes that look for a cut. They go in groups: one byte at a time, much of the work would be counting.

const GROUP_BYTES: usize = 8;

/// Position of the first byte for which `is_cut` holds. It is asked in order, and not again after that.
#[inline(always)]
pub(super) fn position(bytes: &[u8], mut is_cut: impl FnMut(u8) -> bool) -> Option<usize> {
    let (groups, rest) = bytes.as_chunks::<GROUP_BYTES>();
    for (group, bytes) in groups.iter().enumerate() {
        for (at, &byte) in bytes.iter().enumerate() {
            if is_cut(byte) {
                return Some(group * GROUP_BYTES + at);
            }
        }
    }
    let at = rest.iter().position(|&byte| is_cut(byte))?;
    Some(groups.len() * GROUP_BYTES + at)
}

/// The same for pairs of bytes: one that leaves a window, and one that enters it. Both slices have one length.
#[inline(always)]
pub(super) fn pair_position(old: &[u8], new: &[u8], mut is_cut: impl FnMut(u8, u8) -> bool) -> Option<usize> {
    let (old_groups, old_rest) = old.as_chunks::<GROUP_BYTES>();
    let (new_groups, new_rest) = new.as_chunks::<GROUP_BYTES>();
    for (group, (old, new)) in old_groups.iter().zip(new_groups).enumerate() {
        for (at, (&old, &new)) in old.iter().zip(new).enumerate() {
            if is_cut(old, new) {
                return Some(group * GROUP_BYTES + at);
            }
        }
    }
    let at = old_rest.iter().zip(new_rest).position(|(&old, &new)| is_cut(old, new))?;
    Some(old_groups.len() * GROUP_BYTES + at)
}
