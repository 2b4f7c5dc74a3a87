//! The reply to a request that offered the tool `remember`: read whole, and passed on without its calls.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};

use crate::api_format::ApiFormat;
use crate::proxy::collect::{Extraction, MAX_REPLY, pass_down};
use crate::proxy::headers::{content_type, passed_down};
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
    let content_type = content_type(&headers).to_owned();
    if !status.is_success() || content_type.trim_start().starts_with("text/event-stream") {
        return Ok(pass_down(reply, Some(extraction)));
    }
    let finished = &mut extraction.finished;
    let shape = finished.call.shape;
    let body = match read(reply, |length| finished.kept.grow(length)).await? {
        Read::Passing(body) => body,
        Read::Whole(bytes) => {
            let called = called_in(&bytes, shape);
            let further = called.as_ref().and_then(|called| continued(sent, called.further.as_ref()?));
            let shown = called.map_or_else(|| bytes.clone(), |called| called.reply.to_string().into_bytes());
            (finished.content_type, finished.reply) = (content_type, bytes);
            extraction.push();
            if let Some(further) = further {
                return answered(send(further).await?, shape).await;
            }
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
            let called = called_in(&bytes, shape);
            called.map_or(Body::from(bytes), |called| Body::from(called.reply.to_string()))
        }
    };
    Ok(response(status, &headers, body))
}

/// The reply without calls of the tool; `None` where it has none, or is too large to be parsed.
fn called_in(reply: &[u8], shape: ApiFormat) -> Option<Called> {
    may_be_parsed(reply).then(|| without_calls(reply, shape)).flatten()
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
    let mut headers = passed_down(headers);
    headers.remove(header::CONTENT_LENGTH);
    (status, headers, body).into_response()
}
