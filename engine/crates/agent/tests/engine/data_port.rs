//! Strangers at the data port.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use crate::support::{COOKIE_BYTES, Engine, sink};
use proto::Cookie;
use proto::wire::{Challenge, ConnectionRole, Preamble};
use serde_json::json;

const STRANGER: Cookie = Cookie::new([1; 32]);

fn connect(engine: &Engine) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", engine.data_port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(4))).unwrap();
    stream
}

/// Whether the engine closes the connection without a word.
fn is_closed_silently(mut stream: &TcpStream) -> bool {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn udp(engine: &Engine) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", engine.data_port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
}

#[test]
fn hostile_connections_are_closed_and_a_good_test_still_runs() {
    let engine = Engine::start();
    engine.put_sink("waiting", &sink("tcp_stream", &json!({"duration_seconds": 1})));
    let garbage = connect(&engine);
    (&garbage).write_all(&[0x47; 64]).unwrap();
    let wrong_proof = connect(&engine);
    let mut preamble = Preamble::encode(ConnectionRole::Link, 0, &Cookie::new(COOKIE_BYTES));
    preamble[63] ^= 1;
    (&wrong_proof).write_all(&preamble).unwrap();
    let unknown = connect(&engine);
    (&unknown).write_all(&Preamble::encode(ConnectionRole::Link, 0, &STRANGER)).unwrap();
    let flow_before_link = connect(&engine);
    let preamble = Preamble::encode(ConnectionRole::Flow, 0, &Cookie::new(COOKIE_BYTES));
    (&flow_before_link).write_all(&preamble).unwrap();
    let half_open: Vec<TcpStream> = (0..50).map(|_| connect(&engine)).collect();
    (&half_open[0]).write_all(b"BWD1").unwrap();

    let output = engine.run(&["tcp_stream", "--set", "duration_seconds=0.2", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for stream in [&garbage, &wrong_proof, &unknown, &flow_before_link] {
        assert!(is_closed_silently(stream));
    }
    assert!(half_open.iter().all(is_closed_silently), "half-open connections last two seconds");
    assert_eq!(engine.get("/v1/sessions/waiting")["state"], "prepared");
}

#[test]
fn udp_strangers_get_no_answer_at_all() {
    let engine = Engine::start();
    let cookie = Cookie::new(COOKIE_BYTES);
    engine.put_sink("a", &sink("udp_stream", &json!({"duration_seconds": 1})));
    let socket = udp(&engine);
    let mut wrong_proof = Preamble::encode_hello(0, &cookie);
    wrong_proof[40] ^= 1;
    socket.send(&[0x47; 64]).unwrap();
    socket.send(&[0x47; 1400]).unwrap();
    socket.send(&wrong_proof).unwrap();
    socket.send(&Preamble::encode_hello(0, &STRANGER)).unwrap();
    // A hello that proves its cookie, but comes before any link has registered its sender as the peer.
    socket.send(&Preamble::encode_hello(0, &cookie)).unwrap();
    assert!(socket.recv(&mut [0; 2048]).is_err());
}

#[test]
fn a_proved_hello_gets_a_challenge_no_longer_than_itself() {
    let engine = Engine::start();
    let cookie = Cookie::new(COOKIE_BYTES);
    engine.put_sink("a", &sink("udp_stream", &json!({"duration_seconds": 1, "flows": 2})));
    let link = connect(&engine);
    (&link).write_all(&Preamble::encode(ConnectionRole::Link, 0, &cookie)).unwrap();
    let socket = udp(&engine);
    let mut answer = [0; 2048];
    let length = (0..10)
        .find_map(|_| {
            socket.send(&Preamble::encode_hello(1, &cookie)).unwrap();
            socket.recv(&mut answer).ok()
        })
        .unwrap();
    assert_eq!(length, 40);
    assert_eq!(Challenge::parse(&answer[..length]).unwrap().flow_index, 1);
    let beyond = udp(&engine);
    beyond.send(&Preamble::encode_hello(2, &cookie)).unwrap();
    assert!(beyond.recv(&mut answer).is_err(), "a flow that the test doesn't have is answered");
}

#[test]
fn datagrams_to_any_of_the_hosts_addresses_are_answered_from_that_one() {
    let engine = Engine::start_with(tempfile::tempdir().unwrap(), &["--data-listen", "0.0.0.0"]);
    // By the route alone, answers to 127.0.0.1 would come from that address.
    for kind in ["udp_rr", "udp_stream"] {
        let output = engine.run(&[
            kind,
            "--data-address",
            "127.0.0.77",
            "--set",
            "duration_seconds=0.2",
            "--json",
        ]);
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
