//! The law of all edits, on generated configurations: inserting and removing an entry leaves no trace.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::edit::{Edited, Format, apply, remove};
use super::entry::{Entry, State};
use super::json::Dialect;

/// A generator of texts. A seed decides everything.
struct Writer {
    seed: u64,
    out: String,
    ending: &'static str,
    unit: &'static str,
    dialect: Dialect,
}

impl Writer {
    fn new(seed: u64, dialect: Dialect) -> Writer {
        let mut writer = Writer { seed, out: String::new(), ending: "\n", unit: "  ", dialect };
        writer.ending = ["\n", "\r\n"][writer.pick(2)];
        writer.unit = ["  ", "\t", "    "][writer.pick(3)];
        writer
    }

    fn pick(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.seed >> 33) as usize) % below
    }

    fn one_in(&mut self, number: usize) -> bool {
        self.pick(number) == 0
    }

    /// White space, and comments where the format has them.
    fn space(&mut self, depth: usize, has_lines: bool) {
        if self.dialect != Dialect::Strict && self.one_in(6) {
            let comment = ["/* one */", "// é, two", "/* {\" */"][self.pick(3)];
            let space = [" ", ""][self.pick(2)];
            self.out.push_str(space);
            self.out.push_str(comment);
            if comment.starts_with("//") {
                self.out.push_str(self.ending);
            }
        }
        if has_lines && !self.one_in(8) {
            self.out.push_str(self.ending);
            let unit = self.unit;
            self.out.push_str(&unit.repeat(depth));
        } else if self.one_in(3) {
            let space = ["", " ", "  ", "\t"][self.pick(4)];
            self.out.push_str(space);
        }
    }

    fn json(&mut self, value: &Value, depth: usize) {
        let has_lines = !self.one_in(4);
        let (open, close, length) = match value {
            Value::Object(table) => ('{', '}', table.len()),
            Value::Array(items) => ('[', ']', items.len()),
            scalar => return self.out.push_str(&scalar.to_string()),
        };
        self.out.push(open);
        for at in 0..length {
            self.space(depth + 1, has_lines);
            let inner = match value {
                Value::Object(table) => {
                    let (key, inner) = table.iter().nth(at).unwrap();
                    self.out.push_str(&json!(key).to_string());
                    self.space(depth + 1, false);
                    self.out.push(':');
                    self.space(depth + 1, false);
                    inner
                }
                _ => &value[at],
            };
            self.json(inner, depth + 1);
            if at + 1 < length || self.dialect != Dialect::Strict && self.one_in(3) {
                self.space(depth + 1, false);
                self.out.push(',');
            }
        }
        self.space(depth, has_lines);
        self.out.push(close);
    }

    fn scalar(&mut self) -> Value {
        [json!("a, b } ] # //"), json!(true), json!(12.5), json!(null), json!("é\n")][self.pick(5)].clone()
    }

    /// A configuration with other servers and hooks, or without.
    fn configuration(&mut self) -> Value {
        let mut root = json!({});
        for key in ["theme", "mcpServers", "list", "hooks", "other"] {
            if self.one_in(2) {
                continue;
            }
            root[key] = match key {
                "mcpServers" => self.table(&["fetch", "files"]),
                "hooks" => {
                    let mut hooks = json!({});
                    for event in ["PreToolUse", "Stop"] {
                        if self.one_in(2) {
                            let hook =
                                json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]});
                            hooks[event] = [json!([]), json!([hook]), json!([hook, {"hooks": []}])]
                                [self.pick(3)]
                            .clone();
                        }
                    }
                    hooks
                }
                "list" => json!([self.scalar(), [], {}]),
                _ => self.scalar(),
            };
        }
        root
    }

    fn table(&mut self, keys: &[&str]) -> Value {
        let mut table = json!({});
        for key in keys {
            if self.one_in(2) {
                table[*key] = json!({"command": "npx", "args": ["-y", self.scalar()], "env": {}});
            }
        }
        table
    }

    /// The text of a JSON file.
    fn json_file(mut self) -> String {
        if self.one_in(12) {
            return ["", "\n", "  ", "\u{FEFF}", "\r\n\r\n"][self.pick(5)].to_owned();
        }
        let value = self.configuration();
        if self.one_in(6) {
            self.out.push('\u{FEFF}');
        }
        self.space(0, false);
        self.json(&value, 0);
        let end = [self.ending, "", " "][self.pick(3)];
        self.out.push_str(end);
        self.out
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        if self.one_in(5) {
            self.out.push_str("  # é comment: [x]");
        }
        self.out.push_str(self.ending);
        if self.one_in(4) {
            let more = ["", "# a comment", "  # indented: {"][self.pick(3)];
            self.out.push_str(more);
            self.out.push_str(self.ending);
        }
    }

    fn without_last_line_ending(mut self) -> String {
        if self.one_in(3) {
            self.out.truncate(self.out.trim_end_matches(['\n', '\r']).len());
        }
        if self.one_in(6) {
            self.out.insert(0, '\u{FEFF}');
        }
        self.out
    }

    fn toml_file(mut self) -> String {
        let parts = [
            "model = \"é [x]\"",
            "list = [1, # one\n  2]",
            "text = '''\n[mcp_servers.memories]\n'''",
            "[profiles.a]\nx = 1",
            "[mcp_servers]",
            "[mcp_servers.fetch]\ncommand = \"npx\"\nargs = []",
            "[mcp_servers.files.env]\nA = \"b\"",
            "[[list_of_tables]]\nname = 2026-01-01",
        ];
        for part in parts {
            if self.one_in(2) {
                part.split('\n').for_each(|line| {
                    if line.contains("'''") || line.contains("[mcp_servers.m") {
                        self.out.push_str(line);
                        self.out.push_str(self.ending);
                    } else {
                        self.line(line)
                    }
                });
            }
        }
        self.without_last_line_ending()
    }
}

fn server() -> Value {
    json!({"command": "memories", "args": ["mcp", "--tools", "places"]})
}

fn entries(format: Format) -> Vec<Entry> {
    let hook = |matcher: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": "memories hook claude-code", "timeout": 5}]});
    match format {
        Format::Json(Dialect::Five) => vec![Entry::member(&["mcpServers", "fetch"], server())],
        Format::Json(_) => vec![
            Entry::member(&["mcpServers"], server()),
            Entry::item(&["hooks", "SessionStart"], hook("")),
            Entry::item(&["hooks", "PreToolUse"], hook("Bash")),
        ],
        _ => vec![Entry::member(&["mcp_servers"], server())],
    }
}

fn text_of(format: Format, seed: u64) -> String {
    match format {
        Format::Json(dialect) => Writer::new(seed, dialect).json_file(),
        _ => Writer::new(seed, Dialect::Strict).toml_file(),
    }
}

const FORMATS: [Format; 4] = [
    Format::Json(Dialect::Strict),
    Format::Json(Dialect::Comments),
    Format::Json(Dialect::Five),
    Format::Toml,
];

fn value(format: Format, text: &str) -> Value {
    format.value(text.trim_start_matches('\u{FEFF}')).unwrap_or_else(|problem| panic!("{problem}:\n{text}"))
}

/// Checks a text, unless it is one that is refused; says if it was edited.
fn obeys(format: Format, text: &str) -> Result<bool, TestCaseError> {
    let entries = entries(format);
    let applied = match apply(format, text, &entries, &[]) {
        Ok(applied) => applied,
        Err(problem) => {
            prop_assert!(text.contains("mcp_servers") || text.contains("fetch"), "{problem}:\n{text}");
            return Ok(false);
        }
    };
    let Edited { text: with, pieces, .. } = &applied;
    prop_assert!(with.len() > text.len());
    value(format, with);
    let again = apply(format, with, &entries, pieces).unwrap();
    prop_assert_eq!((&again.text, &again.pieces), (with, pieces));
    prop_assert!(again.states.iter().all(|state| *state == State::Present));
    let removed = remove(format, with, &entries, pieces).unwrap();
    prop_assert_eq!(&removed.text, text, "between:\n{}", with);
    // Without the record, nothing else is lost.
    let bare = remove(format, with, &entries, &[]).unwrap();
    let before = value(format, text);
    let pruned = |value: Value| entries.iter().fold(value, |value, entry| entry.pruned(&value));
    let (bare, before) = (pruned(value(format, &bare.text)), pruned(before));
    prop_assert!(bare == before || before.is_null() && bare == json!({}), "{bare} is not {before}");
    Ok(true)
}

proptest! {
    #[test]
    fn what_is_put_in_and_taken_out_leaves_no_trace(seed: u64) {
        for format in FORMATS {
            let text = text_of(format, seed);
            format.value(text.trim_start_matches('\u{FEFF}'))
                .map_err(|problem| TestCaseError::fail(format!("{format:?} {problem}:\n{text}")))?;
            obeys(format, &text)?;
        }
    }

    #[test]
    fn other_edits_in_between_stay(seed: u64) {
        for dialect in [Dialect::Strict, Dialect::Comments] {
            let format = Format::Json(dialect);
            let text = text_of(format, seed);
            let entries = entries(format);
            let applied = apply(format, &text, &entries, &[]).unwrap();
            // A member is added in front, and one is renamed.
            let edited = |text: &str| text.replacen('{', "{ \"in\": [1], ", 1).replacen("theme", "motif", 1);
            if !text.contains("\"theme\"") && !text.contains("\"other\"") {
                continue;
            }
            let removed = remove(format, &edited(&applied.text), &entries, &applied.pieces).unwrap();
            prop_assert_eq!(removed.text, edited(&text));
        }
    }

    #[test]
    fn a_program_that_rewrites_the_file_keeps_only_what_is_not_ours(seed: u64) {
        let format = Format::Json(Dialect::Strict);
        let text = text_of(format, seed);
        let entries = entries(format);
        let applied = apply(format, &text, &entries, &[]).unwrap();
        let mut root = value(format, &applied.text);
        root["added"] = json!(1);
        let rewritten = serde_json::to_string_pretty(&root).unwrap();
        let removed = remove(format, &rewritten, &entries, &applied.pieces).unwrap();
        let mut wanted = value(format, &text);
        wanted["added"] = json!(1);
        // A list that was empty on two lines may be so again, where the program writes `[]`.
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(letters(&removed.text), letters(&wanted.to_string()));
    }

    #[test]
    fn a_text_that_is_no_configuration_is_refused_or_edited_exactly(text in "[\\[\\]{}:,\"'a#=|\n\r -]{0,40}") {
        for format in FORMATS {
            if let Ok(applied) = apply(format, &text, &entries(format), &[]) {
                let removed = remove(format, &applied.text, &entries(format), &applied.pieces).unwrap();
                prop_assert_eq!(removed.text, text.clone(), "{:?}, between:\n{}", format, applied.text);
            }
        }
    }
}

#[test]
fn most_generated_texts_are_edited() {
    for format in FORMATS {
        let texts = (0..300).map(|seed| text_of(format, seed * 7919));
        let edited = texts.filter(|text| obeys(format, text).unwrap()).count();
        assert!(edited > 270, "{format:?}: {edited} of 300");
    }
}
