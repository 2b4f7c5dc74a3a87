//! A seed file as values that know their lines, whatever its format.
//!
//! Text enters with its [`SeedFormat`]; a [`Node`] leaves for each document in it (only YAML has several),
//! or the line at which the text is not of that format. Order of keys is that of the file.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_saphyr::Spanned;
use strum::VariantNames;
use toml::de::{DeTable, DeValue};

use crate::document::line_number;
use crate::types::text::fold_spaces;
use crate::types::unknown_name;

/// Deeper than this no seed goes; what is deeper is not followed.
const DEEPEST: usize = 32;

/// A form of seed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum SeedFormat {
    /// TOML 1.0.
    Toml,
    /// YAML 1.2, one or more documents.
    #[strum(to_string = "yaml", serialize = "yml")]
    Yaml,
    /// JSON.
    Json,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", SeedFormat::VARIANTS)
}

impl SeedFormat {
    /// The format that a text looks like by its first line that says something.
    pub(crate) fn of_text(text: &str) -> SeedFormat {
        let text = text.trim_start_matches('\u{FEFF}');
        let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let Some(line) = text.lines().map(str::trim).find(says) else { return SeedFormat::Yaml };
        let header = line.starts_with("[[") && line.ends_with("]]")
            || line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(',')
            });
        if header {
            return SeedFormat::Toml;
        }
        if line.starts_with(['{', '[']) {
            return SeedFormat::Json;
        }
        match (line.find('='), line.find(':')) {
            (Some(equals), colon) if colon.is_none_or(|colon| equals < colon) => SeedFormat::Toml,
            _ => SeedFormat::Yaml,
        }
    }

    /// What the format is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SeedFormat::Toml => "TOML",
            SeedFormat::Yaml => "YAML",
            SeedFormat::Json => "JSON",
        }
    }
}

/// A value, and the line of its file at which it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// From 1.
    pub line: usize,
    /// What stands there.
    pub value: Value,
}

/// What stands in a seed file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// A text; a date or time of TOML, too.
    Text(String),
    /// Several values.
    List(Vec<Node>),
    /// Values by their keys, in the order of the file.
    Table(Vec<(Key, Node)>),
}

/// A key, and the line at which it stands, as far as known; else that of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// From 1.
    pub line: usize,
    /// As it is written.
    pub name: String,
}

impl Node {
    /// What it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "empty",
            Value::Flag => "true or false",
            Value::Number => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Where and why a text is not of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// From 1.
    pub line: usize,
    /// In the words of that format's parser, on one line.
    pub problem: String,
}

/// Reads the documents of a text.
///
/// # Errors
///
/// [`Malformed`] where the text is not of that format.
pub(crate) fn parse(text: &str, format: SeedFormat) -> Result<Vec<Node>, Malformed> {
    let text = text.trim_start_matches('\u{FEFF}');
    match format {
        SeedFormat::Toml => parse_toml(text).map(|node| vec![node]),
        SeedFormat::Yaml => parse_yaml(text),
        SeedFormat::Json => parse_json(text).map(|node| vec![node]),
    }
}

fn parse_toml(text: &str) -> Result<Node, Malformed> {
    let table = DeTable::parse(text).map_err(|error| Malformed {
        line: error.span().map_or(1, |span| line_number(text, span.start)),
        problem: fold_spaces(error.message()),
    })?;
    Ok(Node { line: 1, value: toml_table(text, table.into_inner()) })
}

fn toml_table(text: &str, table: DeTable<'_>) -> Value {
    let mut pairs: Vec<_> = table.into_iter().collect();
    // The parser sorts by name; people read in the order of the file.
    pairs.sort_by_key(|(key, _)| key.span().start);
    let pair = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let line = line_number(text, key.span().start);
        let name: std::borrow::Cow<'_, str> = key.into_inner();
        (Key { line, name: name.into_owned() }, toml_node(text, value))
    };
    Value::Table(pairs.into_iter().map(pair).collect())
}

fn toml_node(text: &str, value: toml::Spanned<DeValue<'_>>) -> Node {
    let line = line_number(text, value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        DeValue::Integer(_) | DeValue::Float(_) => Value::Number,
        DeValue::Boolean(_) => Value::Flag,
        DeValue::Array(items) => Value::List(items.into_iter().map(|item| toml_node(text, item)).collect()),
        DeValue::Table(table) => toml_table(text, table),
    };
    Node { line, value }
}

fn parse_json(text: &str) -> Result<Node, Malformed> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let problem = error.to_string();
        // The parser says itself where it is; that stands before its words already.
        let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
        Malformed { line: error.line().max(1), problem }
    })?;
    Ok(json_node(text, raw, 0))
}

/// A value of JSON, by the slice of the text that it is: so its line is known.
fn json_node(text: &str, raw: &RawValue, depth: usize) -> Node {
    let slice = raw.get();
    let line = line_number(text, slice.as_ptr() as usize - text.as_ptr() as usize);
    let value = match slice.as_bytes().first() {
        _ if depth > DEEPEST => Value::Null,
        Some(b'"') => Value::Text(serde_json::from_str(slice).unwrap_or_default()),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(slice).unwrap_or_default();
            Value::List(items.into_iter().map(|item| json_node(text, item, depth + 1)).collect())
        }
        Some(b'{') => {
            let JsonTable(pairs) = serde_json::from_str(slice).unwrap_or_default();
            let pair = |(name, raw)| {
                let node = json_node(text, raw, depth + 1);
                (Key { line: node.line, name }, node)
            };
            Value::Table(pairs.into_iter().map(pair).collect())
        }
        Some(b't' | b'f') => Value::Flag,
        Some(b'n') | None => Value::Null,
        Some(_) => Value::Number,
    };
    Node { line, value }
}

/// The members of an object in their order, each as the text that it is.
#[derive(Default)]
struct JsonTable<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for JsonTable<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonTable<'de>, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = JsonTable<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTable<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry::<String, &'de RawValue>()? {
                    pairs.push(pair);
                }
                Ok(JsonTable(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn parse_yaml(text: &str) -> Result<Vec<Node>, Malformed> {
    let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    let documents: Vec<Spanned<Yaml>> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| Malformed {
            line: error.location().map_or(1, |place| usize::try_from(place.line()).unwrap_or(1)).max(1),
            problem: without_place(&fold_spaces(&error.to_string())),
        })?;
    Ok(documents.into_iter().map(yaml_node).collect())
}

/// A value of YAML whose line its surroundings know.
struct Yaml(Value);

fn yaml_node(spanned: Spanned<Yaml>) -> Node {
    let line = usize::try_from(spanned.referenced.line()).unwrap_or(1).max(1);
    Node { line, value: spanned.value.0 }
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = Yaml;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Yaml, E> {
        Ok(Yaml(Value::Flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Yaml, E> {
        Ok(Yaml(Value::Number))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Yaml, E> {
        Ok(Yaml(Value::Number))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Yaml, E> {
        Ok(Yaml(Value::Number))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Yaml, E> {
        Ok(Yaml(Value::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Yaml, E> {
        Ok(Yaml(Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Yaml, E> {
        Ok(Yaml(Value::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut nodes = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Yaml>>()? {
            nodes.push(yaml_node(item));
        }
        Ok(Yaml(Value::List(nodes)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Yaml, A::Error> {
        let mut table = Vec::new();
        while let Some((key, value)) = pairs.next_entry::<Spanned<String>, Spanned<Yaml>>()? {
            let line = usize::try_from(key.referenced.line()).unwrap_or(1).max(1);
            let mut node = yaml_node(value);
            if matches!(node.value, Value::List(_) | Value::Table(_)) {
                // What has lines of its own is told by the key that stands above them.
                node.line = line;
            }
            table.push((Key { line, name: key.value }, node));
        }
        Ok(Yaml(Value::Table(table)))
    }
}

/// A YAML error without the place that its words begin or end with: it is told in our own.
fn without_place(problem: &str) -> String {
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let behind = problem.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let problem = behind.map_or(problem, |(_, rest)| rest);
    problem.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, format: SeedFormat) -> Vec<(usize, String)> {
        fn walk(path: &str, node: &Node, out: &mut Vec<(usize, String)>) {
            match &node.value {
                Value::List(items) => {
                    items.iter().enumerate().for_each(|(at, item)| walk(&format!("{path}[{at}]"), item, out));
                }
                Value::Table(pairs) => {
                    pairs.iter().for_each(|(key, node)| walk(&format!("{path}.{}", key.name), node, out));
                }
                Value::Text(text) => out.push((node.line, format!("{path}={text}"))),
                _ => out.push((node.line, format!("{path}: {}", node.kind()))),
            }
        }
        let mut out = Vec::new();
        parse(text, format).unwrap().iter().for_each(|node| walk("", node, &mut out));
        out
    }

    #[test]
    fn all_formats_say_the_same_and_know_their_lines() {
        let texts = [
            (
                SeedFormat::Toml,
                "[[agents]]\nname = \"Zoë\"\nage = 3\nid = \"a\"\ntraits = [\n \"x\",\n \"y\"]\n",
            ),
            (SeedFormat::Yaml, "agents:\n- name: Zoë\n  age: 3\n  id: a\n  traits:\n   - x\n   - y\n"),
            (
                SeedFormat::Json,
                "{\"agents\": [{\n\"name\": \"Zo\\u00eb\",\n\"age\": 3,\n\"id\": \"a\", \"traits\": [\n\n\"x\",\n\"y\"]}]}",
            ),
        ];
        for (format, text) in texts {
            let expected = [
                (2, ".agents[0].name=Zoë"),
                (3, ".agents[0].age: a number"),
                (4, ".agents[0].id=a"),
                (6, ".agents[0].traits[0]=x"),
                (7, ".agents[0].traits[1]=y"),
            ];
            let expected = expected.map(|(line, text)| (line, text.to_owned()));
            assert_eq!(lines(&format!("\u{FEFF}{text}"), format), expected, "{format:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert_eq!(lines("a: yes\nb: true\nc:\nd: 1.5\n", SeedFormat::Yaml)[0].1, ".a=yes");
        let kinds = lines("{\"b\": true, \"c\": null, \"d\": -1e9}", SeedFormat::Json);
        assert_eq!(
            kinds.iter().map(|(_, kind)| kind.as_str()).collect::<Vec<_>>(),
            [".b: true or false", ".c: empty", ".d: a number"]
        );
        assert_eq!(lines("t = 19:30:00\n", SeedFormat::Toml)[0].1, ".t=19:30:00");
    }

    #[test]
    fn broken_texts_are_told_by_line() {
        for (format, text, line) in [
            (SeedFormat::Toml, "a = 1\nb =\n", 2),
            (SeedFormat::Yaml, "a: 1\nb: [1\nc: 2\n", 2),
            (SeedFormat::Json, "{\"a\": 1,\n]", 2),
        ] {
            let malformed = parse(text, format).unwrap_err();
            assert!((line..=line + 1).contains(&malformed.line), "{malformed:?}");
            assert!(
                !malformed.problem.contains('\n') && !malformed.problem.contains(" line "),
                "{malformed:?}"
            );
        }
        let bomb = "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c, *c]\n";
        assert!(parse(bomb, SeedFormat::Yaml).is_ok(), "aliases are followed");
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(parse(&deep, SeedFormat::Yaml).is_err());
        assert!(parse(&deep, SeedFormat::Toml).is_err());
        // Whatever it is, it ends.
        let _ = parse(&deep, SeedFormat::Json);
    }

    #[test]
    fn the_first_line_tells_the_format() {
        for (text, format) in [
            ("# x\n[[agents]]\n", SeedFormat::Toml),
            ("[agents.alex]\nname = 'A'", SeedFormat::Toml),
            ("id = \"a: b\"", SeedFormat::Toml),
            ("[{\"id\": 1}]", SeedFormat::Json),
            ("\u{FEFF}\n {\n}", SeedFormat::Json),
            ("[\n]", SeedFormat::Json),
            ("---\nid: a = b", SeedFormat::Yaml),
            ("agents:\n", SeedFormat::Yaml),
            ("", SeedFormat::Yaml),
        ] {
            assert_eq!(SeedFormat::of_text(text), format, "{text}");
        }
    }
}
