//! Conversations: no message is summarised twice, none of a place is left out, none is lost on its way.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test writes files and may panic")]

#[path = "conversation/digest.rs"]
mod digest;
