//! Reads the data: JSON Lines with the field names that public data sets use.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

/// A text to be ranked.
#[derive(Debug, Default)]
pub struct Doc {
    pub id: String,
    pub text: String,
    pub title: String,
    pub category: Option<String>,
    /// A place of the game, by id and name.
    pub location: Option<u64>,
    pub place: String,
    /// The speaker; a text with a speaker is a line of dialogue.
    pub speaker: Option<String>,
    pub date: Option<String>,
    /// The group of the text; a query may be limited to one group.
    pub group: Option<String>,
    pub episode: Option<u64>,
    pub turn: Option<u64>,
}

/// A query.
#[derive(Debug)]
pub struct Query {
    pub id: String,
    pub question: String,
    relevant: Vec<String>,
    pub group: Option<String>,
}

/// All texts, in order.
#[derive(Debug, Default)]
pub struct Docs {
    pub texts: Vec<Doc>,
    numbers: HashMap<String, Vec<usize>>,
}

impl Docs {
    /// Adds the texts of another file.
    pub fn append(&mut self, other: Docs) {
        for doc in other.texts {
            self.numbers.entry(doc.id.clone()).or_default().push(self.texts.len());
            self.texts.push(doc);
        }
    }

    /// The numbers of the texts that are relevant to a query.
    pub fn numbers(&self, query: &Query) -> Result<Vec<usize>, String> {
        let mut numbers = Vec::new();
        for id in &query.relevant {
            let all = self
                .numbers
                .get(id)
                .ok_or_else(|| format!("question `{}` names text `{id}`, which is not there", query.id))?;
            // The same id may stand for another text in another conversation.
            let same_group =
                |number: &&usize| query.group.is_none() || self.texts[**number].group == query.group;
            let number = *all.iter().find(same_group).ok_or_else(|| {
                format!("question `{}` names text `{id}`, which is not in its conversation", query.id)
            })?;
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}

const GROUP: &[&str] = &["conversation", "group", "conversation_id", "sample_id"];

/// Reads texts from a file.
pub fn read_docs(path: &Path) -> Result<Docs, String> {
    let mut docs = Docs::default();
    for (line, object) in read(path)? {
        let doc = doc(&object).map_err(|problem| format!("{}:{line}: {problem}", path.display()))?;
        docs.numbers.entry(doc.id.clone()).or_default().push(docs.texts.len());
        docs.texts.push(doc);
    }
    Ok(docs)
}

/// Reads queries from a file; queries without a relevant text are left out.
pub fn read_queries(path: &Path) -> Result<Vec<Query>, String> {
    let mut queries = Vec::new();
    for (line, object) in read(path)? {
        let problem = |field: &str| format!("{}:{line}: no field `{field}`", path.display());
        let query = Query {
            id: text(&object, &["id", "_id", "query_id"]).unwrap_or_else(|| line.to_string()),
            question: text(&object, &["query", "question", "text"]).ok_or_else(|| problem("question"))?,
            relevant: texts(&object, &["relevant", "answers", "evidence", "doc_ids", "positives"])
                .ok_or_else(|| problem("relevant"))?,
            group: text(&object, GROUP),
        };
        if query.relevant.is_empty() {
            eprintln!("{}:{line}: nothing answers this question, it is left out", path.display());
        } else {
            queries.push(query);
        }
    }
    Ok(queries)
}

fn doc(object: &Map<String, Value>) -> Result<Doc, String> {
    Ok(Doc {
        id: text(object, &["id", "_id", "doc_id"]).ok_or("no field `id`")?,
        text: text(object, &["text", "content"]).ok_or("no field `text`")?,
        title: text(object, &["title"]).unwrap_or_default(),
        category: text(object, &["category"]),
        location: object.get("location").and_then(Value::as_u64),
        place: text(object, &["place", "location_name"]).unwrap_or_default(),
        speaker: text(object, &["speaker"]),
        date: text(object, &["date", "timestamp"]),
        group: text(object, GROUP),
        episode: number(object, &["episode", "session"]),
        turn: number(object, &["turn"]),
    })
}

/// An object with its line number.
type Numbered = (usize, Map<String, Value>);

fn read(path: &Path) -> Result<Vec<Numbered>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let object = serde_json::from_str(line);
            object
                .map(|object| (number, object))
                .map_err(|error| format!("{}:{number}: {error}", path.display()))
        })
        .collect()
}

/// The first of the named fields that is present, as text; numbers as they are written.
fn text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| object.get(*name)).and_then(plain)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The first of the named fields that is present: a list, or a single text.
fn texts(object: &Map<String, Value>, names: &[&str]) -> Option<Vec<String>> {
    match names.iter().find_map(|name| object.get(*name))? {
        Value::Array(values) => Some(values.iter().filter_map(plain).collect()),
        value => plain(value).map(|text| vec![text]),
    }
}

/// A number, or the only run of digits in a text such as `session_3`.
fn number(object: &Map<String, Value>, names: &[&str]) -> Option<u64> {
    let text = text(object, names)?;
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}
