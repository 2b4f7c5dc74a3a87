//! Events of coding agents, as each of them sends them, and answers as each of them reads them.
//!
//! The forms are those that Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61 send; what is missing or new in another
//! version is left out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::failure::Failure;
use memories_agents::work::{Ended, LONGEST_COMMAND, Shell, is_foreign};
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
    Before { command: String, shell: Shell, id: String },
    /// A command ran.
    After { command: String, shell: Shell, id: String, ended: Ended, output: String },
    /// A tool changed a file.
    Edited(PathBuf),
    /// Anything else.
    Other,
}

impl Event {
    /// Reads an event.
    pub(super) fn read(agent: HookAgent, payload: &Value) -> Result<Event, Failure> {
        let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
        let name = text("hook_event_name");
        if name.is_empty() {
            return Err(Failure::user("the event has no `hook_event_name`"));
        }
        let folder = payload["cwd"].as_str();
        let below = WORKING_FOLDERS.iter().find_map(|key| input(payload, key));
        // A folder of another system than this one: nothing is known of it.
        if folder.into_iter().chain(below).any(is_foreign) {
            return Ok(Event { name, session: text("session_id"), folder: None, kind: EventKind::Other });
        }
        let kind = match (name.as_str(), agent) {
            ("SessionStart", _) => EventKind::Start,
            // Gemini CLI sends `PreCompress` before each request.
            ("SessionEnd" | "PreCompact", _) => EventKind::End,
            ("PreToolUse" | "BeforeTool", _) => match command_of(agent, payload) {
                Some((command, shell)) => EventKind::Before { command, shell, id: text("tool_use_id") },
                None => EventKind::Other,
            },
            ("PostToolUse" | "PostToolUseFailure" | "AfterTool", agent) => after(agent, &name, payload),
            _ => EventKind::Other,
        };
        let folder = match (folder, below) {
            (Some(folder), Some(below)) => Some(Path::new(folder).join(below)),
            (folder, below) => folder.or(below).map(PathBuf::from),
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
const WORKING_FOLDERS: [&str; 7] =
    ["dir_path", "directory", "workdir", "cwd", "working_directory", "working_dir", "workingDirectory"];

/// The argument with the command line.
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// Tools that run a command line, in lower case. Where no shell is named it is the system's: PowerShell on Windows.
const TOOLS: [(&str, Option<Shell>); 13] = [
    // Claude Code; Codex calls each of its own so in events.
    ("bash", Some(Shell::Posix)),
    // Claude Code and Copilot on Windows.
    ("powershell", Some(Shell::PowerShell)),
    ("pwsh", Some(Shell::PowerShell)),
    // Codex.
    ("exec_command", None),
    ("local_shell", None),
    ("shell", None),
    ("shell_command", None),
    ("unified_exec", None),
    // Gemini CLI and what was made from it.
    ("run_shell_command", None),
    // OpenClaw, Hermes, Cline, VS Code.
    ("exec", None),
    ("terminal", None),
    ("execute_command", None),
    ("run_in_terminal", None),
];

/// Words by which an agent says that somebody stopped a command.
const STOPPED: [&str; 7] =
    ["is_interrupt", "interrupted", "aborted", "cancelled", "canceled", "user_cancelled", "is_interrupted"];

/// A text among the arguments of the tool.
fn input<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    payload["tool_input"][key].as_str()
}

/// The command line and its shell, where the tool is one.
fn command_of(agent: HookAgent, payload: &Value) -> Option<(String, Shell)> {
    let tool = payload["tool_name"].as_str()?.to_lowercase();
    let (_, shell) = TOOLS.iter().find(|(name, _)| *name == tool)?;
    let native = if cfg!(windows) { Shell::PowerShell } else { Shell::Posix };
    let shell = match agent {
        // It calls the shell of the system `Bash`.
        HookAgent::Codex if tool == "bash" => native,
        _ => shell.unwrap_or(native),
    };
    let arguments = payload.get("tool_input")?;
    let (command, shell) = match COMMANDS.iter().find_map(|key| arguments.get(key))? {
        Value::String(command) => (command.clone(), shell),
        Value::Array(words) => {
            of_words(&words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?, shell)?
        }
        _ => return None,
    };
    (command.len() <= LONGEST_COMMAND).then_some((command, shell))
}

/// The command line of words that a tool starts: `["bash", "-lc", "make"]`.
fn of_words(words: &[&str], shell: Shell) -> Option<(String, Shell)> {
    let program = words.first()?.rsplit(['/', '\\']).next()?.to_lowercase();
    let (flag, command) = (words.get(words.len().checked_sub(2)?)?.to_lowercase(), *words.last()?);
    match (program.trim_end_matches(".exe"), &*flag) {
        ("bash" | "sh" | "zsh" | "dash", "-c" | "-lc" | "-cl") => Some((command.to_owned(), Shell::Posix)),
        ("pwsh" | "powershell", "-c" | "-command") => Some((command.to_owned(), Shell::PowerShell)),
        _ => Some((shlex::try_join(words.iter().copied()).ok()?, shell)),
    }
}

/// True if an agent says that somebody stopped the command.
fn is_stopped(payload: &Value, response: &Value) -> bool {
    let says = |value: &Value| {
        let is_set = |key: &&str| flag(&value[*key]) == Ok(true);
        let status = value["status"].as_str().unwrap_or_default().to_lowercase();
        STOPPED.iter().any(is_set) || STOPPED.contains(&&*status)
    };
    let texts = [payload.get("error"), response.get("llmContent"), Some(response)];
    let text = texts.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default().to_lowercase();
    let is_told = ["aborted by user", "interrupted by user", "cancelled by user", "canceled by user"]
        .iter()
        .any(|words| first.contains(words));
    says(payload) || says(response) || is_told || text.contains("[Request interrupted by user")
}

/// The file that a tool changes.
fn edited(payload: &Value) -> Option<PathBuf> {
    let tool = payload["tool_name"].as_str()?;
    let edits = matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "replace" | "write_file");
    let path = ["file_path", "notebook_path"].iter().find_map(|key| input(payload, key));
    edits.then(|| path.filter(|path| !is_foreign(path)).map(PathBuf::from))?
}

fn after(agent: HookAgent, name: &str, payload: &Value) -> EventKind {
    let has_failed = name == "PostToolUseFailure";
    if let Some(path) = edited(payload) {
        return if has_failed { EventKind::Other } else { EventKind::Edited(path) };
    }
    let Some((command, shell)) = command_of(agent, payload) else { return patched(payload) };
    let id = payload["tool_use_id"].as_str().unwrap_or_default().to_owned();
    let response = &payload["tool_response"];
    let (ended, output) = match agent {
        _ if is_stopped(payload, response) => (Ended::Stopped, String::new()),
        HookAgent::ClaudeCode if has_failed => match claude_failure(payload) {
            Some(failure) => failure,
            None => return EventKind::Other,
        },
        HookAgent::ClaudeCode => claude_success(response),
        HookAgent::Codex => codex_result(payload, &id, response),
        HookAgent::Gemini => gemini_result(response),
    };
    EventKind::After { command, shell, id, ended, output }
}

/// A file that Codex changed by a patch: the first that the patch names.
fn patched(payload: &Value) -> EventKind {
    let is_patch = payload["tool_name"] == "apply_patch";
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
    let error = payload["error"].as_str().unwrap_or_default();
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let ended = if let Some(Ok(code)) = first.strip_prefix("Exit code ").map(|code| code.trim().parse()) {
        Ended::Badly(Some(code))
    } else if first.to_lowercase().contains("timed out") {
        Ended::OutOfTime
    } else {
        return None;
    };
    Some((ended, rest.to_owned()))
}

fn claude_success(response: &Value) -> (Ended, String) {
    let is_running = !matches!(response["backgroundTaskId"], Value::Null | Value::Bool(false));
    (if is_running { Ended::NotYet } else { Ended::Well }, String::new())
}

/// Codex keeps the exit code in its transcript, in the item that has the id of the call.
fn codex_result(payload: &Value, id: &str, response: &Value) -> (Ended, String) {
    let output = response.as_str().unwrap_or_default().to_owned();
    let code = payload["transcript_path"].as_str().and_then(|path| exit_code(Path::new(path), id));
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
        let item = &line["payload"]["item"];
        (item["id"] == id).then(|| integer(&item["exit_code"]).ok())?
    })
}

/// Beginnings of the lines that Gemini CLI writes behind the output of a command.
const GEMINI_FIELDS: [&str; 6] =
    ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ", "</"];

/// The text of Gemini CLI has the exit code where it is not 0.
fn gemini_result(response: &Value) -> (Ended, String) {
    let content = match &response["llmContent"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // Behind the output, which may have lines that look the same.
    let fields =
        || content.lines().rev().take_while(|line| GEMINI_FIELDS.iter().any(|field| line.starts_with(field)));
    let field = |name: &str| fields().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_error = || !response["error"].is_null();
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
        let by_powershell = json!({"tool_name": "PowerShell", "error": "Exit code 1\r\nno"});
        assert_eq!(event("PostToolUseFailure", by_powershell), (Ended::Badly(Some(1)), "no".to_owned()));
        let stopped = json!({"tool_response": {"interrupted": true}, "error": "Exit code 1"});
        assert_eq!(event("PostToolUseFailure", stopped).0, Ended::Stopped);
        let worked = |response: Value| event("PostToolUse", json!({"tool_response": response})).0;
        assert_eq!(worked(json!({"stdout": "x", "interrupted": true})), Ended::Stopped);
        assert_eq!(worked(json!({"stdout": "x", "interrupted": false})), Ended::Well);
        assert_eq!(worked(json!({"stdout": "", "backgroundTaskId": "b1"})), Ended::NotYet);
    }

    #[test]
    fn the_tools_of_all_agents_are_in_one_table() {
        use HookAgent::{ClaudeCode, Codex, Gemini};
        let native = if cfg!(windows) { Shell::PowerShell } else { Shell::Posix };
        for (agent, tool, input, expected) in [
            (ClaudeCode, "Bash", json!({"command": "make"}), Some(("make", Shell::Posix))),
            (ClaudeCode, "PowerShell", json!({"command": "make"}), Some(("make", Shell::PowerShell))),
            (Codex, "Bash", json!({"command": "make"}), Some(("make", native))),
            (Codex, "exec_command", json!({"cmd": "make"}), Some(("make", native))),
            (
                Codex,
                "shell",
                json!({"command": ["bash", "-lc", "make all"]}),
                Some(("make all", Shell::Posix)),
            ),
            (
                Codex,
                "shell",
                json!({"command": ["pwsh.exe", "-NoProfile", "-Command", "make"]}),
                Some(("make", Shell::PowerShell)),
            ),
            (Codex, "shell", json!({"command": ["make", "a b"]}), Some(("make 'a b'", native))),
            (Codex, "shell", json!({"command": [7]}), None),
            (Gemini, "run_shell_command", json!({"command": "make"}), Some(("make", native))),
            (ClaudeCode, "Read", json!({"command": "make"}), None),
            (ClaudeCode, "Bash", json!({"command": 7}), None),
        ] {
            let payload = json!({"tool_name": tool, "tool_input": input});
            let expected = expected.map(|(command, shell)| (command.to_owned(), shell));
            assert_eq!(command_of(agent, &payload), expected, "{payload}");
        }
    }

    #[test]
    fn what_somebody_stopped_has_not_failed() {
        for (agent, more) in [
            (HookAgent::ClaudeCode, json!({"tool_response": {"interrupted": true}})),
            (HookAgent::ClaudeCode, json!({"is_interrupt": "true"})),
            (
                HookAgent::ClaudeCode,
                json!({"error": "Exit code 137\n[Request interrupted by user for tool use]"}),
            ),
            (HookAgent::Codex, json!({"tool_response": "aborted by user after 3.2s"})),
            (HookAgent::Codex, json!({"tool_response": {"status": "interrupted"}})),
            (
                HookAgent::Gemini,
                json!({"tool_response": {"llmContent": "Output: x\nExit Code: 1", "aborted": true}}),
            ),
            (
                HookAgent::Gemini,
                json!({"tool_response": {"llmContent": "Command was cancelled by user before it could complete."}}),
            ),
        ] {
            let mut payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}});
            payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            let ended = match kind(agent, payload.clone()) {
                EventKind::After { ended, .. } => ended,
                other => panic!("{other:?}"),
            };
            assert_eq!(ended, Ended::Stopped, "{payload}");
        }
    }

    #[test]
    fn the_working_folder_of_the_tool_counts() {
        let folder = |cwd: Value, input: Value| {
            let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": cwd, "tool_input": input});
            let event = Event::read(HookAgent::Codex, &payload).expect("an event");
            (event.folder, event.kind != EventKind::Other)
        };
        let here = std::env::temp_dir();
        let text = json!(here.to_str());
        let same = folder(text.clone(), json!({"command": "x"})).0.expect("a folder");
        assert_eq!(same.as_os_str(), here.as_os_str(), "no separator is added");
        for key in ["workdir", "cwd", "working_directory"] {
            assert_eq!(
                folder(text.clone(), json!({"command": "x", key: "a"})).0,
                Some(here.join("a")),
                "{key}"
            );
            assert_eq!(
                folder(Value::Null, json!({"command": "x", key: text})).0,
                Some(here.clone()),
                "{key}"
            );
        }
        for other in [r"C:\src\x", "C:/src/x", r"\\server\share\x"] {
            assert_eq!(folder(json!(other), json!({"command": "x"})).1, cfg!(windows), "{other}");
            assert_eq!(
                folder(text.clone(), json!({"command": "x", "workdir": other})).1,
                cfg!(windows),
                "{other}"
            );
        }
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
