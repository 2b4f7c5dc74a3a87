//! The declaration of a tool.

use serde_json::{Map, Value};

use crate::mcp::access::{Memories, Watcher};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::arguments::Arguments;
use crate::mcp::parameter::Parameter;
use memories_notebook::{MemoryObjects, Notebook, name_authors};

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
    /// True where a program asks, which wants the answer of the command line with `--json`.
    pub by_program: bool,
}

impl Call<'_> {
    /// The answer of the command line, where it is wanted.
    pub(super) fn for_programs(
        &self,
        answer: impl FnOnce(&MemoryObjects<'_>) -> Value,
    ) -> Result<Option<Value>, Refusal> {
        if !self.by_program {
            return Ok(None);
        }
        Ok(Some(answer(&MemoryObjects::of(&*self.memories.snapshot()?))))
    }

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
    /// Fields that every answer has.
    pub answer: &'static [&'static str],
    pub run: fn(&Call<'_>) -> Result<Answer, Refusal>,
}

impl Tool {
    /// Checks the arguments and runs the tool.
    pub(crate) fn call(
        &self,
        memories: &Memories,
        watcher: &Watcher,
        arguments: &Map<String, Value>,
        by_program: bool,
    ) -> Result<Answer, Refusal> {
        let arguments = Arguments::of(arguments, self.parameters)?;
        watcher.goes_on()?;
        let mut answer = (self.run)(&Call { memories, watcher, arguments, by_program })?;
        if self.effect == Effect::Reads {
            name_authors(&*memories.snapshot()?, &mut answer.data);
        }
        Ok(answer)
    }
}
