//! A test's parameters: filled in from the catalog and kept within its bounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::{Catalog, Kind, Parameter, ParameterSchema, ValueType};

/// Parameter values by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Value>);

/// A parameter, or the kind itself, that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParameterError {
    /// The field at fault, such as `params.message_size_bytes` or `kind`.
    pub field: String,
    /// What is wrong, the limit, and what to give instead.
    pub message: String,
}

impl ParameterError {
    pub(crate) fn new(name: &str, message: String) -> Self {
        Self { field: format!("params.{name}"), message }
    }
}

impl Params {
    /// A whole number that is not negative.
    ///
    /// # Errors
    /// When the kind has no such parameter.
    pub fn integer(&self, name: &str) -> Result<u64, ParameterError> {
        self.typed(name, Value::as_u64)
    }

    /// How many data connections, or pairs of UDP ports, a test has; whatever its kind calls them.
    #[must_use]
    pub fn flow_count(&self) -> u64 {
        self.integer("flows").or_else(|_| self.integer("connections")).unwrap_or(1).max(1)
    }

    /// Any number.
    ///
    /// # Errors
    /// When the kind has no such parameter.
    pub fn number(&self, name: &str) -> Result<f64, ParameterError> {
        self.typed(name, Value::as_f64)
    }

    /// A text.
    ///
    /// # Errors
    /// When the kind has no such parameter.
    pub fn text(&self, name: &str) -> Result<&str, ParameterError> {
        self.typed(name, Value::as_str)
    }

    /// A switch.
    ///
    /// # Errors
    /// When the kind has no such parameter.
    pub fn boolean(&self, name: &str) -> Result<bool, ParameterError> {
        self.typed(name, Value::as_bool)
    }

    /// Whether a value of this name is present.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets a value, unchecked.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// All values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn typed<'a, T>(
        &'a self,
        name: &str,
        convert: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<T, ParameterError> {
        let value = self.0.get(name).ok_or_else(|| {
            ParameterError::new(name, format!("{name} is missing; this kind doesn't list it"))
        })?;
        convert(value).ok_or_else(|| {
            ParameterError::new(name, format!("{name} is {value}, which is of another type"))
        })
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Params {
    fn from(entries: [(&str, Value); N]) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl Catalog {
    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none; the message lists those that there are.
    pub fn kind(&self, name: &str) -> Result<&Kind, ParameterError> {
        self.kinds.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
            let message =
                format!("this engine has no test kind {name:?}; it has {}", known.join(", "));
            ParameterError { field: "kind".to_owned(), message }
        })
    }

    /// Checks the given parameters of a kind and fills in the rest.
    ///
    /// # Errors
    /// When the kind is unknown, or a parameter is unknown, of the wrong type or out of bounds.
    pub fn fill(&self, kind_name: &str, given: &Params) -> Result<Params, ParameterError> {
        let kind = self.kind(kind_name)?;
        if let Some((unknown, _)) =
            given.iter().find(|(name, _)| !kind.parameters.iter().any(|known| known == name))
        {
            return Err(unknown_parameter(kind_name, kind, unknown));
        }
        let mut filled = Params::default();
        for (name, parameter) in self.parameters_of(kind) {
            let value = match given.0.get(name) {
                Some(value) if parameter.schema.value_type == ValueType::Test => {
                    self.fill_test(name, &parameter, value)?
                }
                Some(value) => check(kind_name, name, &parameter, value)?,
                None => parameter.schema.default.clone(),
            };
            filled.set(name, value);
        }
        self.check_exclusions(kind, &filled)?;
        Ok(filled)
    }

    /// Of two parameters that exclude each other one has its default.
    fn check_exclusions(&self, kind: &Kind, filled: &Params) -> Result<(), ParameterError> {
        let is_set = |name: &str| {
            let own = self.parameters_of(kind).find(|(known, _)| *known == name);
            own.is_some_and(|(_, parameter)| filled.0.get(name) != Some(&parameter.schema.default))
        };
        for (name, parameter) in self.parameters_of(kind) {
            let other = parameter.excludes.as_deref().filter(|other| is_set(other) && is_set(name));
            if let Some(other) = other {
                let message = format!("{other} and {name} exclude each other; give one of them");
                return Err(ParameterError::new(name, message));
            }
        }
        Ok(())
    }

    /// Reads a value given as text, such as `--set name=value`, by the parameter's type.
    ///
    /// # Errors
    /// When the kind or parameter is unknown, or the text is not of its type.
    pub fn parse_text(
        &self,
        kind_name: &str,
        name: &str,
        text: &str,
    ) -> Result<Value, ParameterError> {
        let kind = self.kind(kind_name)?;
        let (_, parameter) = self
            .parameters_of(kind)
            .find(|(known, _)| *known == name)
            .ok_or_else(|| unknown_parameter(kind_name, kind, name))?;
        let parsed = match parameter.schema.value_type {
            ValueType::String => Some(Value::from(text)),
            ValueType::Boolean => text.parse::<bool>().ok().map(Value::from),
            ValueType::Test => super::test_value::parse_text(text),
            ValueType::Integer => text.parse::<i64>().ok().map(Value::from),
            ValueType::Number => {
                text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
            }
        };
        parsed.ok_or_else(|| wrong_type(name, &parameter, &Value::from(text)))
    }
}

fn unknown_parameter(kind_name: &str, kind: &Kind, name: &str) -> ParameterError {
    let known = kind.parameters.join(", ");
    ParameterError::new(name, format!("{kind_name} has no parameter {name:?}; it takes {known}"))
}

fn check(
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

pub(crate) fn wrong_type(name: &str, parameter: &Parameter, value: &Value) -> ParameterError {
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
#[path = "parameters_tests.rs"]
mod tests;
