//! What the control groups of this process let it have of the host: CPUs, CPU time, memory (cgroups(7), v1 and v2).

use std::fs;
use std::path::{Path, PathBuf};

use proto::ControlGroup;

/// A limit of v1 that is this high is none: it is the greatest page-aligned number.
const NO_MEMORY_LIMIT: u64 = 1 << 60;

/// The limits of the groups that this process is in, the tightest of all above it; none where nothing limits it.
pub fn control_group(root: &Path, present_cpus: usize) -> Option<ControlGroup> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let found = ControlGroup {
        cpu_quota: folders(root, &groups, "cpu")
            .iter()
            .filter_map(|each| quota(each))
            .reduce(f64::min),
        cpuset: cpuset(root, &groups, present_cpus),
        memory_limit_bytes: folders(root, &groups, "memory")
            .iter()
            .filter_map(|each| memory(each))
            .min(),
    };
    (found != ControlGroup::default()).then_some(found)
}

/// The group's folder and all above it. In a container the path that the kernel tells may be the host's: what is not
/// there is passed over, and the top is the container's own group.
fn folders(root: &Path, groups: &str, controller: &str) -> Vec<PathBuf> {
    let mounts = root.join("sys/fs/cgroup");
    let line = |is_it: &dyn Fn(&str) -> bool| {
        groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            is_it(controllers).then_some((controllers, path))
        })
    };
    let named = line(&|names| names.split(',').any(|name| name == controller));
    let mount = match named {
        Some((names, _)) => [names, controller]
            .map(|name| mounts.join(name))
            .into_iter()
            .find(|mount| mount.exists()),
        None if mounts.join("unified").exists() => Some(mounts.join("unified")),
        None => Some(mounts),
    };
    let path = named.or_else(|| line(&str::is_empty)).map_or("/", |(_, path)| path);
    let Some(mount) = mount else { return Vec::new() };
    let own = Path::new(path.trim_start_matches('/'));
    own.ancestors().map(|above| mount.join(above)).collect()
}

fn text(folder: &Path, file: &str) -> Option<String> {
    Some(fs::read_to_string(folder.join(file)).ok()?.trim().to_owned())
}

/// In CPUs: `cpu.max` is "max 100000" or "50000 100000"; v1 says -1 for none.
fn quota(folder: &Path) -> Option<f64> {
    let (quota, period) = match text(folder, "cpu.max") {
        Some(both) => {
            let (quota, period) = both.split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        }
        None => (text(folder, "cpu.cfs_quota_us")?, text(folder, "cpu.cfs_period_us")?),
    };
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn memory(folder: &Path) -> Option<u64> {
    let limit = text(folder, "memory.max").or_else(|| text(folder, "memory.limit_in_bytes"))?;
    limit.parse().ok().filter(|&bytes| bytes < NO_MEMORY_LIMIT)
}

/// The CPUs that the group may use, where those aren't all.
fn cpuset(root: &Path, groups: &str, present_cpus: usize) -> Option<String> {
    const FILES: [&str; 4] =
        ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus", "cpus"];
    let folders = folders(root, groups, "cpuset");
    let named = folders.iter().find_map(|folder| {
        FILES.iter().find_map(|file| text(folder, file).filter(|list| !list.is_empty()))
    })?;
    let count = net::parse_cpu_list(&named)?.len();
    (count < present_cpus).then_some(named)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use proto::ControlGroup;

    use super::control_group;

    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("bw-group-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
                fs::write(path, text).expect("a file can be written");
            }
            Self(root)
        }

        fn of_eight_cpus(&self) -> Option<ControlGroup> {
            control_group(&self.0, 8)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("the test's own folder");
        }
    }

    fn limits(cpu_quota: f64, cpuset: &str, memory_limit_bytes: u64) -> ControlGroup {
        let cpuset = Some(cpuset.to_owned());
        ControlGroup {
            cpu_quota: Some(cpu_quota),
            cpuset,
            memory_limit_bytes: Some(memory_limit_bytes),
        }
    }

    #[test]
    fn the_tightest_of_all_groups_above_counts_in_version_2() {
        let root = Root::new(
            "v2",
            &[
                ("proc/self/cgroup", "0::/pods/one/engine\n"),
                ("sys/fs/cgroup/pods/one/engine/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/pods/one/cpu.max", "50000 100000\n"),
                ("sys/fs/cgroup/pods/cpu.max", "400000 100000\n"),
                ("sys/fs/cgroup/pods/one/engine/cpuset.cpus.effective", "2-3,6\n"),
                ("sys/fs/cgroup/pods/one/engine/memory.max", "max\n"),
                ("sys/fs/cgroup/pods/memory.max", "268435456\n"),
            ],
        );
        assert_eq!(root.of_eight_cpus(), Some(limits(0.5, "2-3,6", 256 << 20)));
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller() {
        let root = Root::new(
            "v1",
            &[
                (
                    "proc/self/cgroup",
                    "5:cpuset:/box\n4:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/\n",
                ),
                ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpuset/box/cpuset.cpus", "0,4\n"),
                ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
        );
        assert_eq!(root.of_eight_cpus(), Some(limits(1.5, "0,4", 1 << 30)));
    }

    #[test]
    fn a_container_whose_groups_path_is_the_hosts_has_its_limits_at_the_top() {
        let root = Root::new(
            "container",
            &[
                (
                    "proc/self/cgroup",
                    "2:cpu:/docker/4711\n3:memory:/docker/4711\n4:cpuset:/docker/4711\n",
                ),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n"),
                ("sys/fs/cgroup/cpuset/cpuset.cpus", "1\n"),
            ],
        );
        assert_eq!(root.of_eight_cpus(), Some(limits(0.25, "1", 1 << 20)));
    }

    #[test]
    fn where_nothing_limits_there_is_nothing_to_tell() {
        let root = Root::new(
            "free",
            &[
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/memory.max", "max\n"),
                ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"),
            ],
        );
        assert_eq!(root.of_eight_cpus(), None);
        assert_eq!(Root::new("nothing", &[("proc/self/stat", "")]).of_eight_cpus(), None);
    }
}
