//! The parsers, each with whole inputs and what must hold of any input.

use std::net::SocketAddr;

use proto::wire::{Challenge, ConnectionRole, Preamble, Response, Transport};
use proto::{
    AgentMessage, Catalog, Cookie, Event, LineSplitter, LinkMessage, Params, ProcessMessage,
};
use serde_json::{Value, json};

/// One parser.
pub struct Target {
    /// What it reads.
    pub name: &'static str,
    /// Inputs that it takes.
    pub whole: Vec<Vec<u8>>,
    /// Parses an input, tells whether it was taken, and panics when what must hold doesn't.
    pub parse: fn(&[u8]) -> bool,
}

const COOKIE: Cookie = Cookie::new([0xab; 32]);
const KEY: [u8; 32] = [7; 32];

fn peer() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 40_000))
}

/// Every parser of bytes from outside.
#[must_use]
pub fn targets() -> Vec<Target> {
    let mut targets = wire_targets();
    targets.extend(json_targets());
    targets.extend(text_targets());
    targets
}

fn wire_targets() -> Vec<Target> {
    let hello = Preamble::encode_hello(3, &COOKIE);
    let challenge =
        Challenge::issue(&KEY, peer(), &Preamble::parse(Transport::Udp, &hello).expect("whole"));
    vec![
        Target {
            name: "TCP preamble",
            whole: [ConnectionRole::Link, ConnectionRole::Flow, ConnectionRole::Probe]
                .map(|role| Preamble::encode(role, 3, &COOKIE).to_vec())
                .to_vec(),
            parse: |bytes| check_preamble(Transport::Tcp, bytes),
        },
        Target {
            name: "UDP hello",
            whole: vec![hello.to_vec()],
            parse: |bytes| check_preamble(Transport::Udp, bytes),
        },
        Target {
            name: "UDP challenge",
            whole: vec![challenge.encode().to_vec()],
            parse: |bytes| {
                let Ok(challenge) = Challenge::parse(bytes) else { return false };
                assert_eq!(challenge.encode(), bytes);
                true
            },
        },
        Target {
            name: "UDP response",
            whole: vec![challenge.answer(&COOKIE).to_vec()],
            parse: check_response,
        },
        Target {
            name: "UDP measuring header",
            whole: (0..4_u64)
                .map(|sequence| [sequence.to_be_bytes(), [0; 8], [0; 8], [1; 8]].concat())
                .collect(),
            parse: kinds::fuzzing::measure_datagrams,
        },
    ]
}

/// Whatever is proved is what the cookie's owner wrote, byte for byte.
fn check_preamble(transport: Transport, bytes: &[u8]) -> bool {
    let Ok(preamble) = Preamble::parse(transport, bytes) else { return false };
    let is_proved = preamble.is_proved_by(&COOKIE);
    if is_proved {
        let whole = match transport {
            Transport::Tcp => Preamble::encode(preamble.role, preamble.flow_index, &COOKIE),
            Transport::Udp => Preamble::encode_hello(preamble.flow_index, &COOKIE),
        };
        assert_eq!(whole, bytes);
    }
    is_proved
}

fn check_response(bytes: &[u8]) -> bool {
    let Ok(response) = Response::parse(bytes) else { return false };
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 40_001));
    assert!(!response.is_proved_by(&KEY, elsewhere, &COOKIE), "a nonce of another port was taken");
    let is_proved = response.is_proved_by(&KEY, peer(), &COOKIE);
    if is_proved {
        assert_eq!(response.challenge.answer(&COOKIE), bytes);
    }
    is_proved
}

fn json_targets() -> Vec<Target> {
    let spec = json!({"role": "source", "kind": "tcp_stream", "params": {"flows": 2, "duration_seconds": 0.5},
        "cookie": "ab".repeat(32), "peer": {"address": "192.0.2.1", "data_port": 7411},
        "bind": {"address": "192.0.2.2", "device": "eth0"}, "lease_seconds": 60});
    vec![
        Target {
            name: "session specification",
            whole: whole(std::slice::from_ref(&spec)),
            parse: agent::fuzzing::specification,
        },
        Target {
            name: "link lines",
            whole: link_lines(),
            parse: |bytes| lines(bytes, check_json::<LinkMessage>),
        },
        Target {
            name: "events",
            whole: whole(&events()),
            parse: |bytes| lines(bytes, check_json::<Event>),
        },
        Target {
            name: "process messages",
            whole: whole(&[
                json!({"type": "prepared"}),
                json!({"type": "register", "ports": [1, 2], "address": "192.0.2.1"}),
                json!({"type": "config", "spec": spec, "data_port": 7411}),
                json!({"type": "descriptor", "role": "flow", "index": 3}),
            ]),
            parse: |bytes| {
                let (is_to, is_from) = (
                    lines(bytes, check_json::<AgentMessage>),
                    lines(bytes, check_json::<ProcessMessage>),
                );
                is_to || is_from
            },
        },
        Target {
            name: "parameters",
            whole: whole(&[
                json!({"flows": 300, "message_size_bytes": 65536, "direction": "reverse", "dscp": 46}),
                json!({"source_cpus": "0,2-3", "congestion_control": "reno", "nodelay": true}),
                json!({"response_size_bytes": 1.0, "burst": 16}),
            ]),
            parse: check_parameters,
        },
    ]
}

fn link_lines() -> Vec<Vec<u8>> {
    let facts = serde_json::to_value(proto::Facts::default()).unwrap_or_default();
    let flow = serde_json::to_value(proto::Flow::default()).unwrap_or_default();
    let report = proto::EndReport { flows: vec![proto::Flow::default()], ..Default::default() };
    let report = serde_json::to_value(report).unwrap_or_default();
    whole(&[
        json!({"type": "hello", "kind": "tcp_rr", "params": {"flows": 1}, "facts": facts, "version": "1"}),
        json!({"type": "ready", "facts": facts, "version": "1"}),
        json!({"type": "flow_ready", "index": 7}),
        json!({"type": "register", "address": null, "first": 40000, "last": 50000}),
        json!({"type": "mark", "flow": 0, "offset_bytes": 65536}),
        json!({"type": "interval", "interval": {"start_seconds": 0, "end_seconds": 1, "metrics": {"throughput_bps": 1e9}, "warmup": false}}),
        json!({"type": "stop", "flows": [{"flow": 0, "bytes": 1, "packets": 1}]}),
        json!({"type": "report", "report": report}),
        json!({"type": "report", "report": {"metrics": {}, "flows": [flow]}}),
        json!({"type": "failure", "code": "peer_lost", "reason": "gone"}),
        json!({"type": "alive"}),
    ])
}

fn events() -> Vec<Value> {
    let at = "2026-11-21T02:44:32.953631Z";
    vec![
        json!({"id": 1, "at": at, "type": "state", "state": "running", "started_at": at}),
        json!({"id": 2, "at": at, "type": "interval", "interval": {"start_seconds": 0, "end_seconds": 1, "metrics": {}, "warmup": false}}),
        json!({"id": 3, "at": at, "type": "failure", "state": "failed", "code": "limit", "reason": "x", "partial": null}),
        json!({"id": 4, "at": at, "type": "result", "state": "finished", "result": result()}),
    ]
}

/// What is read is written and read again as the same.
fn check_json<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq>(bytes: &[u8]) -> bool {
    let Ok(message) = proto::parse_json::<T>(bytes) else { return false };
    let written = serde_json::to_vec(&message).expect("what was read can be written");
    assert!(
        proto::parse_json::<T>(&written).is_ok_and(|again| again == message),
        "it reads otherwise"
    );
    true
}

/// Splits as a link does, in fragments, and hands every line on.
fn lines(bytes: &[u8], take: fn(&[u8]) -> bool) -> bool {
    let mut is_taken = false;
    let mut splitter = LineSplitter::new(8 * 1024);
    for fragment in bytes.chunks(97).chain([&b"\n"[..]]) {
        let Ok(lines) = splitter.push(fragment) else { return false };
        for line in lines {
            is_taken = take(&line);
        }
    }
    is_taken
}

/// What is filled in is filled in the same way again, for every kind.
fn check_parameters(bytes: &[u8]) -> bool {
    let Ok(given) = proto::parse_json::<Params>(bytes) else { return false };
    let catalog = Catalog::embedded();
    let mut is_taken = false;
    for kind in catalog.kinds.keys() {
        if let Ok(filled) = catalog.fill(kind, &given) {
            assert_eq!(catalog.fill(kind, &filled).as_ref(), Ok(&filled), "{kind}");
            is_taken = true;
        }
    }
    is_taken
}

fn text_targets() -> Vec<Target> {
    vec![
        Target {
            name: "token file",
            whole: vec![b"# who\nfirst-of-thirty-two-characters-0 sessions=4 duration=60 flows=64 rate=1e9 bytes=5e9 kinds=tcp_rr,udp_rr\nsecond-of-thirty-two-characters-\n".to_vec()],
            parse: agent::fuzzing::token_file,
        },
        Target {
            name: "HTTP responses",
            whole: [
                &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 304 Not Modified\r\n\r\n"[..],
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                b"HTTP/1.0 500 Oops\r\nConnection: close\r\n\r\nuntil the end",
            ]
            .map(<[u8]>::to_vec)
            .to_vec(),
            parse: kinds::fuzzing::http_responses,
        },
        Target {
            name: "cookie",
            whole: vec!["0f".repeat(32).into_bytes()],
            parse: |bytes| {
                let Ok(text) = std::str::from_utf8(bytes) else { return false };
                let is_cookie = Cookie::parse(text).is_ok();
                assert!(!is_cookie || text.len() == 64);
                is_cookie
            },
        },
        Target {
            name: "parameter text",
            whole: [&b"flows=3"[..], b"duration_seconds=1e3", b"nodelay=true", b"source_cpus=0-3"].map(<[u8]>::to_vec).to_vec(),
            parse: |bytes| {
                let Ok(text) = std::str::from_utf8(bytes) else { return false };
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                Catalog::embedded().parse_text("tcp_stream", name, value).is_ok()
            },
        },
        Target {
            name: "request path and query",
            whole: [&b"after=12"[..], b"x=1&after=7", b"trial-source"].map(<[u8]>::to_vec).to_vec(),
            parse: agent::fuzzing::query,
        },
    ]
}

fn result() -> Value {
    json!({"schema": 1, "kind": "tcp_rr", "params": {}, "metrics": {"latency_mean_seconds": 1e-5}, "intervals": [], "window": null,
        "histogram": null, "flows": [{"index": 0, "bytes": 1}], "source": null, "sink": null, "flags": ["partial"],
        "engine": {"source_version": "1", "sink_version": "1"}})
}

fn whole(documents: &[Value]) -> Vec<Vec<u8>> {
    documents.iter().map(|document| document.to_string().into_bytes()).collect()
}
