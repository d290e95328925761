//! Modes as `ls` shows them.

/// Type and permissions of a file as Python's `stat.filemode` shows them, such as `drwxr-xr-x`.
pub fn display(mode: u32) -> [u8; 10] {
    let kind = match mode & 0o170_000 {
        0o100_000 => b'-',
        0o040_000 => b'd',
        0o120_000 => b'l',
        0o010_000 => b'p',
        0o020_000 => b'c',
        0o060_000 => b'b',
        0o140_000 => b's',
        _ => b'?',
    };
    let mut text = [b'-'; 10];
    text[0] = kind;
    for (place, letter) in b"rwxrwxrwx".iter().enumerate() {
        if mode & (0o400 >> place) != 0 {
            text[place + 1] = *letter;
        }
    }
    for (bit, place, letter) in [(0o4000, 3, b's'), (0o2000, 6, b's'), (0o1000, 9, b't')] {
        if mode & bit != 0 {
            text[place] = if text[place] == b'x' { letter } else { letter.to_ascii_uppercase() };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python's `stat.filemode` says.
    #[test]
    fn modes_look_as_in_python() {
        for (mode, wanted) in [
            (0o040_755, "drwxr-xr-x"),
            (0o100_644, "-rw-r--r--"),
            (0o120_777, "lrwxrwxrwx"),
            (0o010_600, "prw-------"),
            (0o020_600, "crw-------"),
            (0o060_600, "brw-------"),
            (0o140_700, "srwx------"),
            (0o104_755, "-rwsr-xr-x"),
            (0o107_644, "-rwSr-Sr-T"),
            (0o107_777, "-rwsrwsrwt"),
            (0o041_777, "drwxrwxrwt"),
            (0, "?---------"),
        ] {
            assert_eq!(std::str::from_utf8(&display(mode)).unwrap(), wanted);
        }
    }
}
