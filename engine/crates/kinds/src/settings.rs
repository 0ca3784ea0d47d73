//! A test's parameters as the data plane uses them.

use std::time::Duration;

use proto::{Params, Role};

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
        Ok(Self {
            message_bytes: size(params, "message_size_bytes")?,
            request_bytes: size(params, "request_size_bytes")?,
            response_bytes: size(params, "response_size_bytes")?,
            burst: size(params, "burst")?,
            url: text(params, "url")?.to_owned(),
            flows: u32::try_from(params.flow_count()).map_err(|error| error.to_string())?,
            direction: direction(params)?,
            rate_bps: number(params, "rate_bps")?,
            warmup: Duration::from_secs_f64(number(params, "warmup_seconds")?),
            duration: Duration::from_secs_f64(number(params, "duration_seconds")?),
            report_interval: Duration::from_secs_f64(
                number(params, "report_interval_seconds")?.max(0.1),
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

    /// One flow's share of the rate.
    pub fn flow_rate_bps(&self) -> f64 {
        self.rate_bps / f64::from(self.flows)
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
