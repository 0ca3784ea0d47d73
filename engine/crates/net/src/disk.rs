//! Files and devices that a disk test reads and writes: a file has no name, so that its space goes with its holder.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{OFlags, fstatfs, fstatvfs};

use crate::fill_random;

/// `statfs(2)`: filesystems whose files are memory, or are another filesystem's.
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const OVERLAYFS: u64 = 0x794c_7630;
const NAMES: [(u64, &str); 9] = [
    (TMPFS, "tmpfs"),
    (RAMFS, "ramfs"),
    (OVERLAYFS, "overlay"),
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x6969, "nfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
];

/// What is under a path: how much is free there, and on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Bytes that this process may still use.
    pub free_bytes: u64,
    /// The filesystem's name, or its number where it is a rare one.
    pub filesystem: String,
    /// Whether it is memory, or a layer over another filesystem.
    pub is_memory_or_layer: bool,
}

/// How much room there is where `folder` is.
///
/// # Errors
/// When it can't be opened or asked.
pub fn room(folder: &Path) -> io::Result<Room> {
    let opened = File::open(folder)?;
    let (kind, space) = (fstatfs(&opened)?, fstatvfs(&opened)?);
    // The type is a magic number of 32 bits, whatever the machine's word.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let magic = kind.f_type as u64 & 0xffff_ffff;
    let name = NAMES.iter().find(|(known, _)| *known == magic).map(|(_, name)| (*name).to_owned());
    Ok(Room {
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        filesystem: name.unwrap_or_else(|| format!("{magic:#x}")),
        is_memory_or_layer: [TMPFS, RAMFS, OVERLAYFS].contains(&magic),
    })
}

/// Makes a file without a name in `folder`: it is gone with its last descriptor, however its holder ends.
///
/// # Errors
/// When none can be made, or `is_direct` and the filesystem knows no direct access.
pub fn nameless_file(folder: &Path, is_direct: bool) -> io::Result<File> {
    let opened = options(is_direct, OFlags::TMPFILE).open(folder);
    // Some filesystems, and kernels before 3.11, know no O_TMPFILE.
    let is_unknown = |error: &io::Error| {
        matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT))
    };
    match opened {
        Err(error) if is_unknown(&error) => unlinked_file(folder, is_direct),
        opened => opened,
    }
}

fn unlinked_file(folder: &Path, is_direct: bool) -> io::Result<File> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    let path = folder.join(format!(".benchweb-{:016x}", u64::from_ne_bytes(random)));
    let file = options(is_direct, OFlags::empty()).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Opens a block device that nobody else holds: not mounted, no swap, no part of a volume, nor any of its partitions.
///
/// # Errors
/// `EBUSY` when somebody holds it; `InvalidInput` when it is no block device.
pub fn free_device(path: &Path, is_direct: bool) -> io::Result<File> {
    if !std::fs::metadata(path)?.file_type().is_block_device() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no block device"));
    }
    // Of a block device O_EXCL without O_CREAT is a claim of its own (open(2)).
    options(is_direct, OFlags::EXCL).open(path)
}

/// Whether a path is a block device.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Lets a program that is started next inherit this file.
///
/// # Errors
/// What `fcntl(2)` says.
pub fn let_inherit(file: &File) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(file.as_fd(), rustix::io::FdFlags::empty())?)
}

fn options(is_direct: bool, more: OFlags) -> OpenOptions {
    let direct = if is_direct { OFlags::DIRECT } else { OFlags::empty() };
    let mut options = OpenOptions::new();
    // Flags are small and positive.
    #[allow(clippy::cast_possible_wrap)]
    options.read(true).write(true).mode(0o600).custom_flags((more | direct).bits() as i32);
    options
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{nameless_file, room, unlinked_file};

    #[test]
    fn a_file_has_no_name_whichever_way_it_was_made() {
        let folder = std::env::temp_dir().join(format!("benchweb-disk-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        for make in [nameless_file, unlinked_file] {
            let mut file = make(&folder, false).unwrap();
            file.write_all(b"something").unwrap();
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        }
        assert!(room(&folder).unwrap().free_bytes > 0);
        std::fs::remove_dir(&folder).unwrap();
    }
}
