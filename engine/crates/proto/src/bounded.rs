//! JSON and lines from strangers: bounded before they are parsed.

use serde::de::DeserializeOwned;

/// How deep JSON from outside may nest.
pub const JSON_DEPTH_LIMIT: usize = 32;
/// How long one line on a link or channel may be, in bytes.
pub const LINE_LIMIT_BYTES: usize = 1024 * 1024;

/// JSON or a line that is refused.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Nested too deep.
    #[error("the JSON nests deeper than {JSON_DEPTH_LIMIT} levels")]
    TooDeep,
    /// Not JSON, or not of the expected shape.
    #[error("the JSON can't be read: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A line without an end.
    #[error("a line is longer than {0} bytes")]
    LineTooLong(usize),
}

/// Parses JSON that nests at most [`JSON_DEPTH_LIMIT`] deep.
///
/// # Errors
/// When it nests deeper, is malformed, or is not a `T`.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonError> {
    if depth(bytes) > JSON_DEPTH_LIMIT {
        return Err(JsonError::TooDeep);
    }
    Ok(serde_json::from_slice(bytes)?)
}

/// Deepest nesting of brackets outside strings.
fn depth(bytes: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0_usize);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in bytes {
        match (in_string, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'{' | b'[') => {
                open += 1;
                deepest = deepest.max(open);
            }
            (false, b'}' | b']') => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Cuts a byte stream into lines, none longer than its limit.
#[derive(Debug)]
pub struct LineSplitter {
    buffer: Vec<u8>,
    limit_bytes: usize,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new(LINE_LIMIT_BYTES)
    }
}

impl LineSplitter {
    /// Makes a splitter for lines of at most `limit_bytes`, their end not counted.
    #[must_use]
    pub const fn new(limit_bytes: usize) -> Self {
        Self { buffer: Vec::new(), limit_bytes }
    }

    /// Takes received bytes and gives the lines that they complete, without line ends and empty lines.
    ///
    /// # Errors
    /// When a line is longer than the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, JsonError> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (content, is_complete) = match piece.split_last() {
                Some((b'\n', content)) => (content, true),
                _ => (piece, false),
            };
            if self.buffer.len() + content.len() > self.limit_bytes {
                return Err(JsonError::LineTooLong(self.limit_bytes));
            }
            self.buffer.extend_from_slice(content);
            if is_complete && !self.buffer.is_empty() {
                lines.push(std::mem::take(&mut self.buffer));
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thirty_two_levels_are_read_and_thirty_three_refused() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse_json::<serde_json::Value>(nested(32).as_bytes()).is_ok());
        let refusal = parse_json::<serde_json::Value>(nested(33).as_bytes()).unwrap_err();
        assert_eq!(refusal.to_string(), "the JSON nests deeper than 32 levels");
    }

    #[test]
    fn brackets_inside_strings_do_not_count() {
        assert_eq!(depth(br#"{"a": "[[[[\"[["}"#), 1);
    }

    #[test]
    fn a_line_over_the_limit_is_refused() {
        let mut splitter = LineSplitter::new(4);
        assert_eq!(splitter.push(b"abcd\n").unwrap(), [b"abcd".to_vec()]);
        assert!(matches!(splitter.push(b"abcde"), Err(JsonError::LineTooLong(4))));
    }

    proptest! {
        #[test]
        fn lines_survive_any_fragmentation(lines in prop::collection::vec("[a-z]{1,9}", 0..9), size in 1_usize..7) {
            let stream = lines.join("\n") + "\n";
            let mut splitter = LineSplitter::default();
            let mut seen = Vec::new();
            for fragment in stream.as_bytes().chunks(size) {
                seen.extend(splitter.push(fragment).unwrap());
            }
            let expected: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(seen, expected);
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_json::<crate::SessionSpec>(&bytes);
            let _ = parse_json::<crate::LinkMessage>(&bytes);
        }
    }
}
