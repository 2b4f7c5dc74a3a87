//! Conversations: no message is summarised twice, none of a place is left out, none is lost on its way.

mod digest;
mod extract;
mod inject;
mod threshold;

/// The data that a prompt shows behind its fence.
fn data_of(prompt: &str) -> serde_json::Value {
    let lines: Vec<&str> = prompt.lines().collect();
    serde_json::from_str(&lines[2..lines.len() - 1].join("\n")).unwrap()
}

/// The lines of the journal beside a memory file.
fn journal_of(store: &memories::store::Store) -> Vec<serde_json::Value> {
    let folder = store.path().parent().unwrap();
    let text = std::fs::read_to_string(folder.join(".memories/Memories.md/journal.jsonl")).unwrap();
    // The first line states the version.
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}
