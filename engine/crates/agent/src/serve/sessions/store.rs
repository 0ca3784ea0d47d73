//! Sessions on disk: kept from their creation until their result is acknowledged.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proto::{EventBody, FailureCode, Reason, reason};
use serde::{Deserialize, Deserializer, Serialize};

use crate::serve::private_file::private_file;
use crate::serve::sessions::event_log::EventLog;
use crate::serve::sessions::session::{Name, Session};
use crate::serve::sessions::uptime::Moment;

/// How long a finished session waits for its acknowledgement.
pub const RETENTION: Duration = Duration::from_secs(24 * 3_600);
/// How many finished sessions wait at most; the oldest go first.
pub const RETAINED_SESSIONS: usize = 1_000;
/// What they take at most, in memory and on disk.
pub const RETAINED_BYTES: usize = 512 * 1024 * 1024;

/// What ends the name of a file that could not be read and was put aside.
const UNREADABLE: &str = "unreadable";

/// The folder of sessions' files.
pub struct Store {
    folder: PathBuf,
    /// The sequence number of the next file that is written.
    next: AtomicU64,
}

/// The first line of a file: the session's name, and when it was written, without the wall clock.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    name: Name,
    /// None from an engine that went by the file's date, or in a form that this engine doesn't know.
    #[serde(default, deserialize_with = "known_form")]
    written: Option<Written>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    /// Larger than that of any file written before.
    sequence: u64,
    #[serde(flatten)]
    moment: Moment,
}

/// A result is worth more than the note of when it was written: a broken note is no reason to drop the file.
fn known_form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Written>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// A session's file as it was read.
struct Stored {
    session: Session,
    written: Option<Written>,
}

impl Stored {
    fn sequence(&self) -> u64 {
        self.written.as_ref().map_or(0, |written| written.sequence)
    }

    /// How long the result has waited; None where it begins to wait now: its session had not ended, or nobody knows
    /// how long before the host's last boot it was written.
    fn age(&self, now: &Moment) -> Option<Duration> {
        let written = self.written.as_ref().filter(|_| self.session.is_final())?;
        now.since(&written.moment)
    }
}

impl Store {
    /// Opens the folder `sessions` below `state_folder`, making it when it is missing.
    pub fn open(state_folder: &Path) -> io::Result<Self> {
        let folder = state_folder.join("sessions");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder, next: AtomicU64::new(1) })
    }

    /// Writes a session as it is now, whole or not at all.
    pub fn write(&self, session: &Session) -> io::Result<()> {
        self.write_as(session, self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn write_as(&self, session: &Session, sequence: u64) -> io::Result<()> {
        let written = Some(Written { sequence, moment: Moment::now() });
        // The events follow the header, a line each.
        let mut content = serde_json::to_vec(&Header { name: session.name.clone(), written })?;
        content.push(b'\n');
        for line in session.log().after(0).0 {
            content.extend_from_slice(&line);
        }
        let temporary = self.folder.join(format!("{}.new", session.id));
        // Not synced: a sync takes tens of milliseconds on a busy disk, and the acknowledgement that follows a result
        // would wait for it between any two trials. The page cache outlives this process, which is what is asked for.
        let written = private_file(&temporary)
            .and_then(|mut file| file.write_all(&content))
            .and_then(|()| fs::rename(&temporary, self.path(&session.id)));
        if written.is_err() {
            // On a full disk each session would leave a piece behind, and keep it full.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Removes a session's file; one that isn't there is removed already.
    pub fn remove(&self, id: &str) {
        let _ = fs::remove_file(self.path(id));
    }

    /// Reads the sessions back after a restart, oldest first, each with how long its result has waited. One that had
    /// not ended fails; a file that can't be read is put aside, with a warning in the log.
    ///
    /// Neither order nor age goes by the files' dates: the clock may have been set by years since.
    pub fn read_all(&self) -> io::Result<Vec<(Duration, Session)>> {
        let mut stored = self.read_files()?;
        stored.sort_by_key(Stored::sequence);
        let newest = stored.last().map_or(0, Stored::sequence);
        self.next.store(newest.saturating_add(1), Ordering::Relaxed);
        let now = Moment::now();
        let mut sessions = Vec::new();
        for each in stored {
            let age = each.age(&now);
            if age.is_some_and(|age| age > RETENTION) {
                self.remove(&each.session.id);
                continue;
            }
            if age.is_none() {
                self.begin_wait(&each);
            }
            sessions.push((age.unwrap_or_default(), each.session));
        }
        Ok(sessions)
    }

    fn read_files(&self) -> io::Result<Vec<Stored>> {
        let mut stored = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            match read(&path) {
                Ok(each) => stored.push(each),
                Err(_) if is_aside(&path) => {}
                Err(error) => put_aside(&path, &error),
            }
        }
        Ok(stored)
    }

    /// Lets a result's wait begin now, in its old place. A session whose process is gone with the engine that started
    /// it ends first.
    fn begin_wait(&self, stored: &Stored) {
        let session = &stored.session;
        if !session.is_final() {
            session.push(restart_failure());
        }
        // A full disk is no reason to serve nobody.
        if let Err(error) = self.write_as(session, stored.sequence()) {
            note!("session {}: can't be written to disk: {error}", session.id);
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.ndjson"))
    }
}

fn read(path: &Path) -> anyhow::Result<Stored> {
    let content = fs::read(path)?;
    let mut lines = content.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let Header { name, written } = proto::parse_json(lines.next().unwrap_or_default())?;
    let mut log = EventLog::default();
    for line in lines {
        log.restore(line)?;
    }
    Ok(Stored { session: Session::new(name, log, None), written })
}

/// Whether a file was put aside by this engine or an earlier run of it.
fn is_aside(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == UNREADABLE)
}

/// Renames what is no session's file: it may hold a result, of a newer engine or with one broken line, and somebody can
/// look into it. What can't even be renamed is no reason to serve nobody.
fn put_aside(path: &Path, error: &anyhow::Error) {
    let aside = PathBuf::from(format!("{}.{UNREADABLE}", path.display()));
    match fs::rename(path, &aside) {
        Ok(()) => note!(
            "warning: {} can't be read as a session ({error:#}); it is kept as {}: look into it, then delete it",
            path.display(),
            aside.display()
        ),
        Err(fault) => {
            note!(
                "warning: {} can't be read as a session ({error:#}), nor put aside: {fault}",
                path.display()
            );
        }
    }
}

fn restart_failure() -> EventBody {
    let reason = Reason::joined([reason!("says_restarted"), reason!("says_run_again")], "; ");
    EventBody::failure(FailureCode::Internal, reason, None)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proto::{Role, SessionState};

    use std::fs::File;

    use super::*;

    fn session(id: &str, events: impl IntoIterator<Item = EventBody>) -> Session {
        let name = Name {
            id: id.into(),
            role: Role::Sink,
            owner: "owner".into(),
            digest: "digest".into(),
        };
        let session = Session::new(name, EventLog::default(), None);
        events.into_iter().for_each(|event| session.push(event));
        session
    }

    #[test]
    fn a_session_that_ran_when_the_engine_died_is_reported_as_failed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.write(&session("ran", [])).unwrap();
        let restored = store.read_all().unwrap();
        assert_eq!(restored.len(), 1);
        let (_, session) = &restored[0];
        assert_eq!((session.id.as_str(), session.log().state()), ("ran", SessionState::Failed));
        assert!(session.log().failure().unwrap().1.starts_with("the engine was restarted"));
        assert_eq!(session.log().last_id(), 1);
    }

    fn finished(id: &str) -> Session {
        session(id, [EventBody::failure(FailureCode::PeerLost, "the link broke", None)])
    }

    fn date(folder: &Path, id: &str, at: SystemTime) {
        let path = folder.join(format!("sessions/{id}.ndjson"));
        File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    /// Writes the file's header as if it had been written `seconds` of the host's uptime ago.
    fn rewrite_as_of(folder: &Path, id: &str, seconds: f64, boot_id: Option<&str>) {
        let path = folder.join(format!("sessions/{id}.ndjson"));
        let content = fs::read_to_string(&path).unwrap();
        let (first, rest) = content.split_once('\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_str(first).unwrap();
        let uptime = header["written"]["uptime_seconds"].as_f64().unwrap();
        header["written"]["uptime_seconds"] = (uptime - seconds).into();
        if let Some(boot_id) = boot_id {
            header["written"]["boot_id"] = boot_id.into();
        }
        fs::write(path, format!("{header}\n{rest}")).unwrap();
    }

    fn ids(sessions: &[(Duration, Session)]) -> Vec<&str> {
        sessions.iter().map(|(_, session)| session.id.as_str()).collect()
    }

    #[test]
    fn results_are_kept_in_their_order_whatever_their_files_dates_say() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let years = Duration::from_secs(56 * 365 * 86_400);
        let dates = [SystemTime::now(), SystemTime::UNIX_EPOCH, SystemTime::now() + years];
        for (id, at) in ["first", "second", "third"].into_iter().zip(dates) {
            store.write(&finished(id)).unwrap();
            date(folder.path(), id, at);
        }
        let restarted = Store::open(folder.path()).unwrap();
        let restored = restarted.read_all().unwrap();
        assert_eq!(ids(&restored), ["first", "second", "third"]);
        assert!(restored.iter().all(|(age, _)| *age < Duration::from_secs(60)));
        restarted.write(&finished("fourth")).unwrap();
        date(folder.path(), "fourth", SystemTime::UNIX_EPOCH);
        let restored = Store::open(folder.path()).unwrap().read_all().unwrap();
        assert_eq!(ids(&restored), ["first", "second", "third", "fourth"]);
    }

    #[test]
    fn a_result_goes_after_a_day_of_the_hosts_uptime_and_waits_anew_after_a_boot() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for (id, hours, boot_id) in
            [("old", 25.0, None), ("young", 23.0, None), ("other-boot", 25.0, Some("another"))]
        {
            store.write(&finished(id)).unwrap();
            rewrite_as_of(folder.path(), id, hours * 3_600.0, boot_id);
        }
        let restored = store.read_all().unwrap();
        assert_eq!(ids(&restored), ["young", "other-boot"]);
        assert_eq!(restored[0].0.as_secs() / 3_600, 23);
        assert_eq!(restored[1].0, Duration::ZERO);
        assert!(!folder.path().join("sessions/old.ndjson").exists());
    }

    #[test]
    fn a_wait_that_began_anew_goes_on_at_the_next_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for id in ["other-boot", "this-boot"] {
            store.write(&finished(id)).unwrap();
        }
        rewrite_as_of(folder.path(), "other-boot", 0.0, Some("another"));
        store.read_all().unwrap();
        rewrite_as_of(folder.path(), "other-boot", 3_600.0, None);
        let restored = store.read_all().unwrap();
        assert_eq!(ids(&restored), ["other-boot", "this-boot"]);
        assert_eq!(restored[0].0.as_secs() / 3_600, 1);
    }

    #[test]
    fn a_file_without_a_readable_note_of_when_it_was_written_is_kept() {
        let forms = [
            "",
            r#","written":null"#,
            r#","written":5"#,
            r#","written":{"sequence":-1}"#,
            r#","written":{"sequence":1,"boot_id":"a","uptime_seconds":"long"}"#,
        ];
        for form in forms {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path()).unwrap();
            let earlier = finished("earlier");
            let name = serde_json::to_string(&earlier.name).unwrap();
            let header = format!("{}{form}}}\n", name.strip_suffix('}').unwrap());
            let content = [header.as_bytes(), &earlier.log().after(0).0[0]].concat();
            fs::write(folder.path().join("sessions/earlier.ndjson"), content).unwrap();
            date(folder.path(), "earlier", SystemTime::UNIX_EPOCH);
            assert_eq!(ids(&store.read_all().unwrap()), ["earlier"], "{form}");
        }
    }

    #[test]
    fn what_can_not_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        // As on a full disk, the last step fails: there is a folder where the file would be.
        fs::create_dir_all(folder.path().join("sessions/taken.ndjson/inside")).unwrap();
        assert!(store.write(&session("taken", [])).is_err());
        assert!(!folder.path().join("sessions/taken.new").exists());
    }

    #[test]
    fn a_finished_session_comes_back_as_it_was_and_a_broken_file_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let end = EventBody::failure(FailureCode::PeerLost, "the link broke", None);
        let written = session("done", [end]);
        store.write(&written).unwrap();
        fs::write(folder.path().join("sessions/odd.ndjson"), b"{").unwrap();
        let restored = store.read_all().unwrap();
        assert_eq!(restored.len(), 1);
        assert_eq!(restored[0].1.log().after(0).0, written.log().after(0).0);
        assert!(!folder.path().join("sessions/odd.ndjson").exists());
        let aside = folder.path().join("sessions/odd.ndjson.unreadable");
        assert_eq!(fs::read(&aside).unwrap(), b"{");
        store.remove("done");
        assert_eq!(store.read_all().unwrap().len(), 0);
        assert_eq!(fs::read(&aside).unwrap(), b"{");
    }

    #[test]
    fn whatever_else_is_in_the_folder_is_kept_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.write(&finished("good")).unwrap();
        let sessions = folder.path().join("sessions");
        let torn = fs::read(sessions.join("good.ndjson")).unwrap();
        fs::write(sessions.join("torn.ndjson"), &torn[..torn.len() - 5]).unwrap();
        fs::write(sessions.join("empty.new"), b"").unwrap();
        fs::write(sessions.join("binary.ndjson"), [0xff, 0x00]).unwrap();
        fs::create_dir_all(sessions.join("folder/inside")).unwrap();
        for _ in 0..2 {
            assert_eq!(ids(&store.read_all().unwrap()), ["good"]);
        }
        let mut names: Vec<_> = fs::read_dir(&sessions)
            .unwrap()
            .map(|each| each.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let aside = ["binary.ndjson", "empty.new", "folder", "torn.ndjson"]
            .map(|name| format!("{name}.unreadable"));
        let expected = [&aside[..3], &["good.ndjson".to_owned()], &aside[3..]].concat();
        assert_eq!(names, expected);
    }
}
