//! Limits on reading a stranger's database: a view can have no end, and can take all memory.
//!
//! SQLite stops after a number of steps, or when it would use more memory than it may, temporary tables included. What
//! is read is counted in a [`Room`].

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, ffi};

/// Steps of SQLite's machine that an import may take. A row of an ordinary table takes about 30.
const MAX_STEPS: i32 = 100_000_000;

/// Steps between two looks at how many are left.
const STEPS_AT_A_TIME: i32 = 10_000;

/// Bytes that SQLite may use besides a database that is itself in memory: 256 MiB.
const MAX_MEMORY: usize = 256 << 20;

/// Bytes that a row's cell takes in memory besides its text.
const CELL: usize = 100;

const HINT: &str =
    "export what you need of it as JSONL: a line is {\"scope\": 15, \"title\": \"…\", \"text\": \"…\"}";

/// Limits steps and memory of a connection. `size` is that of a database in memory.
pub(super) fn limit(connection: &mut Connection, size: usize) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let memory = size.saturating_add(MAX_MEMORY);
    connection.query_row(&format!("PRAGMA hard_heap_limit = {memory}"), [], |_| Ok(()))?;
    limit_steps(connection, MAX_STEPS)
}

fn limit_steps(connection: &mut Connection, steps: i32) -> rusqlite::Result<()> {
    let mut left = steps / STEPS_AT_A_TIME;
    connection.progress_handler(
        STEPS_AT_A_TIME,
        Some(move || {
            left -= 1;
            left < 0
        }),
    )
}

/// The message and hint for an error that a limit caused.
pub(super) fn explain(error: &Error) -> Option<(&'static str, &'static str)> {
    match error.sqlite_error_code()? {
        ErrorCode::OperationInterrupted => {
            Some(("the database takes too long: a view may have no end", HINT))
        }
        ErrorCode::OutOfMemory => Some(("the database takes more than 256 MiB of memory", HINT)),
        ErrorCode::TooBig => Some(("the database has more rows than can be imported at once", HINT)),
        _ => None,
    }
}

/// Room in memory for rows that are read.
pub(super) struct Room {
    left: usize,
}

impl Room {
    /// Room for all rows of an import: 512 MiB.
    pub(super) fn for_import() -> Room {
        Room { left: 512 << 20 }
    }

    #[cfg(test)]
    pub(super) fn of(bytes: usize) -> Room {
        Room { left: bytes }
    }

    /// Takes the room that a cell needs.
    ///
    /// # Errors
    ///
    /// Where there is no more.
    pub(super) fn take(&mut self, cell: ValueRef<'_>) -> rusqlite::Result<()> {
        let size = match cell {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => CELL + bytes.len(),
            _ => CELL,
        };
        let left = self.left.checked_sub(size);
        self.left = left.ok_or_else(|| Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_end_is_given_up() {
        let mut connection = Connection::open_in_memory().unwrap();
        limit_steps(&mut connection, 1_000_000).unwrap();
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
        let error = connection.query_row(endless, [], |row| row.get::<_, i64>(0)).unwrap_err();
        assert!(explain(&error).unwrap().0.contains("no end"), "{error}");
    }
}
