//! Keeps the published JSON schemas the same as the types.

use std::fs;
use std::path::Path;

use schemars::{JsonSchema, schema_for};

use crate::{AgentMessage, Event, Facts, LinkMessage, ProcessMessage, RunResult, SessionSpec};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema");
/// Set to write the schemas anew after a change of the types.
const REWRITE: &str = "BENCHWEB_WRITE_SCHEMAS";

fn check<T: JsonSchema>(name: &str) {
    let path = Path::new(FOLDER).join(format!("{name}.schema.json"));
    let made = serde_json::to_string_pretty(&schema_for!(T)).unwrap() + "\n";
    if std::env::var_os(REWRITE).is_some() {
        fs::write(&path, &made).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == made,
        "{name}.schema.json is not that of its type; run: {REWRITE}=1 cargo test -p proto"
    );
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    check::<SessionSpec>("session");
    check::<Event>("event");
    check::<RunResult>("result");
    check::<Facts>("facts");
    check::<LinkMessage>("link");
    check::<AgentMessage>("agent-message");
    check::<ProcessMessage>("process-message");
}

#[test]
fn the_published_examples_are_results_and_are_written_as_they_were_read() {
    let mut count = 0;
    for entry in fs::read_dir(Path::new(FOLDER).join("examples")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let result: RunResult = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_value(&result).unwrap(), value);
        count += 1;
    }
    assert!(count >= 5, "an example for each kind");
}
