//! A parser for JSON that is slightly broken.
//!
//! A text that begins with `{` enters; the object, its length, and whether it was complete leave.
//! Accepted beyond the standard: trailing and missing commas, single and typographic quotes, unquoted
//! keys and single words, `True`, `False` and `None`, comments, line breaks and quotes inside strings,
//! missing brackets at the end. A value that the end of the text cuts off is left out. The parser looks
//! ahead only over white space, so that its work is linear in the text.

use serde_json::{Map, Value};

/// Maximum nesting depth of values.
const DEPTH: usize = 64;

/// An object that was read.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedObject {
    /// Its fields.
    pub object: Map<String, Value>,
    /// Length in bytes.
    pub length: usize,
    /// All brackets were closed.
    pub complete: bool,
}

/// The object at the start of the text, or `None` if there is none.
pub(super) fn parse_object(text: &str) -> Option<ParsedObject> {
    let mut reader = Reader { text, position: 0, complete: true };
    let object = reader.parse_object(DEPTH).ok()?;
    let Reader { position: length, complete, .. } = reader;
    (complete || !object.is_empty()).then_some(ParsedObject { object, length, complete })
}

/// The text is not even broken JSON.
struct NotJson;

/// Reads values. A value is `None` where the text ends within it and nothing of it can be used; the reader
/// is then at the end of the text, so that everything around it ends there, too.
struct Reader<'a> {
    text: &'a str,
    position: usize,
    /// False if the text ended before all brackets were closed.
    complete: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let mut trimmed = rest.trim_start();
            if trimmed.starts_with("//") {
                trimmed = trimmed.find('\n').map_or("", |end| &trimmed[end..]);
            }
            self.position = self.text.len() - trimmed.len();
            if trimmed.len() == rest.len() {
                return;
            }
        }
    }

    /// Skips commas. True after the bracket that closes the value, and at the end of the text.
    fn ends(&mut self, close: char) -> bool {
        self.skip_space();
        while self.peek() == Some(',') {
            self.take();
            self.skip_space();
        }
        match self.peek() {
            Some(next) if next == close => self.take().is_some(),
            Some(_) => false,
            None => {
                self.complete = false;
                true
            }
        }
    }

    fn parse_object(&mut self, depth: usize) -> Result<Map<String, Value>, NotJson> {
        let mut object = Map::new();
        self.take();
        while !self.ends('}') {
            let Some(key) = self.parse_key()? else { continue };
            self.skip_space();
            match self.take() {
                Some(':') => self.skip_space(),
                Some(_) => return Err(NotJson),
                None => continue,
            }
            object.extend(self.parse_value(depth, Within::Object)?.map(|value| (key, value)));
        }
        Ok(object)
    }

    fn parse_array(&mut self, depth: usize) -> Result<Vec<Value>, NotJson> {
        let mut items = Vec::new();
        self.take();
        while !self.ends(']') {
            items.extend(self.parse_value(depth, Within::Array)?);
        }
        Ok(items)
    }

    fn parse_key(&mut self) -> Result<Option<String>, NotJson> {
        match self.peek().and_then(closing_quote) {
            Some(_) => Ok(self.parse_string(Within::Key)),
            None => self.parse_word(),
        }
    }

    fn parse_value(&mut self, depth: usize, within: Within) -> Result<Option<Value>, NotJson> {
        if depth == 0 {
            return Err(NotJson);
        }
        Ok(match self.peek() {
            None => None,
            Some('{') => Some(Value::Object(self.parse_object(depth - 1)?)),
            Some('[') => Some(Value::Array(self.parse_array(depth - 1)?)),
            Some(first) if closing_quote(first).is_some() => self.parse_string(within).map(Value::String),
            Some(_) => self.parse_word()?.map(word_value),
        })
    }

    /// A key or value without quotes: letters, digits and the characters of numbers.
    fn parse_word(&mut self) -> Result<Option<String>, NotJson> {
        let rest = self.rest();
        let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        self.position += end;
        match &rest[..end] {
            literal @ ("true" | "false" | "null") => Ok(Some(literal.to_owned())),
            _ if end == rest.len() => Ok(None),
            word if word.chars().any(char::is_alphanumeric) => Ok(Some(word.to_owned())),
            _ => Err(NotJson),
        }
    }

    fn parse_string(&mut self, within: Within) -> Option<String> {
        let close = self.take().and_then(closing_quote)?;
        let mut string = String::new();
        loop {
            match self.take()? {
                '\\' => string.push(self.parse_escape()?),
                quote if quote == close && self.ends_string(within) => return Some(string),
                other => string.push(other),
            }
        }
    }

    /// True if the quote just read closes the string, judged by what follows it.
    fn ends_string(&self, within: Within) -> bool {
        let rest = self.rest();
        let next = rest.trim_start();
        let gap = &rest[..rest.len() - next.len()];
        let mut following = next.chars();
        match (following.next(), within) {
            (None, _) => true,
            (Some(':'), Within::Key) | (Some('}'), Within::Object) | (Some(']'), Within::Array) => true,
            (Some(','), Within::Array) => true,
            (Some(','), Within::Object) => {
                let after = following.as_str().trim_start();
                after.is_empty() || after.starts_with(['}', '/']) || starts_key(after)
            }
            (Some(_), Within::Object | Within::Array) => !gap.is_empty() && starts_string(next),
            (Some(_), Within::Key) => false,
        }
    }

    /// The character of an escape whose backslash was read, or `None` at the end of the text.
    fn parse_escape(&mut self) -> Option<char> {
        Some(match self.take()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.parse_unicode(),
            other => other,
        })
    }

    /// The character of `\u` and four digits, or of two such escapes that are a surrogate pair.
    fn parse_unicode(&mut self) -> char {
        for length in [10, 4] {
            let digits = self.rest().get(..length).unwrap_or_default();
            if let Ok(read) = serde_json::from_str(&format!("\"\\u{digits}\"")) {
                self.position += length;
                return read;
            }
        }
        if self.rest().get(..4).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            self.position += 4;
        }
        char::REPLACEMENT_CHARACTER
    }
}

/// The position of a string, which decides what may follow it.
#[derive(Clone, Copy)]
enum Within {
    Key,
    Object,
    Array,
}

fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' => Some(open),
        '“' | '”' => Some('”'),
        _ => None,
    }
}

fn starts_string(text: &str) -> bool {
    text.chars().next().and_then(closing_quote).is_some()
}

/// True if a key of an object begins here: a quote, or a word and its colon.
fn starts_key(text: &str) -> bool {
    let word = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    starts_string(text) || (word.len() < text.len() && word.trim_start().starts_with(':'))
}

fn word_value(word: String) -> Value {
    match word.to_ascii_lowercase().as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "null" | "none" | "undefined" | "nan" => return Value::Null,
        _ => {}
    }
    let number = word.strip_prefix('+').unwrap_or(&word);
    if let Ok(whole) = number.parse::<i64>() {
        return Value::from(whole);
    }
    match number.parse::<f64>() {
        Ok(real) if real.is_finite() => Value::from(real),
        _ => Value::String(word),
    }
}
