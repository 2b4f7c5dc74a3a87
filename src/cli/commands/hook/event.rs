//! Events of coding agents, as each of them sends them, and answers as each of them reads them.
//!
//! The forms are those that Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61 send; what is missing or new in another
//! version is left out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::failure::Failure;
use memories_agents::work::{Ended, LONGEST_COMMAND};
use memories_document::types::fields::{flag, integer};
use memories_document::types::model_text::ModelText;

/// Bytes that are read at the end of a transcript.
const TRANSCRIPT: u64 = 64 * 1024;

/// An agent that runs hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum HookAgent {
    ClaudeCode,
    Codex,
    Gemini,
}

/// An event.
#[derive(Debug)]
pub(super) struct Event {
    /// The agent's name of it.
    name: String,
    /// The agent's id of its session.
    pub(super) session: String,
    /// The working folder, absolute; `None` where the agent does not say.
    pub(super) folder: Option<PathBuf>,
    pub(super) kind: EventKind,
}

/// A text for the model, or the reason why a command is refused this once.
#[derive(Debug)]
pub(super) enum Said {
    Context(ModelText),
    Refused(ModelText),
}

/// The kind of an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A session begins.
    Start,
    /// A session ends, or what it knows is about to be cut.
    End,
    /// A command is about to run; with the agent's id of the call, which may be empty.
    Before { command: String, id: String },
    /// A command ran.
    After { command: String, id: String, ended: Ended, output: String },
    /// A tool changed a file.
    Edited(PathBuf),
    /// Anything else.
    Other,
}

impl Event {
    /// Reads an event.
    pub(super) fn read(agent: HookAgent, payload: &Value) -> Result<Event, Failure> {
        let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = text("hook_event_name");
        if name.is_empty() {
            return Err(Failure::user("the event has no `hook_event_name`"));
        }
        let folder = payload.get("cwd").and_then(Value::as_str).map(PathBuf::from);
        let kind = match (name.as_str(), agent) {
            ("SessionStart", _) => EventKind::Start,
            // Gemini CLI sends `PreCompress` before each request.
            ("SessionEnd" | "PreCompact", _) => EventKind::End,
            ("PreToolUse" | "BeforeTool", _) => match command_of(payload) {
                Some(command) => EventKind::Before { command, id: text("tool_use_id") },
                None => EventKind::Other,
            },
            ("PostToolUse" | "PostToolUseFailure" | "AfterTool", agent) => after(agent, &name, payload),
            _ => EventKind::Other,
        };
        let below = WORKING_FOLDERS.iter().find_map(|key| input(payload, key));
        let folder = match below {
            Some(below) => folder.map(|folder| folder.join(below)),
            None => folder,
        };
        Ok(Event {
            name,
            session: text("session_id"),
            folder: folder.filter(|path| path.is_absolute()),
            kind,
        })
    }

    /// An answer in the agent's form; `None` where the agent would not read it.
    pub(super) fn answer(&self, agent: HookAgent, said: Said) -> Option<Value> {
        match (agent, said) {
            (HookAgent::Gemini, Said::Refused(reason)) => Some(json!({"decision": "deny", "reason": reason})),
            (HookAgent::Gemini, Said::Context(_)) if self.name == "BeforeTool" => None,
            (_, Said::Context(text)) => Some(specific(&self.name, "additionalContext", json!(text))),
            (_, Said::Refused(reason)) => {
                let mut answer = specific(&self.name, "permissionDecision", json!("deny"));
                answer["hookSpecificOutput"]["permissionDecisionReason"] = json!(reason);
                Some(answer)
            }
        }
    }
}

/// An answer in the form that Claude Code and Codex read.
fn specific(event: &str, field: &str, value: Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, field: value}})
}

/// The argument in which a shell tool names its working folder: of Gemini CLI, of Codex, and of others.
const WORKING_FOLDERS: [&str; 4] = ["dir_path", "workdir", "cwd", "working_directory"];

/// A text among the arguments of the tool.
fn input<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    payload.get("tool_input")?.get(key)?.as_str()
}

/// The command line, where the tool is a shell.
fn command_of(payload: &Value) -> Option<String> {
    let tool = payload.get("tool_name")?.as_str()?;
    let is_shell = matches!(tool, "Bash" | "run_shell_command");
    let command = input(payload, "command").filter(|command| command.len() <= LONGEST_COMMAND);
    is_shell.then(|| command.map(str::to_owned))?
}

/// The file that a tool changes.
fn edited(payload: &Value) -> Option<PathBuf> {
    let tool = payload.get("tool_name")?.as_str()?;
    let edits = matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "replace" | "write_file");
    let path = ["file_path", "notebook_path"].iter().find_map(|key| input(payload, key));
    edits.then(|| path.map(PathBuf::from))?
}

fn after(agent: HookAgent, name: &str, payload: &Value) -> EventKind {
    let has_failed = name == "PostToolUseFailure";
    if let Some(path) = edited(payload) {
        return if has_failed { EventKind::Other } else { EventKind::Edited(path) };
    }
    let Some(command) = command_of(payload) else { return patched(payload) };
    let id = payload.get("tool_use_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let response = payload.get("tool_response").unwrap_or(&Value::Null);
    let (ended, output) = match agent {
        HookAgent::ClaudeCode if has_failed => match claude_failure(payload) {
            Some(failure) => failure,
            None => return EventKind::Other,
        },
        HookAgent::ClaudeCode => claude_success(response),
        HookAgent::Codex => codex_result(payload, &id, response),
        HookAgent::Gemini => gemini_result(response),
    };
    EventKind::After { command, id, ended, output }
}

/// A file that Codex changed by a patch: the first that the patch names.
fn patched(payload: &Value) -> EventKind {
    let is_patch = payload.get("tool_name").and_then(Value::as_str) == Some("apply_patch");
    let patch = input(payload, "command").filter(|_| is_patch).unwrap_or_default();
    let file = patch.lines().find_map(|line| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
    });
    file.map_or(EventKind::Other, |file| EventKind::Edited(PathBuf::from(file.trim())))
}

/// `Exit code 3`, and the output behind it; `None` for a command that a person or a hook refused, so that it never ran.
fn claude_failure(payload: &Value) -> Option<(Ended, String)> {
    let error = payload.get("error").and_then(Value::as_str).unwrap_or_default();
    let is_stopped = payload.get("is_interrupt").is_some_and(|value| flag(value) == Ok(true));
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let ended = if is_stopped {
        Ended::Stopped
    } else if let Some(Ok(code)) = first.strip_prefix("Exit code ").map(|code| code.trim().parse()) {
        Ended::Badly(Some(code))
    } else if first.to_lowercase().contains("timed out") {
        Ended::OutOfTime
    } else {
        return None;
    };
    Some((ended, rest.to_owned()))
}

fn claude_success(response: &Value) -> (Ended, String) {
    let is =
        |key: &str| response.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    let ended = if is("backgroundTaskId") {
        Ended::NotYet
    } else if is("interrupted") {
        Ended::Stopped
    } else {
        Ended::Well
    };
    (ended, String::new())
}

/// Codex keeps the exit code in its transcript, in the item that has the id of the call.
fn codex_result(payload: &Value, id: &str, response: &Value) -> (Ended, String) {
    let output = response.as_str().unwrap_or_default().to_owned();
    let transcript = payload.get("transcript_path").and_then(Value::as_str);
    let code = transcript.and_then(|path| exit_code(Path::new(path), id));
    match code {
        Some(0) => (Ended::Well, output),
        Some(code) => (Ended::Badly(Some(code)), output),
        None => (Ended::NotYet, output),
    }
}

fn exit_code(transcript: &Path, id: &str) -> Option<i64> {
    if id.is_empty() || !std::fs::metadata(transcript).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(transcript).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TRANSCRIPT))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let items = text.lines().rev().filter(|line| line.contains(id) && line.contains("exit_code"));
    items.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| {
        let item = line.get("payload")?.get("item")?;
        (item.get("id")?.as_str()? == id).then(|| integer(item.get("exit_code")?).ok())?
    })
}

/// Beginnings of the lines that Gemini CLI writes behind the output of a command.
const GEMINI_FIELDS: [&str; 6] =
    ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ", "</"];

/// The text of Gemini CLI has the exit code where it is not 0.
fn gemini_result(response: &Value) -> (Ended, String) {
    let content = response.get("llmContent").map(|content| match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let content = content.unwrap_or_default();
    // Behind the output, which may have lines that look the same.
    let fields =
        || content.lines().rev().take_while(|line| GEMINI_FIELDS.iter().any(|field| line.starts_with(field)));
    let field = |name: &str| fields().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_error = || response.get("error").is_some_and(|error| !error.is_null());
    let ended = if let Some(Ok(code)) = field("Exit Code: ").map(str::parse) {
        Ended::Badly(Some(code))
    } else if field("Signal: ").is_some() || has_error() {
        Ended::Stopped
    } else if content.contains("Background PIDs: ") {
        Ended::NotYet
    } else {
        Ended::Well
    };
    let output = content.split_once("Output: ").map_or("", |(_, output)| output);
    let end = output.rfind("\nExit Code: ").unwrap_or(output.len());
    (ended, output[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(agent: HookAgent, payload: Value) -> EventKind {
        Event::read(agent, &payload).expect("an event").kind
    }

    #[test]
    fn results_of_claude_code() {
        let event = |name: &str, more: Value| {
            let mut payload = json!({"hook_event_name": name, "session_id": "s", "cwd": "/r", "tool_use_id": "t",
                "tool_name": "Bash", "tool_input": {"command": "make all"}});
            payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            match kind(HookAgent::ClaudeCode, payload) {
                EventKind::After { ended, output, .. } => (ended, output),
                other => panic!("{other:?}"),
            }
        };
        let failed =
            |error: &str| event("PostToolUseFailure", json!({"error": error, "is_interrupt": false}));
        assert_eq!(failed("Exit code 3\nout\nerr"), (Ended::Badly(Some(3)), "out\nerr".to_owned()));
        let refused = json!({"hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_name": "Bash",
            "tool_input": {"command": "make"}, "error": "The user refused"});
        assert_eq!(kind(HookAgent::ClaudeCode, refused), EventKind::Other, "it never ran");
        assert_eq!(failed("Command timed out after 2m 0s").0, Ended::OutOfTime);
        let interrupted = json!({"error": "Exit code 130", "is_interrupt": true});
        assert_eq!(event("PostToolUseFailure", interrupted).0, Ended::Stopped);
        let worked = |response: Value| event("PostToolUse", json!({"tool_response": response})).0;
        assert_eq!(worked(json!({"stdout": "x", "interrupted": false})), Ended::Well);
        assert_eq!(worked(json!({"stdout": "", "backgroundTaskId": "b1"})), Ended::NotYet);
    }

    #[test]
    fn results_of_gemini() {
        let result = |content: &str| gemini_result(&json!({"llmContent": content}));
        let text = "<untrusted_context>\nOutput: out\nerr\nExit Code: 3\nProcess Group PGID: 21\n</untrusted_context>";
        assert_eq!(result(text), (Ended::Badly(Some(3)), "out\nerr".to_owned()));
        let quoted = "<untrusted_context>\nOutput: Exit Code: 1\nExit Code: 1\nthe log ends\nProcess Group PGID: 21\n</untrusted_context>";
        assert_eq!(result(quoted).0, Ended::Well);
        assert_eq!(result("<untrusted_context>\nOutput: (empty)\n</untrusted_context>").0, Ended::Well);
    }

    #[test]
    fn the_exit_code_of_codex_stands_in_its_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout.jsonl");
        let line = |id: &str, code: i64| {
            json!({"payload": {"item": {"type": "CommandExecution", "id": id, "exit_code": code}}})
                .to_string()
        };
        let text = format!("{}\n{}\nnot JSON call_2 exit_code\n", line("call_1", 0), line("call_2", 3));
        memories_store::write_file(&path, text.as_bytes(), memories_store::Existing::Keep).unwrap();
        assert_eq!((exit_code(&path, "call_1"), exit_code(&path, "call_2")), (Some(0), Some(3)));
        assert_eq!((exit_code(&path, "call_3"), exit_code(folder.path(), "call_1")), (None, None));
    }

    #[test]
    fn edits() {
        let edit = |tool: &str| {
            let payload = json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {"file_path": "/r/a.rs"}});
            kind(HookAgent::ClaudeCode, payload)
        };
        assert_eq!(edit("Write"), EventKind::Edited("/r/a.rs".into()));
        assert_eq!(edit("Read"), EventKind::Other);
        let patch = json!({"hook_event_name": "PostToolUse", "tool_name": "apply_patch",
            "tool_input": {"command": "*** Begin Patch\n*** Update File: src/a.rs\n"}});
        assert_eq!(kind(HookAgent::Codex, patch), EventKind::Edited("src/a.rs".into()));
    }
}
