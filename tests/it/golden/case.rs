//! A golden case as text, and back: the command lines first, then a part for each file and stream, as
//! `fixtures/cli/README.md` says.
//!
//! Whatever the bytes of a part, the case that is read from what [`Case::to_text`] wrote is the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;

/// Marks behind the name of a part.
const ESCAPED: &str = "escaped";
const UNENDED: &str = "no final newline";
const ABSENT: &str = "absent";

/// Files of a folder by their paths in it. Empty folders are left out.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// Folders of `fixtures/worlds` whose files lie beside those of `before`.
    pub worlds: Vec<String>,
    pub feature: Option<String>,
    /// Lines `NAME=VALUE`.
    pub env: Vec<String>,
    /// Command lines without the program's name.
    pub commands: Vec<String>,
    pub stdin: Vec<u8>,
    pub before: Files,
    pub seen: Seen,
}

/// What the commands of a case print and leave: expected, or seen.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// A code for each command; none where all are 0.
    pub exit: Vec<String>,
    pub stdout: String,
    pub stderr: String,
    /// Files that changed. One without content must not exist.
    pub after: BTreeMap<String, Option<Vec<u8>>>,
}

impl Case {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut case = Self::default();
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next_if(|line| heading(line).is_none()) {
            case.take_line(line.trim_end()).ok_or(format!("not a line of a case: {line}"))?;
        }
        while let Some(line) = lines.next() {
            let mut body = String::new();
            while let Some(line) = lines.next_if(|line| heading(line).is_none()) {
                body.push_str(line);
            }
            case.take_part(line, &body).ok_or(format!("not a part of a case: {line}"))?;
        }
        Ok(case)
    }

    fn take_line(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let words = || value.split(' ').map(str::to_owned).collect();
        match key {
            "memories" => self.commands.push(value.to_owned()),
            "env:" => self.env.push(value.to_owned()),
            "world:" if self.worlds.is_empty() => self.worlds = words(),
            "feature:" if self.feature.is_none() => self.feature = Some(value.to_owned()),
            "exit:" if self.seen.exit.is_empty() => self.seen.exit = words(),
            _ => return None,
        }
        Some(())
    }

    /// Nothing where there is no such part, or where it stands twice.
    fn take_part(&mut self, line: &str, body: &str) -> Option<()> {
        let (name, marks) = named(heading(line)?);
        let is_new = if marks == [ABSENT] {
            body.is_empty() && self.seen.after.insert(name.strip_prefix("after/")?.to_owned(), None).is_none()
        } else {
            let bytes = decode(body, &marks)?;
            let is_new = |old: usize| old == 0 && !bytes.is_empty();
            if let Some(name) = name.strip_prefix("before/") {
                self.before.insert(name.to_owned(), bytes).is_none()
            } else if let Some(name) = name.strip_prefix("after/") {
                self.seen.after.insert(name.to_owned(), Some(bytes)).is_none()
            } else if name == "stdin" {
                is_new(std::mem::replace(&mut self.stdin, bytes.clone()).len())
            } else {
                let stream = match name {
                    "stdout" => &mut self.seen.stdout,
                    "stderr" => &mut self.seen.stderr,
                    _ => return None,
                };
                is_new(std::mem::replace(stream, String::from_utf8(bytes.clone()).ok()?).len())
            }
        };
        is_new.then_some(())
    }

    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(out, "{}", format!("{key} {value}").trim_end());
        };
        if !self.worlds.is_empty() {
            line("world:", &self.worlds.join(" "));
        }
        self.feature.iter().for_each(|feature| line("feature:", feature));
        self.env.iter().for_each(|variable| line("env:", variable));
        self.commands.iter().for_each(|command| line("memories", command));
        if !self.seen.exit.is_empty() {
            line("exit:", &self.seen.exit.join(" "));
        }
        let stream =
            |name: &str, bytes: &[u8]| if bytes.is_empty() { String::new() } else { part(name, bytes) };
        out += &stream("stdin", &self.stdin);
        self.before.iter().for_each(|(name, bytes)| out += &part(&format!("before/{name}"), bytes));
        out += &stream("stdout", self.seen.stdout.as_bytes());
        out += &stream("stderr", self.seen.stderr.as_bytes());
        for (name, bytes) in &self.seen.after {
            out += &match bytes {
                Some(bytes) => part(&format!("after/{name}"), bytes),
                None => format!("-- after/{name} ({ABSENT}) --\n"),
            };
        }
        out
    }
}

fn heading(line: &str) -> Option<&str> {
    line.trim_end_matches('\n').strip_prefix("-- ")?.strip_suffix(" --")
}

/// The name of a part, and the marks in parentheses behind it.
fn named(heading: &str) -> (&str, Vec<&str>) {
    match heading.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, marks)) => (name, marks.split(", ").collect()),
        None => (heading, Vec::new()),
    }
}

/// A part with its heading.
fn part(name: &str, bytes: &[u8]) -> String {
    let (mut marks, mut body) = (Vec::new(), String::from_utf8_lossy(bytes).into_owned());
    if body.as_bytes() != bytes
        || body.chars().any(|c| !is_plain(c))
        || body.lines().any(|line| heading(line).is_some())
    {
        marks.push(ESCAPED);
        body = escaped(bytes);
    }
    if !body.is_empty() && !body.ends_with('\n') {
        marks.push(UNENDED);
        body.push('\n');
    }
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    format!("-- {name}{marks} --\n{body}")
}

fn decode(body: &str, marks: &[&str]) -> Option<Vec<u8>> {
    let mut bytes = if marks.contains(&ESCAPED) { unescaped(body)? } else { body.as_bytes().to_vec() };
    if marks.contains(&UNENDED) && bytes.pop() != Some(b'\n') {
        return None;
    }
    marks.iter().all(|mark| [ESCAPED, UNENDED].contains(mark)).then_some(bytes)
}

/// Whether a person sees a character in an editor.
fn is_plain(c: char) -> bool {
    let is_unseen =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    matches!(c, '\n' | '\t') || !(c.is_control() || is_unseen)
}

fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    let codes = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out += "\\\\",
                '\r' => out += "\\r",
                c if is_plain(c) => out.push(c),
                c => out += &codes(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out += &codes(chunk.invalid());
    }
    let line =
        |line: &str| if heading(line).is_some() { format!("\\x2d{}", &line[1..]) } else { line.to_owned() };
    out.split_inclusive('\n').map(line).collect()
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let (byte, length) = match escape.chars().next()? {
            '\\' => (b'\\', 1),
            'r' => (b'\r', 1),
            'x' => (u8::from_str_radix(escape.get(1..3)?, 16).ok()?, 3),
            _ => return None,
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend(rest.bytes());
    Some(bytes)
}

/// Bytes with all that a part of a case could take for its own form.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let odd = [
        "-- stdout --",
        "-- a (escaped) --",
        "-- ",
        " --",
        "\n",
        "\r\n",
        "\\",
        "\\x41",
        "\u{feff}",
        "é",
        "a ",
    ];
    let odd: Vec<Vec<u8>> = odd.iter().map(|text| text.as_bytes().to_vec()).collect();
    let piece = prop_oneof![prop::sample::select(odd), any::<[u8; 1]>().prop_map(Vec::from)];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(crate::cases(500))]
    #[test]
    fn a_case_comes_back(stdin in any_bytes(), before in any_bytes(), output in any_bytes(), after in prop::option::of(any_bytes())) {
        let stdout = String::from_utf8_lossy(&output).into_owned();
        let seen = Seen { exit: vec!["4".to_owned()], stdout, stderr: String::new(), after: [("b c".to_owned(), after)].into() };
        let commands = vec!["add 5".to_owned(), String::new()];
        let case = Case { commands, stdin, before: [("a".to_owned(), before)].into(), seen, ..Case::default() };
        prop_assert_eq!(Case::parse(&case.to_text()), Ok(case));
    }
}
