//! Insertions into and removals from `{…}` and `[…]`, as JSON and YAML write them.

use std::ops::Range;

use serde_json::Value;

use super::piece::Insertion;

/// A table or list between brackets.
pub(super) struct Brackets<'a> {
    pub(super) text: &'a str,
    /// The brackets included.
    pub(super) range: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
    /// True if `#` begins a comment, rather than `//` and `/*`.
    pub(super) is_yaml: bool,
    /// The text of a level of indentation; none where all stays on one line.
    pub(super) unit: Option<&'a str>,
    pub(super) ending: &'a str,
}

/// A new member or item.
pub(super) struct New<'a> {
    pub(super) key: Option<&'a str>,
    pub(super) value: &'a Value,
}

impl Brackets<'_> {
    /// The place and the text of a new item. `existing` goes into the insertion.
    pub(super) fn insertion(&self, new: &New<'_>, existing: usize) -> Insertion {
        let start = self.range.start + 1;
        let Some(last) = self.items.last() else { return self.first(new, existing) };
        let comma = self.comma_behind(last.end);
        let at = comma.map_or(last.end, |comma| comma + 1);
        let separator = if comma.is_some() { "" } else { "," };
        let Some(unit) = self.unit.filter(|_| self.text[self.range.start..last.end].contains('\n')) else {
            let before = format!("{separator} ");
            return Insertion { at, existing, before, core: new.on_one_line(), after: String::new() };
        };
        let indent = self.indent_of_items(unit);
        let core = new.on_lines(&indent, unit, self.ending);
        let line = self.text[at..].lines().next().unwrap_or_default().trim_start();
        if line.starts_with("//") || line.starts_with("/*") {
            // The comment behind the last item stays with it.
            let before = format!("{}{indent}", self.ending);
            return Insertion { at: start, existing, before, core, after: ",".to_owned() };
        }
        let before = format!("{separator}{}{indent}", self.ending);
        Insertion { at, existing, before, core, after: String::new() }
    }

    /// The first item of an empty table or list.
    fn first(&self, new: &New<'_>, existing: usize) -> Insertion {
        let at = self.range.start + 1;
        let whole = self.text.trim();
        let is_alone = whole.len() == self.range.len();
        let Some(unit) = self.unit.filter(|_| is_alone || whole.contains('\n')) else {
            let (before, after) = (String::new(), String::new());
            return Insertion { at, existing, before, core: new.on_one_line(), after };
        };
        let indent = self.indent_of_items(unit);
        let inner = &self.text[at..self.range.end - 1];
        let blank = &inner[..inner.len() - inner.trim_start().len()];
        let after = if blank.contains('\n') {
            String::new()
        } else {
            format!("{}{}", self.ending, self.indent_of_line(self.range.start))
        };
        let before = format!("{}{indent}", self.ending);
        Insertion { at, existing, before, core: new.on_lines(&indent, unit, self.ending), after }
    }

    /// The ranges that go with an item.
    pub(super) fn removal(&self, index: usize) -> Vec<Range<usize>> {
        let item = self.items[index].clone();
        let blank = self.text[..item.start].trim_end().len();
        let next_line = |from: usize| {
            let line = self.text[from..].split('\n').next().unwrap_or_default();
            (from + line.len() < self.text.len() && line.trim().is_empty()).then_some(())
        };
        let behind_comma = self.comma_behind(item.end);
        let end = behind_comma.map_or(item.end, |comma| comma + 1);
        // What follows on the line must not get into a comment of the line before.
        let has_lines = self.text[blank..item.start].contains('\n');
        let start = if has_lines && next_line(end).is_none() { item.start } else { blank };
        let mut ranges = Vec::new();
        ranges.push(start..item.end);
        match behind_comma {
            Some(comma) => {
                let rest = &self.text[comma + 1..];
                let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
                let spaces = if start == item.start { spaces } else { 0 };
                ranges.push(comma..comma + 1 + spaces);
            }
            None if index > 0 => {
                ranges.extend(self.comma_behind(self.items[index - 1].end).map(|comma| comma..comma + 1));
            }
            None => {}
        }
        let inner = self.range.start + 1..self.range.end - 1;
        if self.items.len() == 1 {
            let left = super::piece::cut(&self.text[..inner.end], ranges.clone());
            if left[inner.start..].trim().is_empty() {
                return vec![inner];
            }
        }
        ranges
    }

    /// The comma that follows an item, if one does.
    fn comma_behind(&self, end: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = end;
        loop {
            let rest = &self.text[at..];
            let blank = rest.len() - rest.trim_start().len();
            at += blank;
            let rest = &self.text[at..];
            if self.is_yaml && rest.starts_with('#') || !self.is_yaml && rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if !self.is_yaml && rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |length| length + 2);
            } else {
                return (bytes.get(at) == Some(&b',')).then_some(at);
            }
        }
    }

    fn indent_of_items(&self, unit: &str) -> String {
        if let Some(first) = self.items.first() {
            let line = self.text[..first.start].rfind('\n').map_or(0, |at| at + 1);
            let blank = &self.text[line..first.start];
            if line > self.range.start && blank.trim().is_empty() {
                return blank.to_owned();
            }
        }
        format!("{}{unit}", self.indent_of_line(self.range.start))
    }

    fn indent_of_line(&self, at: usize) -> &str {
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |at| at + 1)..at];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

impl New<'_> {
    fn key(&self) -> String {
        self.key.map_or_else(String::new, |key| format!("{}: ", Value::from(key)))
    }

    fn on_one_line(&self) -> String {
        self.key() + &on_one_line(self.value)
    }

    pub(super) fn on_lines(&self, indent: &str, unit: &str, ending: &str) -> String {
        let mut out = self.key();
        write_lines(self.value, indent, unit, ending, &mut out);
        out
    }
}

/// JSON with a space behind each colon and comma.
pub(super) fn on_one_line(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(table) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), on_one_line(value))
            };
            format!("{{{}}}", join(table.iter().map(member).collect()))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(on_one_line).collect())),
        scalar => scalar.to_string(),
    }
}

/// JSON with a line for each member; lists of plain values stay on one line.
fn write_lines(value: &Value, indent: &str, unit: &str, ending: &str, out: &mut String) {
    let inner = format!("{indent}{unit}");
    match value {
        Value::Object(table) if !table.is_empty() => {
            out.push('{');
            for (at, (key, value)) in table.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                out.push_str(&format!("{comma}{ending}{inner}{}: ", Value::from(key.as_str())));
                write_lines(value, &inner, unit, ending, out);
            }
            out.push_str(&format!("{ending}{indent}}}"));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                out.push_str(&format!("{comma}{ending}{inner}"));
                write_lines(item, &inner, unit, ending, out);
            }
            out.push_str(&format!("{ending}{indent}]"));
        }
        flat => out.push_str(&on_one_line(flat)),
    }
}
