//! The host's last-level caches, as the kernel tells them (`/sys/devices/system/cpu/cpu*/cache`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FOLDER: &str = "/sys/devices/system/cpu";

/// All caches of the last level together, in bytes; none where the kernel tells nothing of them.
pub fn last_level_bytes() -> Option<u64> {
    last_level_under(Path::new(FOLDER))
}

fn last_level_under(folder: &Path) -> Option<u64> {
    // By level, then by the CPUs that share one: each is told of by every CPU.
    let mut caches: BTreeMap<u32, BTreeMap<String, u64>> = BTreeMap::new();
    for cpu in fs::read_dir(folder).ok()?.flatten() {
        for index in fs::read_dir(cpu.path().join("cache")).into_iter().flatten().flatten() {
            let word = |name: &str| fs::read_to_string(index.path().join(name)).ok();
            let known = (|| {
                let level = word("level")?.trim().parse().ok()?;
                (word("type")?.trim() != "Instruction").then_some(())?;
                Some((level, word("shared_cpu_list")?, bytes(word("size")?.trim())?))
            })();
            if let Some((level, shared, size)) = known {
                caches.entry(level).or_default().insert(shared, size);
            }
        }
    }
    let last = caches.into_values().next_back()?;
    Some(last.into_values().sum())
}

/// `32768K`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M']);
    let shift = match &text[digits.len()..] {
        "K" => 10,
        "M" => 20,
        _ => 0,
    };
    Some(digits.parse::<u64>().ok()? << shift)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::last_level_under;

    #[test]
    fn caches_of_the_last_level_are_summed_each_once() {
        let folder = std::env::temp_dir().join(format!("benchweb-cache-{}", std::process::id()));
        let caches = [
            ("cpu0", "index0", "1", "Data", "0", "32K"),
            ("cpu0", "index3", "3", "Unified", "0-1", "16384K"),
            ("cpu1", "index3", "3", "Unified", "0-1", "16384K"),
            ("cpu2", "index3", "3", "Unified", "2-3", "8M"),
        ];
        for (cpu, index, level, kind, shared, size) in caches {
            let path = folder.join(cpu).join("cache").join(index);
            fs::create_dir_all(&path).unwrap();
            for (name, text) in
                [("level", level), ("type", kind), ("shared_cpu_list", shared), ("size", size)]
            {
                fs::write(path.join(name), format!("{text}\n")).unwrap();
            }
        }
        assert_eq!(last_level_under(&folder), Some(24 << 20));
        assert_eq!(last_level_under(&folder.join("cpu0")), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
