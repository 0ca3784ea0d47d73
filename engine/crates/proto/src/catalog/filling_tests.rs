use serde_json::json;

use super::*;

fn fill(kind: &str, name: &str, value: Value) -> Result<Params, ParameterError> {
    Catalog::embedded().fill(kind, &Params::from([(name, value)]))
}

fn refusal(kind: &str, name: &str, value: Value) -> (String, String) {
    let error = fill(kind, name, value).unwrap_err();
    (error.field, error.message.to_string())
}

#[test]
fn what_is_left_out_is_filled_in_with_the_kinds_own_default() {
    let params = Catalog::embedded().fill("udp_stream", &Params::default()).unwrap();
    assert_eq!(params.integer("message_size_bytes"), Ok(1400));
    assert_eq!(params.number("duration_seconds"), Ok(10.0));
    assert_eq!(params.text("direction"), Ok("forward"));
    assert_eq!(params.iter().count(), 14);
    assert!(!params.has("nodelay"));
}

#[test]
fn a_65536_byte_udp_message_is_refused_with_the_limit_named() {
    let (field, message) = refusal("udp_stream", "message_size_bytes", json!(65536));
    assert_eq!(field, "params.message_size_bytes");
    assert_eq!(
        message,
        "message_size_bytes is 65,536 B, above the limit of 65,507 B for udp_stream; give a value from 1 to 65507"
    );
    assert!(fill("udp_stream", "message_size_bytes", json!(65507)).is_ok());
    assert!(fill("tcp_stream", "message_size_bytes", json!(65536)).is_ok());
}

#[test]
fn a_rate_per_flow_and_one_of_all_flows_exclude_each_other() {
    let given = Params::from([("flow_rate_bps", json!(1_000)), ("rate_bps", json!(9_000))]);
    let error = Catalog::embedded().fill("tcp_stream", &given).unwrap_err();
    assert_eq!(error.field, "params.flow_rate_bps");
    assert_eq!(&*error.message, "rate_bps and flow_rate_bps exclude each other; give one of them");
    let one = Params::from([("flow_rate_bps", json!(1_000)), ("rate_bps", json!(0))]);
    assert!(Catalog::embedded().fill("tcp_stream", &one).is_ok());
}

#[test]
fn zero_flows_and_a_tiny_duration_are_below_their_limits() {
    assert_eq!(
        refusal("tcp_rr", "flows", json!(0)).1,
        "flows is 0, below the limit of 1 for tcp_rr; give a value from 1 to 4096"
    );
    assert_eq!(
        refusal("tcp_rr", "duration_seconds", json!(0.05)).1,
        "duration_seconds is 0.05 s, below the limit of 0.1 s for tcp_rr; give a value from 0.1 to 86400"
    );
}

#[test]
fn an_unknown_parameter_is_refused_with_those_that_exist() {
    let (field, message) = refusal("udp_stream", "nodelay", json!(true));
    assert_eq!(field, "params.nodelay");
    assert!(message.starts_with(
        "udp_stream has no parameter \"nodelay\"; it takes message_size_bytes, duration_seconds,"
    ));
}

#[test]
fn an_unknown_kind_is_refused_with_those_that_exist() {
    let error = Catalog::embedded().fill("telepathy", &Params::default()).unwrap_err();
    assert_eq!(error.field, "kind");
    assert!(error.message.starts_with("this engine has no test kind \"telepathy\"; it has "));
    assert!(error.message.contains("tcp_crr, tcp_rr, tcp_stream, udp_rr, udp_stream"));
}

#[test]
fn a_value_of_another_type_is_refused() {
    assert_eq!(
        refusal("tcp_stream", "flows", json!("2")).1,
        "flows is \"2\", not a whole number; give one such as 1"
    );
    assert_eq!(refusal("tcp_stream", "flows", json!(1.5)).0, "params.flows");
    assert_eq!(refusal("tcp_stream", "flows", json!([1, 2])).0, "params.flows");
    assert_eq!(refusal("tcp_stream", "nodelay", json!(1)).0, "params.nodelay");
}

#[test]
fn a_float_that_is_whole_counts_as_a_whole_number() {
    assert_eq!(fill("tcp_stream", "flows", json!(2.0)).unwrap().integer("flows"), Ok(2));
    assert!(fill("tcp_stream", "flows", json!(1e300)).is_err());
}

#[test]
fn texts_are_held_to_their_choices_pattern_and_length() {
    assert_eq!(
        refusal("tcp_stream", "direction", json!("sideways")).1,
        "direction is \"sideways\"; give one of \"forward\", \"reverse\", \"bidirectional\""
    );
    assert!(fill("tcp_stream", "source_cpus", json!("0,2-3")).is_ok());
    assert_eq!(refusal("tcp_stream", "source_cpus", json!("0;rm")).0, "params.source_cpus");
    assert_eq!(
        refusal("tcp_stream", "congestion_control", json!("a".repeat(16))).1,
        "congestion_control is longer than 15 characters; shorten it"
    );
}

#[test]
fn texts_from_the_command_line_are_read_by_the_parameters_type() {
    let parse = |name, text| Catalog::embedded().parse_text("tcp_stream", name, text);
    assert_eq!(parse("flows", "4"), Ok(json!(4)));
    assert_eq!(parse("duration_seconds", "0.5"), Ok(json!(0.5)));
    assert_eq!(parse("nodelay", "true"), Ok(json!(true)));
    assert_eq!(parse("source_cpus", "0"), Ok(json!("0")));
    assert_eq!(
        &*parse("flows", "many").unwrap_err().message,
        "flows is \"many\", not a whole number; give one such as 1"
    );
}

#[test]
fn every_pattern_and_default_of_the_catalog_is_valid() {
    let catalog = Catalog::embedded();
    for name in catalog.kinds.keys() {
        let filled = catalog.fill(name, &Params::default()).unwrap();
        assert_eq!(catalog.fill(name, &filled), Ok(filled.clone()), "{name}");
    }
}
