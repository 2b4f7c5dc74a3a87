//! A small HTTP server: checks of callers, and limits on the resources that a caller may use.
//!
//! A listening socket, a handler and [`Limits`] enter; each request that a connection sends goes to the handler. A
//! handler asks the [`Guard`] first. It always holds that
//!
//! * a page of another site that runs in a browser on this machine gets no answer but a refusal;
//! * a connection that sends no request ends after [`Limits::header`], and a body that stops after [`Limits::body`];
//! * nothing limits the time of an answer until the server ends. Then running answers have a grace period, and an
//!   incomplete request may be silent for one second.

mod body;
mod guard;
mod listen;
mod token;

pub use body::{BodyError, BodyRoom, count_values};
pub use guard::{Guard, Refusal};
pub use listen::{Limits, is_stalled, serve};
pub use token::{Caller, Callers, Token, TokenError};
