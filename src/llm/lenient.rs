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
    let mut reader = Reader { text, position: 0 };
    match reader.parse_object(DEPTH) {
        Ok(Part::Whole(object)) => Some(ParsedObject { object, length: reader.position, complete: true }),
        Ok(Part::Cut(Some(object))) if !object.is_empty() => {
            Some(ParsedObject { object, length: reader.position, complete: false })
        }
        Ok(Part::Cut(_)) | Err(NotJson) => None,
    }
}

/// The text is not even broken JSON.
struct NotJson;

/// A value, or the part of it before the end of the text.
enum Part<T> {
    /// The whole value.
    Whole(T),
    /// The text ends within the value; holds what can be used of it.
    Cut(Option<T>),
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
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

    fn skip_commas(&mut self) {
        self.skip_space();
        while self.peek() == Some(',') {
            self.take();
            self.skip_space();
        }
    }

    fn parse_object(&mut self, depth: usize) -> Result<Part<Map<String, Value>>, NotJson> {
        let mut object = Map::new();
        self.take();
        loop {
            self.skip_commas();
            match self.peek() {
                None => return Ok(Part::Cut(Some(object))),
                Some('}') => {
                    self.take();
                    return Ok(Part::Whole(object));
                }
                Some(_) => {}
            }
            let Part::Whole(key) = self.parse_key()? else {
                return Ok(Part::Cut(Some(object)));
            };
            self.skip_space();
            match self.take() {
                Some(':') => {}
                Some(_) => return Err(NotJson),
                None => return Ok(Part::Cut(Some(object))),
            }
            self.skip_space();
            match self.parse_value(depth, Within::Object)? {
                Part::Whole(value) => object.insert(key, value),
                Part::Cut(Some(value)) => {
                    object.insert(key, value);
                    return Ok(Part::Cut(Some(object)));
                }
                Part::Cut(None) => return Ok(Part::Cut(Some(object))),
            };
        }
    }

    fn parse_array(&mut self, depth: usize) -> Result<Part<Vec<Value>>, NotJson> {
        let mut items = Vec::new();
        self.take();
        loop {
            self.skip_commas();
            match self.peek() {
                None => return Ok(Part::Cut(Some(items))),
                Some(']') => {
                    self.take();
                    return Ok(Part::Whole(items));
                }
                Some(_) => {}
            }
            match self.parse_value(depth, Within::Array)? {
                Part::Whole(value) => items.push(value),
                Part::Cut(value) => {
                    items.extend(value);
                    return Ok(Part::Cut(Some(items)));
                }
            }
        }
    }

    fn parse_key(&mut self) -> Result<Part<String>, NotJson> {
        match self.peek().and_then(closing_quote) {
            Some(_) => Ok(self.parse_string(Within::Key)),
            None => self.parse_word(),
        }
    }

    fn parse_value(&mut self, depth: usize, within: Within) -> Result<Part<Value>, NotJson> {
        if depth == 0 {
            return Err(NotJson);
        }
        match self.peek() {
            None => Ok(Part::Cut(None)),
            Some('{') => Ok(self.parse_object(depth - 1)?.map(Value::Object)),
            Some('[') => Ok(self.parse_array(depth - 1)?.map(Value::Array)),
            Some(first) if closing_quote(first).is_some() => Ok(self.parse_string(within).map(Value::String)),
            Some(_) => Ok(self.parse_word()?.map(word_value)),
        }
    }

    /// A key or value without quotes: letters, digits and the characters of numbers.
    fn parse_word(&mut self) -> Result<Part<String>, NotJson> {
        let rest = self.rest();
        let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        self.position += end;
        match &rest[..end] {
            literal @ ("true" | "false" | "null") => Ok(Part::Whole(literal.to_owned())),
            _ if end == rest.len() => Ok(Part::Cut(None)),
            word if word.chars().any(char::is_alphanumeric) => Ok(Part::Whole(word.to_owned())),
            _ => Err(NotJson),
        }
    }

    fn parse_string(&mut self, within: Within) -> Part<String> {
        let Some(close) = self.take().and_then(closing_quote) else {
            return Part::Cut(None);
        };
        let mut string = String::new();
        while let Some(next) = self.take() {
            match next {
                '\\' => match self.parse_escape() {
                    Some(escaped) => string.push(escaped),
                    None => return Part::Cut(None),
                },
                quote if quote == close && self.ends_string(within) => {
                    return Part::Whole(string);
                }
                other => string.push(other),
            }
        }
        Part::Cut(None)
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

    fn parse_unicode(&mut self) -> char {
        let Some(first) = self.take_unit() else {
            return char::REPLACEMENT_CHARACTER;
        };
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let before = self.position;
            self.position += 2;
            match self.take_unit() {
                Some(second) if (0xdc00..0xe000).contains(&second) => units.push(second),
                _ => self.position = before,
            }
        }
        char::decode_utf16(units).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn take_unit(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.position += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// The position of a string, which decides what may follow it.
#[derive(Clone, Copy)]
enum Within {
    Key,
    Object,
    Array,
}

impl<T> Part<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Part<U> {
        match self {
            Part::Whole(value) => Part::Whole(change(value)),
            Part::Cut(value) => Part::Cut(value.map(change)),
        }
    }
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
