//! One value held against its parameter's type and bounds.

use serde_json::Value;

use super::parameters::ParameterError;
use super::{Parameter, ParameterSchema, ValueType};

/// The value in its one form, within its parameter's type and bounds.
pub fn check(
    kind: &str,
    name: &str,
    parameter: &Parameter,
    value: &Value,
) -> Result<Value, ParameterError> {
    let schema = &parameter.schema;
    let value =
        normalise(schema.value_type, value).ok_or_else(|| wrong_type(name, parameter, value))?;
    if let Some(number) = value.as_f64() {
        check_bounds(kind, name, parameter, number)?;
    }
    if let Some(text) = value.as_str() {
        check_text(name, schema, text)?;
    }
    match &schema.allowed {
        Some(allowed) if !allowed.contains(&value) => {
            let choices: Vec<String> = allowed.iter().map(Value::to_string).collect();
            let message = format!("{name} is {value}; give one of {}", choices.join(", "));
            Err(ParameterError::new(name, message))
        }
        _ => Ok(value),
    }
}

/// The value in its one form, or none when it is of another type; 1.0 is a whole number as in JSON Schema.
fn normalise(value_type: ValueType, value: &Value) -> Option<Value> {
    match value_type {
        ValueType::Integer if value.is_f64() => whole(value.as_f64()?).map(Value::from),
        ValueType::Integer => (value.is_i64() || value.is_u64()).then(|| value.clone()),
        ValueType::Number => value.is_number().then(|| value.clone()),
        ValueType::String => value.is_string().then(|| value.clone()),
        ValueType::Boolean => value.is_boolean().then(|| value.clone()),
        ValueType::Test => (value.is_object() || value.is_null()).then(|| value.clone()),
    }
}

/// A float's whole number, where both can be told exactly.
fn whole(number: f64) -> Option<i64> {
    const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    (number.fract() == 0.0 && number.abs() < EXACT_LIMIT).then_some(number as i64)
}

fn check_bounds(
    kind: &str,
    name: &str,
    parameter: &Parameter,
    number: f64,
) -> Result<(), ParameterError> {
    let schema = &parameter.schema;
    let unit = parameter.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
    let refusal = |relation: &str, limit: f64| {
        let (low, high) = (schema.minimum, schema.maximum);
        let range = match (low, high) {
            (Some(low), Some(high)) => format!("from {low} to {high}"),
            _ => format!("not {relation} {limit}"),
        };
        let (number, limit) = (grouped(number), grouped(limit));
        let message = format!(
            "{name} is {number}{unit}, {relation} the limit of {limit}{unit} for {kind}; give a value {range}"
        );
        Err(ParameterError::new(name, message))
    };
    match (schema.minimum, schema.maximum) {
        (Some(minimum), _) if number < minimum => refusal("below", minimum),
        (_, Some(maximum)) if number > maximum => refusal("above", maximum),
        _ => Ok(()),
    }
}

fn check_text(name: &str, schema: &ParameterSchema, text: &str) -> Result<(), ParameterError> {
    if let Some(limit) = schema.max_length.filter(|&limit| text.chars().count() > limit) {
        let message = format!("{name} is longer than {limit} characters; shorten it");
        return Err(ParameterError::new(name, message));
    }
    let Some(pattern) = &schema.pattern else { return Ok(()) };
    // The catalog's test compiles every pattern, so a broken one can't ship; refuse rather than panic all the same.
    if regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text)) {
        return Ok(());
    }
    let message = format!(
        "{name} is {text:?}, which doesn't match {pattern}; see the parameter's help in the catalog"
    );
    Err(ParameterError::new(name, message))
}

/// The refusal of a value of another type.
pub fn wrong_type(name: &str, parameter: &Parameter, value: &Value) -> ParameterError {
    let wanted = match parameter.schema.value_type {
        ValueType::Integer => "a whole number",
        ValueType::Number => "a number",
        ValueType::String => "a text",
        ValueType::Boolean => "true or false",
        ValueType::Test => return super::test_value::wrong(name, value),
    };
    let default = &parameter.schema.default;
    ParameterError::new(
        name,
        format!("{name} is {value}, not {wanted}; give one such as {default}"),
    )
}

/// A number with its thousands set apart, for people.
fn grouped(number: f64) -> String {
    let text = number.to_string();
    let (whole, fraction) =
        text.split_once('.').map_or((text.as_str(), ""), |(whole, rest)| (whole, rest));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(65507.0), "65,507");
        assert_eq!(grouped(-1_234_567.5), "-1,234,567.5");
        assert_eq!(grouped(0.1), "0.1");
    }
}
