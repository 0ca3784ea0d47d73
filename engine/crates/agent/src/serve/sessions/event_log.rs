//! A session's numbered events, as the lines that controllers read.

use std::collections::VecDeque;
use std::time::SystemTime;

use hyper::body::Bytes;
use proto::{Event, EventBody, FailureCode, Reason, SessionState};

/// A day of intervals a second each, and room to spare; beyond, the oldest go, and the result still has them all.
const KEPT_EVENTS: usize = 100_000;

/// The same in bytes: intervals with hundreds of flows are long.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// A session's events and the state that they lead to.
pub struct EventLog {
    lines: VecDeque<Bytes>,
    bytes: usize,
    last_id: u64,
    state: SessionState,
    failure: Option<(FailureCode, Reason)>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            bytes: 0,
            last_id: 0,
            state: SessionState::Prepared,
            failure: None,
        }
    }
}

impl EventLog {
    pub const fn last_id(&self) -> u64 {
        self.last_id
    }

    /// What its lines take.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub const fn state(&self) -> SessionState {
        self.state
    }

    /// Why the session failed, when it did.
    pub const fn failure(&self) -> Option<&(FailureCode, Reason)> {
        self.failure.as_ref()
    }

    /// Numbers an event and adds it.
    pub fn push(&mut self, body: EventBody) {
        let event = Event { id: self.last_id + 1, at: SystemTime::now().into(), body };
        // Every key of an event is a text, so it can be written; an empty line would only keep alive.
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        self.add(&event, line.into());
    }

    /// Adds an event read back from disk.
    pub fn restore(&mut self, line: &[u8]) -> Result<(), proto::JsonError> {
        let event: Event = proto::parse_json(line)?;
        let line = [line, b"\n"].concat();
        self.add(&event, line.into());
        Ok(())
    }

    fn add(&mut self, event: &Event, line: Bytes) {
        self.last_id = event.id;
        match &event.body {
            EventBody::State { state, .. } | EventBody::Result { state, .. } => self.state = *state,
            EventBody::Failure { state, code, reason, .. } => {
                self.state = *state;
                self.failure = Some((*code, reason.clone()));
            }
            EventBody::Interval { .. } => {}
        }
        self.bytes += line.len();
        self.lines.push_back(line);
        // The last event stays, however long it is.
        while self.lines.len() > KEPT_EVENTS || (self.bytes > KEPT_BYTES && self.lines.len() > 1) {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
        }
    }

    /// The lines of the events after `id`, and the newest id.
    pub fn after(&self, id: u64) -> (Vec<Bytes>, u64) {
        let missing = usize::try_from(self.last_id.saturating_sub(id)).unwrap_or(usize::MAX);
        let skipped = self.lines.len().saturating_sub(missing);
        (self.lines.iter().skip(skipped).cloned().collect(), self.last_id)
    }
}

#[cfg(test)]
mod tests {
    use proto::FailureCode;

    use super::*;

    fn log() -> EventLog {
        let mut log = EventLog::default();
        log.push(EventBody::State {
            state: SessionState::Running,
            started_at: SystemTime::now().into(),
        });
        log.push(EventBody::Interval { interval: Box::default() });
        log.push(EventBody::failure(FailureCode::PeerLost, "the link broke", None));
        log
    }

    #[test]
    fn a_reader_gets_what_follows_the_event_it_names() {
        assert_eq!(
            (log().after(0).0.len(), log().after(2).0.len(), log().after(3).0.len()),
            (3, 1, 0)
        );
        assert_eq!(log().after(99).0.len(), 0);
        assert!(log().after(2).0[0].starts_with(br#"{"id":3,"#));
    }

    #[test]
    fn of_events_beyond_64_mib_the_oldest_go_and_the_last_stays() {
        let mut log = log();
        let event =
            |bytes: usize| EventBody::failure(FailureCode::PeerLost, "x".repeat(bytes), None);
        log.push(event(40 * 1024 * 1024));
        assert_eq!(log.after(0).0.len(), 4);
        log.push(event(40 * 1024 * 1024));
        assert_eq!((log.after(0).0.len(), log.last_id()), (1, 5));
        assert!(log.bytes() < KEPT_BYTES);
        log.push(event(KEPT_BYTES + 1));
        assert_eq!((log.after(0).0.len(), log.last_id()), (1, 6));
    }

    #[test]
    fn what_is_read_back_from_disk_is_the_same_log() {
        let mut restored = EventLog::default();
        for line in log().after(0).0 {
            restored.restore(line.trim_ascii_end()).unwrap();
        }
        assert_eq!((restored.last_id(), restored.state()), (3, SessionState::Failed));
        let failure = restored.failure().expect("it failed");
        assert_eq!(&*failure.1, "the link broke");
        assert!(restored.restore(b"{}").is_err());
    }
}
