//! The bearer tokens of an engine, each with its owner's limits.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context as _, Result, anyhow, ensure};
use proto::{Reason, TokenKey, reason};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::serve::admission::limits::Limits;

/// Every request is compared with every token.
pub const TOKENS_AT_MOST: usize = 64;
/// A controller needs a few connections; one that opens more must not take those of others.
const CONNECTIONS_PER_TOKEN: usize = 256;
const FILE_LIMIT_BYTES: usize = 256 * 1024;
/// 16 random bytes in hexadecimal: below it a token may be one that somebody thought up.
const SHORTEST_TOKEN: usize = 32;
const OTHERS_MAY_READ: u32 = 0o004;

/// One token: who may use this engine, and for how much.
pub struct Holder {
    /// SHA-256 of the token, so that comparing takes the same time for every wrong one; also the key of its proofs.
    pub digest: TokenKey,
    /// Names the token on disk without telling it.
    pub owner: String,
    pub limits: Limits,
    /// Connections that have shown this token; they are apart from those of strangers.
    pub connections: Arc<Semaphore>,
}

impl Holder {
    fn new(token: &str, limits: Limits) -> Self {
        let digest = proto::token_key(token);
        let owner = proto::hex(&Sha256::digest(digest)[..16]);
        let connections = Arc::new(Semaphore::new(CONNECTIONS_PER_TOKEN));
        Self { digest, owner, limits, connections }
    }

    /// This holder with the connections that one of `known` with the same token has open.
    fn with_connections_of(self: Arc<Self>, known: &[Arc<Self>]) -> Arc<Self> {
        match known.iter().find(|other| other.digest == self.digest) {
            Some(other) => Arc::new(Self {
                digest: self.digest,
                owner: self.owner.clone(),
                limits: self.limits.clone(),
                connections: Arc::clone(&other.connections),
            }),
            None => self,
        }
    }
}

/// All tokens; never empty. They are replaced as a whole when the file is read anew.
pub struct Tokens(RwLock<Vec<Arc<Holder>>>);

impl Tokens {
    /// Reads a token file's text: a token a line, its limits behind it; `#` begins a comment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut holders: Vec<Arc<Holder>> = Vec::new();
        for (line, words) in lines(text) {
            let holder = parse_line(words).map_err(|reason| format!("line {line}: {reason}"))?;
            if holders.iter().any(|other| other.digest == holder.digest) {
                return Err(format!("line {line}: this token is given twice"));
            }
            holders.push(Arc::new(holder));
        }
        match holders.len() {
            0 => Err("it is empty; put one line with a secret in it".to_owned()),
            1..=TOKENS_AT_MOST => Ok(Self(RwLock::new(holders))),
            more => Err(format!("it has {more} tokens, above the limit of {TOKENS_AT_MOST}")),
        }
    }

    /// Whose token of the file has this key.
    pub fn holder(&self, key: &TokenKey) -> Option<Arc<Holder>> {
        let mut found = None;
        for holder in &self.all() {
            if bool::from(holder.digest.ct_eq(key)) {
                found = Some(Arc::clone(holder));
            }
        }
        found
    }

    /// The keys of all tokens, in the order of the file.
    pub fn keys(&self) -> Vec<TokenKey> {
        self.all().iter().map(|holder| holder.digest).collect()
    }

    /// Whether a session made by `owner` is `holder`'s. A lone token owns all, so that a changed one still finds the
    /// results of its predecessor.
    pub fn may_see(&self, holder: &Holder, owner: &str) -> bool {
        holder.owner == owner || self.all().len() == 1
    }

    /// Takes the tokens of `newer` instead. Sessions and connections of a token that stays are untouched; the next
    /// request with one that is gone is refused.
    pub fn replace(&self, newer: &Self) {
        let known = self.all();
        let replacement = newer.all().into_iter().map(|holder| holder.with_connections_of(&known));
        let replacement = replacement.collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = replacement;
    }

    fn all(&self) -> Vec<Arc<Holder>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The key of the token that an `Authorization` header's value carries.
pub fn bearer_key(authorization: &[u8]) -> Option<TokenKey> {
    let (scheme, token) = authorization.split_at_checked("Bearer ".len())?;
    let key = Sha256::digest(token.trim_ascii()).into();
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(key)
}

/// Refuses a token that is shorter than any that is made, or that no header can carry.
pub fn check_token(token: &str) -> Result<(), Reason> {
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(reason!("renewal_token_not_ascii"));
    }
    if token.len() < SHORTEST_TOKEN {
        let (count, least) = (token.len(), SHORTEST_TOKEN);
        return Err(reason!("renewal_token_too_short", count = count, least = least));
    }
    Ok(())
}

fn parse_line(text: &str) -> Result<Holder, String> {
    let mut words = text.split_whitespace();
    let token = words.next().unwrap_or_default();
    check_token(token).map_err(|reason| reason.to_string())?;
    Ok(Holder::new(token, Limits::parse(words)?))
}

/// The lines that hold a token, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Reads the tokens of a serving engine; warns of a file that everybody may read.
pub fn read_tokens(path: &Path) -> Result<Tokens> {
    let text = read(path)?;
    let mode = fs::metadata(path).map_or(0, |data| data.permissions().mode());
    if mode & OTHERS_MAY_READ != 0 {
        let path = path.display();
        note!(
            "every user of this host can read the token file {path} (mode {:04o}); keep it from them with: chmod o-rwx {path}",
            mode & 0o7777
        );
    }
    Tokens::parse(&text)
        .map_err(|reason| anyhow!("the token file {} can't be used: {reason}", path.display()))
}

/// Reads a controller's token: the first of the file.
pub fn read_token(path: &Path) -> Result<String> {
    let text = read(path)?;
    let first = lines(&text).next().and_then(|(_, line)| line.split_whitespace().next());
    let token = first.with_context(|| {
        format!("the token file {} is empty; put one line with a secret in it", path.display())
    })?;
    ensure!(
        token.bytes().all(|byte| byte.is_ascii_graphic()),
        "the token in {} has other than plain ASCII characters",
        path.display()
    );
    Ok(token.to_owned())
}

fn read(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        anyhow!("can't read the token file {path} ({error}); make one with: (umask 077; openssl rand -hex 32 > {path})")
    })?;
    ensure!(
        text.len() <= FILE_LIMIT_BYTES,
        "the token file {} is longer than 256 KiB",
        path.display()
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "first-of-thirty-two-characters-0";
    const SECOND: &str = "second-of-thirty-two-characters-";

    fn holder(tokens: &Tokens, authorization: &[u8]) -> Option<Arc<Holder>> {
        tokens.holder(&bearer_key(authorization)?)
    }

    fn bearer(token: &str) -> Vec<u8> {
        format!("Bearer {token}").into_bytes()
    }

    #[test]
    fn only_the_whole_token_after_bearer_counts() {
        let tokens = Tokens::parse(&format!("{FIRST}\n")).unwrap();
        assert!(holder(&tokens, &bearer(FIRST)).is_some());
        assert!(holder(&tokens, format!("bearer {FIRST}").as_bytes()).is_some());
        let (shorter, longer) = (&FIRST[1..], format!("{FIRST}s"));
        let others =
            [format!("Basic {FIRST}").into_bytes(), FIRST.into(), "".into(), "Bearer ".into()];
        for wrong in [bearer(shorter), bearer(&longer)].iter().chain(&others) {
            assert!(holder(&tokens, wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn each_token_has_its_own_limits_and_sessions() {
        let text = format!(
            "# dashboards\n{FIRST} sessions=4 kinds=tcp_rr,tcp_crr\n\n  {SECOND}  rate=1e9\n"
        );
        let tokens = Tokens::parse(&text).unwrap();
        let first = holder(&tokens, &bearer(FIRST)).unwrap();
        let second = holder(&tokens, &bearer(SECOND)).unwrap();
        assert_eq!((first.limits.sessions, second.limits.sessions), (Some(4), None));
        assert_eq!(second.limits.rate_bps, Some(1e9));
        assert!(holder(&tokens, b"Bearer dashboards").is_none());
        assert!(tokens.may_see(&first, &first.owner));
        assert!(!tokens.may_see(&first, &second.owner));
    }

    #[test]
    fn a_lone_token_sees_the_sessions_of_its_predecessor() {
        let (old, new) = (Tokens::parse(FIRST).unwrap(), Tokens::parse(SECOND).unwrap());
        let before = holder(&old, &bearer(FIRST)).unwrap();
        assert!(new.may_see(&holder(&new, &bearer(SECOND)).unwrap(), &before.owner));
    }

    #[test]
    fn replaced_tokens_keep_the_connections_of_those_that_stay() {
        let tokens = Tokens::parse(FIRST).unwrap();
        let _held =
            holder(&tokens, &bearer(FIRST)).unwrap().connections.clone().try_acquire_owned();
        tokens.replace(&Tokens::parse(&format!("{FIRST} flows=7\n{SECOND}")).unwrap());
        let (first, second) =
            (holder(&tokens, &bearer(FIRST)).unwrap(), holder(&tokens, &bearer(SECOND)).unwrap());
        assert_eq!(first.limits.flows, Some(7));
        assert_eq!(first.connections.available_permits(), CONNECTIONS_PER_TOKEN - 1);
        assert_eq!(second.connections.available_permits(), CONNECTIONS_PER_TOKEN);
        tokens.replace(&Tokens::parse(SECOND).unwrap());
        assert!(holder(&tokens, &bearer(FIRST)).is_none());
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_its_line() {
        for (text, reason) in [
            ("", "it is empty; put one line with a secret in it"),
            ("# nothing\n", "it is empty"),
            (&format!("{FIRST}\n{SECOND} three"), "line 2: \"three\" is not name=value"),
            (&format!("{FIRST}\n{FIRST}"), "line 2: this token is given twice"),
            ("t\u{f6}ken", "line 1: the token has other than plain ASCII characters"),
            (
                &FIRST[1..],
                "line 1: the token has 31 characters, fewer than 32; make one with: openssl rand -hex 32",
            ),
        ] {
            let refusal = Tokens::parse(text).err().unwrap();
            assert!(refusal.contains(reason), "{refusal}");
        }
        let many: Vec<String> = (0..65).map(|number| format!("{FIRST}{number}")).collect();
        assert!(Tokens::parse(&many.join("\n")).err().unwrap().contains("65 tokens"));
    }
}
