//! What sessions may ask for at most: of the engine, and of each token.

use std::str::FromStr;

use hyper::StatusCode;
use proto::{Catalog, Reason, reason};
use serde::Serialize;

use crate::cli::positive;
use crate::serve::admission::demand::Demand;
use crate::serve::refusal::Refusal;

/// Upper bounds; what is absent is not bounded.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Sessions at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
    /// Warm-up and measured time of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    /// Flows, or connections, of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Payload of a session, both directions together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// Payload of a session over its whole time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// The kinds that may be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
}

/// What any second may carry of a limit's rate: late datagrams come with those that are in time.
const SECOND_SHARE: f64 = 1.05;

/// Whose limit it is.
#[derive(Debug, Clone, Copy)]
pub enum Whose {
    Engine,
    Token,
}

impl Whose {
    /// How the limit is set, for the operator who is asked to raise it.
    fn names(self, option: &str, name: &str, value: impl Into<Reason>) -> Reason {
        let value = value.into();
        match self {
            Self::Engine => reason!("admission_engine_limit", value = value, option = option),
            Self::Token => reason!("admission_token_limit", value = value, name = name),
        }
    }
}

impl Limits {
    /// Reads `name=value` words, as they follow a token.
    pub fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut limits = Self::default();
        for word in words {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("{word:?} is not name=value"))?;
            limits.set(name, value)?;
        }
        Ok(limits)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "sessions" => put(&mut self.sessions, name, whole(name, value)?),
            "duration" => put(&mut self.duration_seconds, name, positive(name, value)?),
            "flows" => put(&mut self.flows, name, whole(name, value)?),
            "rate" => put(&mut self.rate_bps, name, positive(name, value)?),
            "bytes" => put(&mut self.bytes, name, positive(name, value)?),
            "kinds" => put(&mut self.kinds, name, kinds(value)?),
            _ => Err(format!(
                "there is no limit {name:?}; there are sessions, duration, flows, rate, bytes and kinds"
            )),
        }
    }

    /// Refuses a session that asks for more, with the parameter at fault.
    pub fn check(&self, whose: Whose, demand: &Demand) -> Result<(), Refusal> {
        self.check_kinds(demand)?;
        if let Some(limit) = self.duration_seconds.filter(|limit| demand.duration_seconds > *limit)
        {
            let fields = demand.duration_fields.join(" and ");
            let field = demand.duration_fields.last().map_or("duration_seconds", String::as_str);
            let limit = whose.names("max-duration", "duration", format!("{limit} s"));
            let seconds = demand.duration_seconds.to_string();
            let message =
                reason!("admission_duration", fields = fields, seconds = seconds, limit = limit);
            return Err(over(field, message));
        }
        if let Some(limit) = self.flows.filter(|limit| demand.flows > *limit) {
            let limit = whose.names("max-flows", "flows", limit.to_string());
            let message = reason!("admission_flows", count = demand.flows, limit = limit);
            return Err(over(&demand.flow_field, message));
        }
        if let Some(limit) = self.rate_bps.filter(|limit| demand.rate_bps > *limit) {
            let limit = whose.names("max-rate", "rate", format!("{limit} bit/s"));
            return Err(over(&demand.rate_field, rate_message(demand, limit)));
        }
        self.check_second(whose, demand)?;
        if let Some(limit) = self.bytes.filter(|limit| demand.bytes() > *limit) {
            let message = reason!(
                "admission_bytes",
                rate = rate_text(demand.rate_bps),
                seconds = demand.duration_seconds.to_string(),
                limit = whose.names("max-bytes", "bytes", format!("{limit} B"))
            );
            return Err(over(&demand.rate_field, message));
        }
        Ok(())
    }

    /// Refuses datagrams so great that a second may have more of them than the rate.
    fn check_second(&self, whose: Whose, demand: &Demand) -> Result<(), Refusal> {
        let Some(limit) = self.rate_bps else { return Ok(()) };
        let room = limit * SECOND_SHARE - demand.rate_bps;
        if demand.datagram_bits() <= room {
            return Ok(());
        }
        let message = reason!(
            "admission_second",
            rate = rate_text(demand.rate_bps),
            most = rate_text(demand.rate_bps + demand.datagram_bits()),
            limit = whose.names("max-rate", "rate", format!("{limit} bit/s")),
            bytes = format!("{:.0}", (room / demand.datagrams_at_once / 8.0).floor())
        );
        Err(over("message_size_bytes", message))
    }

    /// Refuses one session more when `running` are there already.
    pub fn check_count(&self, whose: Whose, running: usize) -> Result<(), Refusal> {
        match self.sessions.filter(|limit| running >= *limit) {
            None => Ok(()),
            Some(limit) => {
                let limit = reason!("admission_at_once", count = limit);
                let limit = whose.names("max-sessions", "sessions", limit);
                let message = reason!("admission_sessions", count = running, limit = limit);
                Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message))
            }
        }
    }

    fn check_kinds(&self, demand: &Demand) -> Result<(), Refusal> {
        let Some(kinds) = &self.kinds else { return Ok(()) };
        let Some(other) = demand.kinds.iter().find(|kind| !kinds.contains(kind)) else {
            return Ok(());
        };
        let field = if demand.kinds.first() == Some(other) { "kind" } else { "params.load" };
        let (kind, kinds) = (other.as_str(), kinds.join(", "));
        let message = reason!("admission_kind", kind = kind, kinds = kinds);
        Err(Refusal { code: "limit", ..Refusal::invalid(field, message) })
    }
}

/// 422 with the parameter at fault.
fn over(parameter: &str, message: Reason) -> Refusal {
    Refusal { code: "limit", ..Refusal::invalid(&format!("params.{parameter}"), message) }
}

fn rate_message(demand: &Demand, limit: Reason) -> Reason {
    let field = demand.rate_field.as_str();
    if demand.rate_bps.is_infinite() {
        return reason!("admission_no_rate", field = field, limit = limit);
    }
    let rate = rate_text(demand.rate_bps);
    reason!("admission_rate", field = field, rate = rate, limit = limit)
}

fn rate_text(rate_bps: f64) -> Reason {
    if rate_bps.is_infinite() {
        reason!("admission_unbounded_rate")
    } else {
        format!("{rate_bps} bit/s").into()
    }
}

fn put<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name} is given twice")),
    }
}

fn whole<T: FromStr + PartialOrd + From<u8>>(name: &str, value: &str) -> Result<T, String> {
    let number = value.parse::<T>().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| format!("{name}={value} is not a whole number above 0"))
}

fn kinds(value: &str) -> Result<Vec<String>, String> {
    let known = &Catalog::embedded().kinds;
    let kinds: Vec<String> = value.split(',').map(str::to_owned).collect();
    match kinds.iter().find(|kind| !known.contains_key(*kind)) {
        None => Ok(kinds),
        Some(unknown) => {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            Err(format!("kinds= names {unknown:?}; this engine has {}", known.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Limits, String> {
        Limits::parse(text.split_whitespace())
    }

    fn demand() -> Demand {
        Demand {
            kinds: vec!["tcp_stream".to_owned()],
            duration_seconds: 10.0,
            duration_fields: vec!["duration_seconds".to_owned()],
            flows: 4,
            flow_field: "flows".to_owned(),
            rate_bps: 1e9,
            rate_field: "rate_bps".to_owned(),
            datagram_bytes: 0.0,
            datagrams_at_once: 1.0,
            memory_bytes: 0.0,
            memory_field: "flows".to_owned(),
        }
    }

    fn refusal(limits: &str, demand: &Demand) -> (String, String) {
        let refusal = parse(limits).unwrap().check(Whose::Token, demand).unwrap_err();
        assert_eq!((refusal.status, refusal.code), (StatusCode::UNPROCESSABLE_ENTITY, "limit"));
        (refusal.field.unwrap(), refusal.message.to_string())
    }

    #[test]
    fn exactly_the_limit_is_admitted_and_anything_above_it_refused_with_its_field() {
        let exact =
            parse("duration=10 flows=4 rate=1e9 bytes=1.25e9 kinds=tcp_rr,tcp_stream").unwrap();
        assert!(exact.check(Whose::Token, &demand()).is_ok());
        for (limits, field) in [
            ("duration=9.9", "params.duration_seconds"),
            ("flows=3", "params.flows"),
            ("rate=999999999", "params.rate_bps"),
            ("bytes=1249999999", "params.rate_bps"),
            ("kinds=tcp_rr", "kind"),
        ] {
            assert_eq!(refusal(limits, &demand()).0, field);
        }
    }

    #[test]
    fn a_refusal_names_the_limit_its_value_and_whose_it_is() {
        let (_, message) = refusal("flows=3", &demand());
        assert_eq!(
            message,
            "4 flows are asked for, above this token's limit of 3 (flows= in the engine's token file); ask for fewer"
        );
        let unpaced = Demand { rate_bps: f64::INFINITY, ..demand() };
        let (_, message) = refusal("rate=1e9", &unpaced);
        assert_eq!(
            message,
            "without rate_bps the rate has no bound, and this token's limit of 1000000000 bit/s (rate= in the engine's token file) holds; set one"
        );
        let limits = Limits { sessions: Some(2), ..Limits::default() };
        assert!(limits.check_count(Whose::Engine, 1).is_ok());
        let refusal = limits.check_count(Whose::Engine, 2).unwrap_err();
        assert_eq!(refusal.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(
            &*refusal.message,
            "2 sessions run here, and one more is above this engine's limit of 2 at once (--max-sessions); wait for one to end, or cancel one"
        );
    }

    #[test]
    fn datagrams_that_break_the_rate_in_a_second_are_refused_with_what_fits() {
        let datagrams =
            |rate_bps, bytes: f64| Demand { rate_bps, datagram_bytes: bytes, ..demand() };
        let limits = parse("rate=1e6").unwrap();
        for fits in [datagrams(1e6, 6_250.0), datagrams(5e5, 65_507.0)] {
            assert!(limits.check(Whose::Token, &fits).is_ok());
        }
        let (field, message) = refusal("rate=1e6", &datagrams(1e6, 60_000.0));
        assert_eq!(field, "params.message_size_bytes");
        assert_eq!(
            message,
            "datagrams of this size at 1000000 bit/s may come to 1480000 bit/s in a second, above this token's limit of 1000000 bit/s (rate= in the engine's token file); the largest that fit are 6250 B, or ask for a lower rate"
        );
    }

    #[test]
    fn the_load_of_a_test_counts_as_a_kind() {
        let loaded = Demand { kinds: vec!["tcp_rr".into(), "tcp_stream".into()], ..demand() };
        assert_eq!(refusal("kinds=tcp_rr", &loaded).0, "params.load");
    }

    #[test]
    fn limits_that_are_none_are_refused_with_their_names() {
        for (text, reason) in [
            ("speed=1", "there is no limit \"speed\""),
            ("flows", "\"flows\" is not name=value"),
            ("flows=0", "flows=0 is not a whole number above 0"),
            ("flows=-1", "not a whole number"),
            ("duration=nan", "duration=nan is not a number above 0"),
            ("rate=inf", "rate=inf is not a number above 0"),
            ("flows=1 flows=2", "flows is given twice"),
            ("kinds=telepathy", "kinds= names \"telepathy\""),
        ] {
            let refusal = parse(text).unwrap_err();
            assert!(refusal.contains(reason), "{refusal}");
        }
    }
}
