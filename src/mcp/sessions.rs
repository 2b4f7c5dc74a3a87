//! The sessions of clients over HTTP: who began each, and how many there are.
//!
//! Sessions are those of the SDK. A client that is killed never ends its own, so the number is limited: a new session
//! takes the place of the one that was silent for longest. Its client is told that there is no such session, and begins
//! another one, as the protocol has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};

use memories_document::types::lock::lock;

/// Time without a message of either side after which a session ends.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// The sessions of a server.
pub(super) struct Sessions {
    inner: Arc<LocalSessionManager>,
    limit: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    sessions: HashMap<SessionId, Session>,
    /// Number of uses so far: it orders them without a clock.
    uses: u64,
}

struct Session {
    /// The name that goes with the token by which the session began.
    owner: Option<Option<String>>,
    last_use: u64,
}

impl Known {
    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// Takes out the session that was silent for longest.
    fn remove_most_silent(&mut self) -> Option<SessionId> {
        let (id, _) = self.sessions.iter().min_by_key(|(_, session)| session.last_use)?;
        let id = id.clone();
        self.sessions.remove(&id);
        Some(id)
    }
}

impl Sessions {
    /// No sessions yet, and at most `limit` later.
    pub(super) fn new(limit: usize) -> Sessions {
        let mut inner = LocalSessionManager::default();
        inner.session_config = SessionConfig::default();
        inner.session_config.keep_alive = Some(SILENCE);
        Sessions { inner: Arc::new(inner), limit, known: Mutex::default() }
    }

    /// Notes who began a session.
    pub(super) fn claim(&self, id: &str, owner: Option<String>) {
        if let Some(session) = lock(&self.known).sessions.get_mut(id) {
            session.owner = Some(owner);
        }
    }

    /// True if this caller began the session; this counts as a use of it.
    pub(super) fn is_of(&self, id: &str, caller: Option<&str>) -> bool {
        let mut known = lock(&self.known);
        let number = known.next_use();
        match known.sessions.get_mut(id) {
            Some(session) if session.owner.as_ref().is_some_and(|owner| owner.as_deref() == caller) => {
                session.last_use = number;
                true
            }
            _ => false,
        }
    }

    /// Makes room for a session, and counts it.
    fn enter(&self, id: SessionId) {
        let mut known = lock(&self.known);
        while known.sessions.len() >= self.limit {
            let Some(silent) = known.remove_most_silent() else { break };
            let inner = Arc::clone(&self.inner);
            // A session whose client reads nothing may take long to end.
            tokio::spawn(async move { inner.close_session(&silent).await });
        }
        let last_use = known.next_use();
        known.sessions.insert(id, Session { owner: None, last_use });
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        self.enter(id.clone());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        lock(&self.known).sessions.remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_of_its_caller_and_the_most_silent_one_makes_room() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sessions = Sessions::new(2);
            let begin = async |owner: Option<&str>| {
                let (id, transport) = sessions.create_session().await.unwrap();
                sessions.claim(&id, owner.map(str::to_owned));
                (id, transport)
            };
            let (first, _one) = begin(Some("one")).await;
            let (second, _two) = begin(None).await;
            assert!(sessions.is_of(&first, Some("one")) && sessions.is_of(&second, None));
            assert!(!sessions.is_of(&first, Some("two")) && !sessions.is_of(&first, None));
            assert!(!sessions.is_of(&second, Some("one")) && !sessions.is_of("no-such", None));
            assert!(sessions.is_of(&first, Some("one")), "the second one is the most silent now");
            let (third, _three) = begin(None).await;
            assert!(sessions.is_of(&first, Some("one")) && sessions.is_of(&third, None));
            assert!(!sessions.is_of(&second, None));
            sessions.close_session(&third).await.unwrap();
            assert!(!sessions.is_of(&third, None));
        });
    }
}
