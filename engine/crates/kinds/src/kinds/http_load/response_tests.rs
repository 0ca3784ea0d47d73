use proptest::prelude::*;

use super::{HEAD_LIMIT_BYTES, Malformed, Response, ResponseReader};

const OK: Response = Response { status: 200, keeps_alive: true };
const LAST: Response = Response { status: 200, keeps_alive: false };

fn whole(text: &str) -> Result<Option<(Response, usize)>, Malformed> {
    ResponseReader::default().push(text.as_bytes())
}

/// The response and its length, of bytes that come in pieces of this size.
fn in_pieces(bytes: &[u8], size: usize) -> Result<Option<(Response, usize)>, Malformed> {
    let mut reader = ResponseReader::default();
    let mut before = 0;
    for piece in bytes.chunks(size) {
        if let Some((response, taken)) = reader.push(piece)? {
            return Ok(Some((response, before + taken)));
        }
        before += piece.len();
    }
    Ok(None)
}

#[test]
fn a_length_says_where_the_body_ends() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(whole(text), Ok(Some((OK, text.len()))));
    assert_eq!(whole(&text[..text.len() - 1]), Ok(None));
    assert_eq!(whole(&format!("{text}HTTP/1.1")), Ok(Some((OK, text.len()))));
}

#[test]
fn a_response_without_a_body_ends_with_its_head() {
    for status in ["204 No Content", "304 Not Modified"] {
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 7\r\n\r\n");
        let (response, taken) = whole(&text).expect("well formed").expect("whole");
        assert_eq!((response.is_success(), taken), (true, text.len()));
    }
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(whole(text), Ok(Some((OK, text.len()))));
}

#[test]
fn an_interim_response_is_followed_by_the_one_that_was_asked_for() {
    let text =
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!";
    assert_eq!(whole(text), Ok(Some((OK, text.len()))));
    assert_eq!(whole("HTTP/1.1 101 Switching Protocols\r\n\r\n"), Err(Malformed));
}

#[test]
fn a_chunked_body_ends_after_its_trailer() {
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n\
                5;name=value\r\nhello\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
    assert_eq!(whole(text), Ok(Some((OK, text.len()))));
    for size in 1..=text.len() {
        assert_eq!(in_pieces(text.as_bytes(), size), Ok(Some((OK, text.len()))), "{size}");
    }
}

#[test]
fn chunks_that_are_none_are_malformed() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["x\r\n", "\r\n", "5\nhello", "1\r\nab\r\n", "ffffffffffffffff\r\n", "-1\r\n"] {
        assert_eq!(whole(&format!("{head}{body}")), Err(Malformed), "{body:?}");
    }
    assert_eq!(whole(&format!("{head}1;{}", "x".repeat(20_000))), Err(Malformed));
    assert_eq!(whole(&format!("{head}0\r\n{}", "a: b\r\n".repeat(4_000))), Err(Malformed));
}

#[test]
fn without_a_length_the_end_of_the_connection_is_the_end_of_the_body() {
    let mut reader = ResponseReader::default();
    assert_eq!(reader.push(b"HTTP/1.0 200 OK\r\n\r\nsome"), Ok(None));
    assert_eq!(reader.push(b"thing"), Ok(None));
    assert_eq!(reader.end(), Ok(Some(LAST)));
    assert_eq!(reader.end(), Ok(None), "nothing more had begun");
}

#[test]
fn an_end_in_mid_response_is_malformed() {
    for text in
        ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"]
    {
        let mut reader = ResponseReader::default();
        assert_eq!(reader.push(text.as_bytes()), Ok(None));
        assert_eq!(reader.end(), Err(Malformed));
    }
}

#[test]
fn a_connection_closes_when_the_server_says_so_or_speaks_the_old_version() {
    let keeps_alive = |head: &str| {
        let text = format!("HTTP/1.{head}\r\nContent-Length: 0\r\n\r\n");
        whole(&text).expect("well formed").expect("whole").0.keeps_alive
    };
    assert!(keeps_alive("1 200 OK"));
    assert!(!keeps_alive("1 200 OK\r\nConnection: Close"));
    assert!(!keeps_alive("1 200 OK\r\nConnection: upgrade, close"));
    assert!(!keeps_alive("0 200 OK"));
    assert!(keeps_alive("0 200 OK\r\nConnection: keep-alive"));
}

#[test]
fn only_2xx_and_3xx_are_successes() {
    for (status, is_success) in [(200, true), (302, true), (400, false), (404, false), (503, false)]
    {
        let text = format!("HTTP/1.1 {status} \r\nContent-Length: 0\r\n\r\n");
        let (response, _) = whole(&text).expect("well formed").expect("whole");
        assert_eq!((response.status, response.is_success()), (status, is_success));
    }
}

#[test]
fn garbage_and_ambiguous_lengths_are_malformed() {
    for text in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\0\0\0\0",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ] {
        assert_eq!(whole(text), Err(Malformed), "{text:?}");
    }
}

#[test]
fn a_head_in_pieces_is_read_whole_and_the_next_response_after_it() {
    let text = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\nabc";
    for size in 1..=text.len() {
        assert_eq!(in_pieces(text, size), Ok(Some((OK, text.len()))), "{size}");
    }
    let mut reader = ResponseReader::default();
    for _ in 0..3 {
        assert_eq!(reader.push(&text[..20]), Ok(None));
        assert_eq!(reader.push(&text[20..]), Ok(Some((OK, text.len() - 20))));
    }
}

#[test]
fn an_endless_head_is_given_up_and_was_kept_only_up_to_the_limit() {
    let mut reader = ResponseReader::default();
    assert_eq!(reader.push(b"HTTP/1.1 200 OK\r\nX: "), Ok(None));
    let mut pushed = Ok(None);
    for _ in 0..=HEAD_LIMIT_BYTES / 1_000 {
        pushed = reader.push(&[b'x'; 1_000]);
        assert!(reader.partial.capacity() <= 2 * HEAD_LIMIT_BYTES);
        if pushed.is_err() {
            break;
        }
    }
    assert_eq!(pushed, Err(Malformed));
}

#[test]
fn a_short_head_kept_in_part_may_be_followed_by_a_body_beyond_the_limit() {
    let body = vec![b'x'; 3 * HEAD_LIMIT_BYTES];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let bytes = [head.as_bytes(), &body].concat();
    let mut reader = ResponseReader::default();
    assert_eq!(reader.push(&bytes[..10]), Ok(None));
    assert_eq!(reader.push(&bytes[10..]), Ok(Some((OK, bytes.len() - 10))));
}

/// Pieces that look like parts of responses lead deeper than noise does.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..64),
        prop::sample::select(vec![
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 \r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "Content-Length: 10\r\n",
            "Content-Length: 18446744073709551615\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "\r\n",
            "\r",
            "\n",
            "5\r\nhello\r\n",
            "0\r\n\r\n",
            "fffffffffffffff\r\n",
            "a;",
            "0123456789",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_bytes_make_the_reader_panic_or_keep_more_than_its_limit(
        pieces in proptest::collection::vec(piece(), 0..24),
    ) {
        let mut reader = ResponseReader::default();
        for piece in pieces {
            match reader.push(&piece) {
                Ok(Some((_, taken))) => prop_assert!(taken <= piece.len()),
                Ok(None) => {}
                Err(Malformed) => break,
            }
            prop_assert!(reader.partial.capacity() <= 2 * HEAD_LIMIT_BYTES);
        }
    }

    #[test]
    fn how_bytes_are_cut_into_pieces_changes_nothing(
        pieces in proptest::collection::vec(piece(), 0..12), size in 1_usize..40,
    ) {
        let bytes = pieces.concat();
        let at_once = if bytes.is_empty() { Ok(None) } else { in_pieces(&bytes, bytes.len()) };
        prop_assert_eq!(in_pieces(&bytes, size), at_once);
    }
}
