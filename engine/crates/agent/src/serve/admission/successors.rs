//! Tokens that took the place of the token file's, over the control API: kept in the state folder, for under systemd and
//! Kubernetes nobody writes to the token file. Only hashes are kept, as everywhere here.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use proto::TokenKey;
use serde::{Deserialize, Serialize};

use crate::serve::private_file::private_file;

const FILE: &str = "successors.json";

/// What stands in the place of one token of the token file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Successor {
    /// The key of the token in the file.
    of: TokenKey,
    /// The key of the token that is valid in its place; that token itself before its first successor is used.
    valid: TokenKey,
    /// The key of the token that is valid beside it, until it is used: then it is the only one.
    next: Option<TokenKey>,
}

/// The successors of all tokens.
pub struct Successors {
    path: PathBuf,
    all: Mutex<Vec<Successor>>,
}

impl Successors {
    /// Reads the state folder's; none where none was ever made.
    pub fn open(state_folder: &Path) -> Result<Self> {
        let path = state_folder.join(FILE);
        let all = match fs::read(&path) {
            Ok(bytes) => proto::parse_json(&bytes).map_err(anyhow::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        };
        let all = all.with_context(|| {
            let path = path.display();
            format!("can't read {path}; without that file the tokens of the token file are valid")
        })?;
        Ok(Self { path, all: Mutex::new(all) })
    }

    /// The key of the token file's token in whose place one with this key is valid; None for one that was replaced.
    /// The first use of a new token ends the old one. `known` are all keys of the file: what stands for none of them
    /// counts no more.
    pub fn stands_for(&self, key: &TokenKey, known: &[TokenKey]) -> Option<TokenKey> {
        let mut all = self.locked();
        let is_next =
            |one: &&mut Successor| one.next.as_ref() == Some(key) && known.contains(&one.of);
        if let Some(used) = all.iter_mut().find(is_next) {
            used.valid = *key;
            used.next = None;
            let of = used.of;
            if let Err(error) = self.write(&all) {
                note!(
                    "{}: can't be written ({error}); the old token is valid again after a restart",
                    self.path.display()
                );
            }
            return Some(of);
        }
        let mut of_file = all.iter().filter(|one| known.contains(&one.of));
        match of_file.find(|one| one.of == *key || one.valid == *key) {
            Some(one) => (one.valid == *key).then_some(one.of),
            None => Some(*key),
        }
    }

    /// The keys of the tokens that are valid for this one of the token file.
    pub fn keys_of(&self, of: &TokenKey) -> Vec<TokenKey> {
        match self.locked().iter().find(|one| one.of == *of) {
            Some(one) => std::iter::once(one.valid).chain(one.next).collect(),
            None => vec![*of],
        }
    }

    /// Lets a further token be valid in the place of the token file's `of`; `known` are all of that file, others are
    /// forgotten. What can't be written changes nothing.
    pub fn add(&self, of: &TokenKey, key: TokenKey, known: &[TokenKey]) -> io::Result<()> {
        let mut all = self.locked();
        let mut changed: Vec<Successor> =
            all.iter().filter(|one| known.contains(&one.of)).cloned().collect();
        match changed.iter_mut().find(|one| one.of == *of) {
            Some(one) => one.next = Some(key),
            None => changed.push(Successor { of: *of, valid: *of, next: Some(key) }),
        }
        self.write(&changed)?;
        *all = changed;
        Ok(())
    }

    fn write(&self, all: &[Successor]) -> io::Result<()> {
        let temporary = self.path.with_extension("new");
        let mut file = private_file(&temporary)?;
        file.write_all(&serde_json::to_vec(all)?)?;
        file.sync_all()?;
        fs::rename(temporary, &self.path)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Successor>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: TokenKey = [1; 32];
    const SECOND: TokenKey = [2; 32];
    const THIRD: TokenKey = [3; 32];
    const OTHER: TokenKey = [9; 32];

    #[test]
    fn both_are_valid_until_the_new_one_is_used_and_only_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let successors = Successors::open(folder.path()).unwrap();
        successors.add(&FIRST, SECOND, &[FIRST, OTHER]).unwrap();
        assert_eq!(successors.keys_of(&FIRST), [FIRST, SECOND]);
        assert_eq!(successors.stands_for(&FIRST, &[FIRST, OTHER]), Some(FIRST));
        assert_eq!(successors.stands_for(&SECOND, &[FIRST, OTHER]), Some(FIRST));
        assert_eq!(successors.stands_for(&FIRST, &[FIRST, OTHER]), None);
        assert_eq!(successors.keys_of(&FIRST), [SECOND]);
        assert_eq!(successors.stands_for(&OTHER, &[FIRST, OTHER]), Some(OTHER));
    }

    #[test]
    fn a_third_token_never_brings_the_first_back_and_a_restart_neither() {
        let folder = tempfile::tempdir().unwrap();
        let successors = Successors::open(folder.path()).unwrap();
        successors.add(&FIRST, SECOND, &[FIRST]).unwrap();
        successors.stands_for(&SECOND, &[FIRST, OTHER]);
        successors.add(&FIRST, THIRD, &[FIRST]).unwrap();
        for successors in [successors, Successors::open(folder.path()).unwrap()] {
            assert_eq!(successors.stands_for(&FIRST, &[FIRST, OTHER]), None);
            assert_eq!(successors.keys_of(&FIRST), [SECOND, THIRD]);
        }
    }

    #[test]
    fn what_can_not_be_written_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let successors = Successors::open(&folder.path().join("nowhere")).unwrap();
        assert!(successors.add(&FIRST, SECOND, &[FIRST]).is_err());
        assert_eq!(successors.keys_of(&FIRST), [FIRST]);
    }

    #[test]
    fn a_token_that_left_the_file_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let successors = Successors::open(folder.path()).unwrap();
        successors.add(&FIRST, SECOND, &[FIRST]).unwrap();
        // Written into the file by somebody, it is valid as it stands there.
        assert_eq!(successors.stands_for(&SECOND, &[SECOND]), Some(SECOND));
        successors.add(&OTHER, THIRD, &[OTHER]).unwrap();
        assert_eq!(successors.keys_of(&FIRST), [FIRST]);
    }
}
