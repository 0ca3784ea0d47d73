//! A serving engine of the test's own, and a controller's calls to it.
#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../kinds/tests/support/stalls.rs"]
pub mod stalls;

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use agent::client::{Client, ClientError};
use http_body_util::BodyExt as _;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{self, Runtime};

pub const TOKEN: &str = "the-token-of-the-test-of-the-engine";
pub const COOKIE_BYTES: [u8; 32] = [0xab; 32];
const PATIENCE: Duration = Duration::from_secs(60);
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_benchweb-engine");

/// A serving engine, stopped with its value.
pub struct Engine {
    pub child: Child,
    pub control: String,
    pub data_port: u16,
    pub fingerprint: String,
    pub folder: TempDir,
    runtime: Runtime,
}

impl Engine {
    pub fn start() -> Self {
        Self::start_with(tempfile::tempdir().unwrap(), &[])
    }

    pub fn start_with(folder: TempDir, options: &[&str]) -> Self {
        Self::start_with_tokens(folder, &format!("{TOKEN}\n"), options)
    }

    pub fn start_with_tokens(folder: TempDir, tokens: &str, options: &[&str]) -> Self {
        let token_file = folder.path().join("token");
        std::fs::write(&token_file, tokens).unwrap();
        std::fs::set_permissions(&token_file, Permissions::from_mode(0o600)).unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--listen", "127.0.0.1:0", "--data-port", "0"])
            .arg("--state-dir")
            .arg(folder.path().join("state"))
            .arg("--token-file")
            .arg(token_file)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let announced: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(announced["event"], "listening");
        Self {
            child,
            control: announced["control"].as_str().unwrap().to_owned(),
            data_port: announced["data_port"].as_u64().unwrap().try_into().unwrap(),
            fingerprint: announced["fingerprint"].as_str().unwrap().to_owned(),
            folder,
            runtime: runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Starts again on the state of an engine that has ended.
    pub fn restart(mut self) -> Self {
        self.stop();
        Self::start_with(std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap()), &[])
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    pub fn token_file(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    pub fn connect(&self, token: &str) -> Client {
        let peer = self.control.parse().unwrap();
        self.runtime.block_on(Client::connect(peer, token, Some(&self.fingerprint))).unwrap()
    }

    pub fn connect_pinned(&self, fingerprint: &str) -> Result<Client, ClientError> {
        let peer = self.control.parse().unwrap();
        self.runtime.block_on(Client::connect(peer, TOKEN, Some(fingerprint)))
    }

    /// One call on a connection of its own: the status and the JSON answer.
    pub fn call(&self, method: Method, path: &str, body: Option<&Value>) -> (StatusCode, Value) {
        self.call_as(TOKEN, method, path, body)
    }

    pub fn call_as(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (StatusCode, Value) {
        let mut client = self.connect(token);
        self.runtime.block_on(async {
            let response = client.send(method, path, body).await.unwrap();
            let status = response.status();
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            (status, serde_json::from_slice(&bytes).unwrap())
        })
    }

    /// How many times a call without a valid token is answered on one connection, of three.
    pub fn calls_on_one_connection(&self, path: &str, body: &Value) -> usize {
        let mut client = self.connect("");
        self.runtime.block_on(async {
            let mut answered = 0;
            while answered < 3 {
                let Ok(response) = client.send(Method::POST, path, Some(body)).await else { break };
                if response.into_body().collect().await.is_err() {
                    break;
                }
                answered += 1;
            }
            answered
        })
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, document) = self.call(Method::GET, path, None);
        assert_eq!(status, StatusCode::OK, "{document}");
        document
    }

    pub fn put_sink(&self, id: &str, spec: &Value) -> (StatusCode, Value) {
        self.call(Method::PUT, &format!("/v1/sessions/{id}"), Some(spec))
    }

    /// Every event after `last_seen_id`, to the final one.
    pub fn events(&self, id: &str, last_seen_id: u64) -> Vec<Value> {
        let mut client = self.connect(TOKEN);
        let path = format!("/v1/sessions/{id}/events?after={last_seen_id}");
        let read = async {
            let response = client.send(Method::GET, &path, None).await.unwrap();
            response.into_body().collect().await.unwrap().to_bytes()
        };
        let bytes =
            self.runtime.block_on(async { tokio::time::timeout(PATIENCE, read).await.unwrap() });
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// A stream of events that nobody reads.
    pub fn open_events(&self, id: &str) -> (Client, hyper::Response<hyper::body::Incoming>) {
        let mut client = self.connect(TOKEN);
        let path = format!("/v1/sessions/{id}/events");
        let response = self.runtime.block_on(client.send(Method::GET, &path, None)).unwrap();
        (client, response)
    }

    /// The process ids of the running sessions.
    pub fn session_processes(&self) -> Vec<u32> {
        children_of(self.child.id())
    }

    /// The ids of the sessions that the engine keeps.
    pub fn session_ids(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path().join("state/sessions")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".ndjson").map(str::to_owned)).collect()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(["run", arguments[0], "--peer", &self.control, "--token-file"])
            .arg(self.token_file())
            .args(&arguments[1..])
            .output()
            .unwrap()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}

pub fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

pub fn program() -> Command {
    Command::new(PROGRAM)
}

/// A sink's specification with the test's cookie.
pub fn sink(kind: &str, params: &Value) -> Value {
    let cookie = "ab".repeat(32);
    json!({"role": "sink", "kind": kind, "params": params, "cookie": cookie})
}

fn children_of(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{parent}/task")).unwrap() {
        let text =
            std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
    }
    children
}

/// Whether a process is there and not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

/// Waits until `condition` holds, for as long as nothing takes that is not stuck.
pub fn wait_until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "it did not come about within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether one of five tries takes less than `limit`: a busy machine makes a try longer, none is shorter than it can be.
///
/// On a machine that stands still even when nothing is asked of it, nothing can be told.
pub fn can_take_less(limit: Duration, attempt: impl FnMut() -> Duration) -> bool {
    std::iter::repeat_with(attempt).take(5).any(|took| took < limit) || stalls::stands_still()
}

impl Engine {
    /// Starts a sink and a source of the same test on this engine, named `ID-sink` and `ID-source`.
    pub fn start_pair(&self, id: &str, kind: &str, params: &Value) {
        self.start_pair_of(id, &"ab".repeat(32), kind, params);
    }

    /// The same with a cookie of its own, so that several may run at once.
    pub fn start_pair_of(&self, id: &str, cookie: &str, kind: &str, params: &Value) {
        let mut spec = sink(kind, params);
        spec["cookie"] = json!(cookie);
        assert_eq!(self.put_sink(&format!("{id}-sink"), &spec).0, StatusCode::CREATED);
        spec["role"] = json!("source");
        spec["peer"] = json!({"address": "127.0.0.1", "data_port": self.data_port});
        assert_eq!(self.put_sink(&format!("{id}-source"), &spec).0, StatusCode::CREATED);
    }
}
