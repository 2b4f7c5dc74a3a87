//! The agents, their configuration files, and the entries for each.
//!
//! The formats are those that the agents document or ship: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Cursor,
//! Visual Studio Code, Hermes 0.19 and OpenClaw 2026.9. A script among the tests of other people's clients shows that
//! the real programs read the result.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::edit::Format;
use super::entry::Entry;
use super::json::Dialect;

/// A program that is wired to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
    Vscode,
    Hermes,
    Openclaw,
}

/// Folders of a person, as the environment names them.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// The person's home.
    pub home: PathBuf,
    /// The folder of programs' own settings: `~/.config`, or its like on macOS and Windows.
    pub settings: PathBuf,
    /// Programs' data that stay on this machine; on Windows only.
    pub local_data: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, which stands in place of the home.
    pub gemini: Option<PathBuf>,
    /// `HERMES_HOME`
    pub hermes: Option<PathBuf>,
    /// `OPENCLAW_CONFIG_PATH`, a file.
    pub openclaw_file: Option<PathBuf>,
    /// `OPENCLAW_STATE_DIR`
    pub openclaw: Option<PathBuf>,
    /// Folders in which programs are looked up.
    pub programs: Vec<PathBuf>,
}

/// A configuration file and its entries.
#[derive(Debug, Clone)]
pub struct Target {
    /// The settings file.
    pub path: PathBuf,
    /// The file must be in this folder, behind all links.
    pub within: PathBuf,
    /// The format of the file.
    pub format: Format,
    /// The entries that `memories` makes in the file.
    pub entries: Vec<Entry>,
}

/// The arguments of the server: what serves an agent that writes code, within 2,000 tokens of tools, and no model of
/// the agent's own key.
const SERVER_ARGUMENTS: [&str; 5] = ["mcp", "--configured-model", "--tools", "places", "shaping"];

/// Time limit of a hook in seconds.
const HOOK_SECONDS: u32 = 5;

impl Agent {
    /// The program that people start.
    fn program(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude",
            Agent::Vscode => "code",
            other => other.into(),
        }
    }

    /// The events of its hooks that `memories hook` answers: name, and the tools that they are about.
    fn events(self) -> Vec<(&'static str, Option<&'static str>)> {
        let (before, after, tools, compact) = match self {
            Agent::ClaudeCode => (
                "PreToolUse",
                "PostToolUse",
                "Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit",
                "PreCompact",
            ),
            Agent::Codex => ("PreToolUse", "PostToolUse", "Bash|apply_patch", "PreCompact"),
            Agent::Gemini => {
                ("BeforeTool", "AfterTool", "run_shell_command|write_file|replace", "PreCompress")
            }
            Agent::Cursor | Agent::Vscode | Agent::Hermes | Agent::Openclaw => return Vec::new(),
        };
        let mut events = vec![("SessionStart", None), (before, Some(tools)), (after, Some(tools))];
        if self == Agent::ClaudeCode {
            events.push(("PostToolUseFailure", Some(tools)));
        }
        events.extend([(compact, None), ("SessionEnd", None)]);
        events
    }

    /// Something to know when the entries are written for the first time.
    pub fn advice(self, is_project: bool) -> Option<&'static str> {
        match (self, is_project) {
            (Agent::ClaudeCode, true) => {
                Some("Claude Code asks each person once to approve a project's server")
            }
            (Agent::Codex, true) => Some(
                "Codex reads a project's files only where the project is trusted; `/hooks` approves its hooks",
            ),
            (Agent::Codex, false) => Some("Codex runs new hooks only after `/hooks` approved them"),
            (Agent::Gemini, _) => Some("Gemini CLI starts servers only in folders that it trusts"),
            _ => None,
        }
    }

    /// The files of a person.
    pub fn own_files(self, folders: &Folders, program: &str) -> Vec<Target> {
        let Folders { home, settings, local_data, claude, codex, gemini, hermes, openclaw, .. } = folders;
        let (folder, names): (&Path, &[&str]) = match self {
            Agent::ClaudeCode => match claude {
                Some(folder) => (folder, &[".claude.json", "settings.json"]),
                None => (home, &[".claude.json", ".claude/settings.json"]),
            },
            Agent::Codex => match codex {
                Some(folder) => (folder, &["config.toml", "hooks.json"]),
                None => (home, &[".codex/config.toml", ".codex/hooks.json"]),
            },
            Agent::Gemini => (gemini.as_ref().unwrap_or(home), &[".gemini/settings.json"]),
            Agent::Cursor => (home, &[".cursor/mcp.json"]),
            Agent::Vscode => (settings, &["Code/User/mcp.json"]),
            Agent::Hermes => match (hermes, local_data) {
                (Some(folder), _) => (folder, &["config.yaml"]),
                (None, Some(data)) => (data, &["hermes/config.yaml"]),
                (None, None) => (home, &[".hermes/config.yaml"]),
            },
            Agent::Openclaw => match (&folders.openclaw_file, openclaw) {
                (Some(file), _) => {
                    let folder = file.parent().unwrap_or(file);
                    let within = if file.starts_with(home) { home } else { folder };
                    return self.targets(vec![file.clone()], within, program);
                }
                (None, Some(folder)) => (folder, &["openclaw.json"]),
                (None, None) => (home, &[".openclaw/openclaw.json"]),
            },
        };
        // A variable can lead out of the home, and a file of the home not.
        let within = if folder.starts_with(home) { home } else { folder };
        self.targets(joined(folder, names), within, program)
    }

    /// The files of a repository; none where the agent has no such files.
    pub fn project_files(self, root: &Path, program: &str) -> Vec<Target> {
        let names: &[&str] = match self {
            Agent::ClaudeCode => &[".mcp.json", ".claude/settings.json"],
            Agent::Codex => &[".codex/config.toml", ".codex/hooks.json"],
            Agent::Gemini => &[".gemini/settings.json"],
            Agent::Cursor => &[".cursor/mcp.json"],
            Agent::Vscode => &[".vscode/mcp.json"],
            Agent::Hermes | Agent::Openclaw => &[],
        };
        self.targets(joined(root, names), root, program)
    }

    /// The entries of each file: servers in the first, hooks in the last.
    fn targets(self, paths: Vec<PathBuf>, within: &Path, program: &str) -> Vec<Target> {
        let last = paths.len().saturating_sub(1);
        let targets = paths.into_iter().enumerate().map(|(at, path)| {
            let mut entries = Vec::new();
            if at == 0 {
                entries.push(self.server(program));
            }
            if at == last {
                entries.extend(self.hooks(program));
            }
            let format = self.format(&path);
            Target { path, within: within.to_owned(), format, entries }
        });
        targets.collect()
    }

    fn format(self, path: &Path) -> Format {
        match (path.extension().and_then(|extension| extension.to_str()), self) {
            (Some("toml"), _) => Format::Toml,
            (Some("yaml"), _) => Format::Yaml,
            (_, Agent::Openclaw) => Format::Json(Dialect::Five),
            (_, Agent::Gemini | Agent::Vscode | Agent::Cursor) => Format::Json(Dialect::Comments),
            _ => Format::Json(Dialect::Strict),
        }
    }

    fn server(self, program: &str) -> Entry {
        let path: &[&str] = match self {
            Agent::ClaudeCode | Agent::Gemini | Agent::Cursor => &["mcpServers"],
            Agent::Codex | Agent::Hermes => &["mcp_servers"],
            Agent::Vscode => &["servers"],
            Agent::Openclaw => &["mcp", "servers"],
        };
        let mut value = json!({"command": program, "args": SERVER_ARGUMENTS});
        if matches!(self, Agent::ClaudeCode | Agent::Vscode) {
            value = json!({"type": "stdio", "command": program, "args": SERVER_ARGUMENTS});
        }
        Entry::member(path, value)
    }

    fn hooks(self, program: &str) -> Vec<Entry> {
        let program =
            shlex::try_quote(program).map_or_else(|_| program.to_owned(), |quoted| quoted.into_owned());
        let entry = |(event, tools): (&str, Option<&str>)| {
            let timeout = match (self, event) {
                // Codex warns of more.
                (Agent::Codex, "SessionEnd") => 3,
                (Agent::Gemini, _) => HOOK_SECONDS * 1000,
                _ => HOOK_SECONDS,
            };
            let hook: Value = json!({
                "type": "command", "command": format!("{program} hook {self}"), "timeout": timeout,
            });
            let value = match tools {
                Some(tools) => json!({"matcher": tools, "hooks": [hook]}),
                None => json!({"hooks": [hook]}),
            };
            Entry::item(&["hooks", event], value)
        };
        self.events().into_iter().map(entry).collect()
    }

    /// True if the agent is on this machine: one of its files or their folder is there, or its program. Nothing is
    /// started.
    pub fn is_found(self, folders: &Folders) -> bool {
        let has_files = self.own_files(folders, "").iter().any(|target| {
            let folder = target.path.parent().filter(|folder| **folder != folders.home);
            target.path.exists() || folder.is_some_and(Path::is_dir)
        });
        let names = ["", ".exe", ".cmd"].map(|ending| format!("{}{ending}", self.program()));
        let is_program = |folder: &PathBuf| names.iter().any(|name| folder.join(name).is_file());
        has_files || folders.programs.iter().filter(|folder| folder.is_absolute()).any(is_program)
    }
}

fn joined(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_store::{Existing, create_folder, write_file};

    fn folders(home: &Path) -> Folders {
        Folders { home: home.to_owned(), settings: home.join(".config"), ..Folders::default() }
    }

    #[test]
    fn an_agent_is_found_by_its_folder_or_by_its_program() {
        let home = tempfile::tempdir().unwrap();
        let mut folders = folders(home.path());
        assert!(Agent::VARIANTS.iter().all(|agent| !agent.is_found(&folders)));
        let bin = home.path().join("bin");
        create_folder(&home.path().join(".codex")).unwrap();
        create_folder(&bin).unwrap();
        write_file(&bin.join("gemini"), b"", Existing::Keep).unwrap();
        folders.programs.push(bin);
        let found: Vec<_> = Agent::VARIANTS.iter().filter(|agent| agent.is_found(&folders)).collect();
        assert_eq!(found, [&Agent::Codex, &Agent::Gemini]);
    }

    #[test]
    fn variables_move_the_files_and_the_folder_that_bounds_them() {
        let home = Path::new("/home/a");
        let mut folders = folders(home);
        folders.codex = Some("/srv/codex".into());
        folders.claude = Some("/home/a/.claude-work".into());
        folders.openclaw_file = Some("/srv/claw/x.json".into());
        let places = |agent: Agent| {
            let targets = agent.own_files(&folders, "memories").into_iter();
            targets
                .map(|target| format!("{} {}", target.path.display(), target.within.display()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places(Agent::Codex),
            ["/srv/codex/config.toml /srv/codex", "/srv/codex/hooks.json /srv/codex"]
        );
        assert_eq!(places(Agent::ClaudeCode)[0], "/home/a/.claude-work/.claude.json /home/a");
        assert_eq!(places(Agent::Openclaw), ["/srv/claw/x.json /srv/claw"]);
        assert_eq!(places(Agent::Vscode), ["/home/a/.config/Code/User/mcp.json /home/a"]);
        assert_eq!(places(Agent::Hermes), ["/home/a/.hermes/config.yaml /home/a"]);
    }

    #[test]
    fn the_program_is_quoted_for_the_shell_in_hooks_alone() {
        let targets = Agent::Gemini.own_files(&folders(Path::new("/h")), "/opt/a b/memories");
        let entries = &targets[0].entries;
        assert_eq!(entries[0].value["command"], "/opt/a b/memories");
        assert_eq!(entries[2].value["hooks"][0]["command"], "'/opt/a b/memories' hook gemini");
        assert_eq!(entries[2].value["hooks"][0]["timeout"], 5000);
    }
}
