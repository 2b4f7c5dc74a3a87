//! The group `status`: the state of the memory file.

use serde_json::json;

use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::tools::tool::{Call, Effect, Tool};

pub(crate) const TOOLS: &[Tool] = &[Tool {
    name: "memory_status",
    title: "Memory status",
    about: "File, counts of memories, running episode and your agent id.",
    effect: Effect::Reads,
    parameters: &[],
    answer: &["file", "memories", "places", "agents", "read_only", "groups"],
    run: memory_status,
}];

fn memory_status(call: &Call<'_>) -> Result<Answer, Refusal> {
    let snapshot = call.memories.snapshot()?;
    let counts = snapshot.summary();
    let agents: Vec<&str> = counts.agents.iter().map(String::as_str).collect();
    let episode = call.memories.notebook().state().episode;
    let setup = &call.memories.setup;
    let groups: Vec<&str> = setup.groups.iter().map(|group| group.into()).collect();
    let file = call.memories.store().path().display().to_string();
    let me = setup.agent.as_deref();
    let who = me.map_or("no agent: all sections are seen".to_owned(), |me| format!("you are {me}"));
    let mut lines = vec![
        format!("{file}{}", if snapshot.exists() { "" } else { " (not there yet)" }),
        format!(
            "{} memories ({} tentative), {} of this episode only, {} superseded",
            counts.live, counts.tentative, counts.ephemeral, counts.superseded
        ),
        format!(
            "{} places, agents: {}",
            counts.places,
            if agents.is_empty() { "none".to_owned() } else { agents.join(", ") }
        ),
        format!("episode {episode}, {who}"),
    ];
    if setup.read_only {
        lines.push("read-only".to_owned());
    }
    let data = json!({
        "file": file,
        "exists": snapshot.exists(),
        "memories": counts.live,
        "tentative": counts.tentative,
        "superseded": counts.superseded,
        "ephemeral": counts.ephemeral,
        "places": counts.places,
        "agents": agents,
        "agent": me,
        "episode": episode,
        "read_only": setup.read_only,
        "groups": groups,
    });
    Ok(Answer::new(format!("{}\n", lines.join("\n")), data))
}
