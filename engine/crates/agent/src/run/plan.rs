//! What to run: every combination of the parameters' values, and how often each.

use proto::{Catalog, ParameterError, Params};
use serde_json::Value;

use crate::cli::{AskedConfidence, ConfidenceOn, Order, RunOptions};
use crate::failure::Failure;

/// netperf's `-i 30,3`.
const CONFIDENCE_REPETITIONS: (usize, usize) = (3, 30);
/// A mistyped sweep shall not run for weeks.
const COMBINATIONS_AT_MOST: usize = 10_000;

/// What to run.
#[derive(Debug)]
pub struct Plan {
    /// The test kind.
    pub kind: String,
    /// One per combination of values.
    pub combinations: Vec<Combination>,
    /// How often each is run.
    pub rule: Rule,
    /// In which order.
    pub order: Order,
}

/// One value of each parameter.
#[derive(Debug)]
pub struct Combination {
    /// Every parameter, defaults filled in.
    pub params: Params,
    /// The names of those that the sweep varies, with this combination's values.
    pub varied: Vec<(String, Value)>,
}

/// How often a combination is run.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// At least.
    pub minimum: usize,
    /// At most.
    pub maximum: usize,
    /// Between the two, until this is reached.
    pub confidence: Option<(AskedConfidence, ConfidenceOn)>,
}

impl Plan {
    /// The plan of the command line, checked before anyone is spoken to.
    pub fn new(options: &RunOptions) -> Result<Self, Failure> {
        let catalog = Catalog::embedded();
        catalog.kind(&options.kind)?;
        let mut dimensions: Vec<(String, Vec<Value>)> = Vec::new();
        for setting in &options.set {
            let (name, text) = setting.split_once('=').ok_or_else(|| {
                Failure::Usage(format!(
                    "--set {setting}: write it as name=value, such as duration_seconds=5"
                ))
            })?;
            if dimensions.iter().any(|(known, _)| known == name) {
                return Err(Failure::Usage(format!(
                    "--set {name} is given twice; for a sweep, name all its values at once"
                )));
            }
            dimensions.push((name.to_owned(), values(catalog, &options.kind, name, text)?));
        }
        Ok(Self {
            kind: options.kind.clone(),
            combinations: combine(catalog, &options.kind, &dimensions)?,
            rule: Rule::new(options)?,
            order: options.order,
        })
    }

    /// Whether there is one test only: one document, one summary.
    pub fn is_single(&self) -> bool {
        self.combinations.len() == 1 && self.rule.maximum == 1
    }

    /// The number of tests, where it is known beforehand.
    pub fn test_count(&self) -> Option<usize> {
        (self.rule.minimum == self.rule.maximum)
            .then_some(self.combinations.len() * self.rule.maximum)
    }
}

impl Combination {
    /// What sets it apart from the others, such as `message_size_bytes=64 flows=2`.
    pub fn name(&self) -> String {
        let parts = self.varied.iter().map(|(name, value)| format!("{name}={}", shown(value)));
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// A value as it was given, texts without their quotes.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Rule {
    fn new(options: &RunOptions) -> Result<Self, Failure> {
        let given = options.repetitions;
        let Some(asked) = options.confidence else {
            if given.is_some_and(|given| given.maximum.is_some()) {
                let message = "--repetitions MIN-MAX goes with --confidence, which says when to stop; else give one number";
                return Err(Failure::Usage(message.to_owned()));
            }
            let count = given.map_or(1, |given| given.minimum);
            return Ok(Self { minimum: count, maximum: count, confidence: None });
        };
        let minimum = given.map_or(CONFIDENCE_REPETITIONS.0, |given| given.minimum);
        if minimum < 2 {
            let message = "--confidence needs at least 2 repetitions: one value has no interval";
            return Err(Failure::Usage(message.to_owned()));
        }
        let maximum = given.and_then(|given| given.maximum);
        let maximum = maximum.unwrap_or_else(|| minimum.max(CONFIDENCE_REPETITIONS.1));
        Ok(Self { minimum, maximum, confidence: Some((asked, options.confidence_on)) })
    }
}

/// The values of one `--set`: one, if it is valid as it stands; else those between its semicolons, or its commas.
fn values(
    catalog: &Catalog,
    kind: &str,
    name: &str,
    text: &str,
) -> Result<Vec<Value>, ParameterError> {
    let checked = |text: &str| {
        let mut params = Params::default();
        let value = catalog.parse_text(kind, name, text)?;
        params.set(name, value.clone());
        catalog.fill(kind, &params).map(|_| value)
    };
    let whole = checked(text);
    let separator = [';', ','].into_iter().find(|&separator| text.contains(separator));
    match (whole, separator) {
        (Ok(value), _) => Ok(vec![value]),
        (Err(refusal), None) => Err(refusal),
        (Err(_), Some(separator)) => {
            text.split(separator).map(|part| checked(part.trim())).collect()
        }
    }
}

/// The cross product; the last parameter given varies fastest.
fn combine(
    catalog: &Catalog,
    kind: &str,
    dimensions: &[(String, Vec<Value>)],
) -> Result<Vec<Combination>, Failure> {
    let count =
        dimensions.iter().map(|(_, values)| values.len()).try_fold(1_usize, usize::checked_mul);
    let count = count.filter(|&count| count <= COMBINATIONS_AT_MOST).ok_or_else(|| {
        Failure::Usage(format!(
            "the sweep has over {COMBINATIONS_AT_MOST} combinations; name fewer values"
        ))
    })?;
    (0..count)
        .map(|index| {
            let mut given = Params::default();
            let mut varied = Vec::new();
            let mut rest = index;
            for (name, values) in dimensions.iter().rev() {
                let value = &values[rest % values.len()];
                rest /= values.len();
                given.set(name, value.clone());
                if values.len() > 1 {
                    varied.insert(0, (name.clone(), value.clone()));
                }
            }
            Ok(Combination { params: catalog.fill(kind, &given)?, varied })
        })
        .collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
