//! The declaration of a tool.

use serde_json::{Map, Value};

use crate::mcp::access::{Memories, Watcher};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::arguments::Arguments;
use crate::mcp::parameter::Parameter;
use crate::notebook::{Notebook, name_authors};

/// The effect of a call on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The file is only read.
    Reads,
    /// Adds to the file; repeating the call adds again.
    Adds,
    /// Adds to the file; repeating the call changes nothing.
    AddsOnce,
    /// Supersedes or invalidates memories.
    Strikes,
}

/// A call of a tool.
pub(crate) struct Call<'a> {
    pub memories: &'a Memories,
    pub watcher: &'a Watcher,
    pub arguments: Arguments<'a>,
}

impl Call<'_> {
    /// The memory file, to be changed in the name of the caller.
    pub(super) fn notebook(&self) -> Notebook {
        self.memories.notebook_of(self.watcher)
    }
}

/// A tool.
pub(crate) struct Tool {
    pub name: &'static str,
    /// Name for people, shown by clients.
    pub title: &'static str,
    /// Description for the model, on one line: what it does, and when to use it.
    pub about: &'static str,
    pub effect: Effect,
    pub parameters: &'static [Parameter],
    /// Output schema.
    pub answer: fn() -> Value,
    pub run: fn(&Call<'_>) -> Result<Answer, Refusal>,
}

impl Tool {
    /// Checks the arguments and runs the tool.
    pub(crate) fn call(
        &self,
        memories: &Memories,
        watcher: &Watcher,
        arguments: &Map<String, Value>,
    ) -> Result<Answer, Refusal> {
        let arguments = Arguments::of(arguments, self.parameters)?;
        watcher.goes_on()?;
        let mut answer = (self.run)(&Call { memories, watcher, arguments })?;
        if self.effect == Effect::Reads {
            name_authors(&*memories.snapshot()?, &mut answer.data);
        }
        Ok(answer)
    }
}
