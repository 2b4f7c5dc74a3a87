//! Recorded answers, for tests: the program as it is shipped has no provider `replay`.
//!
//! A JSONL file enters. Each line has `answer` (a text, or an object that is returned as JSON) or `error`
//! (`unreachable`, `refused`, `garbled`), and optionally `when`, a text that the prompt must contain. The
//! first line that matches answers, every time: nothing is counted or used up, so that the same turn gets
//! the same answer in any order. The file is read at the first question.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Answer, Model, ModelError, Question, Usage};
use memories_document::types::json::text_without_mark;

/// Answers from a file.
#[derive(Debug)]
pub(crate) struct Replay {
    path: PathBuf,
    records: OnceLock<Vec<Record>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    when: Option<String>,
    answer: Option<Value>,
    error: Option<Failure>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Failure {
    Unreachable,
    Refused,
    Garbled,
}

impl Replay {
    /// The answers in `path`, which is opened later.
    pub(crate) fn new(path: &Path) -> Replay {
        Replay { path: path.to_owned(), records: OnceLock::new() }
    }

    fn records(&self) -> Result<&[Record], ModelError> {
        if let Some(records) = self.records.get() {
            return Ok(records);
        }
        let records = read_records(&self.path)?;
        Ok(self.records.get_or_init(|| records))
    }
}

impl Model for Replay {
    fn name(&self) -> String {
        match self.path.file_name() {
            Some(name) => format!("replay/{}", name.to_string_lossy()),
            None => "replay".to_owned(),
        }
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let at = self.path.display().to_string();
        let fits = |record: &&Record| match &record.when {
            Some(when) => question.prompt.contains(when.as_str()),
            None => true,
        };
        let Some(record) = self.records()?.iter().find(fits) else {
            return Err(ModelError::Unavailable {
                at,
                problem: "has no recorded answer that matches".to_owned(),
            });
        };
        let problem = "recorded".to_owned();
        match record.error {
            Some(Failure::Unreachable) => {
                let problem = format!("cannot be reached: {problem}");
                return Err(ModelError::Unavailable { at, problem });
            }
            Some(Failure::Refused) => return Err(ModelError::Refused { at, problem }),
            Some(Failure::Garbled) => return Err(ModelError::Garbled { at, problem }),
            None => {}
        }
        Ok(Answer {
            text: match &record.answer {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            },
            model: self.name(),
            usage: Usage { calls: 1, ..Usage::default() },
        })
    }
}

fn read_records(path: &Path) -> Result<Vec<Record>, ModelError> {
    let text = std::fs::read_to_string(path).map_err(|error| ModelError::Settings {
        problem: format!("cannot read recorded answers in `{}`: {error}", path.display()),
        hint: "set `replay` under `[llm]` to a JSONL file of recorded answers".to_owned(),
    })?;
    let text = text_without_mark(&text);
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let record = parse_record(line).map_err(|problem| ModelError::Settings {
            problem: format!("`{}` line {}: {problem}", path.display(), index + 1),
            hint: "write `{\"when\": \"text in the prompt\", \"answer\": {…}}` on each line".to_owned(),
        })?;
        records.push(record);
    }
    Ok(records)
}

fn parse_record(line: &str) -> Result<Record, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match (&record.answer, record.error) {
        (Some(Value::String(_) | Value::Object(_) | Value::Array(_)), None) | (None, Some(_)) => Ok(record),
        (Some(_), None) => Err("`answer` is neither a text nor an object".to_owned()),
        (Some(_), Some(_)) => Err("`answer` and `error` exclude each other".to_owned()),
        (None, None) => Err("neither `answer` nor `error`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn ask(lines: &str, prompt: &str) -> Result<Answer, ModelError> {
        let mut file = tempfile::Builder::new().suffix("answers.jsonl").tempfile().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        Replay::new(file.path()).ask(&Question {
            system: "system",
            examples: &[],
            prompt,
            schema_name: "memory",
            schema: &Value::Null,
        })
    }

    #[test]
    fn the_first_line_that_fits_answers() {
        let lines = "{\"when\": \"lamp\", \"answer\": \"one\"}\n\n\
                     {\"when\": \"sword\", \"answer\": {\"a\": 1}}\n\
                     {\"answer\": \"rest\"}\n";
        assert_eq!(ask(lines, "take lamp, drop sword").unwrap().text, "one");
        assert_eq!(ask(lines, "take sword").unwrap().text, "{\"a\":1}");
        assert_eq!(ask(lines, "look").unwrap().text, "rest");
    }

    #[test]
    fn errors_can_be_recorded() {
        let unreachable = ask("{\"error\": \"unreachable\"}", "x").unwrap_err();
        assert!(matches!(unreachable, ModelError::Unavailable { .. }));
        let refused = ask("{\"error\": \"refused\"}", "x").unwrap_err();
        assert!(matches!(refused, ModelError::Refused { .. }));
        let garbled = ask("{\"error\": \"garbled\"}", "x").unwrap_err();
        assert!(matches!(garbled, ModelError::Garbled { .. }));
    }

    #[test]
    fn no_line_that_fits_is_unreachable() {
        for lines in ["", "{\"when\": \"lamp\", \"answer\": \"one\"}"] {
            let error = ask(lines, "sword").unwrap_err();
            assert!(error.to_string().ends_with("has no recorded answer that matches"));
            assert!(matches!(error, ModelError::Unavailable { .. }));
        }
    }

    #[test]
    fn a_malformed_line_is_named() {
        for line in [
            "{",
            "[]",
            "{\"wehn\": \"x\", \"answer\": \"y\"}",
            "{\"when\": \"x\"}",
            "{\"answer\": 3}",
            "{\"answer\": \"y\", \"error\": \"refused\"}",
            "{\"error\": \"tired\"}",
        ] {
            let error = ask(&format!("{{\"answer\": \"ok\"}}\n{line}\n"), "x").unwrap_err();
            assert!(matches!(error, ModelError::Settings { .. }));
            let text = error.to_string();
            assert!(text.contains("answers.jsonl` line 2: "), "{text}");
        }
    }

    #[test]
    fn a_missing_file_shows_at_the_first_question() {
        let replay = Replay::new(Path::new("/nowhere/answers.jsonl"));
        assert_eq!(replay.name(), "replay/answers.jsonl");
        assert!(matches!(replay.records(), Err(ModelError::Settings { .. })));
    }
}
