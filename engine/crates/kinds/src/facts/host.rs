//! Facts of the machine and its system.

use std::fs;
use std::path::Path;

use super::Missing;

/// The value of the first line "key : value" or "key=value".
pub fn value_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once([':', '='])?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// The distribution's pretty name.
pub fn operating_system(missing: &mut Missing) -> String {
    let text = missing.read("/etc/os-release").unwrap_or_default();
    value_of(&text, "PRETTY_NAME").unwrap_or_default()
}

/// Memory of the machine, in bytes.
pub fn memory_bytes(missing: &mut Missing) -> u64 {
    let text = missing.read("/proc/meminfo").unwrap_or_default();
    let kibibytes = value_of(&text, "MemTotal")
        .and_then(|value| value.trim_end_matches("kB").trim().parse::<u64>().ok());
    if kibibytes.is_none() {
        missing.note(proto::reason!("missing_memory"));
    }
    kibibytes.unwrap_or(0) * 1024
}

/// Containers first, then the machine's maker, then the CPU's hypervisor bit; `none` on bare metal.
pub fn virtualisation() -> String {
    container().or_else(machine).unwrap_or_else(|| "none".to_owned())
}

fn container() -> Option<String> {
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let marked = marks.iter().find(|(path, _)| Path::new(path).exists());
    let kubernetes = std::env::var_os("KUBERNETES_SERVICE_HOST").map(|_| "kubernetes");
    kubernetes.or(marked.map(|&(_, name)| name)).map(str::to_owned)
}

fn machine() -> Option<String> {
    const MAKERS: [(&str, &str); 9] = [
        ("QEMU", "kvm"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("Xen", "xen"),
        ("Microsoft", "hyper-v"),
        ("Alibaba", "kvm"),
        ("Amazon EC2", "amazon"),
    ];
    let read =
        |name: &str| fs::read_to_string(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let described = read("sys_vendor") + &read("product_name");
    let maker =
        MAKERS.iter().find(|(mark, _)| described.contains(mark)).map(|&(_, name)| name.to_owned());
    maker.or_else(hypervisor_of_kernel).or_else(hypervisor_bit)
}

fn hypervisor_of_kernel() -> Option<String> {
    fs::read_to_string("/sys/hypervisor/type").ok().map(|name| name.trim().to_owned())
}

/// The kernel shows the CPU's hypervisor bit as a flag, but not whose it is.
fn hypervisor_bit() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let flags = value_of(&text, "flags")?;
    let clock =
        fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let is_kvm = clock.is_ok_and(|clocks| clocks.contains("kvm-clock"));
    let name = if is_kvm { "kvm" } else { "unknown hypervisor" };
    flags.split_whitespace().any(|flag| flag == "hypervisor").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn values_are_found_after_colons_and_equal_signs() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nPRETTY_NAME=\"Debian 12\"\n";
        assert_eq!(value_of(text, "model name").as_deref(), Some("Some CPU @ 2.0GHz"));
        assert_eq!(value_of(text, "PRETTY_NAME").as_deref(), Some("Debian 12"));
        assert_eq!(value_of(text, "flags"), None);
    }
}
