//! Checks for hostile input, shared by the fuzz targets and `tests/it/hostile.rs`.
//!
//! Each check takes a text and panics if an invariant is broken: bytes lost, an entry forged, a value misread.

use memories::document::scan::{Event, lines, walk};
use memories::document::{Document, RegionKind, check, evidence, grammar, stored, visits, ways};
use memories::llm::answer::{parse_object, parse_objects};
use memories::record::answer::read_answer;
use memories::record::prompt::{MAX_MEMORIES, MAX_TITLES};
use memories::record::shown::Shown;
use memories::record::turn::Turn;
use memories::types::{Attempt, Category, Memory, Scope, Span, TryResult};
use serde_json::{Map, Value};

/// A named check.
#[allow(dead_code, reason = "each fuzz target uses one")]
pub type Check = (&'static str, fn(&str));

/// All checks.
#[allow(dead_code, reason = "each fuzz target uses one")]
pub const ALL: [Check; 4] = [("scan", scan), ("entry", entry), ("turn", turn), ("answer", answer)];

/// Any file: the scan, the document, and the problems that `check` reports.
pub fn scan(text: &str) {
    let document = Document::parse(text.to_owned());
    for heading in document.headings() {
        let section = document.section(&heading.scope).expect("a heading has a section");
        for memory in &section.memories {
            let mut entries = document.entries(&heading.scope);
            assert!(entries.any(|entry| entry.memory() == *memory), "{:?}", memory.title);
        }
    }
    assert_eq!(document.into_text().as_deref(), Ok(text), "printed as parsed");

    let printed: String = lines(text).iter().map(|line| &text[line.range.clone()]).collect();
    assert_eq!(printed, text, "every byte belongs to one line");
    let mut visible = 0;
    walk(text.as_bytes(), |event| {
        if let Event::Visible(offset, line) = event {
            let offset = offset as usize;
            assert!(offset >= visible, "lines come in order");
            assert_eq!(&text.as_bytes()[offset..offset + line.len()], line);
            visible = offset + line.len();
        }
    });
    let _ = check::problems(text);
}

/// The lines of the grammar, and memories with any title and text: what is written reads back unchanged.
pub fn entry(text: &str) {
    for line in text.lines() {
        lines_settle(line);
    }
    a_memory_is_one_memory(text);
}

/// Writing a parsed line and parsing it again is stable.
fn lines_settle(line: &str) {
    if let Some(heading) = grammar::parse_heading(line) {
        let written = grammar::write_heading(&heading.scope, &heading.name);
        let read = grammar::parse_heading(&written).expect("what was written is a heading");
        assert_eq!(read.scope, heading.scope);
        assert_eq!(grammar::write_heading(&read.scope, &read.name), written);
    }
    if let Some(entry) = grammar::parse_entry(line) {
        let memory = stored(&Memory {
            persistence: entry.persistence,
            status: entry.status,
            provenance: entry.provenance,
            ..Memory::new(entry.category, entry.title, String::new())
        });
        let written = grammar::write_entry(&memory);
        let read = grammar::parse_entry(&written).expect("what was written is an entry");
        assert_eq!(
            (&read.category, read.persistence, read.status),
            (&memory.category, memory.persistence, memory.status)
        );
        assert_eq!((&read.title, &read.provenance), (&memory.title, &memory.provenance), "{written:?}");
    }
    if let Some(reference) = grammar::parse_reference(line) {
        let written = grammar::write_reference(&reference);
        let read = grammar::parse_reference(&written).expect("what was written is a reference");
        assert_eq!(grammar::write_reference(&read), written);
        assert_eq!(read.at, reference.at);
    }
    if let Some(attempts) = evidence::parse_attempts(line) {
        let written = evidence::write_attempts(&attempts.attempts, |_| false);
        let read =
            written.iter().map(|line| evidence::parse_attempts(line).expect("what was written is read"));
        let read: Vec<Attempt> = read.flat_map(|line| line.attempts).collect();
        assert_eq!(evidence::write_attempts(&read, |_| false), written);
    }
    if let Some(way) = ways::parse_way(line) {
        let written = ways::write_way(&way.way);
        assert_eq!(ways::parse_way(&written).map(|way| ways::write_way(&way.way)), Some(written));
    }
    if let Some(visits) = visits::parse_visits(line) {
        assert_eq!(visits::parse_visits(&visits::write_visits(&visits)), Some(visits));
    }
}

/// Splits a text at U+0001 into the title, text, context and reply of a memory and an attempt.
fn a_memory_is_one_memory(text: &str) {
    let scope = Scope::Location(1);
    let mut parts = text.splitn(4, '\u{1}');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (title, body, context, reply) = (part(), part(), part(), part());
    let note = || Category::new("NOTE").expect("a category");
    let hostile = Memory {
        context: Some(context),
        see_also: Some(reply.clone()),
        ..Memory::new(note(), title.clone(), body)
    };
    let before = Memory::new(note(), "Before", "One.");
    let after = Memory::new(note(), "After", "Another.");
    let attempt = Attempt {
        action: title,
        count: 1,
        episode: Some(1),
        reply,
        result: TryResult::Unknown,
        ..Attempt::default()
    };
    let mut document = Document::parse(String::new());
    for memory in [&before, &hostile, &after] {
        document.add(&scope, &hostile.title, memory).expect("nothing is open in a file of ours");
    }
    let tries = !memories::document::text::stored_line(&attempt.action).is_empty();
    if tries {
        document
            .put_attempt(&scope, "", RegionKind::Tried, &attempt, 10)
            .expect("nothing is open in a file of ours");
    }
    let printed = document.into_text().expect("read as it was meant");
    let read = Document::parse(printed.clone());
    assert_eq!(read.headings().count(), 1, "{printed:?}");
    let section = read.section(&scope).expect("the section");
    assert_eq!(section.memories, [&before, &hostile, &after].map(stored), "{printed:?}");
    assert_eq!(section.tried.len(), usize::from(tries), "{printed:?}");
}

/// Any input to `record`.
pub fn turn(text: &str) {
    match Turn::from_json(text) {
        Ok(mut turn) => {
            turn.notes.clear();
            let mut value = serde_json::to_value(&turn).expect("a turn is JSON");
            // The memory is written as one object and read from three fields.
            if let Some(remember) = value.get_mut("remember").map(Value::take) {
                value["remember"] = remember["text"].clone();
                value["remember_importance"] = remember["importance"].clone();
                value["remember_category"] = remember["category"].clone();
            }
            let text = value.to_string();
            let read = Turn::from_json(&text).map(|read| Turn { notes: Vec::new(), ..read });
            assert_eq!(read.as_ref(), Ok(&turn), "what was read is read the same: {text}");
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

/// True if two values are equal up to the last digits of a fraction, which JSON may lose.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (x, y) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            a == b || (x - y).abs() <= x.abs() * 1e-12
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && is_same(a.1, b.1))
        }
        _ => one == other,
    }
}

/// Any answer of a model.
pub fn answer(text: &str) {
    let object = parse_object(text);
    if let Ok(object) = &object {
        let plain = serde_json::to_string(object).expect("an object is JSON");
        let read = parse_object(&plain).expect("what was read is read again");
        assert!(is_same(&read.clone().into(), &object.clone().into()), "{read:?} is not {object:?}");
    }
    let shown = Shown::of_texts(&[text], &["One", "Two"], Span { first: 1, last: 9 });
    let Ok(proposal) = read_answer(text, &shown) else {
        let declines =
            |object: &Map<String, Value>| object.get("should_remember") == Some(&Value::Bool(false));
        let all_decline = parse_objects(text).is_ok_and(|objects| objects.iter().all(declines));
        assert!(!all_decline, "to decline is an answer");
        return;
    };
    assert!(proposal.memories.len() <= MAX_MEMORIES && proposal.wrong.len() <= MAX_TITLES);
    for proposed in proposal.memories {
        assert!(proposed.supersedes.len() <= MAX_TITLES);
        let memory = proposed.memory;
        assert!((1..=1000).contains(&memory.importance()));
        let scope = Scope::Location(1);
        let mut document = Document::parse(String::new());
        document.add(&scope, "Here", &memory).expect("nothing is open in a file of ours");
        let printed = document.into_text().expect("read as it was meant");
        let section = Document::parse(printed).section(&scope).expect("the section");
        assert_eq!(section.memories, [stored(&memory)]);
    }
}
