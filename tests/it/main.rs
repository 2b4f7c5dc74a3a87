//! Tests of the library and of single commands: no server, no second process beside the command.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test writes files, may panic, and prints figures"
)]

mod aliases;
mod architecture;
mod ask;
mod chat;
mod corrections;
mod golden;
mod hostile;
mod laws;
mod offline;
mod poison;
#[cfg(unix)]
mod readme;
mod replay;
mod retrieval;
mod retry;
mod search;
mod seed;
mod tokens;
mod transfer;
mod zorkgpt_files;
