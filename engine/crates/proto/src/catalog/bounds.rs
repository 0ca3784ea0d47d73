//! One value held against its parameter's type and bounds.

use serde_json::Value;

use super::parameters::ParameterError;
use super::{Parameter, ParameterSchema, ValueType};
use crate::{Reason, reason};

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
            let (value, choices) = (value.to_string(), choices.join(", "));
            let message =
                reason!("parameter_not_allowed", name = name, value = value, choices = choices);
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
    let with_unit = |number: f64| grouped(number) + &unit;
    let range = |otherwise: Reason| match (schema.minimum, schema.maximum) {
        (Some(low), Some(high)) => {
            reason!("parameter_range", low = low.to_string(), high = high.to_string())
        }
        _ => otherwise,
    };
    let message = match (schema.minimum, schema.maximum) {
        (Some(least), _) if number < least => reason!(
            "parameter_below",
            name = name,
            number = with_unit(number),
            limit = with_unit(least),
            kind = kind,
            range = range(reason!("parameter_not_below", limit = least.to_string()))
        ),
        (_, Some(most)) if number > most => reason!(
            "parameter_above",
            name = name,
            number = with_unit(number),
            limit = with_unit(most),
            kind = kind,
            range = range(reason!("parameter_not_above", limit = most.to_string()))
        ),
        _ => return Ok(()),
    };
    Err(ParameterError::new(name, message))
}

fn check_text(name: &str, schema: &ParameterSchema, text: &str) -> Result<(), ParameterError> {
    if let Some(limit) = schema.max_length.filter(|&limit| text.chars().count() > limit) {
        let message = reason!("parameter_too_long", name = name, limit = limit);
        return Err(ParameterError::new(name, message));
    }
    let Some(pattern) = &schema.pattern else { return Ok(()) };
    // The catalog's test compiles every pattern, so a broken one can't ship; refuse rather than panic all the same.
    if regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text)) {
        return Ok(());
    }
    let text = format!("{text:?}");
    let message =
        reason!("parameter_no_match", name = name, text = text, pattern = pattern.as_str());
    Err(ParameterError::new(name, message))
}

/// The refusal of a value of another type.
pub fn wrong_type(name: &str, parameter: &Parameter, value: &Value) -> ParameterError {
    let wanted = match parameter.schema.value_type {
        ValueType::Integer => reason!("parameter_whole_number"),
        ValueType::Number => reason!("parameter_number"),
        ValueType::String => reason!("parameter_text"),
        ValueType::Boolean => reason!("parameter_boolean"),
        ValueType::Test => return super::test_value::wrong(name, value),
    };
    let (value, default) = (value.to_string(), parameter.schema.default.to_string());
    let message = reason!(
        "parameter_wrong_type",
        name = name,
        value = value,
        wanted = wanted,
        example = default
    );
    ParameterError::new(name, message)
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
