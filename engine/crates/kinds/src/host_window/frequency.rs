//! CPU frequencies while a test runs, where the kernel tells them.

use std::fs;
use std::path::{Path, PathBuf};

use proto::CoreShares;

/// Reading a frequency may ask the core itself: on a large machine not all are asked.
const CORES_WATCHED: usize = 64;
/// A core that idles may sleep at any frequency: only cores at least so busy are judged.
const BUSY_SHARE: f64 = 0.5;
const KILOHERTZ: u64 = 1_000;

/// What was seen of one core, in hertz.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    cpu: usize,
    path: PathBuf,
    least: u64,
    greatest: u64,
    limit: Option<u64>,
}

/// What was seen of the cores that were busy, in hertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frequencies {
    /// The least.
    pub least: u64,
    /// The greatest.
    pub greatest: u64,
    /// The greatest that they can all have, where the kernel tells.
    pub limit: Option<u64>,
}

/// Watches the cores' frequencies.
#[derive(Debug, Default)]
pub struct FrequencyWatch {
    cores: Vec<Core>,
}

impl FrequencyWatch {
    /// Begins to watch the cores of `folder` (`/sys/devices/system/cpu`), those of `pinned` only if there are any.
    pub fn start(folder: &Path, pinned: &[usize], logical: usize) -> Self {
        let cpus: Vec<usize> =
            if pinned.is_empty() { (0..logical).collect() } else { pinned.to_vec() };
        let cores = cpus.into_iter().take(CORES_WATCHED).filter_map(|cpu| {
            let core = folder.join(format!("cpu{cpu}/cpufreq"));
            let path = core.join("scaling_cur_freq");
            let (now, limit) = (hertz(&path)?, hertz(&core.join("cpuinfo_max_freq")));
            Some(Core { cpu, path, least: now, greatest: now, limit })
        });
        Self { cores: cores.collect() }
    }

    /// Looks again.
    pub fn look(&mut self) {
        for core in &mut self.cores {
            if let Some(now) = hertz(&core.path) {
                core.least = core.least.min(now);
                core.greatest = core.greatest.max(now);
            }
        }
    }

    /// What was seen of the cores that were busy; none when none was.
    pub fn of_busy_cores(&self, shares: &[CoreShares]) -> Option<Frequencies> {
        let is_busy =
            |core: &&Core| shares.get(core.cpu).is_some_and(|share| share.busy >= BUSY_SHARE);
        let busy: Vec<&Core> = self.cores.iter().filter(is_busy).collect();
        Some(Frequencies {
            least: busy.iter().map(|core| core.least).min()?,
            greatest: busy.iter().map(|core| core.greatest).max()?,
            limit: busy.iter().filter_map(|core| core.limit).min(),
        })
    }
}

fn hertz(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()?.checked_mul(KILOHERTZ)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proto::CoreShares;

    use super::{Frequencies, FrequencyWatch};

    fn busy(shares: &[f64]) -> Vec<CoreShares> {
        shares.iter().map(|&busy| CoreShares { busy, ..CoreShares::default() }).collect()
    }

    #[test]
    fn what_is_told_is_of_the_cores_that_were_busy() {
        let folder = std::env::temp_dir().join(format!("frequency-{}", std::process::id()));
        let set = |cpu: usize, name: &str, kilohertz: &str| {
            let core = folder.join(format!("cpu{cpu}/cpufreq"));
            fs::create_dir_all(&core).expect("a folder can be made");
            fs::write(core.join(name), kilohertz).expect("a file can be written");
        };
        set(0, "scaling_cur_freq", "3000000\n");
        set(0, "cpuinfo_max_freq", "3500000\n");
        set(1, "scaling_cur_freq", "800000\n");
        let mut watch = FrequencyWatch::start(&folder, &[], 2);
        set(0, "scaling_cur_freq", "2400000\n");
        watch.look();
        let (slow, fast, limit) = (2_400_000_000, 3_000_000_000, Some(3_500_000_000));
        let first = Frequencies { least: slow, greatest: fast, limit };
        assert_eq!(watch.of_busy_cores(&busy(&[0.9, 0.1])), Some(first));
        let both = Frequencies { least: 800_000_000, ..first };
        assert_eq!(watch.of_busy_cores(&busy(&[0.9, 0.9])), Some(both));
        assert_eq!(watch.of_busy_cores(&busy(&[0.1, 0.1])), None);
        let pinned = FrequencyWatch::start(&folder, &[1], 2);
        let second = Frequencies { least: 800_000_000, greatest: 800_000_000, limit: None };
        assert_eq!(pinned.of_busy_cores(&busy(&[0.9, 0.9])), Some(second));
        fs::remove_dir_all(folder).expect("the folder can be removed");
    }

    #[test]
    fn a_host_that_tells_no_frequency_has_none() {
        let watch = FrequencyWatch::start(Path::new("/nonexistent"), &[], 2);
        assert_eq!(watch.of_busy_cores(&busy(&[1.0, 1.0])), None);
    }
}
