//! Where an HTTP/1.1 response ends: what a load generator must know of it, and no more.
//!
//! Bytes come in pieces of any size. A head is kept only while it is incomplete, and only up to a limit; bodies are
//! counted and never kept.

use super::chunked::{ChunkedBody, Malformed, Progress};

/// Longer heads are no responses worth measuring; servers' own limits are lower.
const HEAD_LIMIT_BYTES: usize = 16 * 1024;
const HEADERS_LIMIT: usize = 64;

/// A whole response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Its status code.
    pub status: u16,
    /// Whether the server takes another request on the connection.
    pub keeps_alive: bool,
}

impl Response {
    /// Whether it is what was asked for, or says where that is.
    pub fn is_success(self) -> bool {
        (200..400).contains(&self.status)
    }
}

/// Reads one response after another.
#[derive(Debug, Default)]
pub struct ResponseReader {
    stage: Stage,
    /// The beginning of a head whose end is still to come.
    partial: Vec<u8>,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    /// So many bytes of the body are still to come.
    Sized(Response, u64),
    Chunked(Response, ChunkedBody),
    UntilClose(Response),
}

/// What a head says of the body.
struct Head {
    length: usize,
    stage: Stage,
}

impl ResponseReader {
    /// Takes the next bytes; the response that ends in them, and how many of them belong to it.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<(Response, usize)>, Malformed> {
        let mut taken = 0;
        while taken < bytes.len() {
            let rest = &bytes[taken..];
            taken += match &mut self.stage {
                Stage::Head => self.take_head(rest)?,
                Stage::Sized(_, left) => {
                    let part = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= part as u64;
                    part
                }
                Stage::Chunked(response, body) => {
                    let (part, progress) = body.push(rest)?;
                    if progress == Progress::Ended {
                        self.stage = Stage::Sized(*response, 0);
                    }
                    part
                }
                Stage::UntilClose(_) => rest.len(),
            };
            if let Stage::Sized(response, 0) = self.stage {
                self.stage = Stage::Head;
                return Ok(Some((response, taken)));
            }
        }
        Ok(None)
    }

    /// The connection has ended: the response that ends with it, or none when nothing had begun.
    pub fn end(&mut self) -> Result<Option<Response>, Malformed> {
        match std::mem::take(&mut self.stage) {
            Stage::UntilClose(response) => Ok(Some(response)),
            Stage::Head if self.partial.is_empty() => Ok(None),
            _ => Err(Malformed),
        }
    }

    /// Takes bytes of a head; how many. They are all of them as long as its end is still to come.
    fn take_head(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        if self.partial.is_empty() {
            return match parse_head(bytes)? {
                Some(head) => Ok(self.begin_body(head)),
                None => self.keep(bytes).map(|()| bytes.len()),
            };
        }
        let before = self.partial.len();
        let room = HEAD_LIMIT_BYTES + 1 - before;
        self.keep(&bytes[..bytes.len().min(room)])?;
        match parse_head(&self.partial)? {
            // Its end was not in what was kept, so it is in what came now.
            Some(head) => {
                let taken = self.begin_body(head) - before;
                self.partial.clear();
                Ok(taken)
            }
            None => Ok(bytes.len().min(room)),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.partial.len() + bytes.len() > HEAD_LIMIT_BYTES {
            // Only a head that ends within the limit is one.
            let room = HEAD_LIMIT_BYTES - self.partial.len();
            self.partial.extend_from_slice(&bytes[..room]);
            return if parse_head(&self.partial)?.is_some() { Ok(()) } else { Err(Malformed) };
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn begin_body(&mut self, head: Head) -> usize {
        self.stage = head.stage;
        head.length
    }
}

/// Reads a whole head; none when its end is still to come.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>, Malformed> {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; HEADERS_LIMIT];
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let status = config.parse_response_with_uninit_headers(&mut parsed, bytes, &mut headers);
    let length = match status.map_err(|_| Malformed)? {
        httparse::Status::Complete(length) => length,
        httparse::Status::Partial => return Ok(None),
    };
    // Both are there once a head is complete.
    let (code, minor) = parsed.code.zip(parsed.version).ok_or(Malformed)?;
    let mut framing = Framing { keeps_alive: minor > 0, ..Framing::default() };
    parsed.headers.iter().try_for_each(|header| framing.note(header.name, header.value))?;
    framing.stage(code).map(|stage| Some(Head { length, stage }))
}

/// What a head's fields say of the body (RFC 9112, section 6).
#[derive(Default)]
struct Framing {
    keeps_alive: bool,
    length: Option<u64>,
    /// Whether the body has a transfer coding, and whether the last one is "chunked".
    coding: Option<bool>,
}

impl Framing {
    fn note(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        if name.eq_ignore_ascii_case("content-length") {
            let length = digits(value)?;
            // Two lengths are two readings.
            if self.length.replace(length).is_some_and(|other| other != length) {
                return Err(Malformed);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.coding = tokens(value).last().map(|last| last.eq_ignore_ascii_case(b"chunked"));
        } else if name.eq_ignore_ascii_case("connection") {
            for token in tokens(value) {
                if token.eq_ignore_ascii_case(b"close") {
                    self.keeps_alive = false;
                } else if token.eq_ignore_ascii_case(b"keep-alive") {
                    self.keeps_alive = true;
                }
            }
        }
        Ok(())
    }

    fn stage(self, status: u16) -> Result<Stage, Malformed> {
        let response = Response { status, keeps_alive: self.keeps_alive };
        Ok(match (status, self.coding, self.length) {
            // Nobody asked for another protocol; what follows it would be no HTTP.
            (101, ..) => return Err(Malformed),
            // An interim response: the one that was asked for follows.
            (100..=199, ..) => Stage::Head,
            (204 | 304, ..) => Stage::Sized(response, 0),
            (_, Some(true), _) => Stage::Chunked(response, ChunkedBody::default()),
            (_, None, Some(length)) => Stage::Sized(response, length),
            _ => Stage::UntilClose(Response { keeps_alive: false, ..response }),
        })
    }
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn digits(value: &[u8]) -> Result<u64, Malformed> {
    // "+5" is a number and no length.
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
