//! The environment variables of the settings, and the rule which server may get a key.

use std::ffi::OsString;
use std::path::PathBuf;

use secrecy::SecretString;

#[cfg(feature = "agents")]
use crate::cli::own_program::search_path;
#[cfg(feature = "agents")]
use memories_agents::setup::Folders;

/// The environment variables that the program reads, and what each says. Keys come from nowhere else.
pub(crate) const VARIABLES: [(&str, &str); 37] = [
    ("MEMORIES_FILE", "The memory file, as by --file."),
    ("MEMORIES_CONFIG", "The settings, as by --config: they are trusted."),
    ("MEMORIES_WRITER", "Who writes, as by --writer."),
    ("MEMORIES_PROVIDER", "Who answers as the model: auto, openai, anthropic, ollama, command or offline."),
    ("MEMORIES_MODEL", "The model's name."),
    ("MEMORIES_BASE_URL", "The address of the model's server."),
    ("MEMORIES_API_KEY", "The key for that address, or for the one that trusted settings name."),
    ("OPENAI_API_KEY", "The key for OpenAI, or for OPENAI_BASE_URL."),
    ("OPENAI_BASE_URL", "The address of a server that speaks as OpenAI's does."),
    ("OPENAI_MODEL", "The model's name there, where MEMORIES_MODEL is not set."),
    ("ANTHROPIC_API_KEY", "The key for Anthropic, or for ANTHROPIC_BASE_URL."),
    ("ANTHROPIC_BASE_URL", "The address of a server that speaks as Anthropic's does."),
    ("OLLAMA_HOST", "The address of Ollama."),
    ("MEMORIES_EMBEDDER", "Who embeds texts for the search: embedded, ollama, openai or auto."),
    ("MEMORIES_EMBEDDING_MODEL", "The embedding model's name."),
    ("MEMORIES_EMBEDDING_URL", "The address of the embedding server."),
    ("MEMORIES_EMBEDDING_API_KEY", "The key for that address."),
    ("MEMORIES_PROXY_TOKEN", "The token that clients of the proxy send."),
    ("MEMORIES_SERVE_TOKEN", "The token that browsers of `serve` send."),
    ("AWS_*", "Keys, region, profile and address of S3, for `memories sync`, as for AWS's own tools."),
    ("AZURE_*", "Account and keys of Azure Blob Storage, for `memories sync`."),
    (
        "GOOGLE_*",
        "Keys of Google Cloud Storage, for `memories sync`; STORAGE_EMULATOR_HOST names an emulator.",
    ),
    (
        "MEMORIES_MCP_TOKEN",
        "The token that clients of mcp --http send, or several as NAME=TOKEN, separated by spaces.",
    ),
    ("MEMORIES_NOW", "The present time in RFC 3339, for tests and replays."),
    (
        "MEMORIES_COMPLETE",
        "The shell that asks for completions; only the scripts of `memories completions` set it.",
    ),
    ("XDG_CONFIG_HOME", "The folder of memories/memories.toml, your own settings; ~/.config unless set."),
    ("CLAUDE_CONFIG_DIR", "The folder of Claude Code's settings, for `memories setup`."),
    ("CODEX_HOME", "The folder of Codex's settings, for `memories setup`."),
    ("GEMINI_CLI_HOME", "The folder of Gemini CLI's `.gemini`, for `memories setup`."),
    ("HERMES_HOME", "The folder of Hermes's settings, for `memories setup`."),
    ("OPENCLAW_CONFIG_PATH", "The settings of OpenClaw, for `memories setup`."),
    ("OPENCLAW_STATE_DIR", "The folder of OpenClaw's settings, for `memories setup`."),
    ("NO_COLOR", "Any value: no colour, unless --color always."),
    ("TERM", "dumb, or not set: no colour and no pager."),
    (
        "PAGER",
        "The program through which long answers go on a terminal; less unless set, none if it is empty or cat.",
    ),
    ("VISUAL", "The editor of `memories edit`."),
    ("EDITOR", "The editor where VISUAL is not set; vi unless set."),
];

/// The values of the environment variables, and the working directory.
#[derive(Debug, Clone, Default)]
pub struct ProcessEnvironment {
    pub no_color: bool,
    /// The terminal obeys no codes.
    pub(crate) is_dumb: bool,
    /// The pager; an empty one is none.
    pub(crate) pager: Option<String>,
    /// The editor of a person.
    pub(super) editor: Option<String>,
    /// The shell that asks for completions.
    pub(crate) completes_for: Option<String>,
    pub(super) now: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<SecretString>,
    pub(super) openai_api_key: Option<SecretString>,
    pub(super) openai_base_url: Option<String>,
    pub(super) openai_model: Option<String>,
    pub(super) anthropic_api_key: Option<SecretString>,
    pub(super) anthropic_base_url: Option<String>,
    pub(super) ollama_host: Option<String>,
    pub(super) embedder: Option<String>,
    pub(super) embedding_model: Option<String>,
    pub(super) embedding_url: Option<String>,
    pub(super) embedding_api_key: Option<SecretString>,
    pub(super) proxy_token: Option<SecretString>,
    pub(super) serve_token: Option<SecretString>,
    pub(super) mcp_token: Option<SecretString>,
    /// The working directory.
    pub(crate) folder: PathBuf,
    /// The folder of the user's own settings, `None` where the environment names no home.
    pub(crate) user_folder: Option<PathBuf>,
}

impl ProcessEnvironment {
    /// Reads the variables and the working directory of this process.
    pub(crate) fn of_process() -> ProcessEnvironment {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        ProcessEnvironment {
            no_color: variable("NO_COLOR").is_some(),
            is_dumb: variable("TERM").is_none_or(|terminal| terminal == "dumb"),
            pager: std::env::var("PAGER").ok(),
            editor: variable("VISUAL").or_else(|| variable("EDITOR")),
            completes_for: variable("MEMORIES_COMPLETE"),
            now: variable("MEMORIES_NOW"),
            provider: variable("MEMORIES_PROVIDER"),
            model: variable("MEMORIES_MODEL"),
            base_url: variable("MEMORIES_BASE_URL"),
            api_key: variable("MEMORIES_API_KEY").map(SecretString::from),
            openai_api_key: variable("OPENAI_API_KEY").map(SecretString::from),
            openai_base_url: variable("OPENAI_BASE_URL"),
            openai_model: variable("OPENAI_MODEL"),
            anthropic_api_key: variable("ANTHROPIC_API_KEY").map(SecretString::from),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            ollama_host: variable("OLLAMA_HOST"),
            embedder: variable("MEMORIES_EMBEDDER"),
            embedding_model: variable("MEMORIES_EMBEDDING_MODEL"),
            embedding_url: variable("MEMORIES_EMBEDDING_URL"),
            embedding_api_key: variable("MEMORIES_EMBEDDING_API_KEY").map(SecretString::from),
            proxy_token: variable("MEMORIES_PROXY_TOKEN").map(SecretString::from),
            serve_token: variable("MEMORIES_SERVE_TOKEN").map(SecretString::from),
            mcp_token: variable("MEMORIES_MCP_TOKEN").map(SecretString::from),
            folder: std::env::current_dir().unwrap_or_default(),
            user_folder: user_folder(),
        }
    }
}

/// Variables on which what compilers and other tools do depends.
const OF_TOOLS: [&str; 10] = [
    "PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "NODE_ENV",
    "NVM_BIN",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "GOFLAGS",
    "CC",
    "CXX",
];

/// A hash of the variables on which what tools do depends.
pub(crate) fn tools_environment() -> u64 {
    let value =
        |name: &str| std::env::var_os(name).map(|value| format!("{name}={}", value.to_string_lossy()));
    let values: Vec<String> = OF_TOOLS.into_iter().filter_map(value).collect();
    xxhash_rust::xxh3::xxh3_64(values.join("\n").as_bytes())
}

impl ProcessEnvironment {
    /// True if a variable names the host of a model.
    pub(super) fn names_a_host(&self) -> bool {
        let hosts = [&self.base_url, &self.openai_base_url, &self.anthropic_base_url, &self.ollama_host];
        hosts.iter().any(|host| host.is_some())
    }
}

/// Variables that programs need to run as their user expects. None of them holds a key.
const FOR_PROGRAMS: [&str; 27] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TERM",
    "TMPDIR",
    "TZ",
    // Windows.
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];

/// The environment of a program that we start: what it needs to run, and variables for which `is_passed` holds.
pub(crate) fn for_programs(is_passed: impl Fn(&str) -> bool) -> Vec<(OsString, OsString)> {
    let is_same =
        |own: &&str, name: &str| if cfg!(windows) { own.eq_ignore_ascii_case(name) } else { *own == name };
    let is_needed = |name: &str| {
        FOR_PROGRAMS.iter().any(|own| is_same(own, name))
            || name.starts_with("LC_")
            || name.starts_with("XDG_")
    };
    let passes = |name: &OsString| name.to_str().is_some_and(|name| is_needed(name) || is_passed(name));
    std::env::vars_os().filter(|(name, _)| passes(name)).collect()
}

/// The variables of object stores, and the user's home with the files of each cloud.
#[cfg(feature = "sync")]
pub(crate) fn cloud_variables() -> (Vec<(String, String)>, Option<PathBuf>) {
    let is_of_cloud = |name: &str| {
        ["AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_"].iter().any(|prefix| name.starts_with(prefix))
    };
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables = std::env::vars_os().filter_map(text).filter(|(name, _)| is_of_cloud(name)).collect();
    let home = std::env::var_os("HOME").or(std::env::var_os("USERPROFILE")).map(PathBuf::from);
    (variables, home.filter(|home| home.is_absolute()))
}

/// The folders of coding agents, and of their programs; none where the environment names no home.
#[cfg(feature = "agents")]
pub(crate) fn agent_folders() -> Option<Folders> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = folder("HOME").or_else(|| folder("USERPROFILE"))?;
    let settings = match std::env::consts::OS {
        "macos" => home.join("Library/Application Support"),
        "windows" => folder("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
        _ => folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
    };
    let variable = |name: &str| folder(name);
    Some(Folders {
        settings,
        local_data: folder("LOCALAPPDATA").filter(|_| cfg!(windows)),
        claude: variable("CLAUDE_CONFIG_DIR"),
        codex: variable("CODEX_HOME"),
        gemini: variable("GEMINI_CLI_HOME"),
        hermes: variable("HERMES_HOME"),
        openclaw_file: variable("OPENCLAW_CONFIG_PATH"),
        openclaw: variable("OPENCLAW_STATE_DIR"),
        programs: search_path(),
        home,
    })
}

/// The folder of the user's own settings. A relative path in the variables does not count: it would lead into the
/// working directory, whose files may be anybody's.
fn user_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = || {
        if cfg!(windows) { variable("APPDATA") } else { variable("HOME").map(|home| home.join(".config")) }
    };
    Some(variable("XDG_CONFIG_HOME").or_else(own)?.join("memories"))
}

/// The key, if it may be sent. It may if the environment names the server (`is_named`), or if no settings
/// file names a server other than the key's own provider.
pub(super) fn trusted(
    key: &Option<SecretString>,
    is_named: bool,
    file_url: Option<&str>,
    home: &str,
) -> Option<SecretString> {
    key.clone().filter(|_| is_named || file_url.is_none_or(|url| is_at(url, home)))
}

/// True if a URL is on a host, given with its scheme.
fn is_at(url: &str, home: &str) -> bool {
    url.strip_prefix(home).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_is_read_is_listed() {
        let source = include_str!("environment.rs");
        let read: Vec<&str> =
            source.split("variable(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(read.len() > 15);
        for name in read.into_iter().filter(|name| !matches!(*name, "HOME" | "APPDATA")) {
            assert!(VARIABLES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
