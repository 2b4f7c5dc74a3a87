//! Conversations of chat programs: digests, extraction of memories, and injection of memories into requests.
//!
//! Messages enter in the formats of chat programs ([`Conversation`]). Memories are written to the file, and requests
//! leave with memories in them. It always holds that
//!
//! * no message is summarised twice: the entries of a scope record how far it has been digested;
//! * messages reach a prompt as fenced data, with secrets redacted;
//! * the lock is never held during a model call;
//! * a request for which nothing is relevant leaves unchanged, byte for byte.
//!
//! # Where to begin
//!
//! * [`digest::Digester::digest`] summarises the messages of a place or an event.
//! * [`extract::Extractor::extract`] finds new memories in the replies, with a model or with keyword rules.
//! * [`inject::Injector::inject`] inserts the relevant memories into a request of any [`api_format::ApiFormat`].
//! * The module `proxy`, a feature of this crate, is a server that does all three between a chat client and its model.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use memories_chat::ChatSettings;
//! use memories_chat::inject::Injector;
//! use memories_notebook::SharedSnapshot;
//! use memories_search::SearchSettings;
//! use memories_search::embedded::StaticModel;
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 23: Living Room\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n")?;
//! let files = Arc::new(SharedSnapshot::new(Store::open(&path, Duration::from_secs(10))?));
//! let injector = Injector::new(files, &SearchSettings::default(), Box::new(StaticModel::new()));
//! let request = br#"{"messages": [{"role": "user", "content": "Where is the trap door under the rug?"}]}"#;
//! let injected = injector.inject(request, &ChatSettings::default(), None, "2026-01-31T10:40:00Z")?;
//! assert!(String::from_utf8(injected.request)?.contains("It is under the rug."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod api_format;
pub(crate) mod conversation;
pub mod digest;
mod error;
pub mod extract;
pub mod inject;
pub(crate) mod message;
mod message_json;
#[cfg(feature = "proxy")]
pub mod proxy;
mod rejected;
pub(crate) mod responses;
mod settings;

pub use conversation::Conversation;
pub use error::ChatError;
pub use message::Message;
pub use settings::{CALIBRATED, ChatSettings, ExtractMode, USUAL_THRESHOLD};
