//! A proxy before a chat server: injects memories into requests, and extracts new ones from replies.
//!
//! A listening socket, [`ProxySettings`] and a [`ChatHooks`] enter; what leaves is what the upstream says, byte
//! for byte and as soon as it says it. It always holds that
//!
//! * only callers that the guard lets in are answered ([`crate::web`]), and what is kept of their chats is bounded;
//! * only the request of a chat is changed, and only by the hooks; its headers are passed on, without those
//!   that are meant for one connection or for the proxy;
//! * a chat goes on whatever happens to memories: hooks that fail change nothing;
//! * no reply waits for an extraction: that happens afterwards, one at a time and in order, and is finished
//!   before the proxy ends;
//! * no header and no body is ever logged.

mod call;
mod collect;
mod headers;
pub(crate) mod hooks;
mod latest;
mod reply;
mod request;
mod server;
mod upstream;

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

pub use call::Call;
pub use call::ChatHooks;
pub use server::ProxySettings;
pub use upstream::Upstream;

/// Serves until `until` is ready, then finishes the running replies and the extractions that are due.
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
    runtime.block_on(server::serve(listener, settings, hooks, until))
}

/// Ready when the process is asked to end, by Ctrl-C or by its supervisor.
pub(crate) async fn interrupted() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return interrupt.await };
        tokio::select! {
            () = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}
