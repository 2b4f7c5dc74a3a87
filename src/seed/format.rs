//! Parses seed files of all formats into values with line numbers.
//!
//! The result is one [`Node`] for each document (only YAML has several), with keys in the order of the
//! file, or the line of the first syntax error.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use strum::VariantNames;
use toml::de::{DeTable, DeValue};

use crate::seed::node::{Key, Malformed, Node, Value};
use crate::seed::yaml::parse_yaml;
use memories_document::line_number;
use memories_document::types::json::text_without_mark;
use memories_document::types::unknown_name;

/// The format of a seed file.
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
    /// Guesses the format by the first line that is neither blank nor a comment.
    pub(crate) fn of_text(text: &str) -> SeedFormat {
        let text = text_without_mark(text);
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

    /// The format's name in errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SeedFormat::Toml => "TOML",
            SeedFormat::Yaml => "YAML",
            SeedFormat::Json => "JSON",
        }
    }
}

/// Parses the documents of a text.
///
/// # Errors
///
/// [`Malformed`] at a syntax error.
pub(crate) fn parse(text: &str, format: SeedFormat) -> Result<Vec<Node>, Malformed> {
    let text = text_without_mark(text);
    match format {
        SeedFormat::Toml => parse_toml(text).map(|node| vec![node]),
        SeedFormat::Yaml => parse_yaml(text),
        SeedFormat::Json => parse_json(text).map(|node| vec![node]),
    }
}

fn parse_toml(text: &str) -> Result<Node, Malformed> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_number(text, span.start));
        Malformed::new(line, error.message())
    })?;
    Ok(Node { line: 1, value: toml_table(text, table.into_inner()) })
}

fn toml_table(text: &str, table: DeTable<'_>) -> Value {
    let mut pairs: Vec<_> = table.into_iter().collect();
    // The parser sorts by name.
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
    // It limits the depth, and its messages are the better ones; the other parser knows the places.
    serde_json::from_str::<serde_json::Value>(text)
        .map_err(|error| Malformed::new(error.line(), &error.to_string()))?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed
        .map_err(|error| Malformed::new(line_number(text, error.range().start), &error.kind().to_string()))?;
    Ok(parsed.value.map_or(Node { line: 1, value: Value::Null }, |value| json_node(text, value)))
}

fn json_node(text: &str, value: ast::Value<'_>) -> Node {
    let line = line_number(text, value.start());
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
        ast::Value::NumberLit(_) => Value::Number,
        ast::Value::BooleanLit(_) => Value::Flag,
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => {
            Value::List(list.elements.into_iter().map(|item| json_node(text, item)).collect())
        }
        ast::Value::Object(table) => {
            let pair = |member: ast::ObjectProp<'_>| {
                let node = json_node(text, member.value);
                (Key { line: node.line, name: member.name.into_string() }, node)
            };
            Value::Table(table.properties.into_iter().map(pair).collect())
        }
    };
    Node { line, value }
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
    fn all_formats_give_the_same_values_and_lines() {
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
    fn values_that_are_not_texts_keep_their_type() {
        assert_eq!(lines("a: yes\nb: true\nc:\nd: 1.5\n", SeedFormat::Yaml)[0].1, ".a=yes");
        let kinds = lines("{\"b\": true, \"c\": null, \"d\": -1e9}", SeedFormat::Json);
        assert_eq!(
            kinds.iter().map(|(_, kind)| kind.as_str()).collect::<Vec<_>>(),
            [".b: true or false", ".c: empty", ".d: a number"]
        );
        assert_eq!(lines("t = 19:30:00\n", SeedFormat::Toml)[0].1, ".t=19:30:00");
    }

    #[test]
    fn syntax_errors_have_lines() {
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
        // Any result will do, as long as the parser returns.
        let _ = parse(&deep, SeedFormat::Json);
    }

    #[test]
    fn the_format_is_guessed_from_the_first_line() {
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
