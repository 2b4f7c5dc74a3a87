//! Conversations: no message is summarised twice, none of a place is left out, none is lost on its way.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test writes files and may panic")]
#![allow(clippy::print_stdout, reason = "a measurement is printed")]

#[path = "conversation/digest.rs"]
mod digest;
#[path = "conversation/extract.rs"]
mod extract;
#[path = "conversation/inject.rs"]
mod inject;
#[path = "conversation/threshold.rs"]
mod threshold;
