//! A test's parameters: filled in from the catalog and kept within its bounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::bounds::{check, wrong_type};
use super::{Catalog, Kind, ValueType};

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

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
