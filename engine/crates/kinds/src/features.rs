//! Why a host can't run a test, by what its kernel can do.

use std::fs;

use proto::{Reason, Role, reason};

use crate::roles::role_word;

/// Says which of the needed features the host lacks first, and since which kernel it is there.
pub fn missing(role: Role, needed: &[&str], features: &[net::Feature]) -> Option<Reason> {
    let is_needed = |feature: &&net::Feature| needed.contains(&feature.name);
    let feature = features.iter().filter(is_needed).find(|feature| !feature.is_there)?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let without = match feature.name {
        "udp_segmentation" => reason!("without_udp_segmentation"),
        "udp_receive_offload" => reason!("without_udp_receive_offload"),
        "tcp_zerocopy" => reason!("without_tcp_zerocopy"),
        other => other.into(),
    };
    let (end, kernel) = (role_word(role), kernel.trim());
    Some(reason!("setup_feature_missing", end = end, kernel = kernel, without = without))
}

/// What facts say of a feature that isn't there: what is lost without it, and what to do.
pub fn lost(feature: &str) -> Reason {
    match feature {
        "icmp_probes" => reason!("missing_icmp_probes"),
        "udp_segmentation" => reason!("missing_udp_segmentation"),
        "udp_receive_offload" => reason!("missing_udp_receive_offload"),
        "tcp_limited_times" => reason!("missing_tcp_times"),
        "tcp_zerocopy" => reason!("missing_tcp_zerocopy"),
        "bound_device" => reason!("missing_bound_device"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proto::Role;

    use super::missing;

    #[test]
    fn only_what_is_needed_is_missed_and_a_refusal_names_the_kernel() {
        let feature = |name, is_there| net::Feature { name, is_there };
        let old = [feature("udp_segmentation", true), feature("udp_receive_offload", false)];
        assert_eq!(missing(Role::Sink, &["udp_segmentation"], &old), None);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux");
        let expected = format!(
            "the sink host, with Linux {}, has no send mode \"segmentation\": UDP_GRO came with Linux 5.0",
            kernel.trim()
        );
        let said = missing(Role::Sink, &["udp_receive_offload"], &old).expect("it is missing");
        assert_eq!(*said, expected);
    }
}
