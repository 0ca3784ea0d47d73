//! Words to a running wire, a line each.

use anyhow::{Result, bail};

/// What a line asks for; a way is told by its place, forward 0 and backward 1.
#[derive(Debug, PartialEq)]
pub enum Word {
    /// Outages and lists of delays count from now.
    Start,
    /// Nothing passes from now on, or passes again.
    Outage { places: &'static [usize], begins: bool },
    /// Settings to change.
    Change { places: &'static [usize], settings: String },
    /// Nothing but the counts, which every answer has.
    Counts,
}

/// Reads one of: `start`, `counts`, `[forward|backward] outage begin|end`, `[forward|backward] NAME=VALUE,…`.
pub fn word(line: &str) -> Result<Word> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let places: &'static [usize] = match words.first() {
        Some(&"forward") => &[0],
        Some(&"backward") => &[1],
        _ => &[0, 1],
    };
    if places.len() == 1 {
        words.remove(0);
    }
    Ok(match words.as_slice() {
        ["start"] => Word::Start,
        ["counts"] => Word::Counts,
        ["outage", "begin"] => Word::Outage { places, begins: true },
        ["outage", "end"] => Word::Outage { places, begins: false },
        [settings] if settings.contains('=') => {
            Word::Change { places, settings: (*settings).to_owned() }
        }
        _ => bail!(
            "{line:?} is none of start, counts, outage begin, outage end, NAME=VALUE, with forward or backward before it"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_for_one_way_and_for_both() {
        assert_eq!(word("outage begin").unwrap(), Word::Outage { places: &[0, 1], begins: true });
        let change = Word::Change { places: &[1], settings: "loss=0.1".to_owned() };
        assert_eq!(word("backward loss=0.1").unwrap(), change);
        assert!(word("stop").is_err() && word("").is_err() && word("forward").is_err());
    }
}
