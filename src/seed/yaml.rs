//! Parses YAML 1.2 into nodes with their lines.
//!
//! The library follows aliases and merge keys (`<<`), and limits the depth and the size of all values: a short text can
//! name a value a million times.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Spanned, budget, from_multiple_with_options, options};

use crate::seed::node::{Key, Malformed, Node, Value};

/// Levels of lists and tables in one another.
const DEEPEST: usize = 32;

/// Size in bytes of all texts, those included that aliases repeat.
const LARGEST: usize = 16 << 20;

/// The documents of a text, without empty ones.
///
/// # Errors
///
/// [`Malformed`] at a syntax error, a key that is no text, and an alias of a value that is not there.
pub(super) fn parse_yaml(text: &str) -> Result<Vec<Node>, Malformed> {
    if text.len() > LARGEST {
        return Err(Malformed::new(1, &format!("the text is larger than {} MiB", LARGEST >> 20)));
    }
    let options = options! {
        budget: budget! { max_depth: DEEPEST, max_total_scalar_bytes: LARGEST },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        underscored_numbers_as_strings: true,
    };
    let documents = from_multiple_with_options(text, options).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        Malformed::new(line.try_into().unwrap_or(1), &error.without_snippet().to_string())
    })?;
    let documents = documents.into_iter().map(node);
    Ok(documents.filter(|node| node.value != Value::Null).collect())
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    spanned.referenced.line().try_into().unwrap_or(1)
}

fn node(spanned: Spanned<Value>) -> Node {
    Node { line: line(&spanned), value: spanned.value }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list or a table")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Flag)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(node(item));
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut table = Vec::new();
        while let Some((key, value)) = members.next_entry::<Spanned<String>, Spanned<Value>>()? {
            let mut node = node(value);
            let key = Key { line: line(&key), name: key.value };
            if matches!(node.value, Value::List(_) | Value::Table(_)) {
                // Errors in a list or table point to the key above it.
                node.line = key.line;
            }
            table.push((key, node));
        }
        Ok(Value::Table(table))
    }
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
        let plain = |text: String| table(&format!("a: {text}\n")).remove(0).2;
        for number in ["0", "-19", "007", "1.5", ".5", "1.", "-2e+5", "0x1F", "0o17", "-.inf", ".nan"] {
            assert_eq!(plain(number.to_owned()), Value::Number, "{number}");
        }
        for word in ["yes", "no", "inf", "nan", "infinity", ".", "1_000", "0x", "0o8", "12:30", "1.2.3", "e5"]
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
        assert_eq!((values[2].1, &values[3].2), (5, &text("text")));
        let Value::Table(repeated) = &values[2].2 else { panic!("{values:?}") };
        assert_eq!((repeated[0].1.line, &repeated[1].1.value), (5, &text("two")));
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
            ("a: &a\n  b: *a\n", 2, "recursive"),
            ("a: 1\nb:\n  <<: 5\n", 3, "must be mapping"),
            ("a: 1\n? [x]\n: 2\n", 2, ""),
            ("a: *b\n", 1, "unknown anchor"),
            ("a: 1\nb: [1\n", 2, "unclosed"),
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
        assert!(parse_yaml(&bomb).unwrap_err().problem.contains("budget"));
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
