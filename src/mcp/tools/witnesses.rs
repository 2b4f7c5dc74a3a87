//! The parameters that say who knows a new memory, and who is told.

use crate::mcp::answer::Refusal;
use crate::mcp::parameter::ArgumentType::Text;
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::tool::Call;
use memories_notebook::Telling;

pub(super) const WITNESSES: Parameter = Parameter::new("witnesses", Text, "ids of those who alone know it");
pub(super) const TOLD_BY: Parameter = Parameter::new("told_by", Text, "who told you");
pub(super) const TELL: Parameter = Parameter::new("tell", Text, "ids to tell");

/// Who knows a new memory, the agent among them, and who told it.
pub(super) fn telling_of(call: &Call<'_>) -> Result<Telling, Refusal> {
    let (mut to, by) = (call.arguments.ids(&WITNESSES)?, call.arguments.ids(&TOLD_BY)?);
    if !to.is_empty() || !by.is_empty() {
        to.extend(call.memories.setup.agent.clone());
    }
    if to.is_empty() && !by.is_empty() {
        return Err(Refusal::arguments("`told_by` says who told it to a witness, and there is none")
            .hint("name the `witnesses`"));
    }
    to.sort();
    to.dedup();
    Ok(Telling { to, by })
}

/// Who is told a memory by a call, and by whom: the agent. `None` where nobody is told.
pub(super) fn told_now(call: &Call<'_>) -> Result<Option<Telling>, Refusal> {
    let (to, by) = (call.arguments.ids(&TELL)?, call.memories.setup.agent.clone());
    let by = by.into_iter().collect();
    Ok((!to.is_empty()).then_some(Telling { to, by }))
}
