//! The tools: a table, with a file for each group.
//!
//! A tool is a plain function from arguments to an answer or a refusal, without knowledge of the protocol.

mod map;
mod places;
mod recalling;
mod schema;
mod searching;
mod shaping;
mod status;
mod tool;
mod who;
mod witnesses;

use crate::mcp::answer::Refusal;
use crate::mcp::group::Group;

pub(crate) use schema::{answer as answer_schema, arguments as arguments_schema};
pub(crate) use tool::{Effect, Tool};

/// The tools that a server offers.
#[derive(Clone)]
pub(crate) struct Toolbox {
    tools: Vec<&'static Tool>,
}

impl Toolbox {
    /// The tools of these groups; with `read_only`, only those that read. Those that tell an agent of itself need
    /// `has_agent`.
    pub(crate) fn new(groups: &[Group], read_only: bool, has_agent: bool) -> Toolbox {
        let mut toolbox = Toolbox { tools: Vec::new() };
        for (group, tool) in all() {
            let may_run = (!read_only || tool.effect == Effect::Reads) && (has_agent || !needs_agent(tool));
            // A tool may be in several groups.
            if groups.contains(&group) && may_run && !toolbox.has(tool.name) {
                toolbox.tools.push(tool);
            }
        }
        toolbox
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Tool> {
        self.tools.iter().copied()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The tool with that name.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with similar names, or the reason why this tool is not offered.
    pub(crate) fn find(&self, name: &str) -> Result<&'static Tool, Refusal> {
        if let Some(tool) = self.tools.iter().find(|tool| tool.name == name) {
            return Ok(tool);
        }
        if name == searching::QUERY_MEMORY.name && self.has(searching::QUERY_MEMORIES.name) {
            return Ok(&searching::QUERY_MEMORY);
        }
        if let Some((group, tool)) = all().find(|(_, tool)| tool.name == name) {
            let why = match tool.effect {
                Effect::Reads if needs_agent(tool) => ", or without `--agent ID`",
                Effect::Reads => "",
                _ => ", or started with `--read-only`",
            };
            return Err(Refusal::new(format!("the tool `{name}` is not offered here"))
                .hint(format!("this server was started without the group `{group}`{why}")));
        }
        let names: Vec<&str> = self.iter().map(|tool| tool.name).collect();
        Err(Refusal::unknown("tool", name, &names))
    }
}

/// True for a tool that tells an agent of itself.
fn needs_agent(tool: &Tool) -> bool {
    who::OF_AGENT.iter().any(|own| own.name == tool.name)
}

fn all() -> impl Iterator<Item = (Group, &'static Tool)> {
    let groups = [
        (Group::Places, places::TOOLS),
        (Group::Places, map::TOOLS),
        (Group::Self_, who::OF_AGENT),
        (Group::Self_, who::TOOLS),
        (Group::Shaping, shaping::TOOLS),
        (Group::Recalling, recalling::TOOLS),
        (Group::Status, status::TOOLS),
    ];
    groups.into_iter().flat_map(|(group, tools)| tools.iter().map(move |tool| (group, tool)))
}
