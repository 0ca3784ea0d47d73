//! A test's parameters as the data plane uses them.

use std::time::Duration;

use proto::{Params, Role};

use crate::pacer::Share;

/// No test waits longer for what is still on its way.
const LONGEST_DRAIN: Duration = Duration::from_secs(60);

/// No kind is without intervals; the catalog asks for longer ones.
const LEAST_INTERVAL_SECONDS: f64 = 0.001;

/// Which way the measured traffic goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Source to sink.
    Forward,
    /// Sink to source.
    Reverse,
    /// Both ways at once.
    Bidirectional,
}

/// Who ends a `tcp_crr` connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseMode {
    /// The sink, which then keeps TIME-WAIT.
    SinkFirst,
    /// The source, with a reset.
    Reset,
}

/// How messages are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    /// One by one.
    Send,
    /// Many datagrams a call (`sendmmsg()`).
    Many,
    /// Many datagrams as one, which the kernel or the interface splits (`UDP_SEGMENT`).
    Segmentation,
    /// From a file in memory (`sendfile()`).
    File,
    /// From the pages that they lie in (`MSG_ZEROCOPY`).
    ZeroCopy,
}

/// All parameters; those that a kind doesn't list have the value that changes nothing.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Bytes of one stream message.
    pub message_bytes: usize,
    /// Bytes of one request.
    pub request_bytes: usize,
    /// Bytes of one response.
    pub response_bytes: usize,
    /// Transactions in flight beyond the first.
    pub burst: usize,
    /// The URL that is asked for; empty for the sink's own responder.
    pub url: String,
    /// Connections or source ports at once.
    pub flows: u32,
    /// Which way the measured traffic goes.
    pub direction: Direction,
    /// Payload bits per second, all flows of one direction; 0 for no limit.
    pub rate_bps: f64,
    /// Requests per second; 0 for as many as are answered.
    pub rate_rps: f64,
    /// A response that takes longer is counted as timed out; 0 for kinds without that.
    pub response_limit: Duration,
    /// Who ends a connection.
    pub close_mode: CloseMode,
    /// How messages are handed to the kernel.
    pub send_mode: SendMode,
    /// Traffic before the measured window.
    pub warmup: Duration,
    /// The measured window.
    pub duration: Duration,
    /// Length of intervals.
    pub report_interval: Duration,
    /// How `ping` probes: `icmp`, `tcp` or `udp`; empty for other kinds.
    pub probe: String,
    source: EndSettings,
    sink: EndSettings,
}

/// What only one end's sockets and threads have.
#[derive(Debug, Clone)]
pub struct EndSettings {
    /// Socket options.
    pub options: net::Options,
    /// CPUs to pin threads to.
    pub cpus: Vec<usize>,
}

impl Settings {
    /// Reads checked and filled parameters.
    ///
    /// # Errors
    /// When a value is of another type than the catalog says, or a CPU list is backwards.
    pub fn read(params: &Params) -> Result<Self, String> {
        let flows = u32::try_from(params.flow_count()).map_err(|error| error.to_string())?;
        Ok(Self {
            message_bytes: size(params, "message_size_bytes")?,
            request_bytes: size(params, "request_size_bytes")?,
            response_bytes: size(params, "response_size_bytes")?,
            burst: size(params, "burst")?,
            url: text(params, "url")?.to_owned(),
            flows,
            direction: direction(params)?,
            rate_bps: rate_of_all_flows(params, flows)?,
            rate_rps: number(params, "rate_rps")?,
            response_limit: Duration::from_secs_f64(number(params, "timeout_seconds")?),
            close_mode: close_mode(params)?,
            send_mode: send_mode(params)?,
            warmup: Duration::from_secs_f64(number(params, "warmup_seconds")?),
            duration: Duration::from_secs_f64(number(params, "duration_seconds")?),
            report_interval: Duration::from_secs_f64(
                number(params, "report_interval_seconds")?.max(LEAST_INTERVAL_SECONDS),
            ),
            probe: text(params, "probe")?.to_owned(),
            source: EndSettings::read(params, "source")?,
            sink: EndSettings::read(params, "sink")?,
        })
    }

    /// What the given end's sockets and threads have.
    pub fn end(&self, role: Role) -> &EndSettings {
        match role {
            Role::Source => &self.source,
            Role::Sink => &self.sink,
        }
    }

    /// Whether the given end sends stream traffic.
    pub fn sends(&self, role: Role) -> bool {
        match self.direction {
            Direction::Bidirectional => true,
            Direction::Forward => role == Role::Source,
            Direction::Reverse => role == Role::Sink,
        }
    }

    /// What metric keys begin with when `receiver` is where the traffic arrives: only the second
    /// direction of a bidirectional test needs telling apart.
    pub fn prefix(&self, receiver: Role) -> &'static str {
        match (self.direction, receiver) {
            (Direction::Bidirectional, Role::Source) => "reverse_",
            _ => "",
        }
    }

    /// Warm-up and measured window together.
    pub fn total(&self) -> Duration {
        self.warmup + self.duration
    }

    /// Intervals that a test has at most: those of the warm-up, of the window and of the drain, the last of each perhaps
    /// shorter.
    pub fn intervals_at_most(&self, has_drain: bool) -> usize {
        let drain = if has_drain { LONGEST_DRAIN } else { Duration::ZERO };
        let whole = (self.total() + drain).as_secs_f64() / self.report_interval.as_secs_f64();
        // Positive, and bounded by the catalog: a day in tenths of a second.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let whole = whole.ceil() as usize;
        whole + 2 + usize::from(has_drain)
    }

    /// One flow's share of the rate in bits per second.
    pub fn flow_rate_bps(&self) -> f64 {
        self.rate_bps / f64::from(self.flows)
    }

    /// A flow's part of the rate.
    pub fn share(&self, flow: u32) -> Share {
        Share { rate_bps: self.flow_rate_bps(), flow, flows: self.flows }
    }
}

impl EndSettings {
    fn read(params: &Params, end: &str) -> Result<Self, String> {
        let cpus = text(params, &format!("{end}_cpus"))?;
        let dscp = size(params, "dscp")?;
        let nodelay = params.has("nodelay")
            && params.boolean("nodelay").map_err(|error| error.to_string())?;
        Ok(Self {
            options: net::Options {
                buffer_bytes: size(params, &format!("{end}_socket_buffer_bytes"))?,
                congestion_control: text(params, "congestion_control")?.to_owned(),
                nodelay,
                dscp: u8::try_from(dscp).map_err(|error| error.to_string())?,
                small_segments: false,
            },
            cpus: net::parse_cpu_list(cpus)
                .ok_or_else(|| format!("{end}_cpus is {cpus:?}, which is no list such as 0,2-3"))?,
        })
    }
}

fn size(params: &Params, name: &str) -> Result<usize, String> {
    if !params.has(name) {
        return Ok(0);
    }
    let value = params.integer(name).map_err(|error| error.to_string())?;
    usize::try_from(value).map_err(|error| format!("{name}: {error}"))
}

fn number(params: &Params, name: &str) -> Result<f64, String> {
    if !params.has(name) {
        return Ok(0.0);
    }
    params.number(name).map_err(|error| error.to_string())
}

fn text<'a>(params: &'a Params, name: &str) -> Result<&'a str, String> {
    if !params.has(name) {
        return Ok("");
    }
    params.text(name).map_err(|error| error.to_string())
}

fn direction(params: &Params) -> Result<Direction, String> {
    match text(params, "direction")? {
        "" | "forward" => Ok(Direction::Forward),
        "reverse" => Ok(Direction::Reverse),
        "bidirectional" => Ok(Direction::Bidirectional),
        other => Err(format!("direction is {other:?}; it is forward, reverse or bidirectional")),
    }
}

/// The rate of one direction, however it was asked for.
fn rate_of_all_flows(params: &Params, flows: u32) -> Result<f64, String> {
    let (all, each) = (number(params, "rate_bps")?, number(params, "flow_rate_bps")?);
    // The catalog lets only one of them be set.
    Ok(if each > 0.0 { each * f64::from(flows) } else { all })
}

/// How a test's messages are sent; the catalog says which modes a kind has.
pub fn send_mode(params: &Params) -> Result<SendMode, String> {
    match text(params, "send_mode")? {
        "" | "send" => Ok(SendMode::Send),
        "sendmmsg" => Ok(SendMode::Many),
        "segmentation" => Ok(SendMode::Segmentation),
        "sendfile" => Ok(SendMode::File),
        "zerocopy" => Ok(SendMode::ZeroCopy),
        other => Err(format!(
            "send_mode is {other:?}; it is send, sendmmsg, segmentation, sendfile or zerocopy"
        )),
    }
}

fn close_mode(params: &Params) -> Result<CloseMode, String> {
    match text(params, "close_mode")? {
        "" | "sink_first" => Ok(CloseMode::SinkFirst),
        "reset" => Ok(CloseMode::Reset),
        other => Err(format!("close_mode is {other:?}; it is sink_first or reset")),
    }
}

#[cfg(test)]
mod tests {
    use proto::{Catalog, Params};
    use serde_json::Value;

    use super::{SendMode, Settings};

    fn read<const N: usize>(kind: &str, given: [(&str, Value); N]) -> Result<Settings, String> {
        let params = Catalog::embedded().fill(kind, &Params::from(given)).expect("in bounds");
        Settings::read(&params)
    }

    #[test]
    fn a_rate_per_flow_is_the_rate_of_each_flow() {
        let settings = read("udp_stream", [("flow_rate_bps", 1_000.into()), ("flows", 3.into())]);
        let settings = settings.expect("valid");
        assert_eq!((settings.rate_bps.to_bits(), settings.flow_rate_bps().to_bits()), {
            (3_000_f64.to_bits(), 1_000_f64.to_bits())
        });
    }

    #[test]
    fn a_test_has_no_more_intervals_than_fit_its_time() {
        let times = |warmup: f64, duration: f64| {
            let given = [("warmup_seconds", warmup.into()), ("duration_seconds", duration.into())];
            read("tcp_stream", given).expect("valid")
        };
        let tests = [times(0.0, 10.0), times(1.5, 2.0), times(0.0, 0.1)];
        assert_eq!(tests.clone().map(|settings| settings.intervals_at_most(false)), [12, 6, 3]);
        assert_eq!(tests.map(|settings| settings.intervals_at_most(true)), [73, 67, 64]);
    }

    #[test]
    fn every_send_mode_of_the_catalog_is_known_and_no_other() {
        let mode =
            |name: &str| read("udp_stream", [("send_mode", name.into())]).map(|s| s.send_mode);
        assert_eq!(mode("send"), Ok(SendMode::Send));
        assert_eq!(mode("sendmmsg"), Ok(SendMode::Many));
        assert_eq!(mode("segmentation"), Ok(SendMode::Segmentation));
        let params = Params::from([("send_mode", Value::from("pigeon"))]);
        let expected =
            "send_mode is \"pigeon\"; it is send, sendmmsg, segmentation, sendfile or zerocopy";
        assert_eq!(super::send_mode(&params), Err(expected.to_owned()));
    }
}
