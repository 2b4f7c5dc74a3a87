//! Hooks of eight agents at once, in one repository: no failure is lost from the count.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::program::memories;

const AGENTS: usize = 8;

fn hook(folder: &Path, agent: usize, event: &str, more: &Value) {
    let mut payload = json!({"hook_event_name": event, "session_id": format!("s{agent}"), "cwd": folder});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut hook = memories(folder, &["hook", "claude-code"]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn fails(folder: &Path, agent: usize, command: &str) {
    let error = "Exit code 2\nmake: *** No rule to make that target.  Stop.";
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "error": error});
    hook(folder, agent, "PostToolUseFailure", &call);
}

#[test]
fn hooks_of_eight_agents_at_once_lose_no_count() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("Memories.md"), "").unwrap();
    // One command is common to all, one is each agent's own. Sessions end while others go on.
    thread::scope(|scope| {
        for agent in 0..AGENTS {
            scope.spawn(move || {
                for round in 0..3 {
                    fails(folder, agent, "make all");
                    fails(folder, agent, &format!("make target{agent}"));
                    if round == agent % 3 {
                        hook(folder, agent, "SessionEnd", &json!({"reason": "other"}));
                    }
                }
                hook(folder, agent, "SessionEnd", &json!({"reason": "other"}));
            });
        }
    });
    let text = fs::read_to_string(folder.join("Memories.md")).unwrap();
    assert!(text.contains("`make all` ×24"), "{text}");
    for agent in 0..AGENTS {
        assert!(text.contains(&format!("`make target{agent}` ×3")), "{agent}: {text}");
    }
    let log = fs::read_to_string(folder.join(".memories/Memories.md/commands.jsonl")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains("\"ran\"")).count(), AGENTS * 6);
}

#[test]
fn a_failure_that_comes_while_another_session_keeps_is_counted_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("Memories.md"), "").unwrap();
    let ends = || hook(folder, 1, "SessionEnd", &json!({"reason": "other"}));
    let log = folder.join(".memories/Memories.md/commands.jsonl");
    fails(folder, 1, "make all");
    fails(folder, 1, "make all");
    ends();
    fails(folder, 2, "make all");
    // The other session had read the log before this failure, and says only now what it kept.
    let text = fs::read_to_string(&log).unwrap();
    let (kept, ran): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains("\"kept\""));
    assert_eq!((kept.len(), ran.len()), (1, 3), "{text}");
    fs::write(&log, format!("{}\n{}\n", ran.join("\n"), kept[0])).unwrap();
    ends();
    let text = fs::read_to_string(folder.join("Memories.md")).unwrap();
    assert!(text.contains("`make all` ×3"), "{text}");
}
