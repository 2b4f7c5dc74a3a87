//! The sessions of clients over HTTP: the owner of each, and their number.
//!
//! The SDK keeps the sessions. A client that is killed never ends its own, so the number is limited: a new session
//! takes the place of another one, of the caller who has the most. The client of that session is told that there is no such
//! session, and begins another one, as the protocol has it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use memories_document::types::lock::lock;

/// Time without a message of either side after which a session ends.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// The sessions of a server.
pub(super) struct Sessions {
    /// The sessions as the SDK keeps them.
    pub(super) inner: Arc<LocalSessionManager>,
    limit: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    sessions: HashMap<SessionId, Session>,
    /// Number of uses so far: it orders them without a clock.
    uses: u64,
}

impl Known {
    /// The session that makes room: of the caller with the most sessions, so that nobody takes those of others; of these
    /// first one that was never used, and the one that was silent for longest.
    fn to_leave(&self) -> Option<SessionId> {
        let mut counts: HashMap<&Option<String>, usize> = HashMap::new();
        for session in self.sessions.values() {
            *counts.entry(&session.owner).or_default() += 1;
        }
        let rank = |session: &Session| (Reverse(counts[&session.owner]), session.is_used, session.last_use);
        self.sessions.iter().min_by_key(|(_, session)| rank(session)).map(|(id, _)| id.clone())
    }
}

struct Session {
    /// The name that goes with the token by which the session began.
    owner: Option<String>,
    /// A request came to it after it began.
    is_used: bool,
    last_use: u64,
}

impl Sessions {
    /// No sessions yet, and at most `limit` later.
    pub(super) fn new(limit: usize) -> Sessions {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(SILENCE);
        Sessions { inner: Arc::new(inner), limit, known: Mutex::default() }
    }

    /// Notes who began a session, and ends the most silent ones beyond the limit.
    pub(super) fn begin(&self, id: &str, owner: Option<String>) {
        let mut known = lock(&self.known);
        while known.sessions.len() >= self.limit {
            let Some(silent) = known.to_leave() else { break };
            known.sessions.remove(&silent);
            let inner = Arc::clone(&self.inner);
            // A session whose client reads nothing may take long to end.
            tokio::spawn(async move { inner.close_session(&silent).await });
        }
        known.uses += 1;
        let last_use = known.uses;
        known.sessions.insert(id.into(), Session { owner, is_used: false, last_use });
    }

    /// True if this caller began the session; this counts as a use of it.
    pub(super) fn is_of(&self, id: &str, caller: Option<&str>) -> bool {
        let mut known = lock(&self.known);
        known.uses += 1;
        let number = known.uses;
        let Some(session) = known.sessions.get_mut(id) else { return false };
        let is_owner = session.owner.as_deref() == caller;
        if is_owner {
            (session.is_used, session.last_use) = (true, number);
        }
        is_owner
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
                let (id, transport) = sessions.inner.create_session().await.unwrap();
                sessions.begin(&id, owner.map(str::to_owned));
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
        });
    }

    #[test]
    fn nobody_takes_the_sessions_of_others_and_one_that_is_used_stays() {
        let sessions = Sessions::new(4);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let begin = |id: &str, owner: &str| sessions.begin(id, Some(owner.to_owned()));
            begin("quiet", "one");
            begin("used", "two");
            assert!(sessions.is_of("used", Some("two")));
            for number in 0..20 {
                begin(&number.to_string(), "two");
            }
            assert!(sessions.is_of("quiet", Some("one")) && sessions.is_of("used", Some("two")));
            assert!(sessions.is_of("19", Some("two")) && !sessions.is_of("17", Some("two")));
        });
    }
}
