//! Twenty sessions of a coding agent: which repeats of failed commands are announced, and how many commands that work
//! are said to be in vain.
//!
//! The commands really run, in a repository of their own, and the files that are there decide whether they fail.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{memories, with_input};

/// The fixtures of the sessions.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/work")
}

/// A repository with an agent in it.
struct Agent {
    folder: tempfile::TempDir,
    path: String,
    session: u32,
    calls: u32,
}

/// How a command ended.
struct Ran {
    /// What the hook said before.
    said: String,
    /// The exit code that the agent sees.
    code: i32,
    /// True if any part of it failed.
    failed: bool,
}

impl Agent {
    fn new() -> Agent {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Memories.md"), "").unwrap();
        let path = format!("{}:{}", fixtures().join("tools").display(), std::env::var("PATH").unwrap());
        let agent = Agent { folder, path, session: 1, calls: 0 };
        agent.shell("git init -q -b main . && git commit -q --allow-empty -m root");
        agent
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A shell in the repository, without settings of the machine.
    fn bash(&self, command: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", command]).current_dir(self.folder.path()).env_clear().env("PATH", &self.path);
        for name in ["AUTHOR", "COMMITTER"] {
            bash.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@b.c");
        }
        bash.env("HOME", self.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
        bash
    }

    fn shell(&self, command: &str) {
        let output = self.bash(command).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }

    /// Sends an event; the answer is the text for the model.
    fn hook(&self, event: &str, more: &Value) -> String {
        let mut payload = json!({"hook_event_name": event, "session_id": self.session.to_string(),
            "cwd": self.folder.path(), "tool_use_id": self.calls.to_string()});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut hook = memories(self.folder.path(), &["hook", "claude-code"]);
        let output = with_input(hook.env("PATH", &self.path), payload.to_string());
        assert!(output.status.success() && output.stderr.is_empty(), "{event}: {output:?}");
        let answer: Value = if output.stdout.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&output.stdout).unwrap()
        };
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    fn run(&mut self, command: &str) -> Ran {
        self.calls += 1;
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let said = self.hook("PreToolUse", &tool);
        let codes = self.at(".git/codes");
        let script = format!("{command}\necho \"${{PIPESTATUS[*]}}\" > {}", codes.display());
        let output = self.bash(&script).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let codes: Vec<i32> = fs::read_to_string(&codes)
            .unwrap()
            .split_whitespace()
            .map(|code| code.parse().unwrap())
            .collect();
        let code = *codes.last().unwrap();
        let (event, result) = match code {
            0 => ("PostToolUse", json!({"tool_response": {"stdout": text, "interrupted": false}})),
            _ => (
                "PostToolUseFailure",
                json!({"error": format!("Exit code {code}\n{text}"), "is_interrupt": false}),
            ),
        };
        let mut result = result;
        result.as_object_mut().unwrap().extend(tool.as_object().unwrap().clone());
        self.hook(event, &result);
        Ran { said, code, failed: codes.iter().any(|code| *code != 0) }
    }

    /// Writes a file, and tells the hook of it if a tool of the agent did so.
    fn write(&self, path: &str, text: &str, is_agent: bool) {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        if is_agent {
            let tool = json!({"tool_name": "Write", "tool_input": {"file_path": file}, "tool_response": {}});
            self.hook("PostToolUse", &tool);
        }
    }

    fn next_session(&mut self) {
        self.hook("SessionEnd", &json!({"reason": "other"}));
        self.session += 1;
        self.hook("SessionStart", &json!({"source": "startup"}));
    }
}

/// The figures of sessions.
#[derive(Debug, Default)]
struct Figures {
    /// Failures of a command that had failed before and not succeeded since.
    repeats: usize,
    /// Those of which the hook said before that it had failed.
    announced: usize,
    /// Commands that worked.
    worked: usize,
    /// Those that were said to be in vain.
    wrongly_in_vain: usize,
    /// What went wrong, in words.
    mistakes: Vec<String>,
}

/// The words of a command in any order, without filters and redirections: a simple sort, so that the figures do not
/// rest on the program's own rules.
fn label(command: &str) -> Vec<&str> {
    let is_end = |word: &&str| !(*word == "|" || word.starts_with('>') || word.starts_with("2>"));
    let mut words: Vec<&str> =
        command.split_whitespace().take_while(is_end).filter(|word| *word != "time").collect();
    words.sort_unstable();
    words
}

fn play(name: &str, text: &str, figures: &mut Figures) {
    let mut agent = Agent::new();
    let mut has_failed: HashMap<Vec<&str>, bool> = HashMap::new();
    let mut lines = text.lines().peekable();
    let mut is_committed = false;
    while let Some(line) = lines.next() {
        let (mark, rest) = line.split_at(line.len().min(1));
        let rest = rest.trim_start();
        match mark {
            ">" | "<" => {
                let mut content = String::new();
                while let Some(line) = lines.next_if(|line| !line.starts_with(['$', '>', '<', '='])) {
                    content.push_str(line);
                    content.push('\n');
                }
                agent.write(rest, &content, mark == ">");
            }
            "=" => agent.next_session(),
            "$" => {
                if !is_committed {
                    agent.shell("git add -A . && (git commit -qm begin || true)");
                    is_committed = true;
                }
                let ran = agent.run(rest);
                let repeats = has_failed.get(&label(rest)).copied().unwrap_or(false);
                // Of `grep` and the like, 1 is an answer.
                let answers =
                    ["grep", "test", "diff", "which"].iter().any(|program| rest.starts_with(program));
                let failed = ran.failed && !(answers && ran.code == 1);
                let is_announced = ran.said.contains("Failed here");
                let is_in_vain = ran.said.contains("nothing has changed since");
                if failed && repeats {
                    figures.repeats += 1;
                    figures.announced += usize::from(is_announced);
                    if !is_announced {
                        figures.mistakes.push(format!("{name}: `{rest}` fails again, and nothing was said"));
                    }
                }
                if !failed {
                    figures.worked += 1;
                    figures.wrongly_in_vain += usize::from(is_in_vain);
                    if is_in_vain {
                        figures.mistakes.push(format!("{name}: `{rest}` works: {}", ran.said));
                    }
                }
                has_failed.insert(label(rest), failed);
            }
            _ => {}
        }
    }
}

#[test]
fn repeats_that_fail_are_announced_and_commands_that_work_are_not_in_vain() {
    let mut sessions: Vec<PathBuf> =
        fs::read_dir(fixtures().join("sessions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    sessions.sort();
    assert_eq!(sessions.len(), 20);
    let mut figures = Figures::default();
    for path in &sessions {
        let name = path.file_stem().unwrap().to_string_lossy();
        play(&name, &fs::read_to_string(path).unwrap(), &mut figures);
    }
    let Figures { repeats, announced, worked, wrongly_in_vain, mistakes } = &figures;
    println!("{announced} of {repeats} repeats that failed again were announced");
    println!("{wrongly_in_vain} of {worked} commands that worked were said to be in vain");
    println!("{}", mistakes.join("\n"));
    assert!(*repeats >= 30 && *worked >= 60, "{figures:?}");
    assert!(announced * 100 >= repeats * 95, "{figures:?}");
    assert!(wrongly_in_vain * 100 <= *worked, "{figures:?}");
}
