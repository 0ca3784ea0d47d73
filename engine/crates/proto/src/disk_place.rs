//! Where an engine's operator lets disks be measured.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A folder in which test files may be made, or a block device, as `--disk-dir` names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DiskPlace {
    /// The folder or the device, from the root on.
    pub path: String,
    /// The largest file that a test may make there; none for as much as half of the free space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
    /// Whether a filesystem in memory, or a layered one, is allowed.
    #[serde(default)]
    pub allows_any_filesystem: bool,
}

impl FromStr for DiskPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let path = parts.next().unwrap_or_default();
        if !path.starts_with('/') {
            return Err(format!("{path:?} is no path from the root on, such as /var/tmp"));
        }
        let mut place =
            Self { path: path.to_owned(), most_bytes: None, allows_any_filesystem: false };
        for part in parts {
            match part.split_once('=') {
                Some(("size", size)) => place.most_bytes = Some(bytes(size)?),
                None if part == "any-filesystem" => place.allows_any_filesystem = true,
                _ => return Err(format!("{part:?} is neither size=BYTES nor any-filesystem")),
            }
        }
        Ok(place)
    }
}

/// `10G`, `512MiB` or a plain number; K, M, G and T are powers of 1,024.
fn bytes(text: &str) -> Result<u64, String> {
    let refusal = || format!("{text:?} is no size such as 10G or 512M");
    let plain = text.trim_end_matches("iB").trim_end_matches('B');
    let digits = plain.trim_end_matches(['K', 'M', 'G', 'T']);
    let shift = match &plain[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(refusal()),
    };
    let number = digits.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(refusal)?;
    number.checked_mul(1 << shift).ok_or_else(refusal)
}

#[cfg(test)]
mod tests {
    use super::DiskPlace;

    #[test]
    fn a_place_has_a_path_and_perhaps_a_size() {
        let place: DiskPlace = "/srv/bench,size=10G".parse().unwrap();
        assert_eq!((place.path.as_str(), place.most_bytes), ("/srv/bench", Some(10 << 30)));
        assert!(!place.allows_any_filesystem);
        let place: DiskPlace = "/dev/shm,any-filesystem,size=64MiB".parse().unwrap();
        assert_eq!((place.most_bytes, place.allows_any_filesystem), (Some(64 << 20), true));
    }

    #[test]
    fn a_relative_path_or_an_unknown_word_is_refused() {
        for wrong in [
            "bench",
            "",
            "/srv,size=",
            "/srv,size=0",
            "/srv,size=1X",
            "/srv,raw",
            "/srv,size=99999999T",
        ] {
            assert!(wrong.parse::<DiskPlace>().is_err(), "{wrong}");
        }
    }
}
