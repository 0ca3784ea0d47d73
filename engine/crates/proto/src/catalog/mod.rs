//! The catalog of test kinds that this engine was built with.

mod bounds;
mod filling;
mod parameters;
mod test_value;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

pub use parameters::{ParameterError, Params};

const DOCUMENT: &str = include_str!("../../../../schema/catalog.json");
static OVERLAY: OnceLock<&'static str> = OnceLock::new();

/// A catalog document that breaks its own rules.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Not JSON, or not a catalog.
    #[error("the catalog can't be read: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A kind names what the catalog doesn't define.
    #[error("kind {kind} names the {what} {name}, which the catalog doesn't define")]
    Undefined {
        /// The kind.
        kind: String,
        /// `parameter` or `metric`.
        what: &'static str,
        /// The name.
        name: String,
    },
}

/// The type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub enum ValueType {
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// A test of its own, `{"kind", "params"}`, or null for none.
    Test,
}

impl TryFrom<Value> for ValueType {
    type Error = String;

    /// Reads the `type` of a JSON Schema; an object or null is a test.
    fn try_from(value: Value) -> Result<Self, String> {
        match value.as_str() {
            Some("integer") => Ok(Self::Integer),
            Some("number") => Ok(Self::Number),
            Some("string") => Ok(Self::String),
            Some("boolean") => Ok(Self::Boolean),
            None if value == serde_json::json!(["object", "null"]) => Ok(Self::Test),
            _ => Err(format!("no parameter has the type {value}")),
        }
    }
}

/// The values that a parameter may have: the part of JSON Schema that the catalog uses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSchema {
    /// The value's type.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// The least value.
    pub minimum: Option<f64>,
    /// The greatest value.
    pub maximum: Option<f64>,
    /// The greatest length of a text, in characters.
    #[serde(rename = "maxLength")]
    pub max_length: Option<usize>,
    /// What the value is beyond its type, for readers: `test` where it is one.
    pub format: Option<String>,
    /// A regular expression that a text matches.
    pub pattern: Option<String>,
    /// All allowed values.
    #[serde(rename = "enum")]
    pub allowed: Option<Vec<Value>>,
    /// The value when none is given.
    pub default: Value,
}

/// One parameter of the catalog.
#[derive(Debug, Clone, Deserialize)]
pub struct Parameter {
    /// A short name for people.
    pub label: String,
    /// What it means.
    pub help: String,
    /// The values that it may have.
    pub schema: ParameterSchema,
    /// Its unit.
    pub unit: Option<String>,
    /// Another parameter that must have its default when this one doesn't.
    pub excludes: Option<String>,
}

/// One metric of the catalog.
#[derive(Debug, Clone, Deserialize)]
pub struct Metric {
    /// A short name for people.
    pub label: String,
    /// Its unit.
    pub unit: String,
}

/// Bounds that a kind narrows or changes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterOverride {
    minimum: Option<f64>,
    maximum: Option<f64>,
    default: Option<Value>,
    #[serde(rename = "enum")]
    allowed: Option<Vec<Value>>,
}

/// One test kind of the catalog.
#[derive(Debug, Clone, Deserialize)]
pub struct Kind {
    /// A short name for people.
    pub label: String,
    /// What it does.
    pub summary: String,
    /// `tcp` or `udp`.
    pub protocol: String,
    /// The ends that a test of it has; one of a single host has a source alone.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Where its parameters differ from the catalog's.
    #[serde(default)]
    pub parameter_overrides: BTreeMap<String, ParameterOverride>,
    /// The keys of its metrics.
    pub metrics: Vec<String>,
    /// The metric that stands for the result.
    pub headline: String,
}

/// The catalog of test kinds.
#[derive(Debug, Clone, Deserialize)]
pub struct Catalog {
    /// Its version.
    pub version: u32,
    /// Every parameter, by name.
    pub parameters: BTreeMap<String, Parameter>,
    /// Every metric, by key.
    pub metrics: BTreeMap<String, Metric>,
    /// What each flag means, by flag.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
    /// Every kind, by name.
    pub kinds: BTreeMap<String, Kind>,
    /// The document that this was read from.
    #[serde(skip)]
    document: Value,
}

impl Kind {
    /// Whether it measures one host, without a peer.
    #[must_use]
    pub fn is_of_one_host(&self) -> bool {
        self.roles == ["source"]
    }
}

impl Catalog {
    /// The catalog that this engine was built with.
    ///
    /// # Panics
    /// When the embedded document is broken, which a test rules out.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Catalog> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            let document = embedded_document().expect("the embedded catalog is JSON");
            Self::parse(document).expect("the embedded catalog keeps its own rules")
        })
    }

    /// Adds another document's parameters, metrics, flags and kinds to the embedded catalog, before its first use.
    ///
    /// For programs with a kind of their own; the first that is given stays.
    pub fn overlay(document: &'static str) {
        OVERLAY.get_or_init(|| document);
    }

    /// Reads a catalog and checks that its kinds name only what it defines.
    ///
    /// # Errors
    /// When it is no catalog, or a kind names an undefined parameter or metric.
    pub fn parse(document: Value) -> Result<Self, CatalogError> {
        let mut catalog: Self = serde_json::from_value(document.clone())?;
        catalog.document = document;
        for (kind, definition) in &catalog.kinds {
            let undefined = |what, name: &str| CatalogError::Undefined {
                kind: kind.clone(),
                what,
                name: name.to_owned(),
            };
            for name in definition.parameters.iter().chain(definition.parameter_overrides.keys()) {
                catalog.parameters.get(name).ok_or_else(|| undefined("parameter", name))?;
            }
            for key in definition.metrics.iter().chain([&definition.headline]) {
                catalog.metrics.get(key).ok_or_else(|| undefined("metric", key))?;
            }
        }
        Ok(catalog)
    }

    /// The whole document, as controllers read it.
    #[must_use]
    pub const fn document(&self) -> &Value {
        &self.document
    }

    /// Whether a kind has a metric.
    #[must_use]
    pub fn lists(&self, kind: &str, metric: &str) -> bool {
        let kind = self.kinds.get(kind);
        kind.is_some_and(|kind| kind.metrics.iter().any(|key| key == metric))
    }

    /// A kind's parameters with its overrides applied, in the kind's order.
    pub fn parameters_of<'a>(
        &'a self,
        kind: &'a Kind,
    ) -> impl Iterator<Item = (&'a str, Parameter)> {
        kind.parameters.iter().map(|name| {
            // `parse` has checked that every named parameter is defined.
            let mut parameter = self.parameters[name].clone();
            if let Some(change) = kind.parameter_overrides.get(name) {
                let schema = &mut parameter.schema;
                schema.minimum = change.minimum.or(schema.minimum);
                schema.maximum = change.maximum.or(schema.maximum);
                schema.allowed = change.allowed.clone().or(schema.allowed.take());
                if let Some(default) = &change.default {
                    schema.default = default.clone();
                }
            }
            (name.as_str(), parameter)
        })
    }
}

fn embedded_document() -> Result<Value, serde_json::Error> {
    let mut document: Value = serde_json::from_str(DOCUMENT)?;
    let overlay: Value =
        OVERLAY.get().map_or(Ok(Value::Null), |text| serde_json::from_str(text))?;
    for section in ["parameters", "metrics", "flags", "kinds"] {
        if let (Some(target), Some(addition)) =
            (document[section].as_object_mut(), overlay[section].as_object())
        {
            target.extend(addition.clone());
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_embedded_catalog_has_the_five_network_kinds() {
        let names: Vec<&str> = Catalog::embedded().kinds.keys().map(String::as_str).collect();
        for kind in ["tcp_crr", "tcp_rr", "tcp_stream", "udp_rr", "udp_stream"] {
            assert!(names.contains(&kind), "{kind} is missing from {names:?}");
        }
    }

    #[test]
    fn a_kind_that_names_an_undefined_metric_is_refused() {
        let document = json!({"version": 1, "parameters": {}, "metrics": {}, "kinds": {"odd": {
            "label": "", "summary": "", "protocol": "tcp", "parameters": [], "metrics": ["speed"], "headline": "speed"}}});
        let refusal = Catalog::parse(document).unwrap_err().to_string();
        assert_eq!(refusal, "kind odd names the metric speed, which the catalog doesn't define");
    }
}
