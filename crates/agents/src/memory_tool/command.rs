//! A command of the tool, as the API sends it.

use serde_json::{Map, Value};

use crate::memory_tool::error::refused;
use crate::memory_tool::path::ToolPath;
use memories_document::types::fields::{Expected, Fields, integer, text};
use memories_document::types::json;
use memories_notebook::NotebookError;

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// Shows a folder, or a file with numbered lines.
    View {
        /// The folder or file.
        path: ToolPath,
        /// First and last line, from 1; -1 is the last line of the file.
        range: Option<(i64, i64)>,
    },
    /// Makes a file.
    Create {
        /// The file.
        path: ToolPath,
        /// Its content.
        content: String,
    },
    /// Replaces a text that a file has once.
    StrReplace {
        /// The file.
        path: ToolPath,
        /// The text.
        old: String,
        /// The new one.
        new: String,
    },
    /// Inserts lines.
    Insert {
        /// The file.
        path: ToolPath,
        /// The line behind which they go; 0 for the begin of the file.
        line: i64,
        /// The lines.
        text: String,
    },
    /// Removes a file, or a folder with all that is in it.
    Delete {
        /// The file or folder.
        path: ToolPath,
    },
    /// Moves a file or folder.
    Rename {
        /// The file or folder.
        old: ToolPath,
        /// Its new path.
        new: ToolPath,
    },
}

/// The commands with their arguments, those that may be missing last.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("view", &["path", "view_range"]),
    ("create", &["path", "file_text"]),
    ("str_replace", &["path", "old_str", "new_str"]),
    ("insert", &["path", "insert_line", "insert_text"]),
    ("delete", &["path"]),
    ("rename", &["old_path", "new_path"]),
];

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    ///
    /// Refuses what is no command, and paths that lead elsewhere.
    pub(super) fn parse(command: &str) -> Result<Command, NotebookError> {
        let object: Map<String, Value> = match json::read(command.as_bytes()) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return refused("The command is not a JSON object"),
            Err(error) => return refused(format!("The command is not JSON: {error}")),
        };
        let fields = Fields::of(&object);
        let name = required(&fields, "command", text)?;
        let Some((_, known)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
            return refused(format!("Unknown command: {name}"));
        };
        let is_known = |field: &&str| *field == "command" || known.contains(field);
        if let Some(other) = fields.names().find(|field| !is_known(field)) {
            return refused(format!("`{other}` is not an argument of `{name}`"));
        }
        let path = |field: &str| ToolPath::parse(&required(&fields, field, text)?);
        Ok(match name.as_str() {
            "view" => Command::View {
                path: path("path")?,
                range: optional(&fields, "view_range", range)?.flatten(),
            },
            "create" => {
                Command::Create { path: path("path")?, content: required(&fields, "file_text", text)? }
            }
            "str_replace" => Command::StrReplace {
                path: path("path")?,
                old: required(&fields, "old_str", text)?,
                new: required(&fields, "new_str", text)?,
            },
            "insert" => Command::Insert {
                path: path("path")?,
                line: required(&fields, "insert_line", integer)?,
                text: required(&fields, "insert_text", text)?,
            },
            "delete" => Command::Delete { path: path("path")? },
            _ => Command::Rename { old: path("old_path")?, new: path("new_path")? },
        })
    }
}

/// A pair of lines; a list of another length means none.
fn range(value: &Value) -> Result<Option<(i64, i64)>, Expected> {
    let numbers =
        value.as_array().map(|numbers| numbers.iter().map(integer).collect::<Result<Vec<i64>, _>>());
    match numbers {
        Some(Ok(numbers)) => Ok(<[i64; 2]>::try_from(numbers).ok().map(|[first, last]| (first, last))),
        _ => Err("two line numbers".into()),
    }
}

fn optional<T>(
    fields: &Fields<'_>,
    name: &str,
    conversion: impl FnOnce(&Value) -> Result<T, Expected>,
) -> Result<Option<T>, NotebookError> {
    fields.read(name, conversion).or_else(|error| refused(error.to_string()))
}

fn required<T>(
    fields: &Fields<'_>,
    name: &str,
    conversion: impl FnOnce(&Value) -> Result<T, Expected>,
) -> Result<T, NotebookError> {
    match optional(fields, name, conversion)? {
        Some(value) => Ok(value),
        None => refused(format!("`{name}` is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_command_is_refused() {
        for (json, said) in [
            ("", "The command is not JSON: EOF while parsing a value at line 1 column 0"),
            ("[]", "The command is not a JSON object"),
            ("{}", "`command` is missing"),
            (r#"{"command": "list"}"#, "Unknown command: list"),
            (r#"{"command": "view"}"#, "`path` is missing"),
            (r#"{"command": "view", "path": 3}"#, "`path` is 3, expected a text"),
            (r#"{"command": "create", "path": "/memories/a", "file_text": null}"#, "`file_text` is missing"),
            (r#"{"command": "view", "path": "/x"}"#, "Path must start with /memories, got: /x"),
        ] {
            assert_eq!(Command::parse(json).unwrap_err().to_string(), said, "{json}");
        }
        let unknown = r#"{"command": "delete", "path": "/memories/a", "paht": 1}"#;
        assert!(Command::parse(unknown).unwrap_err().to_string().contains("`paht`"));
    }

    #[test]
    fn a_range_has_two_numbers() {
        let range = |json: &str| {
            let json = format!(r#"{{"command": "view", "path": "/memories/a", "view_range": {json}}}"#);
            match Command::parse(&json) {
                Ok(Command::View { range, .. }) => range,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(range("[2, -1]"), Some((2, -1)));
        assert_eq!((range("[2]"), range("null")), (None, None));
    }
}
