//! Words the failure of an object store for a person.

use std::error::Error as StdError;
use std::iter::successors;

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};

use crate::error::SyncError;
use memories_document::types::hint::with_causes;
use memories_llm::redact::redacted;

/// Longest answer of a store that is shown, in characters.
const MAX_PROBLEM: usize = 300;

/// How `object_store` begins the text of an answer that is no success; it exports no type for that.
const STATUS: &str = "status code: ";

/// The error for a failed request.
pub(super) fn error_of(url: &str, error: &Error) -> SyncError {
    let url = url.to_owned();
    let text = with_causes(error);
    let status = text.split_once(STATUS).and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let problem = problem_of(error, &text);
    let has = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
    let is_missing = matches!(error, Error::NotFound { .. }) || status == Some(404);
    match error {
        // A request for a list has no error of its own for a missing bucket.
        _ if is_missing && has(&["NoSuchBucket", "ContainerNotFound", "bucket does not exist"]) => {
            SyncError::NoBucket { url }
        }
        _ if is_missing => SyncError::Nothing { url },
        Error::Unauthenticated { .. } | Error::PermissionDenied { .. } => SyncError::Refused { url, problem },
        _ if matches!(status, Some(401 | 403)) => SyncError::Refused { url, problem },
        // S3 answers 400 to a token that has expired.
        _ if status == Some(400) && has(&["Expired"]) => SyncError::Refused { url, problem },
        _ if status.is_some_and(|status| status >= 500 || status == 429) => {
            SyncError::Unreachable { url, problem }
        }
        _ if status.is_none() && http_error(error).is_some_and(may_pass) => {
            SyncError::Unreachable { url, problem }
        }
        _ => SyncError::Failed { url, problem },
    }
}

fn may_pass(error: &HttpError) -> bool {
    use HttpErrorKind::{Connect, Decode, Interrupted, Request, Timeout};
    // The error for a body that ends too early is that it cannot be decoded.
    matches!(error.kind(), Connect | Request | Timeout | Interrupted | Decode)
}

fn http_error(error: &Error) -> Option<&HttpError> {
    causes(error).find_map(|error| error.downcast_ref())
}

fn causes<'a>(error: &'a Error) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let first: &'a (dyn StdError + 'static) = error;
    successors(Some(first), |&error| error.source())
}

/// The words of the store, or of the connection, on one line and without secrets.
fn problem_of(error: &Error, text: &str) -> String {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
    };
    let said = match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => Some(format!("{code}: {message}")),
        (code, message) => code.or(message),
    };
    let status = || Some(text.split_once(STATUS)?.1.to_owned());
    let last = || causes(error).last().map(ToString::to_string).unwrap_or_default();
    let words = said.or_else(status).unwrap_or_else(last);
    // A store may echo an address as XML has it: the key in it must be known as one.
    let words = words.replace("&amp;", "&");
    let words: Vec<&str> = words.split_whitespace().collect();
    let line: String = redacted(&words.join(" ")).chars().take(MAX_PROBLEM).collect();
    line.trim_end_matches(['.', ':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_echoes_has_no_key() {
        for echo in [
            "/c/M.md?sv=2022&ss=b&sig=k7xPqYv3ZbT9mWcR2sLhN8uGfDaJ5eKo%3D",
            "/c/M.md?sv=2022&amp;ss=b&amp;sig=k7xPqYv3ZbT9mWcR2sLhN8uGfDaJ5eKo%3D",
        ] {
            let text =
                format!("status code: 403: <Error><Code>X</Code><Message>you sent {echo}</Message></Error>");
            let error = Error::Generic { store: "S3", source: text.into() };
            let SyncError::Refused { problem, .. } = error_of("az://c/M.md", &error) else {
                panic!("{error}")
            };
            assert!(problem.contains("you sent") && !problem.contains("ZbT9mWcR2"), "{problem}");
        }
    }
}
