//! The reply to a request that offered the tool `remember`: read whole, and passed on without its calls.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::{StreamExt, stream};

use crate::api_format::ApiFormat;
use crate::proxy::collect::{Extraction, MAX_REPLY, pass_down};
use crate::proxy::headers::passed_down;
use crate::proxy::request::may_be_parsed;
use crate::proxy::tool::{Called, continued, without_calls};

/// A reply that was read.
enum Read {
    /// Whole.
    Whole(Vec<u8>),
    /// It is too long to be looked at. These are its bytes, as they come.
    Passing(Body),
}

/// The reply for the client, and the extraction from the reply as the model gave it. `send` sends a further request; one
/// is sent where the model only called the tool.
pub(super) async fn without_tool<F>(
    reply: reqwest::Response,
    sent: &[u8],
    mut extraction: Extraction,
    send: impl FnOnce(Vec<u8>) -> F,
) -> reqwest::Result<Response>
where
    F: Future<Output = reqwest::Result<reqwest::Response>>,
{
    let (status, headers) = (reply.status(), reply.headers().clone());
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    if !status.is_success() || content_type.trim_start().starts_with("text/event-stream") {
        return Ok(pass_down(reply, Some(extraction)));
    }
    let finished = &mut extraction.finished;
    let shape = finished.call.shape;
    let body = match read(reply, |length| finished.kept.grow(length)).await? {
        Read::Passing(body) => body,
        Read::Whole(bytes) => {
            let called = may_be_parsed(&bytes).then(|| without_calls(&bytes, shape)).flatten();
            let shown = match called {
                None => bytes.clone(),
                Some(Called { reply, further }) => {
                    let further = further.and_then(|messages| continued(sent, &messages));
                    if let Some(further) = further {
                        (finished.content_type, finished.reply) = (content_type, bytes);
                        extraction.push();
                        return answered(send(further).await?, shape).await;
                    }
                    reply.to_string().into_bytes()
                }
            };
            (finished.content_type, finished.reply) = (content_type, bytes);
            extraction.push();
            Body::from(shown)
        }
    };
    Ok(response(status, &headers, body))
}

/// The reply to the further request, without calls of the tool.
async fn answered(reply: reqwest::Response, shape: ApiFormat) -> reqwest::Result<Response> {
    let (status, headers) = (reply.status(), reply.headers().clone());
    let body = match read(reply, |_| true).await? {
        Read::Passing(body) => body,
        Read::Whole(bytes) => {
            let called = may_be_parsed(&bytes).then(|| without_calls(&bytes, shape)).flatten();
            called.map_or(Body::from(bytes), |called| Body::from(called.reply.to_string()))
        }
    };
    Ok(response(status, &headers, body))
}

/// Reads a reply to its end, as long as there is room for it.
async fn read(reply: reqwest::Response, mut has_room: impl FnMut(usize) -> bool) -> reqwest::Result<Read> {
    let mut chunks = reply.bytes_stream();
    let mut read: Vec<u8> = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if read.len() + chunk.len() > MAX_REPLY || !has_room(chunk.len()) {
            let begun = [Ok(Bytes::from(read)), Ok(chunk)];
            return Ok(Read::Passing(Body::from_stream(stream::iter(begun).chain(chunks))));
        }
        read.extend_from_slice(&chunk);
    }
    Ok(Read::Whole(read))
}

/// A reply with another body.
fn response(status: StatusCode, headers: &HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = passed_down(headers);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}
