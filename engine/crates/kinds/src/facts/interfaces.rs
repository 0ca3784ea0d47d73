//! Facts of the network interfaces that are up.

use std::fs;

use proto::InterfaceFacts;

use super::Missing;

/// `IFF_UP` of an interface's flags.
const IS_UP: u64 = 1;
const MEGABIT: u64 = 1_000_000;

/// Every interface that is up, by name.
pub fn interfaces(missing: &mut Missing) -> Vec<InterfaceFacts> {
    let entries = match fs::read_dir("/sys/class/net") {
        Ok(entries) => entries,
        Err(error) => {
            missing.note("/sys/class/net", &error.to_string());
            return Vec::new();
        }
    };
    let addresses = net::interface_addresses().unwrap_or_else(|error| {
        missing.note("interface addresses", &error.to_string());
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

/// Whether the speed that a driver tells is one that frames keep to: veth and tun tell a constant.
fn keeps_its_speed(driver: Option<&str>) -> bool {
    !matches!(driver, Some("veth" | "tun"))
}

/// The speed of a link, in bits per second, where the kernel tells one that bounds it.
pub fn speed_bps(name: &str) -> Option<u64> {
    let driver = net::link(name).unwrap_or_default().driver;
    let speed = told_speed(name).filter(|_| keeps_its_speed(driver.as_deref()))?;
    Some(speed * MEGABIT)
}

/// In megabits per second; a link without a speed says -1, or refuses to be read.
fn told_speed(name: &str) -> Option<u64> {
    attribute(name, "speed")?.parse().ok()
}

fn interface(name: &str, addresses: Vec<String>, missing: &mut Missing) -> InterfaceFacts {
    let link = net::link(name).unwrap_or_else(|error| {
        missing.note(&format!("ethtool {name}"), &error.to_string());
        net::Link::default()
    });
    let told = told_speed(name);
    let speed = told.filter(|_| keeps_its_speed(link.driver.as_deref()));
    if speed.is_none() && name != "lo" {
        let why = told
            .map_or("the driver tells none", |_| "the one that the driver tells bounds nothing");
        missing.note(&format!("speed of {name}"), why);
    }
    InterfaceFacts {
        name: name.to_owned(),
        driver: link.driver.filter(|driver| !driver.is_empty()),
        mtu: attribute(name, "mtu").and_then(|mtu| mtu.parse().ok()),
        speed_bps: speed.map(|speed| speed * MEGABIT),
        offloads: link.offloads,
        addresses,
    }
}

#[cfg(test)]
mod tests {
    use super::keeps_its_speed;

    #[test]
    fn the_constant_that_virtual_devices_tell_is_no_speed() {
        assert!(!keeps_its_speed(Some("veth")) && !keeps_its_speed(Some("tun")));
        assert!(keeps_its_speed(Some("mlx5_core")) && keeps_its_speed(None));
    }
}
