//! A test's parameters, read by name and type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Reason, reason};

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
    pub message: Reason,
}

impl ParameterError {
    pub(crate) fn new(name: &str, message: Reason) -> Self {
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
        let value = self
            .0
            .get(name)
            .ok_or_else(|| ParameterError::new(name, reason!("parameter_missing", name = name)))?;
        convert(value).ok_or_else(|| {
            let value = value.to_string();
            ParameterError::new(name, reason!("parameter_other_type", name = name, value = value))
        })
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Params {
    fn from(entries: [(&str, Value); N]) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}
