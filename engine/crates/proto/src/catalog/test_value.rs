//! A parameter whose value is a test of its own: the load of `ping`.

use serde_json::{Value, json};

use super::parameters::{ParameterError, Params};
use crate::reason;

/// How no test is written, besides null.
pub const NONE: &str = "none";
/// How long a test runs that another one starts and ends is said by the other: by this parameter.
pub const DURATION: &str = "duration_seconds";

impl Params {
    /// The kind and parameters of a test that is this parameter's value; none where there is none.
    #[must_use]
    pub fn test(&self, name: &str) -> Option<(String, Params)> {
        let value = self.value(name)?;
        let params = serde_json::from_value(value["params"].clone()).ok()?;
        Some((value["kind"].as_str()?.to_owned(), params))
    }
}

/// Kind and given parameters; none when the value is anything else, or has more than these.
pub fn parts(value: &Value) -> Option<(String, Params)> {
    let fields = value.as_object()?;
    if fields.keys().any(|field| field != "kind" && field != "params") {
        return None;
    }
    let given = match fields.get("params") {
        None => Params::default(),
        Some(params) => serde_json::from_value(params.clone()).ok()?,
    };
    Some((fields.get("kind")?.as_str()?.to_owned(), given))
}

/// Reads `none`, a kind's name alone, or a test as JSON.
pub fn parse_text(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.starts_with('{') {
        return crate::parse_json(text.as_bytes()).ok();
    }
    match text {
        "" | NONE | "null" => Some(Value::Null),
        kind => Some(json!({"kind": kind})),
    }
}

/// The refusal of what is no test.
pub fn wrong(name: &str, value: &Value) -> ParameterError {
    let example = r#"{"kind": "tcp_stream", "params": {"flows": 4}}"#;
    let value = value.to_string();
    let message = reason!("parameter_no_test", name = name, value = value, example = example);
    ParameterError::new(name, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn fill(load: Value) -> Result<Params, ParameterError> {
        Catalog::embedded().fill("ping", &Params::from([("load", load)]))
    }

    #[test]
    fn no_load_is_null_however_it_is_written() {
        for none in [Value::Null, json!("none")] {
            assert_eq!(fill(none).unwrap().value("load"), Some(&Value::Null));
        }
        assert_eq!(parse_text("none"), Some(Value::Null));
        assert_eq!(fill(Value::Null).unwrap().test("load"), None);
    }

    #[test]
    fn a_load_is_filled_in_as_a_test_of_its_own() {
        let filled = fill(json!({"kind": "tcp_rr", "params": {"flows": 100}})).unwrap();
        let (kind, params) = filled.test("load").unwrap();
        assert_eq!(kind, "tcp_rr");
        assert_eq!((params.integer("flows"), params.integer("burst")), (Ok(100), Ok(0)));
        assert_eq!(filled, Catalog::embedded().fill("ping", &filled).unwrap());
    }

    #[test]
    fn a_load_is_given_on_the_command_line_by_its_name_or_as_json() {
        assert_eq!(parse_text("tcp_rr"), Some(json!({"kind": "tcp_rr"})));
        assert_eq!(parse_text(r#"{"kind": "tcp_rr"}"#), Some(json!({"kind": "tcp_rr"})));
        assert_eq!(parse_text(r#"{"kind": "#), None);
    }

    #[test]
    fn a_fault_within_the_load_is_named_with_its_whole_path() {
        let field = |load| fill(load).unwrap_err().field;
        assert_eq!(
            field(json!({"kind": "tcp_rr", "params": {"flows": 0}})),
            "params.load.params.flows"
        );
        assert_eq!(field(json!({"kind": "telepathy"})), "params.load.kind");
        assert_eq!(field(json!({"kind": "ping"})), "params.load.kind");
        assert_eq!(field(json!({"kind": "tcp_rr", "flows": 1})), "params.load");
        assert_eq!(field(json!(7)), "params.load");
    }
}
