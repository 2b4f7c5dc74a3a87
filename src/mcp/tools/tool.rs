//! A tool: its declaration, and the call of its function.

use serde_json::{Map, Value};

use crate::mcp::access::{Memories, Watcher};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::arguments::Arguments;
use crate::mcp::group::Group;
use crate::mcp::parameter::Parameter;

/// The effect of a call on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// None.
    Reads,
    /// Adds to it; the same call again adds again.
    Adds,
    /// Adds to it; the same call again changes nothing.
    AddsOnce,
    /// Supersedes or invalidates memories.
    Strikes,
}

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Its description, on one line.
    pub about: &'static str,
    /// Its effect on the file.
    pub effect: Effect,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// JSON schema of its answer.
    pub answer: fn() -> Value,
    /// The function that it calls.
    pub run: fn(&Memories, &Watcher, &Arguments<'_>) -> Result<Answer, Refusal>,
}

impl Tool {
    /// Calls it.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] says what to do next.
    pub fn call(
        &self,
        memories: &Memories,
        watcher: &Watcher,
        arguments: &Map<String, Value>,
    ) -> Result<Answer, Refusal> {
        let arguments = Arguments::of(arguments, self.parameters)?;
        watcher.goes_on()?;
        (self.run)(memories, watcher, &arguments)
    }
}
