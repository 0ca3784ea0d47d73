//! The speed that bounds a network interface: that of the physical devices beneath it.
//!
//! A virtual device tells a constant, or what it was told of the one beneath; it has no speed of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the kernel tells of interfaces.
pub const INTERFACES: &str = "/sys/class/net";
const MEGABIT: u64 = 1_000_000;
/// What drivers tell that don't know (`SPEED_UNKNOWN` of linux/ethtool.h, as some print it).
const UNKNOWN: u64 = u32::MAX as u64;
/// VLANs on bonds on VLANs: more layers than anyone stacks.
const DEEPEST: usize = 8;

/// What an interface's frames go through in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beneath {
    /// The physical devices, by name; the interface itself where it is one.
    pub devices: BTreeSet<String>,
    /// How fast they are together, in bits per second; none where one doesn't tell or it isn't known which is used.
    pub speed_bps: Option<u64>,
}

/// Follows an interface to the physical devices beneath it; none of them for one that is only virtual.
pub fn beneath(folder: &Path, name: &str) -> Beneath {
    follow(folder, name, DEEPEST)
}

fn follow(folder: &Path, name: &str, depth: usize) -> Beneath {
    let own = folder.join(name);
    if own.join("device").exists() {
        let speed_bps = told_speed(&own).map(|speed| speed * MEGABIT);
        return Beneath { devices: BTreeSet::from([name.to_owned()]), speed_bps };
    }
    if depth == 0 {
        return Beneath::default();
    }
    let used: Vec<Beneath> = lower(&own)
        .iter()
        .map(|lower| follow(folder, lower, depth - 1))
        .filter(|beneath| !beneath.devices.is_empty())
        .collect();
    let devices = used.iter().flat_map(|beneath| beneath.devices.clone()).collect();
    let speed_bps = match used.as_slice() {
        [one] => one.speed_bps,
        _ if own.join("bonding").exists() => speed_of_bond(folder, &own, &used),
        // Which port of a bridge the frames take is not known.
        _ => None,
    };
    Beneath { devices, speed_bps }
}

/// The interfaces right beneath one: links named `lower_NAME`.
fn lower(own: &Path) -> Vec<String> {
    let entries = fs::read_dir(own).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut lower: Vec<String> =
        names.filter_map(|name| Some(name.strip_prefix("lower_")?.to_owned())).collect();
    lower.sort();
    lower
}

/// All members together, or the one that is in use where the others only stand by.
fn speed_of_bond(folder: &Path, own: &Path, members: &[Beneath]) -> Option<u64> {
    let attribute = |name: &str| text(&own.join("bonding").join(name));
    if attribute("mode").is_some_and(|mode| mode.starts_with("active-backup")) {
        let active = attribute("active_slave").filter(|name| !name.is_empty())?;
        return follow(folder, &active, DEEPEST - 1).speed_bps;
    }
    let is_down = |beneath: &&Beneath| {
        let mut states =
            beneath.devices.iter().map(|name| text(&folder.join(name).join("operstate")));
        states.all(|state| state.as_deref() == Some("down"))
    };
    let up = members.iter().filter(|member| !is_down(member));
    up.map(|member| member.speed_bps).sum::<Option<u64>>().filter(|&speed| speed > 0)
}

/// In megabits per second; a link without a speed says -1, or refuses to be read.
fn told_speed(own: &Path) -> Option<u64> {
    let speed = text(&own.join("speed"))?.parse().ok()?;
    (speed > 0 && speed != UNKNOWN).then_some(speed)
}

fn text(path: &PathBuf) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::beneath;

    const GIGABIT: u64 = 1_000_000_000;

    /// A folder like `/sys/class/net`, gone afterwards.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("bw-speed-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).expect("a folder can be made");
            Self(folder)
        }

        fn physical(&self, name: &str, megabits: &str) -> &Self {
            self.write(name, "speed", megabits);
            fs::create_dir_all(self.0.join(name).join("device")).expect("a folder can be made");
            self
        }

        /// As the kernel has it: a virtual device tells a speed of its own.
        fn virtual_over(&self, name: &str, lower: &[&str]) -> &Self {
            self.write(name, "speed", "10000\n");
            for each in lower {
                let link = self.0.join(name).join(format!("lower_{each}"));
                symlink(self.0.join(each), link).expect("a link can be made");
            }
            self
        }

        fn write(&self, name: &str, attribute: &str, text: &str) -> &Self {
            let path = self.0.join(name).join(attribute);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
            self
        }

        fn speed(&self, name: &str) -> Option<u64> {
            beneath(&self.0, name).speed_bps
        }

        fn devices(&self, name: &str) -> Vec<String> {
            beneath(&self.0, name).devices.into_iter().collect()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("the test's own folder");
        }
    }

    #[test]
    fn a_physical_device_has_the_speed_that_it_tells() {
        let tree = Tree::new("physical");
        tree.physical("eth0", "25000\n").physical("wlan0", "-1\n").physical("eth1", "4294967295\n");
        assert_eq!(tree.speed("eth0"), Some(25 * GIGABIT));
        assert_eq!(
            (tree.speed("wlan0"), tree.speed("eth1"), tree.speed("none")),
            (None, None, None)
        );
    }

    #[test]
    fn a_virtual_device_with_nothing_beneath_has_no_speed_whatever_it_tells() {
        let tree = Tree::new("virtual");
        for name in ["veth0", "tun0", "dummy0", "br0", "vxlan0"] {
            tree.virtual_over(name, &[]);
            assert_eq!((tree.speed(name), tree.devices(name)), (None, Vec::new()), "{name}");
        }
        tree.virtual_over("br1", &["veth0", "tun0"]);
        assert_eq!(tree.speed("br1"), None);
    }

    #[test]
    fn the_speed_is_that_of_the_one_physical_device_beneath_however_deep() {
        let tree = Tree::new("deep");
        tree.physical("eth0", "1000").virtual_over("veth0", &[]);
        tree.virtual_over("eth0.7", &["eth0"]).virtual_over("br0", &["eth0.7", "veth0"]);
        tree.virtual_over("macvlan0", &["br0"]).virtual_over("vxlan0", &["eth0"]);
        for name in ["eth0.7", "br0", "macvlan0", "vxlan0"] {
            assert_eq!(tree.speed(name), Some(GIGABIT), "{name}");
            assert_eq!(tree.devices(name), ["eth0"], "{name}");
        }
    }

    #[test]
    fn a_bridge_of_several_physical_devices_has_no_known_speed() {
        let tree = Tree::new("bridge");
        tree.physical("eth0", "1000").physical("eth1", "10000");
        tree.virtual_over("br0", &["eth0", "eth1"]);
        assert_eq!((tree.speed("br0"), tree.devices("br0").len()), (None, 2));
    }

    #[test]
    fn a_bond_is_as_fast_as_its_members_in_use() {
        let tree = Tree::new("bond");
        tree.physical("eth0", "10000").physical("eth1", "10000").physical("eth2", "-1");
        tree.virtual_over("bond0", &["eth0", "eth1"]).write("bond0", "bonding/mode", "802.3ad 4\n");
        tree.virtual_over("bond0.5", &["bond0"]);
        assert_eq!(tree.speed("bond0.5"), Some(20 * GIGABIT));
        tree.virtual_over("bond1", &["eth1", "eth2"]);
        tree.write("bond1", "bonding/mode", "active-backup 1\n");
        tree.write("bond1", "bonding/active_slave", "eth1\n");
        assert_eq!(tree.speed("bond1"), Some(10 * GIGABIT));
        // A member that tells no speed makes the sum unknown, unless it is down.
        tree.virtual_over("bond2", &["eth0", "eth2"]).write(
            "bond2",
            "bonding/mode",
            "balance-rr 0",
        );
        assert_eq!(tree.speed("bond2"), None);
        tree.write("eth2", "operstate", "down\n");
        assert_eq!(tree.speed("bond2"), Some(10 * GIGABIT));
    }

    #[test]
    fn a_circle_ends() {
        let tree = Tree::new("circle");
        tree.virtual_over("a", &["b"]).virtual_over("b", &["a"]);
        assert_eq!(tree.speed("a"), None);
    }
}
