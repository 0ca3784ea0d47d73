//! What a session would take of its host, told by its parameters alone.

use proto::{Catalog, Params, SessionSpec};
use serde::Deserialize;
use serde_json::Value;

/// A transaction can't be paced; no host makes more of them a second over one path than this, so that their rate has a
/// bound all the same.
const FASTEST_TRANSACTIONS_PER_SECOND: f64 = 1e6;
/// A flow's thread, its counters and its socket, as far as they are used.
const FLOW_BYTES: f64 = 64.0 * 1024.0;
/// The process itself.
const PROCESS_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// The kernel doubles what is asked for a socket's buffer, for its own records; each socket has two.
const BUFFERS_PER_SOCKET: f64 = 4.0;
const BITS_PER_BYTE: f64 = 8.0;

/// What a session would take; a test's load is part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Every kind that would run: the test's, and its load's.
    pub kinds: Vec<String>,
    /// Warm-up and measured time.
    pub duration_seconds: f64,
    /// The parameters that it follows from.
    pub duration_fields: Vec<String>,
    /// Flows, or connections, of the test and its load together.
    pub flows: u64,
    /// The parameter that asks for most of them.
    pub flow_field: String,
    /// Payload in both directions together; infinite when nothing bounds it.
    pub rate_bps: f64,
    /// The parameter that would bound it.
    pub rate_field: String,
    /// Bytes of a datagram of its streams, which can't be cut; 0 where there are none.
    pub datagram_bytes: f64,
    /// How many of them may be sent at once at a rate: one in each direction, as flows take turns.
    pub datagrams_at_once: f64,
    /// Memory at one end.
    pub memory_bytes: f64,
    /// The parameter that asks for most of it.
    pub memory_field: String,
}

impl Demand {
    /// What `spec`, all of its parameters filled in, would take.
    pub fn of(spec: &SessionSpec) -> Self {
        let own = Self::of_kind(&spec.kind, &spec.params);
        match nested_load(&spec.params) {
            Some((kind, params)) => own.with_load(Self::of_kind(&kind, &params)),
            None => own,
        }
    }

    /// What a canary would take: a short test of the memory, which carries no payload anywhere.
    pub fn of_canary() -> Self {
        Self {
            kinds: vec!["memory_bandwidth".to_owned()],
            duration_seconds: 1.0,
            duration_fields: Vec::new(),
            flows: 1,
            flow_field: "flows".to_owned(),
            rate_bps: 0.0,
            rate_field: "rate_bps".to_owned(),
            datagram_bytes: 0.0,
            datagrams_at_once: 0.0,
            memory_bytes: kinds::CANARY_MEMORY_BYTES as f64,
            memory_field: "array_bytes".to_owned(),
        }
    }

    /// Payload of the whole session.
    pub fn bytes(&self) -> f64 {
        self.rate_bps * self.duration_seconds / BITS_PER_BYTE
    }

    /// What may be sent at once beyond the rate.
    pub fn datagram_bits(&self) -> f64 {
        self.datagram_bytes * self.datagrams_at_once * BITS_PER_BYTE
    }

    fn of_kind(kind: &str, params: &Params) -> Self {
        let (duration_seconds, duration_fields) = duration(kind, params);
        let flow_field = larger(params, &["flows", "connections"]).unwrap_or("flows");
        let flows = number(params, flow_field).max(1.0);
        let message_field = larger(
            params,
            &["message_size_bytes", "request_size_bytes", "response_size_bytes", "payload_bytes"],
        );
        let message_bytes = message_field.map_or(0.0, |name| number(params, name));
        let buffer_bytes = number(params, "source_socket_buffer_bytes")
            .max(number(params, "sink_socket_buffer_bytes"));
        let sent_and_received = 2.0 * message_bytes;
        let per_flow = FLOW_BYTES
            + sent_and_received
            + batch_bytes(params)
            + BUFFERS_PER_SOCKET * buffer_bytes;
        let memory_field = match message_field {
            _ if buffer_bytes > message_bytes => "source_socket_buffer_bytes",
            Some(field) if message_bytes > FLOW_BYTES => field,
            _ => flow_field,
        };
        let (rate_bps, rate_field) = rate(params, flows);
        let arrays_bytes = kinds::arrays_bytes(params);
        let memory_field = if arrays_bytes > 0.0 { "array_bytes" } else { memory_field };
        Self {
            kinds: vec![kind.to_owned()],
            duration_seconds,
            duration_fields,
            // Bounded by the catalog, far below 2^53.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            flows: flows as u64,
            flow_field: flow_field.to_owned(),
            rate_bps,
            rate_field: rate_field.to_owned(),
            datagram_bytes: if kind == "udp_stream" { message_bytes } else { 0.0 },
            datagrams_at_once: directions(params),
            memory_bytes: PROCESS_BYTES + flows * per_flow + arrays_bytes,
            memory_field: memory_field.to_owned(),
        }
    }

    /// A load runs as long as its test, whatever it says itself.
    fn with_load(mut self, load: Self) -> Self {
        self.kinds.extend(load.kinds);
        self.duration_seconds = self.duration_seconds.max(load.duration_seconds);
        self.flows += load.flows;
        self.rate_bps += load.rate_bps;
        self.datagram_bytes = self.datagram_bytes.max(load.datagram_bytes);
        self.datagrams_at_once = self.datagrams_at_once.max(load.datagrams_at_once);
        self.memory_bytes += load.memory_bytes;
        for field in [&mut self.flow_field, &mut self.rate_field, &mut self.memory_field] {
            "load".clone_into(field);
        }
        self
    }
}

/// What a sender and a receiver of datagrams hold when they hand over many at once.
fn batch_bytes(params: &Params) -> f64 {
    let mode = if params.has("send_mode") { params.text("send_mode").unwrap_or("") } else { "" };
    if matches!(mode, "sendmmsg" | "segmentation") { 2.0 * 64.0 * 1024.0 } else { 0.0 }
}

/// The load of a test that has one: `{"kind", "params"}`, or the same as a text; its parameters are filled in.
pub fn nested_load(params: &Params) -> Option<(String, Params)> {
    let (_, value) = params.iter().find(|(name, _)| *name == "load")?;
    let parsed;
    let value = match value {
        Value::String(text) => {
            parsed = proto::parse_json::<Value>(text.as_bytes()).ok()?;
            &parsed
        }
        value => value,
    };
    let kind = value["kind"].as_str()?.to_owned();
    let given: Params = serde_json::from_value(value["params"].clone()).unwrap_or_default();
    // What the catalog refuses is refused by the test itself; here it counts as given.
    let filled = Catalog::embedded().fill(&kind, &given).unwrap_or(given);
    Some((kind, filled))
}

/// The products of parameters that the catalog gives for a kind's slot, summed.
fn duration(kind: &str, params: &Params) -> (f64, Vec<String>) {
    let slot = &Catalog::embedded().document()["kinds"][kind]["slot"];
    let products_of = |part: &Value| -> Vec<Vec<Factor>> {
        serde_json::from_value(part["products_seconds"].clone()).unwrap_or_default()
    };
    let mut products = products_of(slot);
    // What a parameter adds when it is given, such as the probes under load.
    for (name, part) in slot["when"].as_object().into_iter().flatten() {
        if params.test(name).is_some() {
            products.extend(products_of(part));
        }
    }
    let value = |factor: &Factor| match factor {
        Factor::Parameter(name) => number(params, name),
        Factor::Seconds(seconds) => *seconds,
    };
    let seconds = products.iter().map(|factors| factors.iter().map(value).product::<f64>()).sum();
    let names = products.concat().into_iter().filter_map(|factor| match factor {
        Factor::Parameter(name) => Some(name),
        Factor::Seconds(_) => None,
    });
    (seconds, names.filter(|name| number(params, name) > 0.0).collect())
}

/// A factor of a kind's time: a parameter, or what one of them takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Factor {
    Parameter(String),
    Seconds(f64),
}

fn directions(params: &Params) -> f64 {
    if params.text("direction").is_ok_and(|way| way == "bidirectional") { 2.0 } else { 1.0 }
}

/// The payload rate in both directions, and the parameter that bounds it.
fn rate(params: &Params, flows: f64) -> (f64, &'static str) {
    let directions = directions(params);
    let (total, per_flow) = (number(params, "rate_bps"), number(params, "flow_rate_bps"));
    if params.has("rate_bps") {
        return match (total > 0.0, per_flow > 0.0) {
            (true, false) => (total * directions, "rate_bps"),
            (false, true) => (per_flow * flows * directions, "flow_rate_bps"),
            (true, true) => (total.min(per_flow * flows) * directions, "rate_bps"),
            (false, false) => (f64::INFINITY, "rate_bps"),
        };
    }
    if params.has("probe_interval_seconds") {
        let probes_per_second = 1.0 / number(params, "probe_interval_seconds").max(1e-6);
        let bits = 2.0 * number(params, "payload_bytes") * BITS_PER_BYTE;
        return (bits * probes_per_second, "probe_interval_seconds");
    }
    let asked = number(params, "rate_rps");
    let transactions_per_second = if asked > 0.0 { asked } else { FASTEST_TRANSACTIONS_PER_SECOND };
    let bytes = number(params, "request_size_bytes") + number(params, "response_size_bytes");
    let field = larger(params, &["request_size_bytes", "response_size_bytes"]);
    (bytes * BITS_PER_BYTE * transactions_per_second, field.unwrap_or("duration_seconds"))
}

/// Of the parameters that there are, the one with the larger value.
fn larger(params: &Params, names: &[&'static str]) -> Option<&'static str> {
    let present = names.iter().copied().filter(|name| params.has(name));
    present.max_by(|one, other| number(params, one).total_cmp(&number(params, other)))
}

/// A parameter's number; 0 when the kind has no such parameter.
fn number(params: &Params, name: &str) -> f64 {
    params.number(name).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn demand(kind: &str, params: &Value) -> Demand {
        let spec =
            json!({"role": "sink", "kind": kind, "params": params, "cookie": "ab".repeat(32)});
        let mut spec: SessionSpec = serde_json::from_value(spec).unwrap();
        let filled = Catalog::embedded().fill(kind, &spec.params);
        spec.params = filled.unwrap_or(spec.params);
        Demand::of(&spec)
    }

    #[test]
    fn a_paced_test_takes_its_rate_its_time_and_its_flows() {
        let demand = demand(
            "tcp_stream",
            &json!({"duration_seconds": 10, "warmup_seconds": 2, "flows": 4, "flow_rate_bps": 1000, "direction": "bidirectional"}),
        );
        assert_eq!((demand.duration_seconds, demand.flows, demand.rate_bps), (12.0, 4, 8000.0));
        assert!((demand.bytes() - 12_000.0).abs() < 1e-6);
        assert_eq!(demand.duration_fields, ["warmup_seconds", "duration_seconds"]);
    }

    #[test]
    fn an_unpaced_stream_has_no_bound_and_a_transaction_has_one() {
        assert!(demand("udp_stream", &json!({})).rate_bps.is_infinite());
        let transactions = demand("tcp_rr", &json!({"response_size_bytes": 99}));
        assert_eq!(
            (transactions.rate_bps, transactions.rate_field.as_str()),
            (8e8, "response_size_bytes")
        );
    }

    #[test]
    fn a_datagram_in_each_direction_may_come_at_once_and_messages_of_tcp_are_cut() {
        let params = json!({"message_size_bytes": 1000, "direction": "bidirectional", "flows": 3});
        let bits = |kind| demand(kind, &params).datagram_bits().round().to_bits();
        assert_eq!(bits("udp_stream"), 16_000_f64.to_bits());
        assert_eq!(bits("tcp_stream"), 0_f64.to_bits());
    }

    #[test]
    fn batches_of_datagrams_take_memory_in_each_flow() {
        let memory =
            |mode: &str| demand("udp_stream", &json!({"flows": 3, "send_mode": mode})).memory_bytes;
        assert!((memory("segmentation") - memory("send") - 3.0 * 131_072.0).abs() < 1e-3);
    }

    #[test]
    fn memory_is_that_of_all_flows_messages_and_buffers() {
        let demand =
            demand("tcp_stream", &json!({"flows": 4096, "message_size_bytes": 134_217_728}));
        assert!(demand.memory_bytes > 1e12);
        assert_eq!(demand.memory_field, "message_size_bytes");
        let buffers = &json!({"flows": 2, "sink_socket_buffer_bytes": 1_073_741_824});
        assert_eq!(
            super::tests::demand("tcp_stream", buffers).memory_field,
            "source_socket_buffer_bytes"
        );
    }

    #[test]
    fn probes_under_load_take_their_time_a_second_time() {
        let seconds = |load: Value| {
            let params = json!({"count": 300, "probe_interval_seconds": 0.1, "load": load});
            demand("ping", &params).duration_seconds.round().to_bits()
        };
        assert_eq!(seconds(Value::Null), 30_f64.to_bits());
        assert_eq!(seconds(json!({"kind": "tcp_rr"})), 60_f64.to_bits());
    }

    #[test]
    fn a_load_is_part_of_what_its_test_takes() {
        let load = json!({"kind": "tcp_stream", "params": {"flows": 300, "rate_bps": 1000}});
        for load in [load.clone(), json!(load.to_string())] {
            let demand = demand("a_test_with_a_load", &json!({"load": load}));
            assert_eq!(demand.kinds, ["a_test_with_a_load", "tcp_stream"]);
            assert_eq!((demand.flows, demand.flow_field.as_str()), (301, "load"));
        }
    }
}
