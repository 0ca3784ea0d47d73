use proptest::prelude::*;

use super::*;

const KEY: [u8; 32] = [9; 32];

fn cookie() -> Cookie {
    Cookie::new([7; 32])
}

fn peer() -> SocketAddr {
    "192.0.2.7:40000".parse().unwrap()
}

#[test]
fn a_preamble_is_64_bytes_and_only_its_own_cookie_proves_it() {
    let bytes = Preamble::encode(ConnectionRole::Flow, 3, &cookie());
    assert_eq!(&bytes[..16], b"BWD1\x01\0\0\0\0\0\0\x03\0\0\0\0");
    let preamble = Preamble::parse(Transport::Tcp, &bytes).unwrap();
    assert_eq!((preamble.role, preamble.flow_index), (ConnectionRole::Flow, 3));
    assert_eq!(preamble.tag, cookie().tag());
    assert!(preamble.is_proved_by(&cookie()));
    assert!(!preamble.is_proved_by(&Cookie::new([8; 32])));
}

#[test]
fn a_changed_flow_index_breaks_the_proof() {
    let mut bytes = Preamble::encode(ConnectionRole::Flow, 3, &cookie());
    bytes[11] = 4;
    assert!(!Preamble::parse(Transport::Tcp, &bytes).unwrap().is_proved_by(&cookie()));
}

#[test]
fn a_hello_is_no_tcp_preamble_and_a_link_is_no_hello() {
    let hello = Preamble::encode_hello(0, &cookie());
    assert_eq!(Preamble::parse(Transport::Tcp, &hello), Err(WireError::Magic));
    let mut link = hello;
    link[4] = 0;
    assert_eq!(Preamble::parse(Transport::Udp, &link), Err(WireError::Role(0)));
}

#[test]
fn a_challenge_is_no_longer_than_its_hello_and_the_same_each_time() {
    let hello = Preamble::parse(Transport::Udp, &Preamble::encode_hello(5, &cookie())).unwrap();
    let challenge = Challenge::issue(&KEY, peer(), &hello);
    assert_eq!(challenge, Challenge::issue(&KEY, peer(), &hello));
    assert_eq!(challenge.encode().len(), 40);
    assert_eq!(Challenge::parse(&challenge.encode()), Ok(challenge));
}

#[test]
fn a_response_counts_only_from_the_challenged_address_with_the_cookie() {
    let hello = Preamble::parse(Transport::Udp, &Preamble::encode_hello(5, &cookie())).unwrap();
    let challenge = Challenge::issue(&KEY, peer(), &hello);
    let response = Response::parse(&challenge.answer(&cookie())).unwrap();
    assert!(response.is_proved_by(&KEY, peer(), &cookie()));
    assert!(!response.is_proved_by(&KEY, "192.0.2.7:40001".parse().unwrap(), &cookie()));
    assert!(!response.is_proved_by(&[1; 32], peer(), &cookie()));
    let forged = Response::parse(&challenge.answer(&Cookie::new([8; 32]))).unwrap();
    assert!(!forged.is_proved_by(&KEY, peer(), &cookie()));
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Preamble::parse(Transport::Tcp, &bytes);
        let _ = Preamble::parse(Transport::Udp, &bytes);
        let _ = Challenge::parse(&bytes);
        let _ = Response::parse(&bytes);
    }

    #[test]
    fn flipping_any_bit_of_a_preamble_is_noticed(position in 0_usize..512) {
        let mut bytes = Preamble::encode(ConnectionRole::Link, 0, &cookie());
        bytes[position / 8] ^= 1 << (position % 8);
        let is_accepted = Preamble::parse(Transport::Tcp, &bytes)
            .is_ok_and(|preamble| preamble.is_proved_by(&cookie()));
        prop_assert!(!is_accepted);
    }
}
