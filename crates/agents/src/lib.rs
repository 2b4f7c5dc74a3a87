//! Services for coding agents: their commands, their configuration files, and Anthropic's memory tool.
//!
//! An agent's event or request enters, already read by the front end. Verdicts, edits of files and texts for a model
//! leave. The three modules do not use each other. It always holds that
//!
//! * neither git nor a command of the agent is run here;
//! * an edit of a configuration file changes nothing but the program's own entries, and a removal restores the former
//!   bytes;
//! * a model changes only what a model, an agent or the memory tool wrote, and its secrets are masked.
//!
//! # Where to begin
//!
//! * [`work::Work`] is one session of an agent on a repository. [`work::Work::known`] says what is known of a command
//!   before it runs, as a [`work::verdict::Verdict`]; [`work::keep()`] writes the lessons at the end.
//! * [`setup::change()`] enters `memories` in the configuration file of an agent, or takes it out.
//! * [`memory_tool::answer`] carries out one command of the memory tool. The tool's files are entries of the memory
//!   file.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_agents::memory_tool::answer;
//! use memories_notebook::{Clock, Notebook};
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;
//! let notebook = Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z"));
//! let create = r#"{"command": "create", "path": "/memories/build.md", "file_text": "Run the benchmarks first."}"#;
//! assert!(!answer(&notebook, create)?.is_error);
//! let seen = answer(&notebook, r#"{"command": "view", "path": "/memories/build.md"}"#)?;
//! assert!(seen.text.contains("Run the benchmarks first."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod memory_tool;
pub mod setup;
pub mod work;
