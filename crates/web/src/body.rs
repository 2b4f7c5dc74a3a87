//! Reads the bodies of requests whole, as long as there is room for them.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::listen::is_stalled;

/// The room that the bodies of a server share.
#[derive(Debug, Clone)]
pub struct BodyRoom {
    bytes: Arc<Semaphore>,
    longest: usize,
}

/// A body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is longer than the limit.
    #[error("the body is longer than the limit")]
    TooLong,
    /// No byte of it came for too long.
    #[error("the body stopped")]
    Stalled,
    /// The connection ended before it.
    #[error("the body broke off")]
    Broken,
}

impl BodyRoom {
    /// Room for bodies of at most `longest` bytes each and `all` bytes together.
    pub fn new(longest: usize, all: usize) -> BodyRoom {
        let all = all.max(longest).min(Semaphore::MAX_PERMITS);
        BodyRoom { bytes: Arc::new(Semaphore::new(all)), longest }
    }

    /// Reads a body when there is room for all of it; until then it waits. It takes its room as long as the permit
    /// lives.
    ///
    /// # Errors
    ///
    /// See [`BodyError`].
    pub async fn read(&self, mut body: Body) -> Result<(Bytes, OwnedSemaphorePermit), BodyError> {
        let hint = body.size_hint();
        if hint.lower() > self.longest as u64 {
            return Err(BodyError::TooLong);
        }
        // All at once: two bodies that each took a part could wait for the rest of the other one.
        let room = hint.upper().map_or(self.longest, |upper| self.longest.min(upper as usize));
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let permit =
            self.bytes.clone().acquire_many_owned(room).await.expect("the semaphore is never closed");
        let mut read: Vec<u8> = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let frame = frame
                .map_err(|error| if is_stalled(&error) { BodyError::Stalled } else { BodyError::Broken })?;
            let Ok(data) = frame.into_data() else { continue };
            if read.len() + data.len() > self.longest {
                return Err(BodyError::TooLong);
            }
            read.extend_from_slice(&data);
        }
        Ok((Bytes::from(read), permit))
    }
}

/// At least the number of values of a JSON text. Its strings are counted along with the rest.
pub fn count_values(json: &[u8]) -> usize {
    memchr::memchr3_iter(b',', b'[', b'{', json).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_up_to_the_limit_and_wait_for_room() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let room = BodyRoom::new(10, 15);
            assert_eq!(room.read(Body::from("12345678901")).await.unwrap_err(), BodyError::TooLong);
            let (read, permit) = room.read(Body::from("1234567890")).await.unwrap();
            assert_eq!((&read[..], permit.num_permits()), (&b"1234567890"[..], 10));
            let mut second = Box::pin(room.read(Body::from("123456")));
            let waits =
                poll_fn(|context| std::task::Poll::Ready(second.as_mut().poll(context).is_pending())).await;
            assert!(waits, "only five bytes are free");
            drop(permit);
            assert_eq!(second.await.unwrap().1.num_permits(), 6);
        });
    }

    #[test]
    fn values_are_counted_without_parsing() {
        assert_eq!(count_values(br#"{"a": [1, 2, {"b": 3}]}"#), 5);
    }
}
