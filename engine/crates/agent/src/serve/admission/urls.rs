//! The URLs that this engine's operator lets controllers load.

use proto::{HttpUrl, Params, Reason, Role, SessionSpec, UrlPrefix, reason};

use crate::serve::admission::demand::nested_load;
use crate::serve::refusal::Refusal;

/// The prefixes of `--allow-url`; without any, no URL is asked for.
#[derive(Debug, Clone, Default)]
pub struct AllowedUrls(pub Vec<UrlPrefix>);

impl AllowedUrls {
    /// Refuses a source whose test, or its load, would ask for a URL that isn't allowed: an engine sends to nobody
    /// but its registered peer and what its operator chose. A sink asks for nothing.
    pub fn check(&self, spec: &SessionSpec) -> Result<(), Refusal> {
        if spec.role == Role::Sink {
            return Ok(());
        }
        self.check_params("params.url", &spec.params)
    }

    fn check_params(&self, field: &str, params: &Params) -> Result<(), Refusal> {
        let text = params.text("url").unwrap_or_default();
        if !text.is_empty() {
            let url = HttpUrl::parse(text)
                .map_err(|why| Refusal::invalid(field, reason!("parameter_url", why = why)))?;
            if !self.0.iter().any(|prefix| prefix.admits(&url)) {
                return Err(Refusal::invalid(field, self.refusal(&url)));
            }
        }
        nested_load(params).map_or(Ok(()), |(_, load)| self.check_params("params.load", &load))
    }

    fn refusal(&self, url: &HttpUrl) -> Reason {
        let (origin, url) = (url.origin(), url.to_string());
        if self.0.is_empty() {
            return reason!("admission_no_url", url = url, origin = origin);
        }
        let prefixes: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let prefixes = prefixes.join(", ");
        reason!("admission_other_url", url = url, prefixes = prefixes, origin = origin)
    }
}

#[cfg(test)]
mod tests {
    use proto::Catalog;
    use serde_json::{Value, json};

    use super::*;

    fn refusal(role: &str, params: &Value) -> Option<String> {
        let spec =
            json!({"role": role, "kind": "http_load", "params": params, "cookie": "ab".repeat(32)});
        let mut spec: SessionSpec = serde_json::from_value(spec).unwrap();
        let filled = Catalog::embedded().fill("http_load", &spec.params);
        spec.params = filled.unwrap_or(spec.params);
        let allowed = AllowedUrls(vec![UrlPrefix::parse("http://192.0.2.1:8080/a").unwrap()]);
        let refused = allowed.check(&spec).err()?;
        assert_eq!(refused.status, hyper::StatusCode::UNPROCESSABLE_ENTITY);
        Some(format!("{}: {}", refused.field.unwrap(), refused.message))
    }

    #[test]
    fn a_source_may_ask_for_what_is_allowed_and_for_the_sinks_own_responder() {
        assert_eq!(refusal("source", &json!({"url": "http://192.0.2.1:8080/a/b"})), None);
        assert_eq!(refusal("source", &json!({})), None);
        assert_eq!(refusal("sink", &json!({"url": "http://192.0.2.9/"})), None);
    }

    #[test]
    fn any_other_url_is_refused_with_the_option_that_would_allow_it() {
        assert_eq!(
            refusal("source", &json!({"url": "http://192.0.2.1:8080/b"})).unwrap(),
            "params.url: the source engine may not ask for http://192.0.2.1:8080/b: only \
             http://192.0.2.1:8080/a and what is below are allowed there; its operator allows it with \
             serve --allow-url http://192.0.2.1:8080/"
        );
        for url in ["https://192.0.2.1:8080/a", "http://u:p@192.0.2.1:8080/a", "nonsense"] {
            assert!(
                refusal("source", &json!({"url": url})).unwrap().starts_with("params.url: url: ")
            );
        }
    }

    #[test]
    fn a_load_may_ask_for_no_more_than_a_test() {
        let load = json!({"kind": "http_load", "params": {"url": "http://192.0.2.9/"}});
        for load in [load.clone(), json!(load.to_string())] {
            let refused = refusal("source", &json!({"load": load})).unwrap();
            assert!(
                refused.starts_with("params.load: the source engine may not ask for"),
                "{refused}"
            );
        }
        let load = json!({"kind": "http_load", "params": {"url": "http://192.0.2.1:8080/a"}});
        assert_eq!(refusal("source", &json!({"load": load})), None);
    }
}
