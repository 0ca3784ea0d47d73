//! Which engine a test lost, and what became of it: whoever reads has to know where to look.

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

use hyper::Method;
use proto::Timestamp;

use crate::client::Client;

/// An engine that was restarted is back by then; one that was stopped is not worth a longer wait.
const RETURN_LIMIT: Duration = Duration::from_secs(3);
const RETURN_PAUSE: Duration = Duration::from_millis(200);

/// The sink's engine, as it was when the test began.
pub struct SinkEngine {
    pub peer: SocketAddr,
    pub token: String,
    pub fingerprint: String,
    pub begun: Instant,
}

impl SinkEngine {
    /// What is to be said of it, once the source has lost it.
    pub async fn fate(&self) -> String {
        let seen = match tokio::time::timeout(RETURN_LIMIT, self.uptime()).await {
            Ok(uptime) => Seen::Running(uptime),
            Err(_) => Seen::Silent,
        };
        fate(self.peer, &seen, self.begun.elapsed(), SystemTime::now())
    }

    /// For how long it has been running; an engine of an older version doesn't say.
    async fn uptime(&self) -> Option<Duration> {
        loop {
            let client = Client::connect(self.peer, &self.token, Some(&self.fingerprint)).await;
            if let Ok(mut client) = client {
                if let Ok(about) = client.call(Method::GET, "/v1/about", None).await {
                    let seconds = about["uptime_seconds"].as_f64()?;
                    return Duration::try_from_secs_f64(seconds).ok();
                }
            }
            tokio::time::sleep(RETURN_PAUSE).await;
        }
    }
}

/// What came of asking it.
enum Seen {
    Silent,
    /// For how long, where it says so.
    Running(Option<Duration>),
}

fn fate(peer: SocketAddr, seen: &Seen, since: Duration, now: SystemTime) -> String {
    match seen {
        Seen::Silent => format!("the sink's engine ({peer}) doesn't answer any more"),
        Seen::Running(Some(uptime)) if *uptime < since => {
            // As 2026-11-26T14:03:07.123456Z.
            let started = Timestamp::from(now - *uptime).to_string();
            let time = started.get(11..16).unwrap_or_default();
            format!("the sink's engine ({peer}) was restarted at {time} UTC")
        }
        Seen::Running(_) => format!("the sink's engine ({peer}) answers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_told_with_its_address_and_the_time_of_its_restart() {
        let peer = "192.0.2.2:7410".parse().unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(14 * 3_600 + 3 * 60 + 40);
        let seconds = Duration::from_secs;
        for (seen, words) in [
            (Seen::Silent, "doesn't answer any more"),
            (Seen::Running(None), "answers"),
            (Seen::Running(Some(seconds(900))), "answers"),
            (Seen::Running(Some(seconds(20))), "was restarted at 14:03 UTC"),
        ] {
            let expected = format!("the sink's engine (192.0.2.2:7410) {words}");
            assert_eq!(fate(peer, &seen, seconds(60), now), expected);
        }
    }
}
