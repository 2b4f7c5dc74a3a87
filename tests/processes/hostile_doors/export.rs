//! The content of a file, as `export` says it, and the changes to it that are allowed.

use std::collections::{BTreeMap, BTreeSet};

use memories::document::text::stored_line;
use serde_json::{Value, json};

use crate::mcp::client::World;

/// Tags that the program itself writes.
const TAGS: [&str; 8] =
    ["session", "conversation:", "world:", "location:", "offline", "contested", "about:", "speaker:"];

/// The content of a memory file.
#[derive(Default)]
pub struct Export {
    /// Entries of each section, in their order.
    entries: BTreeMap<String, Vec<Value>>,
    /// The name of each section.
    names: BTreeMap<String, String>,
    /// Actions under `### Tried`, `### Worked` and `### Ways`, with their section.
    actions: BTreeSet<(String, String)>,
}

/// An entry that must be there afterwards. What is `None` may be anything.
#[derive(Default)]
pub struct Wanted {
    pub scope: String,
    /// A word of its text, or of its title, that no other entry has.
    pub word: String,
    pub title: Option<String>,
    pub text: Option<String>,
    pub context: Option<String>,
    pub core: bool,
}

/// The changes that a door may make.
#[derive(Default)]
pub struct Expected {
    pub entries: Vec<Wanted>,
    /// New sections and renamed ones, with their names as they were sent.
    pub names: BTreeMap<String, String>,
    /// Actions as they were sent.
    pub actions: Vec<String>,
    /// The entry that is struck or revived, and the reason it must then bear, if one is known.
    pub struck: Option<(String, String, Option<String>)>,
}

/// How a file was found afterwards.
#[derive(Default)]
pub struct Judged {
    pub stored: usize,
    /// Words and texts of entries that are not there.
    pub missing: Vec<String>,
    /// Entries and names that should not be there, or are not as they were.
    pub forged: Vec<String>,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

impl Export {
    pub fn of(world: &World) -> Export {
        let output = world.program().args(["export", "--format", "jsonl"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "export: {said}");
        let mut export = Export::default();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let scope = text(&value, "scope").to_owned();
            if value.get("title").is_some() {
                export.entries.entry(scope).or_default().push(value);
                continue;
            }
            for list in ["tried", "worked", "ways"] {
                for action in value[list].as_array().into_iter().flatten() {
                    export.actions.insert((scope.clone(), text(action, "action").to_owned()));
                }
            }
            export.names.insert(scope, text(&value, "name").to_owned());
        }
        export
    }

    /// A live entry of a section, the newest first.
    pub fn live(&self, scope: &str) -> Option<&Value> {
        self.entries.get(scope)?.iter().rev().find(|entry| entry["status"] == "active")
    }

    /// Compares with what was there before and with what was sent.
    pub fn judge(&self, before: &Export, expected: &Expected, may_refuse: bool) -> Judged {
        let mut judged = Judged::default();
        let mut wanted: Vec<&Wanted> = expected.entries.iter().collect();
        for (scope, entries) in &self.entries {
            let old = before.entries.get(scope).map(Vec::as_slice).unwrap_or_default();
            for entry in unknown_entries(entries, old, scope, expected, &mut judged.forged) {
                let is_it = |wanted: &&Wanted| {
                    wanted.scope == *scope
                        && ["title", "text"].iter().any(|key| text(entry, key).contains(&wanted.word))
                };
                match wanted.iter().position(is_it) {
                    Some(at) => {
                        judged.forged.extend(differences(entry, wanted.swap_remove(at)));
                        judged.stored += 1;
                    }
                    None => judged.forged.push(format!("nobody sent {entry}")),
                }
            }
        }
        let gone = before.entries.keys().filter(|scope| !self.entries.contains_key(*scope));
        judged.forged.extend(gone.map(|scope| format!("{scope} is gone")));
        judged.missing =
            wanted.into_iter().map(|wanted| format!("{} ({:?})", wanted.word, wanted.text)).collect();
        self.judge_names(before, expected, may_refuse, &mut judged.forged);
        self.judge_actions(before, expected, &mut judged.forged);
        judged
    }

    fn judge_names(&self, before: &Export, expected: &Expected, may_refuse: bool, forged: &mut Vec<String>) {
        for (scope, name) in &self.names {
            let was = before.names.get(scope);
            let sent = expected.names.get(scope).map(|name| stored_line(name));
            let right = match (was, &sent) {
                (Some(was), None) => was == name,
                (Some(was), Some(sent)) => sent == name || may_refuse && was == name,
                (None, Some(sent)) => sent == name,
                // Made for the entries of a scope that has no name.
                (None, None) => {
                    name.is_empty() && expected.entries.iter().any(|wanted| wanted.scope == *scope)
                }
            };
            if !right {
                forged.push(format!("{scope} is called {name:?}, was {was:?}, sent {sent:?}"));
            }
        }
        let gone = before.names.keys().filter(|scope| !self.names.contains_key(*scope));
        forged.extend(gone.map(|scope| format!("the section of {scope} is gone")));
    }

    fn judge_actions(&self, before: &Export, expected: &Expected, forged: &mut Vec<String>) {
        let sent: BTreeSet<String> = expected.actions.iter().map(|action| stored_line(action)).collect();
        let lost = before.actions.difference(&self.actions);
        forged.extend(lost.map(|(scope, action)| format!("{scope} lost the action {action:?}")));
        let new = self.actions.difference(&before.actions).filter(|(_, action)| !sent.contains(action));
        forged.extend(new.map(|(scope, action)| format!("nobody did {action:?} in {scope}")));
    }
}

/// The entries that were not there before. Those that were must be there still, unchanged and in their order.
fn unknown_entries<'a>(
    entries: &'a [Value],
    old: &[Value],
    scope: &str,
    expected: &Expected,
    forged: &mut Vec<String>,
) -> Vec<&'a Value> {
    let struck = expected.struck.as_ref().filter(|(of, ..)| of == scope);
    let is_struck = |entry: &Value| struck.is_some_and(|(_, title, _)| text(entry, "title") == title);
    let mut unknown = Vec::new();
    let mut old = old.iter().filter(|entry| !is_struck(entry)).peekable();
    for entry in entries {
        if old.peek() == Some(&entry) {
            old.next();
        } else if let (true, Some((.., reason))) = (is_struck(entry), struck) {
            let found = &entry["reference"]["cause"]["invalidated"];
            let right = reason.as_ref().is_none_or(|reason| *found == json!(stored_line(reason)));
            if !right && entry["status"] != "active" {
                forged.push(format!("struck for {found}, not for {reason:?}"));
            }
        } else {
            unknown.push(entry);
        }
    }
    forged.extend(old.map(|entry| format!("changed or lost: {entry}")));
    unknown
}

/// Where an entry differs from what was sent.
fn differences(entry: &Value, wanted: &Wanted) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, is: &Value, should: Value| {
        if *is != should {
            found.push(format!("{what} of {} is {is}, not {should}", wanted.word));
        }
    };
    for (key, sent) in [("title", &wanted.title), ("text", &wanted.text), ("context", &wanted.context)] {
        if let Some(sent) = sent {
            compare(key, &entry[key], json!(sent));
        }
    }
    compare("status", &entry["status"], json!("active"));
    compare("persistence", &entry["persistence"], json!(if wanted.core { "core" } else { "permanent" }));
    compare("reference", &entry["reference"], Value::Null);
    compare("see_also", &entry["see_also"], Value::Null);
    let fields = &entry["fields"];
    if !wanted.core && fields["importance"].as_u64().is_some_and(|importance| importance > 700) {
        compare("importance", &fields["importance"], json!(700));
    }
    for tag in fields["tags"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !TAGS.iter().any(|known| tag.starts_with(known)) {
            compare("tags", &json!(tag), Value::Null);
        }
    }
    found
}
