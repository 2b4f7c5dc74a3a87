//! Reads the request of a chat whole, as long as there is room for it.
//!
//! All requests and replies that are kept for memories share one [`Room`]. A chat that finds no room is passed on as
//! it comes, without memories: the chat goes on, and the proxy stays small.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use memories_web::count_values;

/// Longest chat request that gets memories, in bytes.
const MAX_REQUEST: usize = 24 << 20;

/// Bytes of requests and replies that are kept at the same time. To insert and to extract takes up to five times that
/// of the requests at work.
const MAX_KEPT: usize = 32 << 20;

/// JSON values that requests have whose memories are searched at the same time. A value takes up to 100 bytes.
const MAX_VALUES: usize = 500_000;

/// Requests whose memories are searched at the same time, those included that nobody waits for any more.
const MAX_SEARCHES: usize = 32;

const NEVER_CLOSED: &str = "the semaphore is never closed";

/// The room for chats.
pub(super) struct Room {
    bytes: Arc<Semaphore>,
    values: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

/// The body of a chat request.
pub(super) enum ChatBody {
    /// It was read whole, and has room as long as `Kept` lives.
    Whole(Bytes, Kept),
    /// There is no room. These are its bytes, as they come.
    Passing(reqwest::Body),
}

/// Bytes that count as kept.
pub(super) struct Kept {
    bytes: Arc<Semaphore>,
    permit: OwnedSemaphorePermit,
}

impl Kept {
    /// True if there is room for more.
    pub(super) fn grow(&mut self, length: usize) -> bool {
        let Ok(length) = u32::try_from(length) else { return false };
        let more = self.bytes.clone().try_acquire_many_owned(length);
        more.map(|more| self.permit.merge(more)).is_ok()
    }
}

impl Room {
    pub(super) fn new() -> Room {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Room { bytes: semaphore(MAX_KEPT), values: semaphore(MAX_VALUES), searches: semaphore(MAX_SEARCHES) }
    }

    fn keep_nothing(&self) -> Kept {
        let bytes = self.bytes.clone();
        let permit = bytes.clone().try_acquire_many_owned(0).expect("there is always room for nothing");
        Kept { bytes, permit }
    }

    /// Reads a body until its end, or until there is no more room.
    ///
    /// # Errors
    ///
    /// When the body breaks off or stops.
    pub(super) async fn read(&self, body: Body) -> Result<ChatBody, axum::Error> {
        let mut kept = self.keep_nothing();
        let mut read: Vec<u8> = Vec::new();
        let is_too_long = body.size_hint().lower() > MAX_REQUEST as u64;
        let mut chunks = body.into_data_stream();
        if is_too_long {
            return Ok(ChatBody::Passing(reqwest::Body::wrap_stream(chunks)));
        }
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if read.len() + chunk.len() > MAX_REQUEST || !kept.grow(chunk.len()) {
                let begun = [Ok(Bytes::from(read)), Ok(chunk)];
                // Lives as long as the stream: until then its beginning may not have been sent.
                let passed = stream::iter(begun).chain(chunks).inspect_ok(move |_| {
                    let _ = &kept;
                });
                return Ok(ChatBody::Passing(reqwest::Body::wrap_stream(passed)));
            }
            read.extend_from_slice(&chunk);
        }
        if count_values(&read) > MAX_VALUES {
            return Ok(ChatBody::Passing(reqwest::Body::from(read)));
        }
        Ok(ChatBody::Whole(Bytes::from(read), kept))
    }

    /// Waits for its turn to parse a request that has been read, and to search for it. The turn ends with the permits.
    pub(super) async fn turn(&self, request: &[u8]) -> [OwnedSemaphorePermit; 2] {
        let values = u32::try_from(count_values(request)).unwrap_or(u32::MAX);
        let search = self.searches.clone().acquire_owned().await.expect(NEVER_CLOSED);
        [self.values.clone().acquire_many_owned(values).await.expect(NEVER_CLOSED), search]
    }
}

/// True if a reply is small enough to be parsed.
pub(super) fn may_be_parsed(reply: &[u8]) -> bool {
    count_values(reply) <= MAX_VALUES
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn chats_share_one_room() {
        let room = Room::new();
        let large = || Bytes::from(vec![b'x'; 23 << 20]);
        // A slow chat, of which the end is still to come.
        let (sender, end) = tokio::sync::oneshot::channel();
        let pieces = stream::iter([Ok(large())]).chain(stream::once(end));
        let mut slow = Box::pin(room.read(Body::from_stream(pieces)));
        assert!(slow.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // Two of that size have no room.
        let other = room.read(Body::from(large())).await.unwrap();
        assert!(matches!(other, ChatBody::Passing(_)));
        let ChatBody::Whole(_, small) = room.read(Body::from("x")).await.unwrap() else {
            panic!("there is room for it")
        };
        sender.send(Bytes::from("y")).unwrap();
        let ChatBody::Whole(body, kept) = slow.await.unwrap() else { panic!("it keeps its room") };
        assert_eq!((body.len(), body.last()), ((23 << 20) + 1, Some(&b'y')));
        drop((kept, small));
        assert!(matches!(room.read(Body::from(large())).await.unwrap(), ChatBody::Whole(..)));
    }
}
