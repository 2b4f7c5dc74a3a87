//! `setup` in a home of its own: what it writes, leaves and takes out again, also where files are in the way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A home with the folders of agents, and a repository in it.
struct Home {
    scratch: TempDir,
    home: PathBuf,
}

impl Home {
    fn with(folders: &[&str]) -> Home {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap().join("home");
        for folder in folders.iter().chain(&["repository/.git", "repository/below"]) {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        Home { scratch, home }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.home.join(name)).unwrap()
    }

    fn setup(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_memories"));
        let mut command = Command::new(program);
        command.arg("setup").args(arguments).current_dir(self.home.join("repository/below"));
        command.env_clear().env("HOME", &self.home).env("PATH", program.parent().unwrap());
        let output = command.timeout(Duration::from_secs(60)).output().unwrap();
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).unwrap().replace(self.home.to_str().unwrap(), "~")
        };
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// All files but our own, with their bytes.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.home.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                let name = path.strip_prefix(&self.home).unwrap().to_str().unwrap().to_owned();
                if !name.starts_with(".config/memories") {
                    files.insert(name, fs::read(&path).unwrap_or_default());
                }
            }
        }
        files
    }
}

const ALL: [&str; 7] =
    [".claude", ".codex", ".gemini", ".cursor", ".config/Code/User", ".hermes", ".openclaw"];

#[test]
fn all_agents_are_wired_once_and_unwired_to_the_byte() {
    let home = Home::with(&ALL);
    home.write(".claude.json", "{\n\t\"numStartups\": 3, \"mcpServers\": {}\n}");
    home.write(".gemini/settings.json", "\u{FEFF}{\r\n  // mine\r\n  \"theme\": \"x\",\r\n}\r\n");
    home.write(".codex/config.toml", "model = \"m\" # mine");
    home.write(".hermes/config.yaml", "model: m\nmcp_servers:\n  other:\n    url: x\n# end\n");
    home.write(".openclaw/openclaw.json", "{ agents: {}, /* mine */ mcp: { servers: {}, }, }");
    fs::create_dir_all(home.home.join(".config/memories")).unwrap();
    let before = home.files();
    let (code, planned, stderr) = home.setup(&[]);
    assert_eq!((code, home.files()), (Some(1), before.clone()), "{stderr}");
    assert_eq!(planned.matches("would write").count(), 8, "{planned}");
    assert!(stderr.contains("`memories setup --apply` writes this"), "{stderr}");
    let (code, stdout, stderr) = home.setup(&["--apply"]);
    assert_eq!(code, Some(1), "{stderr}");
    let pasted = "hermes: paste this into ~/.hermes/config.yaml, below the key if it is there\nmcp_servers:\n  memories:\n";
    assert!(stdout.contains(pasted), "{stdout}");
    let applied = home.files();
    let gemini = home.text(".gemini/settings.json").replace("// mine", "").replace(",\r\n}", "}");
    let gemini: Value = serde_json::from_str(gemini.trim_start_matches('\u{FEFF}')).unwrap();
    // Programs with windows do not have the search path of a shell.
    let program = env!("CARGO_BIN_EXE_memories");
    assert_eq!(gemini["mcpServers"]["memories"]["command"], program);
    assert_eq!(gemini["hooks"]["BeforeTool"][0]["hooks"][0]["command"], format!("{program} hook gemini"));
    assert!(home.text(".codex/config.toml").starts_with("model = \"m\" # mine\n\n[mcp_servers.memories]\n"));
    let (code, stdout, _) = home.setup(&["--apply"]);
    assert_eq!((code, home.files()), (Some(1), applied), "{stdout}");
    let hermes = home.text(".hermes/config.yaml");
    let block = stdout.split_once("  memories:\n").unwrap().1.lines().take(2).collect::<Vec<_>>().join("\n");
    home.write(".hermes/config.yaml", &hermes.replace("# end", &format!("  memories:\n{block}\n# end")));
    assert_eq!(home.setup(&[]).0, Some(0));
    let (code, stdout, _) = home.setup(&["hermes", "--remove"]);
    let said = "hermes: remove from ~/.hermes/config.yaml by hand: `mcp_servers.memories` in line 5\n";
    assert_eq!((code, stdout.as_str()), (Some(1), said));
    home.write(".hermes/config.yaml", &hermes);
    let (code, _, stderr) = home.setup(&["--remove"]);
    assert_eq!((code, home.files()), (Some(0), before), "{stderr}");
    assert_eq!(home.setup(&["--remove"]).0, Some(0));
}

#[test]
fn the_former_state_is_kept_for_its_owner_until_the_entries_are_removed() {
    let home = Home::with(&[".cursor"]);
    let path = home.write(".cursor/mcp.json", "{}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    home.setup(&["--apply"]);
    let copy = home.home.join(".cursor/mcp.json.memories-backup");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (fs::read_to_string(&copy).unwrap().as_str(), mode(&copy), mode(&path)),
        ("{}\n", 0o600, 0o644)
    );
    home.setup(&["--remove"]);
    assert!(!copy.exists());
}

#[test]
fn what_a_person_changed_stays_and_is_said() {
    let home = Home::with(&[".cursor"]);
    home.setup(&["--apply"]);
    let changed = home.text(".cursor/mcp.json").replace("\"shaping\"", "\"status\"");
    home.write(".cursor/mcp.json", &changed);
    for arguments in [&[][..], &["--apply"], &["--remove"]] {
        let (code, _, stderr) = home.setup(arguments);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("`mcpServers.memories` in `~/.cursor/mcp.json` was changed"), "{stderr}");
        assert_eq!(home.text(".cursor/mcp.json"), changed);
    }
    home.write(".cursor/mcp.json", "{\"mcpServers\": {\"memories\": {\"url\": \"x\"}}}");
    let (code, _, stderr) = home.setup(&["--apply"]);
    assert_eq!(code, Some(0));
    assert!(stderr.contains("is not of this program, and is left as it is"), "{stderr}");
}

#[test]
fn an_entry_of_an_earlier_version_is_replaced_and_removed_to_the_byte() {
    let home = Home::with(&[".claude"]);
    let before = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    home.write(".claude/settings.json", before);
    home.setup(&["--apply"]);
    // As an earlier version would have written it.
    for name in [".claude/settings.json", ".config/memories/setup.json"] {
        home.write(name, &home.text(name).replace("|NotebookEdit", ""));
    }
    let (code, stdout, _) = home.setup(&["--json"]);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("\"state\":\"outdated\""), "{stdout}");
    home.setup(&["--apply"]);
    assert!(home.text(".claude/settings.json").contains("|NotebookEdit"));
    home.setup(&["--remove"]);
    assert_eq!(home.text(".claude/settings.json"), before);
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_the_others_are_written() {
    let home = Home::with(&[".claude", ".cursor", ".gemini", ".codex", ".hermes"]);
    home.write(".claude.json", "{\n  \"a\": 1,,\n}");
    home.write(".cursor/mcp.json", "{\"mcpServers\": []}");
    fs::create_dir(home.home.join(".gemini/settings.json")).unwrap();
    symlink("/dev/null", home.home.join(".hermes/config.yaml")).unwrap();
    let outside = home.scratch.path().canonicalize().unwrap().join("outside.toml");
    fs::write(&outside, "").unwrap();
    symlink(&outside, home.home.join(".codex/config.toml")).unwrap();
    let (code, stdout, stderr) = home.setup(&["--apply"]);
    assert_eq!(code, Some(4), "{stderr}");
    assert!(stdout.contains("claude-code: written ~/.claude/settings.json"), "{stdout}");
    assert!(stdout.contains("codex: written ~/.codex/hooks.json"), "{stdout}");
    for said in [
        "`~/.claude.json` is left as it is: line 2, column 10: ",
        "`~/.cursor/mcp.json` is left as it is: `mcpServers` is not a table",
        "`~/.gemini/settings.json` is a folder, not a file",
        "`~/.hermes/config.yaml` leads out of `~`, to `/dev/null`",
        "`~/.codex/config.toml` leads out of `~`",
    ] {
        assert!(stderr.contains(said), "`{said}` is not in:\n{stderr}");
    }
    assert_eq!(home.text(".claude.json"), "{\n  \"a\": 1,,\n}");
    assert_eq!(fs::read_to_string(outside).unwrap(), "");
}

#[test]
fn a_link_within_the_home_is_followed_and_stays() {
    let home = Home::with(&[".cursor", "dotfiles"]);
    let real = home.write("dotfiles/cursor.json", "{}");
    symlink("../dotfiles/cursor.json", home.home.join(".cursor/mcp.json")).unwrap();
    home.setup(&["--apply"]);
    assert!(fs::read_to_string(&real).unwrap().contains("memories"));
    assert!(fs::symlink_metadata(home.home.join(".cursor/mcp.json")).unwrap().is_symlink());
    home.setup(&["--remove"]);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
}

#[test]
fn a_project_has_its_own_files_and_no_link_leads_out_of_it() {
    let home = Home::with(&[".claude", ".cursor", ".hermes"]);
    let before = home.files();
    let (code, stdout, stderr) = home.setup(&["--project", "--apply"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("written ~/repository/.mcp.json"), "{stdout}");
    // Other machines read a repository's files, too.
    let server: Value = serde_json::from_str(&home.text("repository/.mcp.json")).unwrap();
    assert_eq!(server["mcpServers"]["memories"]["command"], "memories");
    let made: Vec<_> = home.files().into_keys().filter(|name| !before.contains_key(name)).collect();
    assert!(made.iter().all(|name| name.starts_with("repository/") || name == ".config"), "{made:?}");
    home.setup(&["--project", "--remove"]);
    let mut left = home.files();
    left.remove(".config");
    assert_eq!(left, before);
    symlink(home.home.join(".claude"), home.home.join("repository/.claude")).unwrap();
    symlink(".git", home.home.join("repository/.cursor")).unwrap();
    let (code, _, stderr) = home.setup(&["--project", "--apply"]);
    assert_eq!(code, Some(4));
    assert_eq!(stderr.matches("leads out of `~/repository`").count(), 2, "{stderr}");
    let (code, _, stderr) = home.setup(&["hermes", "--project"]);
    assert_eq!(code, Some(4));
    assert!(stderr.contains("`hermes` reads no configuration of a repository"), "{stderr}");
}

#[test]
fn nothing_beside_an_entry_is_shown() {
    let one_line = r#"{"mcpServers":{"a":{"headers":{"Authorization":"Bearer shown-1"},"env":{"PASSWORD":"shown-2"},"args":["--api-key","shown-3"]}}}"#;
    let home = Home::with(&[".cursor", ".gemini", ".codex", ".hermes"]);
    home.write(".cursor/mcp.json", one_line);
    home.write(".gemini/settings.json", "{\n  \"key\": \"shown-4\",\n  \"hooks\": {\"BeforeTool\": []}\n}\n");
    home.write(".codex/config.toml", "bearer_token = \"shown-5\"");
    home.write(".hermes/config.yaml", "mcp_servers: {a: {env: {GITHUB_TOKEN: shown-6}}}\n");
    for arguments in [&[][..], &["--json"]] {
        let (_, stdout, stderr) = home.setup(arguments);
        assert!(!stdout.contains("shown-") && !stderr.contains("shown-"), "{stdout}");
        assert!(stdout.contains("configured-model"), "{stdout}");
    }
    let (_, stdout, _) = home.setup(&["cursor"]);
    let entry =
        format!("@@ line 1 @@\n+…, \"memories\": {{\"command\":\"{}\"", env!("CARGO_BIN_EXE_memories"));
    assert!(stdout.contains(&entry), "{stdout}");
    assert!(stdout.contains("]}…\n"), "{stdout}");
    let (_, stdout, _) = home.setup(&["codex"]);
    assert!(stdout.contains("@@ line 3 @@\n+[mcp_servers.memories]\n+command = \""), "{stdout}");
    home.setup(&["--apply"]);
    let (_, stdout, _) = home.setup(&["--remove", "--json"]);
    assert!(!stdout.contains("shown-") && stdout.contains("configured-model"), "{stdout}");
}

#[test]
fn a_hook_of_an_event_that_this_version_does_not_have_is_taken_out() {
    let home = Home::with(&[".claude"]);
    home.write(".claude/settings.json", "{}\n");
    let as_another_version = || {
        home.setup(&["--apply"]);
        for name in [".claude/settings.json", ".config/memories/setup.json"] {
            home.write(name, &home.text(name).replace("PreCompact", "Notification"));
        }
    };
    as_another_version();
    home.setup(&["--remove"]);
    assert_eq!(home.text(".claude/settings.json"), "{}\n");
    as_another_version();
    home.setup(&["--apply"]);
    let text = home.text(".claude/settings.json");
    assert!(text.contains("PreCompact") && !text.contains("Notification"), "{text}");
    home.setup(&["--remove"]);
    assert_eq!(home.text(".claude/settings.json"), "{}\n");
}

#[test]
fn a_file_that_another_program_made_anew_is_not_removed() {
    let home = Home::with(&[".cursor"]);
    home.setup(&["--apply"]);
    home.write(".cursor/mcp.json", "{\"mcpServers\": {}}");
    home.setup(&["--apply"]);
    home.setup(&["--remove"]);
    assert_eq!(home.text(".cursor/mcp.json"), "{\"mcpServers\": {}}");
}

#[test]
fn an_entry_that_was_changed_and_changed_back_is_removed_to_the_byte() {
    for before in ["{}\n", "{\n  \"hooks\": {\"Stop\": []},\n  \"a\": 1\n}\n"] {
        for (word, other) in [("hook claude-code\"", "hook claude-code -v\""), ("\"Bash|", "\"Shell|")] {
            let home = Home::with(&[".claude"]);
            home.write(".claude/settings.json", before);
            home.setup(&["--apply"]);
            let path = ".claude/settings.json";
            home.write(path, &home.text(path).replace(word, other));
            home.setup(&["--remove"]);
            let copy = home.home.join(".claude/settings.json.memories-backup");
            assert!(copy.exists(), "{other}");
            home.write(path, &home.text(path).replace(other, word));
            home.setup(&["--remove"]);
            assert_eq!((home.text(path).as_str(), copy.exists()), (before, false));
        }
    }
}

#[test]
fn the_copy_of_the_former_state_is_made_once_and_another_file_of_its_name_stays() {
    let home = Home::with(&[".claude"]);
    let copy = ".claude/settings.json.memories-backup";
    home.write(".claude/settings.json", "{}\n");
    home.write(copy, "mine");
    home.setup(&["--remove"]);
    assert_eq!(home.text(copy), "mine");
    home.setup(&["--apply"]);
    for name in [".claude/settings.json", ".config/memories/setup.json"] {
        home.write(name, &home.text(name).replace("|NotebookEdit", ""));
    }
    home.setup(&["--apply"]);
    assert_eq!(home.text(copy), "{}\n");
}

#[test]
fn agents_that_share_a_file_through_a_link_leave_it_to_each_other() {
    let home = Home::with(&["repository/.cursor"]);
    symlink("../.mcp.json", home.home.join("repository/.cursor/mcp.json")).unwrap();
    home.write("repository/.mcp.json", "{}\n");
    home.setup(&["--project", "claude-code", "cursor", "--apply"]);
    let (_, stdout, stderr) = home.setup(&["--project", "claude-code", "cursor", "--apply"]);
    assert_eq!(stdout.matches("nothing to do").count(), 3, "{stdout}{stderr}");
    home.setup(&["--project", "claude-code", "cursor", "--remove"]);
    assert_eq!(home.text("repository/.mcp.json"), "{}\n");
}

/// The packages of the two agents have the hooks that `setup` writes.
#[test]
fn the_packaged_hooks_of_codex_and_gemini_are_those_of_setup() {
    let home = Home::with(&[".codex", ".gemini"]);
    home.write(".gemini/settings.json", "{}");
    home.setup(&["--apply"]);
    for (agent, written) in [("codex", ".codex/hooks.json"), ("gemini", ".gemini/settings.json")] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let packaged =
            fs::read_to_string(root.join(format!("integrations/{agent}/hooks/hooks.json"))).unwrap();
        let packaged: Value = serde_json::from_str(&packaged).unwrap();
        let written = home.text(written).replace(env!("CARGO_BIN_EXE_memories"), "memories");
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(packaged["hooks"], written["hooks"], "{agent}");
    }
}
