//! An entry that is ours: where it stands in an agent's configuration, and its value.

use serde_json::{Map, Value};

/// Name of the program, and of its entry among the servers.
pub(crate) const NAME: &str = "memories";

/// The place of an entry in the table or list that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A member of a table with this key.
    Member(String),
    /// An item of a list.
    Item,
}

/// One entry of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The keys that lead to the table or list.
    pub path: Vec<String>,
    /// Its place in the file.
    pub slot: Slot,
    /// The value of the entry.
    pub value: Value,
}

/// The relation of a configuration to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// The entry is not there.
    Missing,
    /// The entry is there in the form that would be written now.
    Present,
    /// The entry is there in the form of an earlier version.
    Outdated,
    /// The entry is ours, and somebody has changed it.
    Changed,
    /// Another program's entry has its name.
    Foreign,
}

impl Entry {
    /// A server among the servers of a table.
    pub(crate) fn member(path: &[&str], value: Value) -> Entry {
        Entry { path: owned(path), slot: Slot::Member(NAME.to_owned()), value }
    }

    /// A hook in the list of an event.
    pub(crate) fn item(path: &[&str], value: Value) -> Entry {
        Entry { path: owned(path), slot: Slot::Item, value }
    }

    /// An entry as an earlier version wrote it, by the name and the value that were recorded.
    pub(super) fn recorded(name: &str, value: &Value) -> Entry {
        let mut path: Vec<String> = name.split('.').map(str::to_owned).collect();
        let is_item = path.first().is_some_and(|key| key == "hooks");
        let slot = if is_item { Slot::Item } else { Slot::Member(path.pop().unwrap_or_default()) };
        Entry { path, slot, value: value.clone() }
    }

    /// The agent for which a hook is; none for a server.
    pub(super) fn agent(&self) -> Option<String> {
        agent_of(&self.value)
    }

    /// The name by which the entry is reported: `mcpServers.memories`, `hooks.PreToolUse`.
    pub fn name(&self) -> String {
        let key = match &self.slot {
            Slot::Member(key) => Some(key.as_str()),
            Slot::Item => None,
        };
        self.path.iter().map(String::as_str).chain(key).collect::<Vec<_>>().join(".")
    }

    /// The value that stands in the list or table below `path[depth..]`, for a text that has the keys before it.
    pub(super) fn wrapped(&self, depth: usize) -> Value {
        let innermost = match &self.slot {
            Slot::Member(key) => object(key, self.value.clone()),
            Slot::Item => Value::Array(vec![self.value.clone()]),
        };
        self.path[depth..].iter().rev().fold(innermost, |inner, key| object(key, inner))
    }

    /// The table or list that holds the entry, in the value of a whole text.
    fn holder<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.path.iter().try_fold(root, |value, key| value.get(key))
    }

    /// The relation of a text with this value to the entry. `written` is the value that was written before.
    pub(crate) fn state(&self, root: &Value, written: Option<&Value>) -> State {
        let Some(holder) = self.holder(root) else { return State::Missing };
        match &self.slot {
            Slot::Member(key) => match holder.get(key) {
                None => State::Missing,
                Some(found) if is_same(found, &self.value) => State::Present,
                Some(found) if Some(found) == written => State::Outdated,
                Some(found) if is_ours(found) => State::Changed,
                Some(_) => State::Foreign,
            },
            Slot::Item => {
                let items = holder.as_array().map(Vec::as_slice).unwrap_or_default();
                if items.contains(&self.value) {
                    State::Present
                } else if written.is_some_and(|written| items.contains(written)) {
                    State::Outdated
                } else if items.iter().any(|item| is_ours(item) && agent_of(item) == self.agent()) {
                    State::Changed
                } else {
                    State::Missing
                }
            }
        }
    }

    /// The position of the value in its list; 0 for a member.
    pub(super) fn position(&self, root: &Value, value: &Value) -> Option<usize> {
        let holder = self.holder(root)?;
        match &self.slot {
            Slot::Member(key) => is_same(holder.get(key)?, value).then_some(0),
            Slot::Item => holder.as_array()?.iter().position(|item| item == value),
        }
    }

    /// The value of a whole text with the entry added: in a list, as its last or its first item.
    pub(super) fn added(&self, root: &Value, is_first: bool) -> Value {
        let mut root = root.clone();
        let mut holder = &mut root;
        for (depth, key) in self.path.iter().enumerate() {
            if holder.is_null() {
                *holder = Value::Object(Map::new());
            }
            let Value::Object(table) = holder else { return Value::Null };
            let last = depth + 1 == self.path.len();
            let empty = match self.slot {
                Slot::Item if last => Value::Array(Vec::new()),
                _ => Value::Object(Map::new()),
            };
            holder = table.entry(key.clone()).or_insert(empty);
        }
        match (&self.slot, holder) {
            (Slot::Member(key), Value::Object(table)) => drop(table.insert(key.clone(), self.value.clone())),
            (Slot::Member(_), null @ Value::Null) => *null = self.wrapped(self.path.len()),
            (Slot::Item, Value::Array(items)) => {
                items.insert(if is_first { 0 } else { items.len() }, self.value.clone());
            }
            _ => return Value::Null,
        }
        root
    }

    /// The value of a whole text without one value of the entry, and without the tables and lists that are empty then.
    pub(super) fn removed(&self, root: &Value, value: &Value) -> Value {
        let mut root = root.clone();
        let holder = self.path.iter().try_fold(&mut root, |node, key| node.get_mut(key));
        match (&self.slot, holder) {
            (Slot::Member(key), Some(Value::Object(table))) => drop(table.shift_remove(key)),
            (Slot::Item, Some(Value::Array(items))) => {
                if let Some(at) = items.iter().position(|item| item == value) {
                    items.remove(at);
                }
            }
            _ => {}
        }
        prune(&mut root, &self.path);
        root
    }

    /// The value without empty tables and lists on the way to the entry.
    pub(super) fn pruned(&self, root: &Value) -> Value {
        let mut root = root.clone();
        prune(&mut root, &self.path);
        root
    }
}

/// True if two servers are the same: agents that share a file through a link differ in `"type": "stdio"`, the default.
fn is_same(one: &Value, other: &Value) -> bool {
    let plain = |server: &Value| {
        let mut server = server.clone();
        if server.get("type").is_some_and(|kind| kind == "stdio")
            && let Some(table) = server.as_object_mut()
        {
            table.shift_remove("type");
        }
        server
    };
    one == other || plain(one) == plain(other)
}

/// The word behind `hook` in the command of a hook.
fn agent_of(value: &Value) -> Option<String> {
    let line = value.get("hooks")?.get(0)?.get("command")?.as_str()?;
    let mut words = shlex::split(line)?.into_iter().skip_while(|word| word != "hook");
    words.nth(1)
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|&key| key.to_owned()).collect()
}

fn object(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// Removes empty tables and lists below the node, on the path.
fn prune(node: &mut Value, path: &[String]) {
    let Some((key, rest)) = path.split_first() else { return };
    let Value::Object(table) = node else { return };
    if let Some(inner) = table.get_mut(key) {
        prune(inner, rest);
        if is_empty(inner) {
            table.shift_remove(key);
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(table) => table.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// True if a server or a hook runs this program: `memories` in any folder, with `mcp` or `hook`.
fn is_ours(value: &Value) -> bool {
    let runs = |program: &str, argument: Option<&str>| {
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == NAME && matches!(argument, Some("mcp" | "hook"))
    };
    let command = value.get("command").and_then(Value::as_str);
    if let (Some(program), Some(arguments)) = (command, value.get("args")) {
        return runs(program, arguments.get(0).and_then(Value::as_str));
    }
    if let Some(line) = command {
        let words = shlex::split(line).unwrap_or_default();
        return words.first().is_some_and(|program| runs(program, words.get(1).map(String::as_str)));
    }
    let hooks = value.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|hooks| hooks.iter().any(is_ours))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_ours_is_known_by_its_command() {
        assert!(is_ours(&json!({"command": "memories", "args": ["mcp", "--agent", "x"]})));
        assert!(is_ours(&json!({"command": "/opt/a b/memories", "args": ["mcp"]})));
        assert!(is_ours(&json!({"command": "C:\\x\\memories.exe", "args": ["mcp"]})));
        assert!(is_ours(&json!({"hooks": [{"command": "'/opt/a b/memories' hook codex"}]})));
        assert!(!is_ours(&json!({"command": "npx", "args": ["memories", "mcp"]})));
        assert!(!is_ours(&json!({"command": "memories"})));
        assert!(!is_ours(&json!({"command": "other-memories", "args": ["mcp"]})));
        assert!(!is_ours(&json!({"hooks": [{"command": "memories check"}]})));
    }

    #[test]
    fn a_state_distinguishes_what_was_written_from_what_was_changed() {
        let server = |argument: &str| json!({"command": "memories", "args": ["mcp", argument]});
        let entry = Entry::member(&["servers"], server("new"));
        let state = |root: Value| entry.state(&root, Some(&server("old")));
        assert_eq!(state(json!({})), State::Missing);
        assert_eq!(state(json!({"servers": {"memories": server("new")}})), State::Present);
        assert_eq!(state(json!({"servers": {"memories": server("old")}})), State::Outdated);
        assert_eq!(state(json!({"servers": {"memories": server("mine")}})), State::Changed);
        assert_eq!(state(json!({"servers": {"memories": {"url": "x"}}})), State::Foreign);
    }
}
