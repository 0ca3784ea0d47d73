//! Facts of the network interfaces that are up.

use std::fs;
use std::path::Path;

use proto::{InterfaceFacts, reason};

use super::Missing;
use super::speed::{INTERFACES, beneath};

/// `IFF_UP` of an interface's flags.
const IS_UP: u64 = 1;

/// Every interface that is up, by name.
pub fn interfaces(missing: &mut Missing) -> Vec<InterfaceFacts> {
    let entries = match fs::read_dir("/sys/class/net") {
        Ok(entries) => entries,
        Err(error) => {
            missing.note(format!("/sys/class/net: {error}"));
            return Vec::new();
        }
    };
    let addresses = net::interface_addresses().unwrap_or_else(|error| {
        missing.note(reason!("missing_interface_addresses", why = error.to_string()));
        std::collections::BTreeMap::new()
    });
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.retain(|name| is_up(name));
    names
        .iter()
        .map(|name| {
            let own =
                addresses.get(name).map(|known| known.iter().map(ToString::to_string).collect());
            interface(name, own.unwrap_or_default(), missing)
        })
        .collect()
}

fn attribute(name: &str, attribute: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/sys/class/net/{name}/{attribute}")).ok()?;
    Some(text.trim().to_owned())
}

fn is_up(name: &str) -> bool {
    let flags = attribute(name, "flags").unwrap_or_default();
    u64::from_str_radix(flags.trim_start_matches("0x"), 16).is_ok_and(|flags| flags & IS_UP != 0)
}

/// The speed that bounds a link, in bits per second, where the kernel tells one.
pub fn speed_bps(name: &str) -> Option<u64> {
    beneath(Path::new(INTERFACES), name).speed_bps
}

fn interface(name: &str, addresses: Vec<String>, missing: &mut Missing) -> InterfaceFacts {
    let link = net::link(name).unwrap_or_else(|error| {
        missing.note(format!("ethtool {name}: {error}"));
        net::Link::default()
    });
    let beneath = beneath(Path::new(INTERFACES), name);
    if beneath.speed_bps.is_none() && name != "lo" {
        missing.note(match beneath.devices.len() {
            0 => reason!("missing_speed_virtual", interface = name),
            1 => reason!("missing_speed", interface = name),
            _ => reason!("missing_speed_beneath", interface = name),
        });
    }
    let physical = beneath.devices.into_iter().filter(|device| device != name).collect();
    InterfaceFacts {
        name: name.to_owned(),
        driver: link.driver.filter(|driver| !driver.is_empty()),
        mtu: attribute(name, "mtu").and_then(|mtu| mtu.parse().ok()),
        speed_bps: beneath.speed_bps,
        physical,
        offloads: link.offloads,
        addresses,
    }
}
