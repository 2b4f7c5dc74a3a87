//! Parses YAML 1.2: the parser's events enter, nodes with their lines leave.
//!
//! Aliases and merge keys (`<<`) are followed, up to a size: a short text can name a value a million times.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use crate::seed::node::{Key, Malformed, Node, Value};

/// Levels of lists and tables in one another.
const DEEPEST: usize = 64;

/// Size of all values that aliases repeat: their number and the bytes of their texts.
const REPEATED: usize = 16 << 20;

/// The documents of a text, without empty ones.
///
/// # Errors
///
/// [`Malformed`] at a syntax error, a key that is no text, and an alias of a value that is not there.
pub(super) fn parse_yaml(text: &str) -> Result<Vec<Node>, Malformed> {
    let mut reader = Reader { events: Parser::new_from_str(text), anchors: HashMap::new(), repeated: 0 };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => break,
            (Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
            (event, span) => documents.push(reader.node(event, span, 0)?),
        }
    }
    documents.retain(|node| node.value != Value::Null);
    Ok(documents)
}

/// Keys and values in the order of the file.
type Pairs = Vec<(Key, Node)>;

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    /// Finished values by the parser's number of their anchor.
    anchors: HashMap<usize, Node>,
    /// The size of all values that aliases have repeated.
    repeated: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Malformed> {
        let event = self.events.next().unwrap_or_else(|| Ok((Event::StreamEnd, Span::default())));
        event.map_err(|error: ScanError| malformed(error.marker().line(), error.info()))
    }

    /// The value that begins with an event.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Malformed> {
        let line = span.start.line().max(1);
        if depth > DEEPEST {
            return Err(malformed(
                line,
                &format!("lists and tables are nested more than {DEEPEST} levels deep"),
            ));
        }
        let (value, anchor) = match event {
            Event::Alias(anchor) => return self.alias(anchor, line),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text { Value::Text(text.into_owned()) } else { plain(text.into_owned()) };
                (value, anchor)
            }
            Event::SequenceStart(anchor, _) => (Value::List(self.items(depth)?), anchor),
            Event::MappingStart(anchor, _) => (Value::Table(self.pairs(depth)?), anchor),
            _ => return Err(malformed(line, "the document ends within a value")),
        };
        let node = Node { line, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<Node, Malformed> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(malformed(line, "an alias stands within the value that it names"));
        };
        self.repeated += size(node);
        if self.repeated > REPEATED {
            return Err(malformed(line, "aliases repeat more than 16 MiB"));
        }
        Ok(Node { line, value: node.value.clone() })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Malformed> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn pairs(&mut self, depth: usize) -> Result<Pairs, Malformed> {
        let (mut pairs, mut merged) = (Vec::new(), Vec::new());
        loop {
            let (event, span) = self.next()?;
            let line = span.start.line().max(1);
            let (name, is_merge) = match event {
                Event::MappingEnd => break,
                Event::Scalar(name, style, ..) => {
                    let is_merge = style == ScalarStyle::Plain && name == "<<";
                    (name.into_owned(), is_merge)
                }
                event => match self.node(event, span, depth + 1)?.value {
                    Value::Text(name) => (name, false),
                    _ => return Err(malformed(line, "a key must be a text")),
                },
            };
            let (event, span) = self.next()?;
            let mut node = self.node(event, span, depth + 1)?;
            if is_merge {
                merged.push((line, node));
                continue;
            }
            if matches!(node.value, Value::List(_) | Value::Table(_)) {
                // Errors in a list or table point to the key above it.
                node.line = line;
            }
            pairs.push((Key { line, name }, node));
        }
        for (line, node) in merged {
            merge(node, line, &mut pairs)?;
        }
        Ok(pairs)
    }
}

/// Adds the pairs of a table, or of the tables of a list, whose keys are not there yet.
fn merge(node: Node, line: usize, pairs: &mut Pairs) -> Result<(), Malformed> {
    let mut names: HashSet<String> = pairs.iter().map(|(key, _)| key.name.clone()).collect();
    let sources = match node.value {
        Value::List(items) => items,
        value => vec![Node { line, value }],
    };
    for source in sources {
        let Value::Table(table) = source.value else {
            return Err(malformed(line, "the key `<<` takes a table or a list of tables"));
        };
        pairs.extend(table.into_iter().filter(|(key, _)| names.insert(key.name.clone())));
    }
    Ok(())
}

/// The value of a scalar without quotation marks, by the core schema of YAML 1.2.
fn plain(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Value::Flag,
        _ if is_number(&text) => Value::Number,
        _ => Value::Text(text),
    }
}

fn is_number(text: &str) -> bool {
    let radix = |prefix, radix| {
        text.strip_prefix(prefix).is_some_and(|digits: &str| {
            !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
        })
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_decimal = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().any(|byte| byte.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok();
    is_decimal
        || radix("0x", 16)
        || radix("0o", 8)
        || matches!(unsigned, ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::Null | Value::Flag | Value::Number => 1,
        Value::Text(text) => 1 + text.len(),
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Table(pairs) => 1 + pairs.iter().map(|(key, node)| key.name.len() + size(node)).sum::<usize>(),
    }
}

fn malformed(line: usize, problem: &str) -> Malformed {
    Malformed { line: line.max(1), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Vec<(String, usize, Value)> {
        let node = parse_yaml(text).unwrap().pop().unwrap();
        let Value::Table(pairs) = node.value else { panic!("{node:?}") };
        pairs.into_iter().map(|(key, node)| (key.name, node.line, node.value)).collect()
    }

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    #[test]
    fn plain_scalars_have_the_types_of_the_core_schema() {
        for number in ["0", "-19", "007", "1.5", ".5", "1.", "-2e+5", "0x1F", "0o17", "-.inf", ".nan"] {
            assert_eq!(plain(number.to_owned()), Value::Number, "{number}");
        }
        for word in
            ["yes", "no", "inf", "nan", "infinity", "-", ".", "1_000", "0x", "0o8", "12:30", "1.2.3", "e5"]
        {
            assert_eq!(plain(word.to_owned()), text(word), "{word}");
        }
        let values = table("a: '5'\nb: !!str 5\nc: |\n  5\nd: ~\ne: FALSE\n");
        let values: Vec<Value> = values.into_iter().map(|(_, _, value)| value).collect();
        assert_eq!(values, [text("5"), text("5"), text("5\n"), Value::Null, Value::Flag]);
    }

    #[test]
    fn aliases_and_merge_keys_are_followed() {
        let values = table("a: &a {x: one, y: two}\nb:\n  <<: *a\n  y: own\nc: *a\n'<<': text\n");
        let Value::Table(merged) = &values[1].2 else { panic!("{values:?}") };
        let merged: Vec<_> = merged.iter().map(|(key, node)| (key.name.as_str(), &node.value)).collect();
        assert_eq!(merged, [("y", &text("own")), ("x", &text("one"))]);
        assert_eq!((values[2].1, &values[2].2), (5, &values[0].2));
        assert_eq!(values[3].2, text("text"));
        let first = table("a:\n  <<: [{x: one}, {x: two, z: three}]\n");
        let Value::Table(merged) = &first[0].2 else { panic!("{first:?}") };
        assert_eq!(
            merged.iter().map(|(_, node)| &node.value).collect::<Vec<_>>(),
            [&text("one"), &text("three")]
        );
    }

    #[test]
    fn values_that_cannot_be_read_are_errors_with_their_lines() {
        for (text, line, problem) in [
            ("a: &a\n  b: *a\n", 2, "within the value"),
            ("a: 1\nb:\n  <<: 5\n", 3, "takes a table"),
            ("a: 1\n? [x]\n: 2\n", 2, "must be a text"),
            ("a: *b\n", 1, "unknown anchor"),
            ("a: 1\nb: [1\n", 3, ""),
        ] {
            let error = parse_yaml(text).unwrap_err();
            assert!(error.problem.contains(problem), "{text}: {error:?}");
            assert_eq!(error.line, line, "{text}: {error:?}");
        }
    }

    #[test]
    fn small_texts_do_not_grow_without_bounds() {
        let mut bomb = format!("a0: &a0 {}\n", "x".repeat(1000));
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        assert!(parse_yaml(&bomb).unwrap_err().problem.contains("16 MiB"));
        let tables: String = (0..100).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        for deep in ["- ".repeat(5_000), "[".repeat(5_000), "? ".repeat(5_000), tables] {
            assert!(parse_yaml(&deep).is_err());
        }
    }

    #[test]
    fn each_document_that_is_not_empty_is_a_value() {
        let lines = |text| parse_yaml(text).unwrap().iter().map(|node| node.line).collect::<Vec<_>>();
        assert_eq!(lines("a: 1\n---\n---\n~\n---\nb: 2\n...\n"), [1, 6]);
        assert_eq!(lines("# nothing\n"), [0; 0]);
    }
}
