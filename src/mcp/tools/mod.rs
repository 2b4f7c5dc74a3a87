//! The tools: a table, with a file for each group.
//!
//! A tool is a plain function from arguments to an answer or a refusal, without knowledge of the protocol.

mod places;
mod recalling;
mod schema;
mod shaping;
mod status;
mod tool;
mod who;

use crate::document::nearest;
use crate::mcp::answer::Refusal;
use crate::mcp::group::Group;
use crate::types::did_you_mean;

pub(crate) use schema::arguments as arguments_schema;
pub(crate) use tool::{Effect, Tool};

/// The tools that a server offers.
pub(crate) struct Toolbox {
    tools: Vec<&'static Tool>,
}

impl Toolbox {
    /// The tools of these groups; with `read_only`, only those that read.
    pub(crate) fn new(groups: &[Group], read_only: bool) -> Toolbox {
        let offered =
            |tool: &&Tool| groups.contains(&tool.group) && (!read_only || tool.effect == Effect::Reads);
        Toolbox { tools: all().filter(offered).collect() }
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
        if let Some(tool) = all().find(|tool| tool.name == name) {
            let why = match tool.effect {
                Effect::Reads => "",
                _ => ", or started with `--read-only`",
            };
            let group = tool.group;
            return Err(Refusal::new(format!("the tool `{name}` is not offered here"))
                .hint(format!("this server was started without the group `{group}`{why}")));
        }
        let near = nearest(name, self.tools.iter().map(|tool| tool.name), 3);
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        Err(Refusal::new(format!("there is no tool `{name}`"))
            .hint(did_you_mean(&near).unwrap_or_else(|| format!("there are {}", names.join(", ")))))
    }
}

fn all() -> impl Iterator<Item = &'static Tool> {
    [places::TOOLS, who::TOOLS, shaping::TOOLS, recalling::TOOLS, status::TOOLS].into_iter().flatten()
}
