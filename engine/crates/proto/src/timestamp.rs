//! Wall-clock times as RFC 3339 in UTC with microseconds.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The last second that has a year of four digits, which is all that readers take.
const LAST_SECOND: u64 = 253_402_300_799;

/// A wall-clock time, to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timestamp(#[cfg_attr(test, schemars(with = "String"))] SystemTime);

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self(time)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since_epoch = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_epoch = since_epoch.min(Duration::from_secs(LAST_SECOND));
        let (days, second) = (since_epoch.as_secs() / 86_400, since_epoch.as_secs() % 86_400);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let microsecond = since_epoch.subsec_micros();
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z"
        )
    }
}

/// Gregorian date of a day count since 1970-01-01 (Howard Hinnant, "chrono-compatible date algorithms").
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Days since 1970-01-01 of a Gregorian date; the inverse of [`civil_from_days`].
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 27
        && text.is_ascii()
        && text.ends_with('Z')
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.')]
            .iter()
            .all(|&(position, separator)| bytes[position] == separator);
    if !is_shaped {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
    };
    let (month, day) = (number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    let days = days_from_civil(number(0, 4)?, month, day)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    let since_epoch = Duration::from_secs(seconds) + Duration::from_micros(number(20, 26)?);
    Some(Timestamp(UNIX_EPOCH + since_epoch))
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).ok_or_else(|| {
            D::Error::custom(format!("{text:?} is not a time such as 2026-01-31T12:00:00.000000Z"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leap_day_is_written_and_read_back() {
        let time = Timestamp(UNIX_EPOCH + Duration::new(1_709_209_845, 123_456_000));
        assert_eq!(time.to_string(), "2024-02-29T12:30:45.123456Z");
        assert_eq!(parse("2024-02-29T12:30:45.123456Z"), Some(time));
    }

    #[test]
    fn a_clock_beyond_the_year_9999_is_written_as_its_last_second() {
        let time = Timestamp(UNIX_EPOCH + Duration::from_secs(LAST_SECOND + 86_400));
        assert_eq!(time.to_string(), "9999-12-31T23:59:59.000000Z");
        assert!(parse(&time.to_string()).is_some());
    }

    #[test]
    fn a_time_without_zone_or_with_signs_is_refused() {
        assert_eq!(parse("2024-02-29T12:30:45.123456"), None);
        assert_eq!(parse("2024-02-29T+2:30:45.123456Z"), None);
        assert_eq!(parse("2024-13-01T00:00:00.000000Z"), None);
    }
}
