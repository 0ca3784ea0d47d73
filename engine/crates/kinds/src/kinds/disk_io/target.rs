//! The file or device of a test: only where the operator allowed it, with room to spare, and gone when its holder is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use proto::{DiskPlace, DiskUse, FailureCode, Reason, reason};

use super::buffer::{Buffer, Random};
use super::job::Job;
use crate::failure::Failure;
use crate::host_kind::Stop;

/// What is written before the test: blocks that were never written are read from no disk.
const LAYOUT_BLOCK_BYTES: usize = 1 << 20;
/// A larger file would make the test longer than anybody planned for.
const LAYOUT_LIMIT: Duration = Duration::from_secs(50);
/// So many times the file's size has to be free: a test must not fill a disk that others use.
const FREE_SHARE: u64 = 2;

/// An opened target, written over once where it is a file.
#[derive(Debug)]
pub struct Target {
    /// The file; the device is held as long as this is open.
    pub file: File,
    /// Its length, or what is used of the device.
    pub size_bytes: u64,
    /// Whether what is measured is memory, or passes a layer.
    pub is_memory_or_layer: bool,
    path: String,
    filesystem: String,
}

/// The place that a test names, or the first one for none.
pub fn chosen<'a>(places: &'a [DiskPlace], name: &str) -> Result<&'a DiskPlace, Reason> {
    let chosen = places.iter().find(|place| name.is_empty() || place.path == name);
    chosen.ok_or_else(|| {
        let paths: Vec<&str> = places.iter().map(|place| place.path.as_str()).collect();
        let asked = if name.is_empty() { "/DIRECTORY" } else { name };
        if paths.is_empty() {
            return reason!("host_no_disk_allowed", directory = asked);
        }
        reason!("host_other_disk_allowed", directory = asked, directories = paths.join(", "))
    })
}

impl Target {
    /// Opens what the place is: a nameless file in a folder, or a device that nobody else holds.
    pub fn open(place: &DiskPlace, job: &Job, stop: &Stop) -> Result<Self, Failure> {
        if net::is_device(Path::new(&place.path)) {
            Self::device(place, job)
        } else {
            Self::in_folder(place, job, stop)
        }
    }

    fn device(place: &DiskPlace, job: &Job) -> Result<Self, Failure> {
        let path = &place.path;
        let file = net::free_device(Path::new(path), job.is_direct).map_err(|error| {
            let reason = match error.kind() {
                std::io::ErrorKind::ResourceBusy => {
                    reason!("host_device_held", device = path.as_str())
                }
                _ => {
                    reason!("host_device_refused", device = path.as_str(), why = error.to_string())
                }
            };
            Failure::new(FailureCode::Invalid, reason)
        })?;
        let most = place.most_bytes.unwrap_or(u64::MAX);
        let length = length_of(&file).map_err(|error| refused(path, &error))?;
        let size_bytes = job.file_bytes.min(most).min(length);
        Ok(Self {
            file,
            size_bytes,
            is_memory_or_layer: false,
            path: path.clone(),
            filesystem: "block device".to_owned(),
        })
    }

    fn in_folder(place: &DiskPlace, job: &Job, stop: &Stop) -> Result<Self, Failure> {
        let (path, size_bytes) = (&place.path, job.file_bytes);
        let folder = Path::new(path);
        let room = net::room(folder).map_err(|error| refused(path, &error))?;
        check_size(place, size_bytes, &room)?;
        let file = net::nameless_file(folder, job.is_direct).map_err(|error| {
            let (directory, why) = (path.as_str(), error.to_string());
            let reason = match (error.kind(), job.is_direct) {
                (std::io::ErrorKind::InvalidInput, true) => reason!(
                    "host_no_direct",
                    directory = directory,
                    why = why,
                    filesystem = room.filesystem.as_str()
                ),
                _ => reason!("host_no_test_file", directory = directory, why = why),
            };
            Failure::new(FailureCode::Invalid, reason)
        })?;
        let target = Self {
            file,
            size_bytes,
            is_memory_or_layer: room.is_memory_or_layer,
            path: path.clone(),
            filesystem: room.filesystem,
        };
        target.lay_out(stop)?;
        Ok(target)
    }

    /// Writes the whole file once.
    fn lay_out(&self, stop: &Stop) -> Result<(), Failure> {
        let begin = Instant::now();
        let mut buffer = Buffer::new(LAYOUT_BLOCK_BYTES);
        let mut random = Random::new(1);
        let mut offset = 0;
        while offset < self.size_bytes {
            if let Some(order) = stop.order() {
                return Err(order);
            }
            if begin.elapsed() > LAYOUT_LIMIT {
                let (done, size) = (mebibytes(offset), mebibytes(self.size_bytes));
                let reason = reason!(
                    "host_layout_slow",
                    done = done,
                    size = size,
                    seconds = LAYOUT_LIMIT.as_secs().to_string()
                );
                return Err(Failure::new(FailureCode::Limit, reason));
            }
            let left = usize::try_from(self.size_bytes - offset).unwrap_or(usize::MAX);
            let bytes = buffer.bytes();
            random.fill(bytes);
            let length = bytes.len().min(left);
            self.file
                .write_all_at(&bytes[..length], offset)
                .map_err(|error| self.not_taken(&error))?;
            offset += length as u64;
        }
        self.file.sync_data().map_err(|error| self.not_taken(&error))
    }

    fn not_taken(&self, error: &std::io::Error) -> Failure {
        let why = error.to_string();
        let reason = reason!("host_file_not_taken", directory = self.path.as_str(), why = why);
        Failure::new(FailureCode::Invalid, reason)
    }

    /// What the result tells of it.
    pub fn used(&self) -> DiskUse {
        DiskUse {
            path: self.path.clone(),
            filesystem: self.filesystem.clone(),
            size_bytes: self.size_bytes,
        }
    }
}

fn check_size(place: &DiskPlace, size_bytes: u64, room: &net::Room) -> Result<(), Failure> {
    let path = &place.path;
    if room.is_memory_or_layer && !place.allows_any_filesystem {
        let reason = reason!(
            "host_no_disk",
            directory = path.as_str(),
            filesystem = room.filesystem.as_str()
        );
        return Err(Failure::new(FailureCode::Invalid, reason));
    }
    let asked = mebibytes(size_bytes);
    if let Some(most) = place.most_bytes.filter(|&most| size_bytes > most) {
        let most = mebibytes(most);
        let reason =
            reason!("host_file_too_large", asked = asked, directory = path.as_str(), most = most);
        return Err(Failure::new(FailureCode::Limit, reason));
    }
    let needed = size_bytes.saturating_mul(FREE_SHARE);
    if room.free_bytes < needed {
        let (free, needed) = (mebibytes(room.free_bytes), mebibytes(needed));
        let reason = reason!(
            "host_no_space",
            asked = asked,
            needed = needed,
            directory = path.as_str(),
            free = free
        );
        return Err(Failure::new(FailureCode::Limit, reason));
    }
    Ok(())
}

fn length_of(file: &File) -> std::io::Result<u64> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::End(0))
}

fn refused(path: &str, error: &std::io::Error) -> Failure {
    let reason = reason!("host_place_refused", directory = path, why = error.to_string());
    Failure::new(FailureCode::Invalid, reason)
}

fn mebibytes(bytes: u64) -> String {
    bytes.div_ceil(1 << 20).to_string()
}

#[cfg(test)]
mod tests {
    use proto::{DiskPlace, FailureCode};

    use super::{check_size, chosen};

    fn place(path: &str) -> DiskPlace {
        DiskPlace { path: path.to_owned(), most_bytes: Some(1 << 30), allows_any_filesystem: false }
    }

    fn room(free_bytes: u64, filesystem: &str, is_memory_or_layer: bool) -> net::Room {
        net::Room { free_bytes, filesystem: filesystem.to_owned(), is_memory_or_layer }
    }

    #[test]
    fn only_what_the_operator_named_is_chosen() {
        let places = [place("/srv/a"), place("/srv/b")];
        assert_eq!(chosen(&places, "").unwrap().path, "/srv/a");
        assert_eq!(chosen(&places, "/srv/b").unwrap().path, "/srv/b");
        for other in ["/srv", "/srv/a/", "/srv/a/..", "/etc"] {
            assert!(chosen(&places, other).unwrap_err().contains("/srv/a, /srv/b"));
        }
        assert!(chosen(&[], "").unwrap_err().contains("--disk-dir"));
    }

    #[test]
    fn twice_the_size_must_be_free_and_memory_is_no_disk() {
        let (place, size) = (place("/srv/a"), 1 << 20);
        assert_eq!(check_size(&place, size, &room(2 << 20, "ext4", false)), Ok(()));
        let full = check_size(&place, size, &room((2 << 20) - 1, "ext4", false)).unwrap_err();
        assert_eq!(full.code, FailureCode::Limit);
        let memory = check_size(&place, size, &room(1 << 40, "tmpfs", true)).unwrap_err();
        assert_eq!(memory.code, FailureCode::Invalid);
        let large = check_size(&place, 2 << 30, &room(1 << 40, "ext4", false)).unwrap_err();
        assert!(large.reason.contains("1024 MiB are allowed"), "{}", large.reason);
    }
}
