//! Paths that stay where they are extracted (data layer, section 8.1).

use alloc::vec::Vec;

/// A path that could leave the directory it is extracted into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unsafe path")]
pub struct UnsafePath;

/// The relative path that a stored path means, with neither a leading `/` nor `.` components; the empty path is `.`
/// (data layer, section 8.1). A `..` component, with either kind of slash, is refused.
pub fn make_path_safe(path: &[u8]) -> Result<Vec<u8>, UnsafePath> {
    let has_windows_parent = path.windows(3).any(|three| three == b"\\.." || three == b"..\\");
    if has_windows_parent || path.split(|&byte| byte == b'/').any(|component| component == b"..") {
        return Err(UnsafePath);
    }
    let mut safe = Vec::with_capacity(path.len());
    for component in path.split(|&byte| byte == b'/') {
        if component.is_empty() || component == b"." {
            continue;
        }
        if !safe.is_empty() {
            safe.push(b'/');
        }
        safe.extend_from_slice(component);
    }
    if safe.is_empty() {
        safe.push(b'.');
    }
    Ok(safe)
}
