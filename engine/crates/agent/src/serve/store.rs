//! Sessions on disk: kept from their creation until their result is acknowledged.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proto::{EventBody, FailureCode};

use super::event_log::EventLog;
use super::session::{Name, Session};

/// How long a finished session waits for its acknowledgement.
pub const RETENTION: Duration = Duration::from_secs(24 * 3_600);
/// How many finished sessions wait at most; the oldest go first.
pub const RETAINED_SESSIONS: usize = 1_000;
/// What they take at most, in memory and on disk.
pub const RETAINED_BYTES: usize = 512 * 1024 * 1024;

/// The folder of sessions' files.
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the folder `sessions` below `state_folder`, making it when it is missing.
    pub fn open(state_folder: &Path) -> io::Result<Self> {
        let folder = state_folder.join("sessions");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder })
    }

    /// Writes a session as it is now, whole or not at all.
    pub fn write(&self, session: &Session) -> io::Result<()> {
        // The first line is the session's name; its events follow, a line each.
        let mut content = serde_json::to_vec(&session.name)?;
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

    /// Reads the sessions back after a restart, oldest first. One that had not ended fails; a broken file is
    /// dropped, with a line in the log.
    pub fn read_all(&self) -> io::Result<Vec<(SystemTime, Session)>> {
        let mut sessions = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_expired = |at: SystemTime| at.elapsed().is_ok_and(|age| age > RETENTION);
            match read(&path) {
                Ok((at, _)) if is_expired(at) => fs::remove_file(&path)?,
                Ok(session) => sessions.push(session),
                Err(error) => {
                    note!("{} is not a session's file ({error}); it is dropped", path.display());
                    fs::remove_file(&path)?;
                }
            }
        }
        sessions.sort_by_key(|(at, _)| *at);
        for (_, session) in &sessions {
            if !session.is_final() {
                session.push(restart_failure());
                // A full disk is no reason to serve nobody.
                if let Err(error) = self.write(session) {
                    note!("session {}: can't be written to disk: {error}", session.id);
                }
            }
        }
        Ok(sessions)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.ndjson"))
    }
}

/// Opens a new file that only its owner may read.
pub fn private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn read(path: &Path) -> anyhow::Result<(SystemTime, Session)> {
    let at = fs::metadata(path)?.modified()?;
    let content = fs::read(path)?;
    let mut lines = content.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let name: Name = proto::parse_json(lines.next().unwrap_or_default())?;
    let mut log = EventLog::default();
    for line in lines {
        log.restore(line)?;
    }
    Ok((at, Session::new(name, log, None)))
}

fn restart_failure() -> EventBody {
    let reason = "the engine was restarted while this session ran; run the test again";
    EventBody::failure(FailureCode::Internal, reason, None)
}

#[cfg(test)]
mod tests {
    use proto::{Role, SessionState};

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
    fn a_finished_session_comes_back_as_it_was_and_a_broken_file_is_dropped() {
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
        store.remove("done");
        assert_eq!(store.read_all().unwrap().len(), 0);
    }
}
