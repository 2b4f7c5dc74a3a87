//! SQLite: the tables `memories`, `places` (names, visits) and `tried`.
//!
//! `memories` has the columns that similar programs use: session, turn, content, importance, location,
//! score, moves, timestamp. The column `fields` holds the whole memory as a JSONL object without its text.
//! To be read, a database needs only `content`. Where a column and `fields` differ, the column wins, since
//! somebody changed it.

mod limits;

use std::path::Path;
use std::str::FromStr;

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, MAIN_DB, OpenFlags, Row, params};
use serde_json::{Map, Value, json};

use limits::Room;

use crate::transfer::object::{memory_object, read_attempt, read_item, read_section, section_object};
use crate::transfer::source::{Item, LeftOut, Origin, TransferSource};
use memories_document::Section;
use memories_document::types::fields::{Expected, Fields, integer, number, parse_episode};
use memories_document::types::hint::Refused;
use memories_document::types::instant::stated;
use memories_document::types::{Attempt, Memory, Scope, Span, clamp_importance};

/// The tables. A `u64` may be too large for an INTEGER; columns without a type store it as text.
const SCHEMA: &str = "\
CREATE TABLE memories (
    id INTEGER PRIMARY KEY,
    session_id TEXT,
    turn_number INTEGER,
    content TEXT NOT NULL,
    importance INTEGER NOT NULL DEFAULT 500,
    location TEXT,
    score INTEGER,
    moves INTEGER,
    timestamp TEXT,
    fields TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX memories_by_session_and_importance ON memories (session_id, importance);
CREATE INDEX memories_by_session_and_location ON memories (session_id, location);
CREATE TABLE places (
    scope TEXT PRIMARY KEY, name TEXT NOT NULL, visits, episodes TEXT NOT NULL, evidence TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE tried (
    scope TEXT NOT NULL, action TEXT NOT NULL, count, episode, turn, reply TEXT NOT NULL, result TEXT,
    witnesses TEXT
);
";

/// Keys of a section that stand together in the column `evidence`.
const EVIDENCE: [&str; 4] = ["first_visit", "ways", "worked", "seen"];

const NO_DATABASE: &str = "give a database with a table `memories` that has a column `content`";

fn unreadable(error: &rusqlite::Error) -> Refused {
    if let Some((problem, hint)) = limits::explain(error) {
        return Refused::fix(problem, hint);
    }
    let problem = match error {
        rusqlite::Error::SqliteFailure(_, Some(problem)) => problem.clone(),
        other => other.to_string(),
    };
    Refused::fix(format!("SQLite: {problem}"), NO_DATABASE)
}

/// Writes the sections as the bytes of a database.
///
/// # Errors
///
/// If SQLite fails, for example for lack of memory.
pub fn write(sections: &[(Scope, Section)]) -> Result<Vec<u8>, Refused> {
    let database = || {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        let transaction = connection.transaction()?;
        fill(&transaction, sections)?;
        transaction.commit()?;
        Ok(connection.serialize(MAIN_DB)?.to_vec())
    };
    database().map_err(|error: rusqlite::Error| unreadable(&error))
}

fn fill(connection: &Connection, sections: &[(Scope, Section)]) -> rusqlite::Result<()> {
    let mut place = connection.prepare("INSERT INTO places VALUES (?, ?, ?, ?, ?)")?;
    let mut tried = connection.prepare("INSERT INTO tried VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut row = connection.prepare(
        "INSERT INTO memories (session_id, turn_number, content, importance, location, score, moves, timestamp, \
         fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (scope, section) in sections {
        let key = scope.to_string();
        let episodes = json!(section.episodes).to_string();
        let mut evidence = section_object(scope, section);
        evidence.retain(|key, _| EVIDENCE.contains(&key.as_str()));
        let evidence = Value::Object(evidence).to_string();
        place.execute(params![key, section.name, cell(section.visits), episodes, evidence])?;
        for attempt in &section.tried {
            let (episode, turn) = (attempt.episode.map(cell), attempt.turn.map(cell));
            let Attempt { action, count, reply, result, witnesses, .. } = attempt;
            let witnesses = witnesses.ids().map(|ids| ids.join(","));
            let result = json!(result).as_str().map(str::to_owned);
            let count = cell(*count);
            tried.execute(params![key, action, count, episode, turn, reply, result, witnesses])?;
        }
        let location = match scope {
            Scope::Location(id) if section.name.is_empty() => id.to_string(),
            Scope::Location(id) => format!("{} (ID: {id})", section.name),
            other => other.to_string(),
        };
        for memory in &section.memories {
            let mut fields = memory_object(scope, memory);
            fields.shift_remove("text");
            let columns = Columns::of(memory);
            row.execute(params![
                columns.session_id,
                columns.turn_number,
                memory.text,
                columns.importance,
                location,
                memory.provenance.score,
                memory.provenance.moves,
                memory.provenance.date,
                Value::Object(fields).to_string()
            ])?;
        }
    }
    Ok(())
}

/// A number; as text if it is too large for SQLite.
fn cell(number: u64) -> Cell {
    i64::try_from(number).map_or_else(|_| Cell::Text(number.to_string()), Cell::Integer)
}

/// The columns whose values are also in `fields`, in another form.
#[derive(Debug, Default, PartialEq, Eq)]
struct Columns {
    session_id: Option<String>,
    turn_number: Option<i64>,
    importance: i64,
}

impl Columns {
    fn of(memory: &Memory) -> Columns {
        let fields = &memory.provenance;
        Columns {
            session_id: fields.episode.map(|episode| episode.to_string()),
            turn_number: fields.turns.and_then(|turns| i64::try_from(turns.last).ok()),
            importance: i64::from(memory.importance()),
        }
    }
}

/// Reads a database file; other programs may write to it meanwhile.
///
/// # Errors
///
/// If it cannot be read as a database with memories.
pub(crate) fn read_file(path: &Path) -> Result<TransferSource, Refused> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| unreadable(&error))?;
    read(&mut connection, 0)
}

/// Reads the bytes of a database.
///
/// # Errors
///
/// If it cannot be read as a database with memories.
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<TransferSource, Refused> {
    if !bytes.starts_with(b"SQLite format 3\0") {
        return Err(Refused::fix("not an SQLite database", NO_DATABASE));
    }
    let (mut bytes, size) = (bytes.to_vec(), bytes.len());
    // Bytes 18 and 19 announce a write-ahead log, which is not part of the bytes.
    if let Some(versions) = bytes.get_mut(18..20) {
        versions.copy_from_slice(&[1, 1]);
    }
    let database = || {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), true)?;
        Ok(connection)
    };
    read(&mut database().map_err(|error: rusqlite::Error| unreadable(&error))?, size)
}

/// Reads a database within the limits; `size` is that of one in memory.
fn read(connection: &mut Connection, size: usize) -> Result<TransferSource, Refused> {
    let mut rows = || {
        limits::limit(connection, size)?;
        let (mut source, mut room) = (TransferSource::default(), Room::for_import());
        if !columns(connection, "places")?.is_empty() {
            read_places(connection, &mut source, &mut room)?;
        }
        let names = columns(connection, "memories")?;
        if names.iter().any(|name| matches!(name.as_str(), "content" | "text")) {
            read_memories(connection, &names, &mut source, &mut room)?;
            leave_out_tables(connection, true, &mut source)?;
            return Ok(Ok(source));
        }
        leave_out_tables(connection, false, &mut source)?;
        Ok(Err(source.left_out))
    };
    let source = rows().map_err(|error: rusqlite::Error| unreadable(&error))?;
    source.map_err(|left_out| {
        let hint =
            "export what you have as JSONL: a line is {\"scope\": 15, \"title\": \"…\", \"text\": \"…\"}";
        Refused::fix(without_memories(&left_out), hint)
    })
}

/// Tables that are read.
const TABLES: [&str; 3] = ["memories", "places", "tried"];

/// Notes the tables of which nothing is read, with their rows. `memories` is read where it has texts.
fn leave_out_tables(
    connection: &Connection,
    has_texts: bool,
    source: &mut TransferSource,
) -> rusqlite::Result<()> {
    let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                 ORDER BY name";
    let mut statement = connection.prepare(query)?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let is_read = |name: &String| {
        let name = name.to_lowercase();
        TABLES.contains(&name.as_str()) && (name != "memories" || has_texts)
    };
    let others: Vec<String> = names.into_iter().filter(|name| !is_read(name)).collect();
    for name in others {
        let quoted = name.replace('"', "\"\"");
        // A table of an extension that is not there cannot be counted.
        let rows = connection.query_row(&format!("SELECT count(*) FROM \"{quoted}\""), [], |row| row.get(0));
        let Ok(rows) = rows.map(|rows: i64| rows.unsigned_abs()) else { continue };
        let what = format!("rows of the table `{name}`");
        source.leave_out(what, rows, "only `memories`, `places` and `tried` are read");
    }
    Ok(())
}

/// The error of a database that has no memories, with what it has.
fn without_memories(left_out: &[LeftOut]) -> String {
    let problem = "the database has no table `memories` with a column `content`";
    let found: Vec<String> =
        left_out.iter().map(|LeftOut { what, count, .. }| format!("{what} ({count})")).collect();
    if found.is_empty() { problem.to_owned() } else { format!("{problem}; left out: {}", found.join(", ")) }
}

/// The columns of a table in lower case; none if there is no such table.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT lower(name) FROM pragma_table_info(?)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

fn read_places(
    connection: &Connection,
    source: &mut TransferSource,
    room: &mut Room,
) -> rusqlite::Result<()> {
    let mut tried: Map<String, Value> = Map::new();
    if !columns(connection, "tried")?.is_empty() {
        for (_, object) in objects(connection, "SELECT * FROM tried ORDER BY rowid", room)? {
            let scope = object.get("scope").and_then(Value::as_str).unwrap_or_default().to_owned();
            let list = tried.entry(scope).or_insert_with(|| json!([]));
            list.as_array_mut().expect("it was made a list").push(Value::Object(object));
        }
    }
    for (at, mut object) in objects(connection, "SELECT * FROM places ORDER BY rowid", room)? {
        let scope = object.get("scope").and_then(Value::as_str).unwrap_or_default();
        let mut attempts = tried.shift_remove(scope).unwrap_or_else(|| json!([]));
        // An unreadable action does not affect the others.
        let mut broken = Vec::new();
        if let Value::Array(attempts) = &mut attempts {
            attempts.retain(|attempt| read_attempt(attempt).map_err(|problem| broken.push(problem)).is_ok());
        }
        object.insert("tried".to_owned(), attempts);
        if let Some(Value::String(evidence)) = object.shift_remove("evidence") {
            let evidence: Map<String, Value> = serde_json::from_str(&evidence).unwrap_or_else(|_| {
                broken.push("`evidence` is not a JSON object".to_owned());
                Map::new()
            });
            object.extend(evidence.into_iter().filter(|(key, _)| EVIDENCE.contains(&key.as_str())));
        }
        if let Some(Value::String(episodes)) = object.get("episodes") {
            let episodes = serde_json::from_str(episodes).unwrap_or_else(|_| {
                broken.push("`episodes` is not a JSON list".to_owned());
                Value::Null
            });
            object.insert("episodes".to_owned(), episodes);
        }
        let at = Origin::Other("places", at);
        source.push(at, read_section(&object));
        broken.into_iter().for_each(|problem| source.push(at, Err(problem)));
    }
    for (scope, _) in tried {
        let problem = format!("the tried actions of `{scope}` belong to no place");
        source.push(Origin::Other("tried", 1), Err(problem));
    }
    Ok(())
}

fn read_memories(
    connection: &Connection,
    names: &[String],
    source: &mut TransferSource,
    room: &mut Room,
) -> rusqlite::Result<()> {
    const KNOWN: [&str; 17] = [
        "id",
        "session_id",
        "turn_number",
        "turn",
        "content",
        "text",
        "importance",
        "location",
        "location_id",
        "location_name",
        "score",
        "moves",
        "timestamp",
        "fields",
        "title",
        "category",
        "tags",
    ];
    let unknown: Vec<&String> = names.iter().filter(|name| !KNOWN.contains(&name.as_str())).collect();
    source.unknown = unknown.iter().map(|name| (*name).clone()).collect();
    let by_id = names.iter().any(|name| name == "id");
    let order = if by_id { " ORDER BY id" } else { "" };
    let scale = scale_of(connection, names)?;
    for (at, row) in objects(connection, &format!("SELECT * FROM memories{order}"), room)? {
        let id = row.get("id").and_then(Value::as_i64);
        for name in unknown.iter().filter(|name| row.get(name.as_str()).is_some_and(|value| !value.is_null()))
        {
            source.leave_out_key(name);
        }
        let at = Origin::Row(id.unwrap_or_else(|| i64::try_from(at).unwrap_or(i64::MAX)));
        source.push(at, item_of_row(&row, scale));
    }
    Ok(())
}

/// Factor that scales the importances of a table to 1000. Tables of other programs often use 0 to 1 (if
/// there are fractions) or 0 to 10.
fn scale_of(connection: &Connection, names: &[String]) -> rusqlite::Result<f64> {
    if !names.iter().any(|name| name == "importance") || names.iter().any(|name| name == "fields") {
        return Ok(1.0);
    }
    let query = "SELECT max(number), max(number <> round(number)) FROM \
                 (SELECT CAST(importance AS REAL) AS number FROM memories WHERE importance IS NOT NULL)";
    let (most, fractions): (Option<f64>, Option<bool>) =
        connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match (most, fractions) {
        (Some(most), Some(true)) if most <= 1.0 => 1000.0,
        (Some(most), _) if most <= 10.0 => 100.0,
        _ => 1.0,
    })
}

/// All rows with their numbers from 1, as objects whose keys are the columns' names in lower case.
fn objects(
    connection: &Connection,
    query: &str,
    room: &mut Room,
) -> rusqlite::Result<Vec<(usize, Map<String, Value>)>> {
    let mut statement = connection.prepare(query)?;
    let names: Vec<String> = statement.column_names().map(|name| name.to_lowercase()).collect();
    let rows = statement.query_map([], |row| object(row, &names, room))?;
    rows.enumerate().map(|(at, row)| Ok((at + 1, row?))).collect()
}

fn object(row: &Row<'_>, names: &[String], room: &mut Room) -> rusqlite::Result<Map<String, Value>> {
    let mut object = Map::new();
    for (at, name) in names.iter().enumerate() {
        let cell = row.get_ref(at)?;
        room.take(cell)?;
        let value = match cell {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(text) | ValueRef::Blob(text) => json!(String::from_utf8_lossy(text)),
        };
        // A number that was too large for SQLite.
        let large = value.as_str().and_then(|text| text.parse::<u64>().ok());
        let large = large.filter(|_| matches!(name.as_str(), "visits" | "count" | "episode" | "turn"));
        object.insert(name.clone(), large.map_or(value, |number| json!(number)));
    }
    Ok(object)
}

/// A row as a memory: `fields`, overridden by columns with other values.
fn item_of_row(row: &Map<String, Value>, scale: f64) -> Result<Item, String> {
    let columns = Fields::of(row);
    let mut object = match columns.get("fields") {
        None => Map::new(),
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(object)) => object,
            _ => return Err("`fields` is not a JSON object".to_owned()),
        },
        Some(other) => return Err(format!("`fields` is {other}, expected a JSON object")),
    };
    let content = columns.get("content").or(columns.get("text")).ok_or("`content` is NULL")?;
    let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    object.insert("text".to_owned(), json!(content));
    for name in ["title", "category", "tags", "location", "location_id", "location_name"] {
        if let Some(value) = columns.get(name) {
            object.entry(name.to_owned()).or_insert_with(|| value.clone());
        }
    }
    let Item::Memory { place, mut memory } = read_item(&Value::Object(object))? else {
        return Err("`content` is not a text".to_owned());
    };
    take_columns(&mut memory, columns, scale)?;
    Ok(Item::Memory { place, memory })
}

/// Takes over the columns whose values differ from `fields`.
fn take_columns(memory: &mut Memory, columns: Fields<'_>, scale: f64) -> Result<(), String> {
    let integer = |name| columns.read(name, |value| or_spelled(value, integer));
    let own = Columns::of(memory);
    if let Some(session) = columns.get("session_id") {
        let session = session.as_str().map_or_else(|| session.to_string(), str::to_owned);
        if own.session_id.as_ref() != Some(&session) {
            match parse_episode(&session) {
                Some(episode) => memory.provenance.episode = Some(episode),
                None => memory.provenance.tags.push(format!("session:{session}")),
            }
        }
    }
    let turn = integer("turn_number")?.or(integer("turn")?);
    if turn.is_some() && turn != own.turn_number {
        let turn = turn.and_then(|turn| u64::try_from(turn).ok()).ok_or("`turn_number` is less than 0")?;
        memory.provenance.turns = Some(Span::one(turn));
    }
    if let Some(importance) = columns.read("importance", |value| or_spelled(value, number))? {
        let importance = clamp_importance(importance * scale);
        if i64::from(importance) != own.importance {
            memory.provenance.importance = Some(importance);
        }
    }
    memory.provenance.score = integer("score")?.or(memory.provenance.score);
    memory.provenance.moves = integer("moves")?.or(memory.provenance.moves);
    if let Some(timestamp) = columns.get("timestamp") {
        match date_of(timestamp) {
            Ok(date) => memory.provenance.date = Some(date),
            Err(unread) if !memory.provenance.other.contains(&unread) => memory.provenance.other.push(unread),
            Err(_) => {}
        }
    }
    Ok(())
}

/// A converted value; a TEXT column stores numbers as text.
fn or_spelled<T: FromStr>(
    value: &Value,
    conversion: impl FnOnce(&Value) -> Result<T, Expected>,
) -> Result<T, Expected> {
    let spelled = || value.as_str()?.trim().parse().ok();
    conversion(value).or_else(|expected| spelled().ok_or(expected))
}

/// A time as the memory file has it, from RFC 3339, SQLite's own form or seconds since 1970. Any other text
/// is returned unchanged as the error.
fn date_of(timestamp: &Value) -> Result<String, String> {
    stated(timestamp).ok_or_else(|| {
        timestamp.as_str().map_or_else(|| timestamp.to_string(), |text| text.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_far_as_there_is_room() {
        let connection = Connection::open_in_memory().unwrap();
        let endless =
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, 'text' FROM n";
        let error = objects(&connection, endless, &mut Room::of(100_000)).unwrap_err();
        assert!(unreadable(&error).problem.contains("more rows"), "{error}");
        let few = format!("{endless} LIMIT 400");
        assert_eq!(objects(&connection, &few, &mut Room::of(100_000)).unwrap().len(), 400);
    }
}
