//! A test's parameters as the session uses them; what one kind alone has is in its module.

use std::time::Duration;

use proto::{Params, Reason, Role, reason};

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

/// What every kind has; parameters that a kind doesn't list have the value that changes nothing.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Connections or source ports at once.
    pub flows: u32,
    /// Which way the measured traffic goes.
    pub direction: Direction,
    /// Traffic before the measured window.
    pub warmup: Duration,
    /// The measured window.
    pub duration: Duration,
    /// Length of intervals.
    pub report_interval: Duration,
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
    pub fn read(params: &Params) -> Result<Self, Reason> {
        let flows = u32::try_from(params.flow_count()).map_err(|error| error.to_string())?;
        Ok(Self {
            flows,
            direction: direction(params)?,
            warmup: Duration::from_secs_f64(number(params, "warmup_seconds")?),
            duration: Duration::from_secs_f64(number(params, "duration_seconds")?),
            report_interval: Duration::from_secs_f64(
                number(params, "report_interval_seconds")?.max(LEAST_INTERVAL_SECONDS),
            ),
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
}

impl EndSettings {
    fn read(params: &Params, end: &str) -> Result<Self, Reason> {
        let field = format!("{end}_cpus");
        let cpus = text(params, &field)?;
        let dscp = size(params, "dscp")?;
        let nodelay =
            params.has("nodelay") && params.boolean("nodelay").map_err(|error| error.message)?;
        Ok(Self {
            options: net::Options {
                buffer_bytes: size(params, &format!("{end}_socket_buffer_bytes"))?,
                congestion_control: text(params, "congestion_control")?.to_owned(),
                nodelay,
                dscp: u8::try_from(dscp).map_err(|error| error.to_string())?,
                small_segments: false,
            },
            cpus: net::parse_cpu_list(cpus).ok_or_else(|| {
                reason!("setup_no_cpu_list", name = field, text = format!("{cpus:?}"))
            })?,
        })
    }
}

/// A count or a number of bytes; 0 where the kind has no such parameter.
pub fn size(params: &Params, name: &str) -> Result<usize, Reason> {
    if !params.has(name) {
        return Ok(0);
    }
    let value = params.integer(name).map_err(|error| error.message)?;
    usize::try_from(value).map_err(|error| format!("{name}: {error}").into())
}

/// A number; 0 where the kind has no such parameter.
pub fn number(params: &Params, name: &str) -> Result<f64, Reason> {
    if !params.has(name) {
        return Ok(0.0);
    }
    params.number(name).map_err(|error| error.message)
}

/// A word or text; empty where the kind has no such parameter.
pub fn text<'a>(params: &'a Params, name: &str) -> Result<&'a str, Reason> {
    if !params.has(name) {
        return Ok("");
    }
    params.text(name).map_err(|error| error.message)
}

/// The refusal of a word that the parameter doesn't have; the catalog lets none through.
pub fn unknown_word(name: &str, word: &str) -> Reason {
    reason!("setup_unknown_word", name = name, word = format!("{word:?}"))
}

fn direction(params: &Params) -> Result<Direction, Reason> {
    match text(params, "direction")? {
        "" | "forward" => Ok(Direction::Forward),
        "reverse" => Ok(Direction::Reverse),
        "bidirectional" => Ok(Direction::Bidirectional),
        other => Err(unknown_word("direction", other)),
    }
}

#[cfg(test)]
mod tests {
    use proto::{Catalog, Params};

    use super::Settings;

    #[test]
    fn a_test_has_no_more_intervals_than_fit_its_time() {
        let times = |warmup: f64, duration: f64| {
            let given = [("warmup_seconds", warmup.into()), ("duration_seconds", duration.into())];
            let params = Catalog::embedded().fill("tcp_stream", &Params::from(given));
            Settings::read(&params.expect("in bounds")).expect("valid")
        };
        let tests = [times(0.0, 10.0), times(1.5, 2.0), times(0.0, 0.1)];
        assert_eq!(tests.clone().map(|settings| settings.intervals_at_most(false)), [12, 6, 3]);
        assert_eq!(tests.map(|settings| settings.intervals_at_most(true)), [73, 67, 64]);
    }
}
