//! The end of a chunked body (RFC 9112, section 7.1), found without keeping any of it.

/// Bytes that are no HTTP response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Chunk extensions and trailer fields have no meaning here; what is longer is no response worth measuring.
const LINES_LIMIT_BYTES: u32 = 16 * 1024;

/// Where a chunked body stands.
#[derive(Debug, Default)]
pub struct ChunkedBody {
    place: Place,
    /// Bytes of the present line beyond its meaning, or of all trailer lines.
    line_bytes: u32,
}

/// What the next byte is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A digit of a chunk's size, or the end of it.
    Size { size: u64, digits: u8 },
    /// Something after a chunk's size that means nothing.
    Extension { size: u64 },
    /// The line feed after a chunk's size.
    SizeEnd { size: u64 },
    /// Data, so many bytes of it.
    Data { left: u64 },
    /// The carriage return after the data.
    DataReturn,
    /// The line feed after that.
    DataEnd,
    /// The first byte of a trailer line, or of the empty line that ends the body.
    LineBegin,
    /// Any other byte of a trailer line.
    Line,
    /// The line feed of the empty line.
    LastEnd,
}

impl Default for Place {
    fn default() -> Self {
        Self::Size { size: 0, digits: 0 }
    }
}

/// Whether the body has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More is to come.
    Open,
    /// That was its last byte.
    Ended,
}

impl ChunkedBody {
    /// Takes the next bytes; how many of them belong to the body, and whether it ends there.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(usize, Progress), Malformed> {
        let mut taken = 0;
        while taken < bytes.len() {
            if let Place::Data { left } = &mut self.place {
                let part = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - taken);
                *left -= part as u64;
                taken += part;
                if *left == 0 {
                    self.place = Place::DataReturn;
                }
                continue;
            }
            taken += 1;
            match self.step(bytes[taken - 1])? {
                Some(place) => self.place = place,
                None => return Ok((taken, Progress::Ended)),
            }
        }
        Ok((taken, Progress::Open))
    }

    /// The place after this byte; none after the last.
    fn step(&mut self, byte: u8) -> Result<Option<Place>, Malformed> {
        Ok(Some(match (self.place, byte) {
            (Place::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                more_size(size, digits, byte)?
            }
            (Place::Size { digits: 0, .. }, _) => return Err(Malformed),
            (Place::Size { size, .. } | Place::Extension { size }, b'\r') => {
                self.line_bytes = 0;
                Place::SizeEnd { size }
            }
            (Place::Size { size, .. }, b';' | b' ' | b'\t') => Place::Extension { size },
            (Place::Extension { size }, _) if byte != b'\n' => {
                self.count_line_byte()?;
                Place::Extension { size }
            }
            (Place::SizeEnd { size: 0 } | Place::Line, b'\n') => Place::LineBegin,
            (Place::SizeEnd { size }, b'\n') => Place::Data { left: size },
            (Place::DataReturn, b'\r') => Place::DataEnd,
            (Place::DataEnd, b'\n') => Place::default(),
            (Place::LineBegin, b'\r') => Place::LastEnd,
            (Place::LastEnd, b'\n') => return Ok(None),
            (Place::LineBegin | Place::Line, _) => {
                self.count_line_byte()?;
                Place::Line
            }
            _ => return Err(Malformed),
        }))
    }

    fn count_line_byte(&mut self) -> Result<(), Malformed> {
        self.line_bytes += 1;
        if self.line_bytes > LINES_LIMIT_BYTES { Err(Malformed) } else { Ok(()) }
    }
}

fn more_size(size: u64, digits: u8, byte: u8) -> Result<Place, Malformed> {
    let digit = char::from(byte).to_digit(16).ok_or(Malformed)?;
    // Fifteen digits are a petabyte: one more might not fit.
    if digits == 15 {
        return Err(Malformed);
    }
    Ok(Place::Size { size: size * 16 + u64::from(digit), digits: digits + 1 })
}
