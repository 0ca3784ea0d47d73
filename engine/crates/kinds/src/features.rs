//! Why a host can't run a test, by what its kernel can do.

use std::fs;

use proto::Role;

/// Says which of the needed features the host lacks first, and since which kernel it is there.
pub fn missing(role: Role, needed: &[&str], features: &[net::Feature]) -> Option<String> {
    let is_needed = |feature: &&net::Feature| needed.contains(&feature.name);
    let feature = features.iter().filter(is_needed).find(|feature| !feature.is_there)?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let end = if role == Role::Source { "source" } else { "sink" };
    Some(format!("the {end} host, with Linux {}, has {}", kernel.trim(), feature.without))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proto::Role;

    use super::missing;

    #[test]
    fn only_what_is_needed_is_missed_and_a_refusal_names_the_kernel() {
        let feature = |name, is_there| net::Feature { name, is_there, without: "no segments" };
        let old = [feature("udp_segmentation", true), feature("udp_receive_offload", false)];
        assert_eq!(missing(Role::Sink, &["udp_segmentation"], &old), None);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux");
        let expected = format!("the sink host, with Linux {}, has no segments", kernel.trim());
        assert_eq!(missing(Role::Sink, &["udp_receive_offload"], &old), Some(expected));
    }
}
