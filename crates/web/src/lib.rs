//! A small HTTP server: who may call it, and how much a caller may make it hold.
//!
//! A listening socket, a handler and [`Limits`] enter; each request that a connection sends goes to the handler. A
//! handler asks the [`Guard`] first. It always holds that
//!
//! * a page of another site that runs in a browser on this machine gets no answer but a refusal;
//! * a connection that sends no request ends after [`Limits::header`], and a body that stops after [`Limits::body`];
//! * nothing limits the time of an answer, until the server ends: then running ones have a grace period, and requests
//!   that are not whole a second of silence.

mod body;
mod guard;
mod listen;
mod token;

pub use body::{BodyError, BodyRoom, count_values};
pub use guard::{Guard, Refusal};
pub use listen::{Limits, is_stalled, serve};
pub use token::{Caller, Callers, Token, TokenError};
