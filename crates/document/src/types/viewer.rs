//! The reader for whom the memory file is read.

use crate::types::scope::Scope;
use crate::types::witness::Witnesses;

/// The reader of memories. What a reader may not see is not there: a snapshot is read for one, without the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Viewer {
    /// A person, or a program that works for one: sees everything.
    #[default]
    Person,
    /// The agent of that id: sees everything but the sections of other agents and entries of other witnesses.
    Agent(String),
}

impl Viewer {
    /// The viewer for an agent's id, if there is one.
    pub fn of(agent: Option<&str>) -> Viewer {
        agent.map_or(Viewer::Person, |id| Viewer::Agent(id.to_owned()))
    }

    /// True if the section of a scope may be seen.
    pub fn sees(&self, scope: &Scope) -> bool {
        match (self, scope) {
            (Viewer::Agent(me), Scope::Agent(id)) => me == id,
            _ => true,
        }
    }

    /// True if the viewer is among those who know what an entry says.
    pub fn knows(&self, witnesses: &Witnesses) -> bool {
        match self {
            Viewer::Person => true,
            Viewer::Agent(me) => witnesses.has(me),
        }
    }
}
