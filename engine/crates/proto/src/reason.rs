//! Why something is as it is: a sentence for people, with its code and parameters for programs.
//!
//! The sentences are in `schema/reasons.json`, which the dashboard reads too, to say them in its reader's language.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

const DOCUMENT: &str = include_str!("../../../schema/reasons.json");
/// The code of reasons in a row.
const JOINED: &str = "joined";

/// A reason's code in `schema/reasons.json`, or `joined`, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReasonData {
    /// Which sentence it is.
    pub code: String,
    /// What stands in the sentence's places, by their names; of `joined` the `parts` and the `joint` between them.
    #[serde(default)]
    pub params: BTreeMap<String, ReasonValue>,
}

/// A parameter of a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ReasonValue {
    /// A text or a figure, as people read it.
    Text(String),
    /// A reason within the reason.
    Reason(ReasonData),
    /// The parts of reasons in a row.
    Parts(Vec<ReasonValue>),
}

/// A sentence that knows its code; one of the system's, such as an error of the kernel, has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reason {
    /// The sentence: what failed, where, and the next step.
    #[serde(rename = "reason")]
    text: String,
    /// Its code; an engine of before it sends none.
    #[serde(rename = "reason_data", default, skip_serializing_if = "Option::is_none")]
    data: Option<ReasonData>,
}

impl Reason {
    /// Makes the reason of a code; `reason!` writes this shorter.
    ///
    /// # Panics
    /// When `schema/reasons.json` has no such code, which a test of the sources excludes.
    #[must_use]
    pub fn new<const COUNT: usize>(code: &str, params: [(&str, ReasonValue); COUNT]) -> Self {
        let sentence = sentences().get(code).expect("every code that is used has a sentence");
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let text = filled(sentence, &params);
        Self { text, data: Some(ReasonData { code: code.to_owned(), params }) }
    }

    /// Puts reasons in a row with `joint` between them; one alone stays what it is.
    #[must_use]
    pub fn joined(parts: impl IntoIterator<Item = Self>, joint: &str) -> Self {
        let mut parts: Vec<Self> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.len() < 2 {
            return parts.pop().unwrap_or_default();
        }
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let text = texts.join(joint);
        let parts = parts.into_iter().map(ReasonValue::from).collect();
        let params = [
            ("parts".to_owned(), ReasonValue::Parts(parts)),
            ("joint".to_owned(), ReasonValue::from(joint)),
        ];
        Self { text, data: Some(ReasonData { code: JOINED.to_owned(), params: params.into() }) }
    }

    /// Takes it apart into its sentence and its data.
    #[must_use]
    pub fn into_parts(self) -> (String, Option<ReasonData>) {
        (self.text, self.data)
    }
}

/// Makes the reason of a code with parameters by name: `reason!("limit_link_full", part = percent(share))`.
#[macro_export]
macro_rules! reason {
    ($code:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::Reason::new($code, [$((stringify!($name), $crate::ReasonValue::from($value))),*])
    };
}

impl ReasonValue {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Reason(data) => data.text(),
            Self::Parts(parts) => parts.iter().map(Self::text).collect(),
        }
    }
}

impl ReasonData {
    /// The sentence that this is; of a code from elsewhere the code itself.
    fn text(&self) -> String {
        if let (JOINED, Some(ReasonValue::Parts(parts)), Some(joint)) =
            (self.code.as_str(), self.params.get("parts"), self.params.get("joint"))
        {
            let texts: Vec<String> = parts.iter().map(ReasonValue::text).collect();
            return texts.join(&joint.text());
        }
        filled(sentences().get(&self.code).unwrap_or(&self.code), &self.params)
    }
}

/// A sentence with its places filled in; what stands in them is no sentence again.
fn filled(sentence: &str, params: &BTreeMap<String, ReasonValue>) -> String {
    let mut pieces = sentence.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
        text.push_str(&params.get(name).map(ReasonValue::text).unwrap_or_default());
        text.push_str(rest);
    }
    text
}

fn sentences() -> &'static BTreeMap<String, String> {
    static SENTENCES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    SENTENCES.get_or_init(|| {
        serde_json::from_str(DOCUMENT).expect("schema/reasons.json has a text for each code")
    })
}

impl Deref for Reason {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Display for Reason {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Reason {}

impl<Text: Into<String>> From<Text> for Reason {
    fn from(text: Text) -> Self {
        Self { text: text.into(), data: None }
    }
}

impl From<Reason> for ReasonValue {
    fn from(reason: Reason) -> Self {
        reason.data.map_or(Self::Text(reason.text), Self::Reason)
    }
}

/// Whole numbers are given as they are.
macro_rules! from_whole_numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for ReasonValue {
            fn from(number: $number) -> Self {
                Self::Text(number.to_string())
            }
        })*
    };
}

from_whole_numbers!(u16, u32, u64, usize);

impl From<String> for ReasonValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ReasonValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_is_its_sentence_and_travels_with_its_code() {
        let reason = reason!("limit_rate_arrived", part = "99 %", rate = "1.0 Gbit/s");
        assert_eq!(&*reason, "99 % of the 1.0 Gbit/s asked for arrived.");
        let sent = json!({
            "reason": "99 % of the 1.0 Gbit/s asked for arrived.",
            "reason_data": {"code": "limit_rate_arrived", "params": {"part": "99 %", "rate": "1.0 Gbit/s"}},
        });
        assert_eq!(serde_json::to_value(&reason).unwrap(), sent);
        assert_eq!(serde_json::from_value::<Reason>(sent).unwrap(), reason);
    }

    #[test]
    fn reasons_within_reasons_and_in_a_row_are_said_whole() {
        let why = reason!("limit_loss", lost = "1 %");
        let outer = reason!("limit_congestion", why = why);
        let said =
            "The congestion window held the sender back: 1 % of the segments were sent again.";
        assert_eq!(&*outer, said);
        let row = Reason::joined([outer, Reason::from("as the kernel says")], " ");
        assert_eq!(*row, format!("{said} as the kernel says"));
        let quoted = reason!("says_nothing_arrived", how = row);
        assert_eq!(*quoted, format!("nothing arrived: {said} as the kernel says"));
    }

    #[test]
    fn one_reason_alone_is_no_row_and_none_is_empty() {
        let alone = reason!("says_run_again");
        assert_eq!(Reason::joined([alone.clone(), Reason::default()], "; "), alone);
        assert!(Reason::joined([], "; ").is_empty());
    }
}
