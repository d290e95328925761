//! File flags, which Borg stores with BSD's values (data layer, section 8.2).

/// The object is left out of dumps, and of archives.
pub const UF_NODUMP: u32 = 0x1;
/// The object is not changed, linked to or removed any more.
const UF_IMMUTABLE: u32 = 0x2;
/// The object is only appended to.
const UF_APPEND: u32 = 0x4;

/// The flags that forbid further hard links to a file, and further entries in a directory.
pub const GUARDING: u32 = UF_IMMUTABLE | UF_APPEND;

pub use system::{are_inherited, get, set};

#[cfg(target_os = "linux")]
mod system {
    use super::{UF_APPEND, UF_IMMUTABLE, UF_NODUMP};
    use rustix::fs::{IFlags, Stat, ioctl_getflags, ioctl_setflags};
    use rustix::io::Errno;
    use std::os::fd::AsFd;

    const MAPPED: [(u32, IFlags); 3] =
        [(UF_NODUMP, IFlags::NODUMP), (UF_IMMUTABLE, IFlags::IMMUTABLE), (UF_APPEND, IFlags::APPEND)];

    /// The three flags that Borg knows; none where the file system has no flags.
    pub fn get(file: impl AsFd, _stat: &Stat) -> u32 {
        let Ok(flags) = ioctl_getflags(file) else { return 0 };
        MAPPED.iter().filter(|(_, linux)| flags.contains(*linux)).fold(0, |bits, (bsd, _)| bits | bsd)
    }

    /// Sets the three flags that Borg knows and leaves the file system's others as they are.
    ///
    /// Without the privilege for the guarding ones, only "no dump" is set. File systems without flags are no error.
    pub fn set(file: impl AsFd, bsdflags: u32) -> Result<(), Errno> {
        let Ok(current) = ioctl_getflags(&file) else { return Ok(()) };
        let wanted = |influenced: &[(u32, IFlags)]| {
            influenced.iter().fold(current.bits(), |bits, &(bsd, linux)| {
                if bsdflags & bsd != 0 { bits | linux.bits() } else { bits & !linux.bits() }
            })
        };
        let set = |bits: u32| match ioctl_setflags(&file, IFlags::from_bits_retain(bits)) {
            Err(Errno::OPNOTSUPP | Errno::NOTTY) => Ok(()),
            other => other,
        };
        match wanted(&MAPPED) {
            same if same == current.bits() => Ok(()),
            bits => match set(bits) {
                Err(Errno::PERM) => set(wanted(&MAPPED[..1])),
                other => other,
            },
        }
    }

    /// Whether new objects in the directory get a flag from it.
    pub fn are_inherited(directory: impl AsFd) -> bool {
        ioctl_getflags(directory).is_ok_and(|flags| flags.contains(IFlags::NODUMP))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::fs::Stat;
    use rustix::io::Errno;
    use std::os::fd::AsFd;

    /// The flags as the system has them; none where they are not told.
    pub fn get(_file: impl AsFd, _stat: &Stat) -> u32 {
        #[cfg(target_os = "macos")]
        return _stat.st_flags;
        #[cfg(not(target_os = "macos"))]
        0
    }

    /// Flags can't be set here yet; it is said of each object that had some.
    pub fn set(_file: impl AsFd, bsdflags: u32) -> Result<(), Errno> {
        if bsdflags == 0 { Ok(()) } else { Err(Errno::OPNOTSUPP) }
    }

    /// Nothing is inherited.
    pub fn are_inherited(_directory: impl AsFd) -> bool {
        false
    }
}
