//! A proxy before a chat server: memories are woven into what goes up, and drawn from what comes down.
//!
//! A listening socket, the [`Upstream`] and a [`ChatHooks`] enter; what leaves is what the upstream says, byte
//! for byte and as soon as it says it. It always holds that
//!
//! * only the request of a chat is changed, and only by the hooks; its headers go up as they came, but for
//!   those that are meant for one connection or for us;
//! * whatever becomes of a memory, the chat goes on: hooks that fails changes nothing;
//! * nobody waits for memories to be drawn: that happens behind the reply, one at a time and in order, and
//!   is finished before the proxy ends;
//! * no header and no body is ever logged.

pub mod hooks;
mod pool;
mod reply;
mod server;
mod upstream;

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use serde_json::Value;

pub use upstream::{AddressError, Upstream};

/// In which words a chat server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `/v1/chat/completions`
    OpenAi,
    /// `/v1/messages`
    Anthropic,
}

/// A chat request, as far as its address and headers tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Whom it speaks to.
    pub dialect: Dialect,
    /// `X-Memories-Scope`: where memories come from and go to.
    pub scope: Option<String>,
    /// `X-Memories-Conversation`: which conversation this is.
    pub conversation: Option<String>,
    /// `X-Memories-Extraction`: when memories are drawn from it.
    pub extraction: Option<String>,
}

/// What the proxy does with a conversation. It is called where it may take its time, never on a thread
/// that passes data on.
pub trait ChatHooks: Send + Sync + 'static {
    /// The body of a request with memories in it; `None` where there is nothing to add.
    fn inject(&self, call: &Call, request: &[u8]) -> Option<Vec<u8>>;

    /// A reply has gone down whole: `request` is the body as the client sent it, `reply` the assistant's
    /// message.
    fn extract(&self, call: &Call, request: &[u8], reply: Value);
}

/// Serves until `until` is ready, then lets running replies end and draws what is left to be drawn.
///
/// # Errors
///
/// Where the socket or the client cannot be set up.
pub fn serve(
    listener: TcpListener,
    upstream: Upstream,
    hooks: Arc<dyn ChatHooks>,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(server::serve(listener, upstream, hooks, until))
}

/// Ready when the process is asked to end, by Ctrl-C or by its supervisor.
pub async fn interrupted() {
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
