//! Hostile peers and clients: after each of them the engine serves the next honest test.

// "line" and "link" are this domain's words.
#![allow(clippy::similar_names)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::support::{COOKIE_BYTES, Engine, can_take_less, sink, wait_until};
use hyper::Method;
use proto::Cookie;
use proto::wire::{Challenge, ConnectionRole, Preamble};
use serde_json::{Value, json};

const COOKIE: Cookie = Cookie::new(COOKIE_BYTES);
const SECOND: Duration = Duration::from_secs(1);

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(20 * SECOND)).unwrap();
    stream
}

fn control_port(engine: &Engine) -> u16 {
    engine.control.parse::<SocketAddr>().unwrap().port()
}

/// Whether the engine closes the connection, whatever it says before.
fn is_closed(mut stream: &TcpStream) -> bool {
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

fn introduce(engine: &Engine, role: ConnectionRole, index: u32) -> TcpStream {
    let stream = connect(engine.data_port);
    (&stream).write_all(&Preamble::encode(role, index, &COOKIE)).unwrap();
    stream
}

/// A source of the test's own that has come as far as `ready`.
fn greeted_link(engine: &Engine, id: &str, kind: &str, params: &Value) -> BufReader<TcpStream> {
    assert_eq!(engine.put_sink(id, &sink(kind, params)).0.as_u16(), 201);
    let given = serde_json::from_value(params.clone()).unwrap();
    let filled = proto::Catalog::embedded().fill(kind, &given).unwrap();
    let link = introduce(engine, ConnectionRole::Link, 0);
    let hello = json!({"type": "hello", "kind": kind, "params": filled, "facts": kinds::facts(), "version": "1"});
    tell(&link, &hello.to_string());
    let mut link = BufReader::new(link);
    assert_eq!(hear(&mut link)["type"], "ready");
    link
}

fn tell(mut link: &TcpStream, line: &str) {
    // The engine may have had enough already.
    let _ = link.write_all(line.as_bytes()).and_then(|()| link.write_all(b"\n"));
}

fn hear(link: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    link.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// One honest test must succeed; a second try is for machines so busy that its own two ends miss each other.
fn assert_serves(engine: &Engine) {
    let run = || engine.run(&["tcp_rr", "--set", "duration_seconds=0.1", "--json"]);
    let mut output = run();
    if !output.status.success() {
        output = run();
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The session's end: its code and reason.
fn end(engine: &Engine, id: &str) -> (String, String) {
    let last = engine.events(id, 0).pop().unwrap();
    let text = |key: &str| last[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("reason"))
}

fn allow_many_descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    maximum.and_then(|maximum| usize::try_from(maximum).ok()).unwrap_or(usize::MAX)
}

#[test]
fn thousands_of_silent_connections_to_both_ports_keep_nobody_out() {
    let engine = Engine::start();
    let many = (allow_many_descriptors() / 4).min(3_000);
    assert!(can_take_less(4 * SECOND, || {
        let connect_to = |port, count| (0..count).map(|_| connect(port)).collect::<Vec<_>>();
        let _control = connect_to(control_port(&engine), many / 2);
        let _data = connect_to(engine.data_port, many);
        let begin = Instant::now();
        assert_serves(&engine);
        begin.elapsed()
    }));
}

#[test]
fn one_byte_at_a_time_is_ended_by_the_clock() {
    let engine = Engine::start();
    let control = connect(control_port(&engine));
    let data = connect(engine.data_port);
    let preamble = Preamble::encode(ConnectionRole::Link, 0, &COOKIE);
    // The beginning of a TLS record, and of a preamble, a byte at a time.
    for place in 0..14 {
        let _ = (&control).write_all(&[[0x16, 0x03, 0x01, 0x02, 0x00][place.min(4)]]);
        let _ = (&data).write_all(&preamble[place..=place]);
        std::thread::sleep(SECOND / 2);
    }
    // Reading would else go on until its own time-out, which is no end.
    assert!(is_closed(&control) && is_closed(&data));
    assert_serves(&engine);
}

#[test]
fn garbage_on_the_control_port_is_closed() {
    let engine = Engine::start();
    for garbage in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &[0xff; 4096], b"\x16\x03\x01\xff\xff"]
    {
        let stream = connect(control_port(&engine));
        (&stream).write_all(garbage).unwrap();
        assert!(is_closed(&stream));
    }
    assert_serves(&engine);
}

#[test]
fn a_replayed_or_wrong_flow_is_closed_and_the_first_one_stays() {
    let engine = Engine::start();
    let mut link =
        greeted_link(&engine, "a", "tcp_stream", &json!({"flows": 2, "duration_seconds": 5}));
    let first = introduce(&engine, ConnectionRole::Flow, 0);
    std::thread::sleep(SECOND / 5);
    for (role, index) in [
        (ConnectionRole::Flow, 0),
        (ConnectionRole::Flow, 2),
        (ConnectionRole::Flow, u32::MAX),
        (ConnectionRole::Link, 0),
    ] {
        assert!(is_closed(&introduce(&engine, role, index)), "{role:?} {index}");
    }
    let _second = introduce(&engine, ConnectionRole::Flow, 1);
    for index in 0..2 {
        assert_eq!(hear(&mut link), json!({"type": "flow_ready", "index": index}));
    }
    // What the first one sends is what the sink counts.
    tell(link.get_ref(), r#"{"type":"start"}"#);
    (&first).write_all(&[0; 1000]).unwrap();
    let more = introduce(&engine, ConnectionRole::Flow, 1);
    assert!(is_closed(&more));
    assert_serves_beside(&engine);
}

/// Another cookie's test, while the test's own session still runs.
fn assert_serves_beside(engine: &Engine) {
    engine.start_pair_of("honest", &"ef".repeat(32), "tcp_rr", &json!({"duration_seconds": 0.1}));
    let last = engine.events("honest-source", 0).pop().unwrap();
    assert_eq!(last["type"], "result", "{last}");
}

#[test]
fn a_link_that_brings_nonsense_ends_its_session_with_the_reason() {
    let endless = "x".repeat(1024 * 1024 + 1);
    let deep = "[".repeat(100);
    let shape = r#"{"type":"interval","interval":{"start_seconds":"now"}}"#;
    for (line, said) in [
        (endless.as_str(), "endless line"),
        (deep.as_str(), "deeper than 32 levels"),
        (shape, "no link message"),
        ("\u{0}\u{1}garbage", "no link message"),
    ] {
        let engine = Engine::start();
        let link = greeted_link(&engine, "a", "tcp_rr", &json!({"duration_seconds": 5}));
        tell(link.get_ref(), line);
        let (code, reason) = end(&engine, "a");
        assert_eq!(code, "peer_lost");
        assert!(reason.contains(said), "{reason}");
        assert_serves(&engine);
    }
}

#[test]
fn messages_of_another_time_flow_or_size_end_nothing_but_their_session() {
    let engine = Engine::start();
    let link = greeted_link(&engine, "a", "tcp_rr", &json!({"duration_seconds": 5}));
    let _flow = introduce(&engine, ConnectionRole::Flow, 0);
    for line in [
        r#"{"type":"mark","flow":4294967295,"offset_bytes":18446744073709551615}"#,
        r#"{"type":"flow_ready","index":4294967295}"#,
        r#"{"type":"start"}"#,
        r#"{"type":"start"}"#,
        r#"{"type":"mark","flow":4294967295,"offset_bytes":18446744073709551615}"#,
        r#"{"type":"report","report":{"metrics":{"throughput_bps":-1e308},"window":{"started_at":"2026-01-01T00:00:00Z","elapsed_seconds":-1e308,"bytes":18446744073709551615,"clock":"x"},"flows":[{"index":4294967295,"bytes":18446744073709551615},{"index":0,"bytes":18446744073709551615}]}}"#,
        r#"{"type":"stop","flows":[{"flow":4294967295,"bytes":18446744073709551615,"packets":18446744073709551615},{"flow":0,"bytes":18446744073709551615,"packets":18446744073709551615}]}"#,
    ] {
        tell(link.get_ref(), line);
    }
    let last = engine.events("a", 0).pop().unwrap();
    assert!(!last["reason"].as_str().unwrap_or_default().contains("signal"), "{last}");
    assert!(!last["reason"].as_str().unwrap_or_default().contains("panicked"), "{last}");
    assert_serves(&engine);
}

#[test]
fn a_flood_of_link_lines_ends_the_session_and_not_the_hosts_memory() {
    let engine = Engine::start();
    let link = greeted_link(&engine, "a", "tcp_rr", &json!({"duration_seconds": 20}));
    let _flow = introduce(&engine, ConnectionRole::Flow, 0);
    let lines = "{\"type\":\"alive\"}\n".repeat(10_000);
    let begin = Instant::now();
    while begin.elapsed() < 60 * SECOND && link.get_ref().write_all(lines.as_bytes()).is_ok() {}
    let (code, reason) = end(&engine, "a");
    assert_eq!(code, "peer_lost");
    assert!(reason.contains("more lines than a test has"), "{reason}");
    assert_serves(&engine);
}

#[test]
fn a_source_that_falls_silent_is_lost_after_three_seconds() {
    let engine = Engine::start();
    assert!(can_take_less(5 * SECOND, || {
        let _link = greeted_link(&engine, "a", "tcp_stream", &json!({"duration_seconds": 20}));
        let begin = Instant::now();
        let (code, reason) = end(&engine, "a");
        let took = begin.elapsed();
        assert!(took > 2 * SECOND, "{took:?}");
        assert_eq!(code, "peer_lost");
        assert!(reason.contains("silent on the link for 3 s"), "{reason}");
        engine.call(Method::DELETE, "/v1/sessions/a", None);
        took
    }));
    assert_serves(&engine);
}

#[test]
fn a_sink_that_takes_nothing_is_lost_and_the_source_keeps_its_partial_result() {
    let engine = Engine::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = sink("tcp_stream", &json!({"duration_seconds": 20}));
    spec["role"] = json!("source");
    spec["peer"] =
        json!({"address": "127.0.0.1", "data_port": listener.local_addr().unwrap().port()});
    engine.put_sink("a", &spec);
    let mut link = BufReader::new(listener.accept().unwrap().0);
    link.read_exact(&mut [0; 64]).unwrap();
    assert_eq!(hear(&mut link)["type"], "hello");
    tell(
        link.get_ref(),
        &json!({"type": "ready", "facts": kinds::facts(), "version": "1"}).to_string(),
    );
    let _flow = listener.accept().unwrap().0;
    tell(link.get_ref(), r#"{"type":"flow_ready","index":0}"#);
    while hear(&mut link)["type"] != "start" {}
    let begin = Instant::now();
    let last = engine.events("a", 0).pop().unwrap();
    // Well before the test's own end.
    assert!(begin.elapsed() < 15 * SECOND, "{:?}", begin.elapsed());
    assert_eq!(last["code"], "peer_lost");
    assert!(last["partial"].is_object(), "{last}");
    assert_serves(&engine);
}

#[test]
fn a_challenge_answered_from_another_port_or_twice_opens_one_flow_only() {
    let engine = Engine::start();
    let mut link =
        greeted_link(&engine, "a", "udp_stream", &json!({"duration_seconds": 5, "flows": 2}));
    let [honest, replaying] = [(); 2].map(|()| udp(&engine));
    let mut answer = [0; 2048];
    honest.send(&Preamble::encode_hello(0, &COOKIE)).unwrap();
    let length = honest.recv(&mut answer).unwrap();
    let response = Challenge::parse(&answer[..length]).unwrap().answer(&COOKIE);
    replaying.send(&response).unwrap();
    honest.send(&response).unwrap();
    honest.send(&response).unwrap();
    // A second source port for the same flow, properly challenged, comes too late.
    replaying.send(&Preamble::encode_hello(0, &COOKIE)).unwrap();
    let length = replaying.recv(&mut answer).unwrap();
    replaying.send(&Challenge::parse(&answer[..length]).unwrap().answer(&COOKIE)).unwrap();
    std::thread::sleep(SECOND / 5);
    let open = connected_peers(engine.data_port);
    assert_eq!(open, [honest.local_addr().unwrap().port()]);
    tell(link.get_ref(), r#"{"type":"alive"}"#);
    assert!(link.get_mut().set_read_timeout(Some(SECOND)).is_ok());
}

fn udp(engine: &Engine) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect((Ipv4Addr::LOCALHOST, engine.data_port)).unwrap();
    socket.set_read_timeout(Some(10 * SECOND)).unwrap();
    socket
}

/// The remote ports of UDP sockets that are connected from `port` of this host, in order.
fn connected_peers(port: u16) -> Vec<u16> {
    let table = std::fs::read_to_string("/proc/net/udp").unwrap();
    let number =
        |address: &str| u16::from_str_radix(address.rsplit(':').next().unwrap(), 16).unwrap();
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ports = rows.map(|row| (number(row[1]), number(row[2])));
    let mut peers: Vec<u16> =
        ports.filter(|&(local, peer)| local == port && peer != 0).map(|(_, peer)| peer).collect();
    peers.dedup();
    peers
}

#[test]
fn a_flood_of_hellos_and_garbage_by_udp_keeps_no_test_from_starting() {
    let engine = Engine::start();
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flood = {
        let (socket, is_over) = (udp(&engine), std::sync::Arc::clone(&is_over));
        std::thread::spawn(move || {
            let stranger = Preamble::encode_hello(0, &Cookie::new([1; 32]));
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = socket.send(&stranger).and_then(|_| socket.send(&[0x47; 104]));
            }
        })
    };
    let output = engine.run(&["udp_rr", "--set", "duration_seconds=0.2", "--json"]);
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    flood.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_controller_that_reads_no_events_holds_up_only_itself() {
    let engine = Engine::start();
    engine.start_pair(
        "a",
        "tcp_rr",
        &json!({"duration_seconds": 1, "report_interval_seconds": 0.1}),
    );
    let unread: Vec<_> = (0..20).map(|_| engine.open_events("a-source")).collect();
    assert_eq!(engine.events("a-source", 0).pop().unwrap()["type"], "result");
    assert_serves(&engine);
    drop(unread);
    wait_until(|| engine.get("/v1/about")["sessions"] == 0);
}

#[test]
fn a_source_that_tells_more_intervals_than_the_test_has_fills_no_memory_with_them() {
    let engine = Engine::start();
    let mut link = greeted_link(&engine, "a", "tcp_rr", &json!({"duration_seconds": 1}));
    let flow = introduce(&engine, ConnectionRole::Flow, 0);
    assert_eq!(hear(&mut link)["type"], "flow_ready");
    tell(link.get_ref(), r#"{"type":"start"}"#);
    let interval = json!({"start_seconds": 0, "end_seconds": 1, "metrics": {}, "warmup": false});
    let line = json!({"type": "interval", "interval": interval}).to_string();
    (0..5_000).for_each(|_| tell(link.get_ref(), &line));
    drop(flow);
    tell(link.get_ref(), r#"{"type":"stop","flows":[]}"#);
    let last = engine.events("a", 0).pop().unwrap();
    assert_eq!(last["type"], "result", "{last}");
    assert!(last["result"]["intervals"].as_array().unwrap().len() <= 3, "{last}");
    assert_serves(&engine);
}

#[test]
fn a_source_may_not_register_more_ports_than_a_test_has() {
    let engine = Engine::start();
    let link = greeted_link(&engine, "a", "tcp_crr", &json!({"duration_seconds": 1}));
    tell(link.get_ref(), r#"{"type":"register","address":null,"first":1,"last":65535}"#);
    let (code, reason) = end(&engine, "a");
    assert_eq!(code, "refused");
    assert!(reason.contains("registers the ports 1 to 65535"), "{reason}");
    assert_serves(&engine);
}
