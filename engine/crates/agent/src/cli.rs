//! The command line.

mod run;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use ipnet::IpNet;

pub use run::{AskedConfidence, ConfidenceOn, Order, RunOptions};

/// Measures between hosts: serves tests for a controller, or runs one from the command line.
#[derive(Debug, Parser)]
#[command(name = "benchweb-engine", version, about, long_about = None)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve tests to authenticated controllers until stopped.
    Serve(ServeOptions),
    /// Run a test, or a sweep of them, against a serving engine: source and controller in one.
    Run(RunOptions),
    /// Print the test kinds, parameters and metrics as JSON.
    Catalog,
    /// Print what is true of this host as JSON.
    Facts,
    /// Print the script that completes this command in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or that of one command.
    Man {
        /// The command; else the program as a whole.
        command: Option<String>,
        /// Write every page into this folder instead.
        #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// Control address; without a port, 7410; port 0 takes a free one.
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = parse_listen)]
    pub listen: SocketAddr,
    /// Data port, or a range of them, TCP and UDP; 0 takes a free one.
    #[arg(long, value_name = "P[-Q]", default_value = "7411")]
    pub data_port: PortRange,
    /// Address of the data ports; else all of the host's, or loopback where --listen is.
    #[arg(long, value_name = "ADDR")]
    pub data_listen: Option<IpAddr>,
    /// Folder for the certificate and for results that wait to be fetched.
    #[arg(long, value_name = "DIR")]
    pub state_dir: PathBuf,
    /// File with the bearer tokens that controllers must send: one a line, its limits (name=value) behind it.
    #[arg(long, value_name = "F")]
    pub token_file: PathBuf,
    /// Network that controllers and peers must be in; may be repeated.
    #[arg(long, value_name = "CIDR", value_parser = parse_network)]
    pub allow: Vec<IpNet>,
    /// URL that HTTP load may be sent to from here, with all paths below it; may be repeated.
    #[arg(long, value_name = "PREFIX", value_parser = proto::UrlPrefix::parse)]
    pub allow_url: Vec<proto::UrlPrefix>,
    /// Folder, or block device, that disks may be measured in, such as /srv/bench,size=10G; may be repeated. A test
    /// writes a file without a name there; on a device it writes over what is there.
    #[arg(long, value_name = "PATH[,size=BYTES][,any-filesystem]", value_hint = ValueHint::AnyPath)]
    pub disk_dir: Vec<proto::DiskPlace>,
    /// Sessions at once.
    #[arg(long, value_name = "N", default_value = "64")]
    pub max_sessions: usize,
    /// Seconds that a session may take, warm-up included.
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit)]
    pub max_duration: Option<f64>,
    /// Flows, or connections, that a session may have.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_flows: Option<u64>,
    /// Payload rate that a session may have, in bit/s, such as 1e9.
    #[arg(long, value_name = "BPS", value_parser = parse_limit)]
    pub max_rate: Option<f64>,
    /// Payload that a session may carry, in bytes.
    #[arg(long, value_name = "BYTES", value_parser = parse_limit)]
    pub max_bytes: Option<f64>,
    /// Memory that all sessions together may need, in bytes; else half of the host's.
    #[arg(long, value_name = "BYTES", value_parser = parse_limit)]
    pub max_memory: Option<f64>,
}

/// Consecutive ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    /// The first.
    pub first: u16,
    /// The last, inclusive.
    pub last: u16,
}

/// A descriptor per port and address family is open all the time.
const PORTS_AT_MOST: u16 = 64;

impl FromStr for PortRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| {
            text.parse::<u16>().map_err(|_| format!("{text:?} is not a port from 0 to 65535"))
        };
        let range = Self { first: port(first)?, last: port(last)? };
        if range.last < range.first || range.last - range.first >= PORTS_AT_MOST {
            return Err(format!("a range goes upward and has at most {PORTS_AT_MOST} ports"));
        }
        if range.first == 0 && range.last != 0 {
            return Err("port 0 takes one free port and can't begin a range".to_owned());
        }
        Ok(range)
    }
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let address = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    text.parse()
        .or_else(|_| address.map(|address| SocketAddr::new(address, proto::CONTROL_PORT)))
        .map_err(|_| {
            "give an address of this host, such as 192.0.2.1:7410 or 127.0.0.1:0".to_owned()
        })
}

fn parse_limit(text: &str) -> Result<f64, String> {
    positive("the limit", text)
}

/// A finite number above 0, `1e9` too.
pub fn positive(name: &str, value: &str) -> Result<f64, String> {
    let number = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{name}={value} is not a number above 0"))
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "give a network such as 192.0.2.0/24, or one address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listen_address_without_port_gets_7410() {
        assert_eq!(parse_listen("192.0.2.1"), Ok("192.0.2.1:7410".parse().unwrap()));
        assert_eq!(parse_listen("[::1]"), Ok("[::1]:7410".parse().unwrap()));
        assert_eq!(parse_listen("[::1]:0"), Ok("[::1]:0".parse().unwrap()));
        assert!(parse_listen("everywhere").is_err());
    }

    #[test]
    fn data_ports_are_one_or_a_range() {
        assert_eq!("7411".parse(), Ok(PortRange { first: 7411, last: 7411 }));
        assert_eq!("7411-7414".parse(), Ok(PortRange { first: 7411, last: 7414 }));
        for wrong in ["", "7414-7411", "0-5", "1-65", "70000", "a-b"] {
            assert!(wrong.parse::<PortRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        CommandLine::command().debug_assert();
    }
}
