//! One file a command: its arguments, and one function that resolves, calls and reports.

pub mod add;
pub mod check;
pub mod completions;
pub mod consolidate;
mod conversation_args;
mod correct;
pub mod diff;
pub mod digest;
pub mod episode;
pub mod export;
pub mod extract;
pub mod fmt;
pub mod forget;
pub mod import;
pub mod init;
pub mod inject;
pub mod invalidate;
pub mod list;
pub mod log;
pub mod man;
pub mod mark;
pub mod mcp;
mod memory_args;
mod model_args;
pub mod proxy;
pub mod query;
pub mod recall;
pub mod record;
pub mod rename;
pub mod restore;
pub mod retry;
pub mod seed;
pub mod show;
pub mod stats;
pub mod summarize;
pub mod supersede;
pub mod top;
pub mod tried;

use crate::cli::Cli;
use crate::cli::failure::Failure;
use crate::recall::read_scopes;
use crate::redact::mask;
use crate::store::Store;
use crate::types::{Memory, Scope, ScopeName};

impl Cli<'_> {
    /// The memory file of this command.
    fn store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.settings.file, self.settings.lock_timeout)?)
    }

    /// All of stdin, which must hold something; `what` says what was expected.
    fn read_input(&mut self, what: &str) -> Result<String, Failure> {
        let text = String::from_utf8(self.read_bytes()?).map_err(|error| {
            let problem = format!("stdin is not UTF-8: byte {}", error.utf8_error().valid_up_to() + 1);
            Failure::user(anyhow::Error::msg(problem)).hint(format!("send {what} as JSON in UTF-8"))
        })?;
        if text.trim().is_empty() {
            let failure = Failure::user(anyhow::anyhow!("stdin is empty"));
            return Err(failure.hint(format!("send {what} as a JSON object, or use flags; see `--help`")));
        }
        Ok(text)
    }

    fn read_bytes(&mut self) -> Result<Vec<u8>, Failure> {
        let bytes = self.ui.read_stdin();
        bytes.map_err(|error| Failure::user(anyhow::Error::from(error).context("cannot read stdin")))
    }
}

/// The whole text of a file that must be there.
fn read_existing(store: &Store) -> Result<String, Failure> {
    store.read()?.ok_or_else(|| {
        let failure = Failure::user(anyhow::anyhow!("there is no `{}`", store.path().display()));
        failure.hint("`memories init` makes one, and so does the first `memories record`")
    })
}

/// The scopes that a person named.
fn parse_scopes(names: &[String]) -> Result<Vec<ScopeName>, Failure> {
    names.iter().map(|name| name.parse().map_err(Failure::from)).collect()
}

/// The scope that a person named; a name must be that of exactly one place.
fn resolve_scope(store: &Store, name: &str) -> Result<Scope, Failure> {
    match name.parse()? {
        ScopeName::Scope(scope) => Ok(scope),
        name @ ScopeName::Name(_) => Ok(read_scopes(store, &[name])?.remove(0).0),
    }
}

/// A number with its noun.
fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Warns where a memory that a person worded holds what looks like a secret; it is stored all the same.
fn warn_of_secrets(cli: &mut Cli<'_>, memory: &Memory) {
    let texts = [Some(&memory.title), Some(&memory.text), memory.context.as_ref()];
    for masked in texts.into_iter().flatten().filter_map(|text| mask(text)) {
        let kinds = masked.kinds.join(", ");
        cli.ui.warning(&format!("this looks like a secret and is stored as you wrote it: {kinds}"));
    }
}

/// When and where a memory was learned, as far as it says: `Turn 5 @ West of House`.
fn at_turn(scope: &Scope, name: &str, memory: &Memory) -> String {
    let place = if name.is_empty() { scope.to_string() } else { name.to_owned() };
    match memory.provenance.turns {
        Some(turns) => format!("Turn {} @ {place}", turns.first),
        None => place,
    }
}

/// A memory as an object of JSON answers.
fn memory_json(scope: &Scope, memory: &Memory) -> serde_json::Value {
    let mut value = serde_json::json!(memory);
    value["scope"] = serde_json::json!(scope);
    value["importance"] = serde_json::json!(memory.importance());
    value
}
