//! Parameters filled in from the catalog and kept within its bounds.

use serde_json::{Number, Value, json};

use super::bounds::{check, wrong_type};
use super::parameters::{ParameterError, Params};
use super::test_value::{self, DURATION, NONE};
use super::{Catalog, Kind, Parameter, ValueType};
use crate::reason;

impl Catalog {
    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none; the message lists those that there are.
    pub fn kind(&self, name: &str) -> Result<&Kind, ParameterError> {
        self.kinds.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
            let (kind, known) = (format!("{name:?}"), known.join(", "));
            let message = reason!("parameter_no_kind", kind = kind, known = known);
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
            let value = match given.value(name) {
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

    /// Checks a test's kind and parameters, and fills in those that are left out.
    fn fill_test(
        &self,
        name: &str,
        parameter: &Parameter,
        value: &Value,
    ) -> Result<Value, ParameterError> {
        if value.is_null() || value == NONE {
            return Ok(Value::Null);
        }
        let (kind, given) =
            test_value::parts(value).ok_or_else(|| wrong_type(name, parameter, value))?;
        let inside = |error: ParameterError| ParameterError {
            field: format!("params.{name}.{}", error.field),
            ..error
        };
        let definition = self.kind(&kind).map_err(inside)?;
        let has =
            |wanted: &dyn Fn(&str) -> bool| definition.parameters.iter().any(|name| wanted(name));
        let holds_a_test = |name: &str| self.parameters[name].schema.value_type == ValueType::Test;
        let is_alone = definition.is_of_one_host();
        if is_alone || has(&holds_a_test) || !has(&|name| name == DURATION) {
            let message = reason!("parameter_no_load", kind = kind, name = name);
            return Err(inside(ParameterError { field: "kind".to_owned(), message }));
        }
        let filled = self.fill(&kind, &given).map_err(inside)?;
        Ok(json!({"kind": kind, "params": filled}))
    }

    /// Of two parameters that exclude each other one has its default.
    fn check_exclusions(&self, kind: &Kind, filled: &Params) -> Result<(), ParameterError> {
        let is_set = |name: &str| {
            let own = self.parameters_of(kind).find(|(known, _)| *known == name);
            own.is_some_and(|(_, parameter)| filled.value(name) != Some(&parameter.schema.default))
        };
        for (name, parameter) in self.parameters_of(kind) {
            let other = parameter.excludes.as_deref().filter(|other| is_set(other) && is_set(name));
            if let Some(other) = other {
                let message = reason!("parameter_excludes", other = other, name = name);
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
            ValueType::Test => test_value::parse_text(text),
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
    let parameter = format!("{name:?}");
    let message = reason!("parameter_unknown", kind = kind_name, name = parameter, known = known);
    ParameterError::new(name, message)
}

#[cfg(test)]
#[path = "filling_tests.rs"]
mod tests;
