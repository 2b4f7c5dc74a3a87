//! A small HTTP server: checks of callers, and limits on the resources that a caller may use.
//!
//! A listening socket, a handler and [`Limits`] enter; each request that a connection sends goes to the handler. A
//! handler asks the [`Guard`] first. This crate depends on no other crate of the workspace. It always holds that
//!
//! * a page of another site that runs in a browser on this machine gets no answer but a refusal;
//! * a connection that sends no request ends after [`Limits::header`], earlier where another one needs its room; and a
//!   body that stops ends after [`Limits::body`];
//! * an answer that nobody reads ends after [`Limits::answer`], earlier where others need its room;
//! * nothing else limits the time of an answer until the server ends. Then running answers have a grace period, and an
//!   incomplete request may be silent for one second.
//!
//! # Where to begin
//!
//! * [`serve`] accepts connections and gives each request to the handler.
//! * [`Guard::check`] refuses requests of other sites, [`Guard::check_token`] those without a right [`Token`].
//! * [`BodyRoom`] reads bodies within a limit on all of them together.
//!
//! # Example
//!
//! ```
//! use axum::http::Request;
//! use memories_web::{Callers, Guard};
//!
//! let guard = Guard::new("127.0.0.1:8080".parse()?, &[], Callers::Anyone);
//! let (own, ()) = Request::get("/").header("host", "127.0.0.1:8080").body(())?.into_parts();
//! assert!(guard.check(&own).is_ok());
//! let (foreign, ()) = Request::get("/").header("host", "example.com").body(())?.into_parts();
//! assert!(guard.check(&foreign).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod connections;
mod guard;
mod listen;
mod token;

pub use body::{BodyError, BodyRoom, count_values};
pub use guard::{Guard, Refusal};
pub use listen::{Limits, is_stalled, serve};
pub use token::{Caller, Callers, TOKEN_HEADER, Token, TokenError};
