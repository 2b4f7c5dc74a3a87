//! All settings, decided here alone. A flag overrides the environment, this overrides the `memories.toml` of the
//! project, this the `memories.toml` of the user's own folder, and this overrides the default.
//!
//! A `memories.toml` that was found and not named may have been written by anybody. It sets limits and tastes; what
//! would run, reach or read something counts only if the file is trusted ([`found`]).
//!
//! Environment variables: `MEMORIES_FILE`, `MEMORIES_CONFIG` and `MEMORIES_WRITER` (as the flags), `MEMORIES_NOW` (a
//! fixed time, for tests), `MEMORIES_PROVIDER`, `MEMORIES_MODEL`, `MEMORIES_BASE_URL` (as the keys of `[llm]`),
//! `MEMORIES_API_KEY`, `MEMORIES_PROXY_TOKEN`, `MEMORIES_SERVE_TOKEN`, `MEMORIES_MCP_TOKEN`, those of [`search`], and the names that other
//! programs use: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_MODEL`, `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`,
//! `OLLAMA_HOST`, `NO_COLOR`. The user's own folder is `memories` in `XDG_CONFIG_HOME`, else in `~/.config` (on Windows
//! in `APPDATA`).
//!
//! API keys come from the environment only. `OPENAI_API_KEY` goes to OpenAI and `ANTHROPIC_API_KEY` to
//! Anthropic, or to the server that the environment names; never to a server that only a file names.

pub(crate) mod chat;
mod consolidate;
mod environment;
mod file;
mod found;
mod hooks;
mod owners;
mod restricted;
mod search;
mod trust_list;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use secrecy::SecretString;
use serde_json::Value;
use strum::VariantArray;

use crate::cli::failure::Failure;
use crate::cli::working_folder::WorkingFolder;
use memories_chat::ChatSettings;
use memories_document::types::Writer;
use memories_document::types::fields::{Expected, flag, number, text, texts};
use memories_llm::redact::mask_personal;
use memories_notebook::Clock;
use memories_recall::Limits;
use memories_record::RecordSettings;
use memories_record::replies::{Replies, ReplyClass};
use memories_record::triggers::Trigger;
use memories_record::turn::importance_scale;
use memories_store::refuse_link_out;

pub use environment::ProcessEnvironment;
#[cfg(feature = "sync")]
pub(crate) use environment::cloud_variables;
pub(crate) use environment::{VARIABLES, for_programs};
#[cfg(feature = "agents")]
pub(crate) use environment::{agent_folders, tools_environment};
pub(crate) use file::Layer;
pub(crate) use found::find_settings;
pub(crate) use restricted::{restricted_keys, shown_setting};
pub(crate) use search::EmbeddingSettings;
pub(crate) use trust_list::{TrustList, Trusted, sha256};

use environment::trusted;
use file::{SettingsFiles, command, duration, size, small};
use found::{Found, relative_to};
pub(crate) use owners::repository_of;
use owners::{Foreign, Owners};

/// The editor where the environment names none.
const EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Name of the memory file.
const MEMORY_FILE_NAME: &str = "Memories.md";

/// Upper limit of `max_tokens` in the file, in tokens; `--max-tokens` has no limit.
const MAX_TOKENS_BY_SETTING: usize = 500;

/// The settings file that `init` writes: every key, commented out, with its default.
pub(crate) const TEMPLATE: &str = include_str!("../../examples/memories.toml.example");

/// All settings, with nothing left to interpret.
#[derive(Debug)]
pub(crate) struct Settings {
    pub file: PathBuf,
    /// Where paths of folders on the command line start.
    pub working_folder: WorkingFolder,
    /// The address in place of the file, in messages, where the file is a copy of a remote text.
    pub shown_file: Option<PathBuf>,
    /// The address with which `sync` merges.
    pub sync_url: Option<String>,
    /// Path of the settings file; `init` writes it if it is missing.
    pub config_path: PathBuf,
    /// The settings file that names a model which is not asked, because the file is not trusted.
    pub untrusted_model: Option<PathBuf>,
    /// The settings files that were read: the project's, then the user's own.
    pub read_from: Vec<PathBuf>,
    /// The editor of `edit`, as a command line.
    pub editor: String,
    /// Time limit on waiting for other writers.
    pub lock_timeout: Duration,
    /// If false, every command except `init` does nothing.
    pub enabled: bool,
    /// Limits on the output of `recall`.
    pub limits: Limits,
    pub record: RecordSettings,
    pub hooks: hooks::HookSettings,
    pub consolidate: consolidate::ConsolidateSettings,
    /// The map of the game, for `record`; it is read when it is needed.
    pub map: Option<PathBuf>,
    /// Provider, model and request options.
    pub llm: memories_llm::Config,
    /// Keys and hosts for `llm`, from the environment.
    pub llm_environment: memories_llm::Environment,
    /// Weights, floor and synonyms of the ranking.
    pub search: memories_search::SearchSettings,
    /// Default limit on the results of `query`.
    pub search_results: usize,
    pub embedding: EmbeddingSettings,
    pub chat: ChatSettings,
    /// The token that clients of the proxy must send.
    pub proxy_token: Option<SecretString>,
    /// The token that browsers of `serve` must send.
    pub serve_token: Option<SecretString>,
    /// The writer in whose name entries are stored.
    pub writer: Option<Writer>,
    /// The token that clients of `mcp --http` must send, or several with names.
    pub mcp_token: Option<SecretString>,
    /// Start of the command, RFC 3339.
    pub now: String,
    /// The fixed time of `MEMORIES_NOW`, for tests.
    pub fixed_now: Option<String>,
    /// The folder of the user's own settings, if there is one.
    pub user_folder: Option<PathBuf>,
}

impl Settings {
    /// Decides all settings. The second value holds warnings.
    ///
    /// # Errors
    ///
    /// When a settings file is named but missing, not TOML, or holds a value of the wrong kind.
    pub(crate) fn load(
        file: Option<PathBuf>,
        config: Option<PathBuf>,
        lock_timeout: Duration,
        environment: ProcessEnvironment,
        config_may_be_missing: bool,
    ) -> Result<(Settings, Vec<String>), Failure> {
        let found = found::open(file.as_deref(), config, config_may_be_missing, &environment)?;
        Settings::decide(found, file, lock_timeout, environment)
    }

    /// Settings for a command on one file, from flags and environment alone.
    ///
    /// # Errors
    ///
    /// When a variable holds a value of the wrong kind.
    pub(crate) fn without_files(
        file: PathBuf,
        lock_timeout: Duration,
        environment: ProcessEnvironment,
    ) -> Result<Settings, Failure> {
        Ok(Settings::decide(Found::default(), Some(file), lock_timeout, environment)?.0)
    }

    fn decide(
        found: Found,
        file: Option<PathBuf>,
        lock_timeout: Duration,
        environment: ProcessEnvironment,
    ) -> Result<(Settings, Vec<String>), Failure> {
        let Found { mut files, config_path, ignored, mut warnings, foreign } = found;
        let memory_file = files.read_path("memory_file")?;
        let (file, of_others) = match file.or(memory_file) {
            Some(named) => (named, None),
            None => found_memory_file(&environment)?,
        };
        let foreign =
            of_others.or(foreign).map(|foreign| format!("{}; {}", foreign.problem(), foreign.remedy()));
        warnings.splice(0..0, foreign);
        let enabled = files.read("enabled", flag)?.unwrap_or(true);
        let writer = files.read("writer", writer)?;
        // Every write is immediate. The key is accepted because the settings of other programs have it.
        files.read("flush_on_death", flag)?;
        let now = environment.now.clone().unwrap_or_else(present);
        let limits = read_limits(&mut files)?.at(&now);
        let (mut llm, llm_environment) = read_llm(&mut files, &environment)?;
        let is_kept = !environment.names_a_host() && keep_offline(&mut llm, &ignored, &mut warnings);
        let untrusted_model = is_kept.then(|| config_path.clone());
        let (search, search_results) = search::read(&mut files)?;
        let repository = repository_of(&environment.folder, environment.user_folder.as_deref());
        let settings = Settings {
            working_folder: WorkingFolder::new(&environment.folder, &file, repository),
            file,
            shown_file: None,
            sync_url: files.read("sync.url", text)?,
            config_path,
            untrusted_model,
            read_from: files.paths(),
            editor: environment.editor.clone().unwrap_or_else(|| EDITOR.to_owned()),
            lock_timeout,
            enabled,
            limits,
            record: read_record(&mut files)?,
            hooks: hooks::read(&mut files, MAX_TOKENS_BY_SETTING)?,
            consolidate: consolidate::read(&mut files)?,
            map: files.read_path("record.map")?,
            llm,
            llm_environment,
            search,
            search_results,
            embedding: search::read_embedding(&mut files, &environment)?,
            chat: chat::read(&mut files)?,
            proxy_token: environment.proxy_token,
            serve_token: environment.serve_token,
            writer,
            mcp_token: environment.mcp_token,
            now,
            fixed_now: environment.now,
            user_folder: environment.user_folder,
        };
        warnings.extend(files.unknown_keys());
        Ok((settings, warnings))
    }

    /// The memory file, settings and model in use, for a person who wonders.
    pub(crate) fn in_use(&self) -> String {
        let missing = if self.file.exists() { "" } else { " (not there yet)" };
        let paths: Vec<String> = self.read_from.iter().map(|path| format!("`{}`", path.display())).collect();
        let settings = if paths.is_empty() { "none".to_owned() } else { paths.join(", ") };
        let provider = memories_llm::provider_in_use(&self.llm, &self.llm_environment)
            .unwrap_or(memories_llm::Provider::Offline);
        let model = self.llm.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
        format!(
            "memory file `{}`{missing}; settings {settings}; model {provider}{model}",
            self.file.display()
        )
    }

    /// The clock: each write has its own time, for some commands run for days.
    pub(crate) fn clock(&self) -> Clock {
        let fixed = self.fixed_now.clone();
        Clock::new(move || fixed.clone().unwrap_or_else(present), fresh_id)
    }

    /// A number that differs from run to run, for the jitter of retries.
    pub(crate) fn seed(&self) -> u64 {
        u64::from(std::process::id()) ^ nanoseconds(SystemTime::now()) as u64
    }
}

/// The memory file that nobody named, and one of another user that does not count. One that is a link out of its
/// repository is refused, and so is another user's in the place where a new one would stand.
fn found_memory_file(environment: &ProcessEnvironment) -> Result<(PathBuf, Option<Foreign>), Failure> {
    let folder = &environment.folder;
    let owners = Owners::of_system(environment.user_folder.as_deref());
    let owners::Found { path, foreign } = owners.find_above(folder, MEMORY_FILE_NAME);
    let file = path.map_or_else(|| PathBuf::from(MEMORY_FILE_NAME), |path| relative_to(folder, path));
    if let Some(foreign) = foreign.as_ref().filter(|foreign| foreign.path == folder.join(&file)) {
        let by_name = format!("or name the file: `memories -f {}`", file.display());
        return Err(Failure::user(foreign.problem()).hint(foreign.remedy()).hint(by_name));
    }
    refuse_link_out(&folder.join(&file))?;
    Ok((file, foreign))
}

/// The present time, RFC 3339, in whole seconds.
fn present() -> String {
    time_text(SystemTime::now())
}

/// A time as RFC 3339, in whole seconds. A clock that is set beyond the end of 9999 shows the last time that can be
/// written.
fn time_text(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX);
    jiff::Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// A unique id of a journal line: the time in nanoseconds and the process id.
fn fresh_id() -> String {
    format!("{:x}-{:x}", nanoseconds(SystemTime::now()), std::process::id())
}

/// The present time in milliseconds since 1970, as the file system has it: `MEMORIES_NOW` does not count.
pub(crate) fn milliseconds_now() -> u64 {
    u64::try_from(nanoseconds(SystemTime::now()) / 1_000_000).unwrap_or(u64::MAX)
}

/// Nanoseconds between 1970 and a time.
fn nanoseconds(time: SystemTime) -> u128 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_else(|before| before.duration()).as_nanos()
}

/// The name of a writer.
fn writer(value: &Value) -> Result<Writer, Expected> {
    text(value)?.parse().map_err(|_| "a name of letters, digits, `_` and `-`".into())
}

fn read_limits(file: &mut SettingsFiles) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    let tokens = file.read("max_tokens", size)?.map(|tokens| tokens.min(MAX_TOKENS_BY_SETTING));
    limits.max_tokens = tokens.or(limits.max_tokens);
    file.set("max_successful_actions_shown", size, &mut limits.max_successes)?;
    file.set("max_failed_actions_shown", size, &mut limits.max_failures)?;
    file.set("max_text_chars", size, &mut limits.max_text_chars)?;
    Ok(limits)
}

fn read_record(file: &mut SettingsFiles) -> Result<RecordSettings, Failure> {
    let mut settings = RecordSettings::default();
    for &trigger in Trigger::VARIANTS {
        if file.read(&format!("triggers.{trigger}"), flag)? == Some(false) {
            settings.switches.off.push(trigger);
        }
    }
    file.set("triggers.response_chars", size, &mut settings.switches.response_chars)?;
    file.set("record.history_window", size, &mut settings.history_window)?;
    file.set("tried_per_place", size, &mut settings.tried_per_place)?;
    file.set("record.provenance", flag, &mut settings.provenance)?;
    file.set("record.importance_scale", importance_scale, &mut settings.importance_scale)?;
    mask_personal(file.read("record.mask_personal", flag)?.unwrap_or_default());
    settings.language = file.read("record.language", text)?;
    file.set("record.goals", texts, &mut settings.goals)?;
    let mut phrases = Vec::new();
    for class in ReplyClass::VARIANTS {
        let more = file.read(&format!("record.replies_{}", <&str>::from(class)), texts)?.unwrap_or_default();
        phrases.extend(more.into_iter().map(|phrase| (*class, phrase)));
    }
    if !phrases.is_empty() {
        settings.replies = Replies::with(phrases.iter().map(|(class, phrase)| (*class, phrase.as_str())));
    }
    Ok(settings)
}

fn read_llm(
    file: &mut SettingsFiles,
    environment: &ProcessEnvironment,
) -> Result<(memories_llm::Config, memories_llm::Environment), Failure> {
    let mut config = memories_llm::Config::default();
    let variable = environment.provider.as_deref().map(|name| ("MEMORIES_PROVIDER", name));
    file.choose(variable, "llm.provider", &mut config.provider)?;
    config.model = environment.model.clone();
    config.fallback_model = file.read("llm.model", text)?;
    config.base_url = environment.base_url.clone();
    config.fallback_base_url = file.read("llm.base_url", text)?;
    file.set("llm.command", command, &mut config.command)?;
    let passed = file.read("llm.pass_env", texts)?.unwrap_or_default();
    if !config.command.is_empty() {
        let variables = for_programs(|name| passed.iter().any(|passed| passed == name));
        config.program_environment = memories_llm::ProgramEnvironment::new(variables, passed);
    }
    #[cfg(debug_assertions)]
    {
        config.replay = file.read_path("llm.replay")?;
    }
    file.set("llm.timeout", duration, &mut config.limits.timeout)?;
    file.set("llm.max_retries", small, &mut config.limits.max_retries)?;
    file.set("llm.max_output_tokens", small, &mut config.max_output_tokens)?;
    file.set("llm.max_memory_tokens", size, &mut config.max_memory_tokens)?;
    config.temperature = file.read("llm.temperature", number)?;
    file.choose(None, "llm.structured_output", &mut config.structured_output)?;
    let keys = read_keys(&config, environment);
    Ok((config, keys))
}

/// Keys and hosts, without the keys that would go to a server that only a file names.
fn read_keys(config: &memories_llm::Config, environment: &ProcessEnvironment) -> memories_llm::Environment {
    let key = |key: &Option<SecretString>, own_url: &Option<String>, home: &str| {
        let is_named = config.base_url.is_some() || own_url.is_some();
        environment.api_key.clone().or(trusted(key, is_named, config.fallback_base_url.as_deref(), home))
    };
    let openai = key(&environment.openai_api_key, &environment.openai_base_url, "https://api.openai.com");
    let anthropic =
        key(&environment.anthropic_api_key, &environment.anthropic_base_url, "https://api.anthropic.com");
    memories_llm::Environment {
        openai_api_key: openai,
        openai_base_url: environment.openai_base_url.clone(),
        openai_model: environment.openai_model.clone(),
        anthropic_api_key: anthropic,
        anthropic_base_url: environment.anthropic_base_url.clone(),
        ollama_host: environment.ollama_host.clone(),
        ollama_api_key: environment.api_key.clone(),
        key_variable: environment.api_key.as_ref().map(|_| "MEMORIES_API_KEY"),
    }
}

/// A file that chooses a model and may not do so must not lead to another one, only because its key is there: what was
/// meant for a server on this machine would go to a stranger. True if only this keeps the model from being asked; the
/// warning about the `ignored` settings says it then.
fn keep_offline(config: &mut memories_llm::Config, ignored: &[&str], warnings: &mut [String]) -> bool {
    let is_kept = ignored.iter().any(|key| matches!(*key, "llm.provider" | "llm.base_url"))
        && config.provider == memories_llm::Provider::Auto
        && config.fallback_base_url.is_none();
    if is_kept {
        config.provider = memories_llm::Provider::Offline;
        if let Some(warning) = warnings.last_mut() {
            warning.push_str("; its model is not asked");
        }
    }
    is_kept
}

/// The settings that `init` writes, without the marks of a comment before each key.
#[cfg(test)]
pub(crate) fn uncommented_template() -> String {
    let uncommented = |line: &'static str| match line.strip_prefix("# ") {
        Some(setting) if setting.split(" = ").next().is_some_and(|key| !key.contains(' ')) => setting,
        _ => line,
    };
    TEMPLATE.lines().map(uncommented).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    /// The keys for OpenAI, Anthropic and Ollama, given a file's address and the environment.
    fn keys(file_url: Option<&str>, environment: ProcessEnvironment) -> [Option<String>; 3] {
        let text = file_url.map(|url| format!("[llm]\nbase_url = \"{url}\"")).unwrap_or_default();
        let mut file = SettingsFiles::of(&text);
        let (_, keys) = read_llm(&mut file, &environment).unwrap();
        [keys.openai_api_key, keys.anthropic_api_key, keys.ollama_api_key]
            .map(|key| key.map(|key| key.expose_secret().to_owned()))
    }

    fn both() -> ProcessEnvironment {
        ProcessEnvironment {
            openai_api_key: Some(SecretString::from("o")),
            anthropic_api_key: Some(SecretString::from("a")),
            ..ProcessEnvironment::default()
        }
    }

    #[test]
    fn a_key_goes_to_its_owner_or_where_the_environment_leads() {
        let (o, a) = (|| Some("o".to_owned()), || Some("a".to_owned()));
        let url = || Some("http://h".to_owned());
        assert_eq!(keys(None, both()), [o(), a(), None]);
        for elsewhere in ["http://h", "https://api.anthropic.com.h/", "https://api.openai.com@h"] {
            assert_eq!(keys(Some(elsewhere), both()), [None, None, None], "{elsewhere}");
        }
        assert_eq!(keys(Some("https://api.openai.com/v1"), both()), [o(), None, None]);
        assert_eq!(keys(Some("https://api.anthropic.com"), both()), [None, a(), None]);
        let named = ProcessEnvironment { base_url: url(), ..both() };
        assert_eq!(keys(Some("http://h"), named), [o(), a(), None]);
        let openai = ProcessEnvironment { openai_base_url: url(), ..both() };
        assert_eq!(keys(Some("http://h"), openai), [o(), None, None]);
        let anthropic = ProcessEnvironment { anthropic_base_url: url(), ..both() };
        assert_eq!(keys(Some("http://h"), anthropic), [None, a(), None]);
        let any = || Some("m".to_owned());
        let general = ProcessEnvironment { api_key: Some(SecretString::from("m")), ..both() };
        assert_eq!(keys(Some("http://h"), general), [any(), any(), any()]);
    }

    #[test]
    fn a_clock_beyond_the_year_9999_shows_the_last_time_there_is() {
        let at = |seconds| time_text(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_769_856_000), "2026-01-31T10:40:00Z");
        for beyond in [253_402_214_400, 253_402_300_800, 300_000_000_000] {
            assert_eq!(at(beyond), "9999-12-30T22:00:00Z");
        }
    }

    #[test]
    fn the_environment_beats_the_file_for_each_provider() {
        let text = "[llm]\nmodel = \"file\"\nbase_url = \"http://file\"";
        let mut file = SettingsFiles::of(text);
        let environment = ProcessEnvironment {
            openai_model: Some("variable".to_owned()),
            ollama_host: Some("variable".to_owned()),
            ..ProcessEnvironment::default()
        };
        let (config, keys) = read_llm(&mut file, &environment).unwrap();
        assert_eq!(config.model(&keys.openai_model), Some("variable"));
        assert_eq!(config.model(&None), Some("file"));
        assert_eq!(config.base_url(&keys.ollama_host), Some("variable"));
        assert_eq!(config.base_url(&keys.openai_base_url), Some("http://file"));
        let mut file = SettingsFiles::of(text);
        let environment = ProcessEnvironment { model: Some("mine".to_owned()), ..environment };
        let (config, keys) = read_llm(&mut file, &environment).unwrap();
        assert_eq!(config.model(&keys.openai_model), Some("mine"));
    }
}
