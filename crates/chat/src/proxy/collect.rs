//! Passes a reply on as it comes, and collects it on the way.

use std::future::ready;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::proxy::finished::Finished;
use crate::proxy::headers::{content_type, passed_down};
use crate::proxy::replies::Replies;
use crate::proxy::reply::is_complete;
use memories_document::types::lock::lock;

/// Longest reply that memories are extracted from, in bytes.
pub(super) const MAX_REPLY: usize = 8 << 20;

/// A reply that memories are extracted from, and its receiver.
pub(super) struct Extraction {
    pub to: Arc<Replies>,
    pub finished: Finished,
}

impl Extraction {
    /// Hands a whole reply to the extraction.
    pub(super) fn push(self) {
        self.to.push(self.finished);
    }
}

/// The reply as it comes. Where memories are extracted from it, it is collected on the way and sent to the
/// extraction at its end.
pub(super) fn pass_down(reply: reqwest::Response, extraction: Option<Extraction>) -> Response {
    let (status, headers) = (reply.status(), passed_down(reply.headers()));
    let length = reply.content_length();
    let chunks = reply.bytes_stream();
    let body = match extraction.filter(|_| status.is_success()) {
        None => Body::from_stream(chunks),
        Some(extraction) => {
            let content_type = content_type(&headers).to_owned();
            let finished = Finished { content_type, ..extraction.finished };
            let extraction = Some(Extraction { finished, ..extraction });
            let collector = Arc::new(Mutex::new(Collector { passed: 0, length, extraction }));
            let collect = {
                let collector = collector.clone();
                move |chunk: &Bytes| lock(&collector).take_chunk(chunk)
            };
            // Reached only after the last chunk: an error, or a client that leaves, ends the stream before.
            let end = stream::once(async move { lock(&collector).finish() }).filter_map(|()| ready(None));
            Body::from_stream(chunks.inspect_ok(collect).chain(end))
        }
    };
    (status, headers, body).into_response()
}

/// A reply that is collected while it is passed on.
struct Collector {
    passed: u64,
    /// Its length, where that is known: a client may not read on to the end of the stream then.
    length: Option<u64>,
    /// `None` when the reply was sent, is too long, or finds no room.
    extraction: Option<Extraction>,
}

impl Collector {
    fn take_chunk(&mut self, chunk: &Bytes) {
        self.passed += chunk.len() as u64;
        if let Some(Extraction { finished, .. }) = &mut self.extraction {
            if finished.reply.len() + chunk.len() <= MAX_REPLY && finished.kept.grow(chunk.len()) {
                finished.reply.extend_from_slice(chunk);
            } else {
                self.extraction = None;
            }
        }
        if self.length == Some(self.passed) {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if let Some(extraction) = self.extraction.take() {
            extraction.push();
        }
    }
}

impl Drop for Collector {
    /// Some clients hang up at the last event of a stream, before its end: then the reply is complete, too.
    fn drop(&mut self) {
        if self.extraction.as_ref().is_some_and(|extraction| is_complete(&extraction.finished.reply)) {
            self.finish();
        }
    }
}
