//! Counts of the changes that a sync brought to each side.

use std::collections::HashMap;

use serde::Serialize;

use memories_document::Document;
use memories_document::types::{fold_action, fold_title};

/// Entries, actions and ways that one side got from the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Brought {
    /// Memories that are new or changed.
    pub memories: u64,
    /// Times that an action was tried or worked.
    pub actions: u64,
    /// Times that a way was walked.
    pub ways: u64,
}

/// The result of a sync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// Changes of the memory file.
    pub received: Brought,
    /// Changes of the remote copy.
    pub sent: Brought,
    /// Times that another writer was faster.
    pub lost_races: u32,
    /// Requests to the store, without those for credentials and those that the client repeated by itself.
    pub requests: u64,
    /// Bytes of texts that were fetched.
    pub received_bytes: u64,
    /// Bytes of texts that were put, or tried to be.
    pub sent_bytes: u64,
}

impl SyncReport {
    /// Sets what the merged text brings to each side.
    pub(super) fn compare(&mut self, ours: &str, theirs: &str, merged: &str) {
        let of_merged = contents(merged);
        self.received = brought(ours, merged, &of_merged);
        self.sent = brought(theirs, merged, &of_merged);
    }
}

/// The parts of a text that are counted, and how often they stand there.
#[derive(Default)]
struct Contents {
    memories: HashMap<String, u64>,
    actions: HashMap<String, u64>,
    ways: HashMap<String, u64>,
}

fn contents(text: &str) -> Contents {
    let mut contents = Contents::default();
    for (scope, section) in Document::parse(text.to_owned()).sections() {
        let mut add = |map: fn(&mut Contents) -> &mut HashMap<String, u64>, key: String, count: u64| {
            *map(&mut contents).entry(format!("{scope} {key}")).or_default() += count;
        };
        for memory in &section.memories {
            let key = format!("{} {} {:?}", fold_title(&memory.title), memory.text, memory.status);
            add(|contents| &mut contents.memories, key, 1);
        }
        for attempt in section.tried.iter().chain(&section.worked) {
            add(|contents| &mut contents.actions, fold_action(&attempt.action), attempt.count);
        }
        for way in &section.ways {
            add(|contents| &mut contents.ways, format!("{} {}", fold_action(&way.action), way.to), way.count);
        }
    }
    contents
}

fn brought(before: &str, after: &str, of_after: &Contents) -> Brought {
    if before == after {
        return Brought::default();
    }
    let of_before = contents(before);
    let surplus = |after: &HashMap<String, u64>, before: &HashMap<String, u64>| {
        let more =
            |(key, count): (&String, &u64)| count.saturating_sub(before.get(key).copied().unwrap_or(0));
        after.iter().map(more).sum()
    };
    Brought {
        memories: surplus(&of_after.memories, &of_before.memories),
        actions: surplus(&of_after.actions, &of_before.actions),
        ways: surplus(&of_after.ways, &of_before.ways),
    }
}
