//! A proxy before a chat server: injects memories into requests, and extracts new ones from replies.
//!
//! A listening socket, [`ProxySettings`] and a [`ChatHooks`] enter; the upstream's replies leave, byte for byte and
//! without delay. It always holds that
//!
//! * only callers that the guard lets in are answered ([`memories_web`]), and the memory for their chats is bounded;
//! * only the request of a chat is changed, and only by the hooks; its headers are passed on, without those
//!   that are meant for one connection or for the proxy;
//! * if the hooks offer the model their tool, its calls are removed from the reply, which is then read completely;
//! * a chat goes on whatever happens to memories: hooks that fail change nothing;
//! * memories have a bounded share of a request's time, and a chat never waits for another one's;
//! * no reply waits for an extraction: that happens afterwards, one at a time and in order;
//! * the replies that wait are bounded, and so is the time in which the proxy ends;
//! * no header and no body is ever logged.

mod backlog;
mod call;
mod collect;
mod finished;
mod headers;
pub mod hooks;
mod latest;
mod pauses;
mod replies;
mod reply;
mod request;
mod server;
mod tool;
mod tool_round;
mod upstream;

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

pub use call::{Call, ChatHooks};
pub use server::ProxySettings;
pub use upstream::Upstream;

/// Serves until `until` is ready, then lets the running replies and the extractions that are due end, as long as the
/// settings allow. An extraction that stalls goes on in its thread after the return.
///
/// # Errors
///
/// Where the socket or the client cannot be set up.
pub fn serve(
    listener: TcpListener,
    settings: ProxySettings,
    hooks: Arc<dyn ChatHooks>,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(server::serve(listener, settings, hooks, until));
    // Work that nobody waits for any more must not hold up the end.
    runtime.shutdown_background();
    served
}
