//! What limited a run: one verdict for each direction, with the figures that speak for it.
//!
//! Pure functions over what both ends measured. The idea is the triage of web100 and of Linux's TCP chronograph: a
//! sender that is out of receive window has a slow receiver, one that is out of congestion window a slow path, one that
//! is out of data is slow itself. Whether an end is slow because its CPU is, its threads tell: one that never sleeps is
//! what the others wait for.

pub mod arrival;
mod ceiling;
mod congestion;
mod handed;
mod known;
mod requests;
mod rules;
mod streams;
mod words;

pub use ceiling::add_ceilings;
pub use handed::is_beyond_link;
use known::{Known, Route};
use proto::{EndReport, Evidence, Limit, LimitedBy, Metrics, Params, Reason, Role};

/// What both ends say, and what became of it.
pub struct Run<'a> {
    /// Every parameter.
    pub params: &'a Params,
    /// Metrics of the result.
    pub metrics: &'a Metrics,
    /// The source's half.
    pub source: &'a EndReport,
    /// The sink's half.
    pub sink: &'a EndReport,
}

/// A verdict, before its direction is said.
#[derive(Debug, Clone, PartialEq)]
struct Verdict {
    by: LimitedBy,
    summary: Reason,
    evidence: Vec<Evidence>,
}

/// The verdicts of a run, one for each direction in which something was measured.
pub fn limits(run: &Run<'_>) -> Vec<Limit> {
    directions(run.params).into_iter().filter_map(|route| limit(run, route)).collect()
}

fn limit(run: &Run<'_>, route: Route) -> Option<Limit> {
    let known = Known::of(run, route);
    let verdict = if let Some(verdict) = arrival::verdict(&known) {
        verdict
    } else if known.throughput_bps.is_some() {
        streams::verdict(&known)
    } else if known.transaction_rate.is_some() {
        requests::verdict(&known)
    } else {
        requests::cadence(&known)?
    };
    let direction = if route.sender == Role::Source { "forward" } else { "reverse" }.to_owned();
    let Verdict { by, summary, evidence } = rules::with_confines(verdict, &known);
    let (summary, summary_data) = summary.into_parts();
    Some(Limit { direction, by, summary, summary_data, evidence })
}

fn directions(params: &Params) -> Vec<Route> {
    let forward = Route { sender: Role::Source, prefix: "" };
    match params.text("direction").unwrap_or("forward") {
        "reverse" => vec![Route { sender: Role::Sink, prefix: "" }],
        "bidirectional" => vec![forward, Route { sender: Role::Sink, prefix: "reverse_" }],
        _ => vec![forward],
    }
}

/// A figure that speaks for a verdict from `threshold` on.
fn evidence(what: &str, value: f64, unit: &str, threshold: Option<f64>) -> Evidence {
    Evidence { what: what.to_owned(), value, unit: unit.to_owned(), threshold }
}
