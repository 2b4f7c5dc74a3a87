//! Servers and programs that settings name: what reaches them, which keys, and what is said about it.
#![cfg(unix)]

use std::fs;
#[cfg(feature = "proxy")]
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
#[cfg(feature = "proxy")]
use std::process::Stdio;
use std::process::{Command, Output};

use crate::program::NOW;
use crate::server::{Behaviour, Server};

const FILE: &str = "## Location 5: Attic\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n\
    **[NOTE] Private diary** *(Ep1, T1)*\nThe code of the safe is 4711.\n\n**[NOTE] Rope** *(Ep1, T2)*\nStrong.\n";

/// The keys of a person; each of them is known by its end.
const KEYS: [(&str, &str); 4] = [
    ("MEMORIES_API_KEY", "key-for-any-model"),
    ("MEMORIES_EMBEDDING_API_KEY", "key-for-any-embedder"),
    ("OPENAI_API_KEY", "key-for-openai"),
    ("ANTHROPIC_API_KEY", "key-for-anthropic"),
];

struct Place {
    scratch: tempfile::TempDir,
}

impl Place {
    /// A folder with a memory file and settings that will be found.
    fn with(settings: &str) -> Place {
        let place = Place { scratch: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("home")).unwrap();
        fs::create_dir_all(place.path("play")).unwrap();
        fs::write(place.path("play/Memories.md"), FILE).unwrap();
        fs::write(place.path("play/memories.toml"), settings).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
        command.args(arguments).current_dir(self.path("play")).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.path("home")).env("MEMORIES_NOW", NOW);
        command
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        self.command(arguments).envs(variables.iter().copied()).output().unwrap()
    }

    fn trust(&self) {
        assert!(self.run(&["trust"], &[]).status.success());
    }
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

const RECORD: [&str; 9] = [
    "record",
    "--location",
    "5",
    "--action",
    "look",
    "--response",
    "It is dark.",
    "--score-before=0",
    "--score-after=5",
];

/// A turn that no trigger selects, so that no model is asked.
const QUIET: [&str; 7] = ["record", "--location", "5", "--action", "wait", "--response", "Time passes."];

fn keys_sent(server: &Server) -> Vec<String> {
    let header = |request: &crate::server::Request| request.header("authorization").map(str::to_owned);
    server.requests().iter().filter_map(header).collect()
}

#[test]
fn a_host_that_only_a_found_file_names_is_not_reached() {
    let server = Server::start(vec![Behaviour::error(500, "no")]);
    let url = server.base_url();
    for provider in ["auto", "openai", "anthropic", "ollama"] {
        let embedder = if provider == "anthropic" { "auto" } else { "openai" };
        let place = Place::with(&format!(
            "[llm]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\nmax_retries = 0\n\
             [search]\nembedder = \"{embedder}\"\nembedding_url = \"{url}\"\n"
        ));
        let commands: [&[&str]; 6] = [
            &RECORD,
            &["query", "what is the code?"],
            &["query", "what is the code?", "--answer"],
            &["summarize", "5"],
            &["consolidate", "5"],
            &["retry"],
        ];
        // Without a key of OpenAI: it would be asked itself, by its own right.
        let keys = [KEYS[0], KEYS[1]];
        for arguments in commands {
            place.run(arguments, &keys);
        }
        assert_eq!(server.requests().len(), 0, "{provider}");
    }
}

#[test]
fn a_trusted_file_s_host_gets_the_key_for_any_server_and_no_other() {
    let server = Server::start(vec![Behaviour::error(500, "no")]);
    let url = server.base_url();
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmax_retries = 0\n\
         [search]\nembedder = \"openai\"\nembedding_url = \"{url}\"\n"
    );
    let place = Place::with(&settings);
    place.trust();
    place.run(&RECORD, &KEYS[2..]);
    place.run(&["query", "what is the code?"], &KEYS[2..]);
    assert!(server.requests().len() >= 2);
    assert_eq!(keys_sent(&server), [""; 0]);
    place.run(&["summarize", "5"], &KEYS);
    let asked = keys_sent(&server);
    assert!(!asked.is_empty() && asked.iter().all(|key| key == "Bearer key-for-any-model"), "{asked:?}");
    place.run(&["query", "what is the code?"], &KEYS);
    let sent = keys_sent(&server).split_off(asked.len());
    assert!(!sent.is_empty() && sent.iter().all(|key| key == "Bearer key-for-any-embedder"), "{sent:?}");
    fs::write(place.path("play/memories.toml"), settings + "\n").unwrap();
    let before = server.requests().len();
    place.run(&["query", "what is the code?"], &KEYS);
    assert_eq!(server.requests().len(), before);
}

/// The names of the variables that a program wrote into a file by `env`.
fn names_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect()
}

const PERSON: [(&str, &str); 8] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C"),
    ("XDG_RUNTIME_DIR", "/run/user/1"),
    ("TERM", "dumb"),
    ("GIT_CEILING_DIRECTORIES", "/"),
    ("AWS_SECRET_ACCESS_KEY", "aws"),
    ("SSH_AUTH_SOCK", "/run/agent"),
    ("EXTRA", "extra"),
];

#[test]
fn a_model_s_program_gets_a_reduced_environment() {
    let place = Place::with("");
    let seen = place.path("seen");
    let settings = |more: &str| {
        let line = format!("env > '{}'; echo '{{}}'", seen.display());
        format!("[llm]\nprovider = \"command\"\ncommand = {line:?}\n{more}")
    };
    let run = |more: &str| {
        fs::write(place.path("play/memories.toml"), settings(more)).unwrap();
        place.trust();
        let mut command = place.command(&RECORD);
        command.envs(KEYS).envs(PERSON).output().unwrap();
        names_in(&seen)
    };
    let names = run("");
    for needed in ["PATH", "HOME", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "TERM"] {
        assert!(names.iter().any(|name| name == needed), "{needed}: {names:?}");
    }
    let secrets = ["KEY", "AWS", "SSH", "EXTRA", "GIT", "MEMORIES"];
    assert!(!names.iter().any(|name| secrets.iter().any(|secret| name.contains(secret))), "{names:?}");
    let names = run("pass_env = [\"OPENAI_API_KEY\", \"EXTRA\", \"MISSING\"]\n");
    let passed: Vec<&String> = names.iter().filter(|name| secrets.iter().any(|s| name.contains(s))).collect();
    assert_eq!(passed.len(), 2, "{passed:?}");
}

#[test]
fn git_gets_its_own_variables_and_no_key() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with("");
    let (seen, git) = (place.path("seen"), place.path("bin/git"));
    fs::create_dir_all(place.path("bin")).unwrap();
    fs::write(&git, format!("#!/bin/sh\nenv > '{}'\n", seen.display())).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let mut command = place.command(&["diff", "HEAD"]);
    command.envs(KEYS).envs(PERSON).env("PATH", path).output().unwrap();
    let names = names_in(&seen);
    assert!(names.iter().any(|name| name == "GIT_CEILING_DIRECTORIES"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("KEY") || name.contains("SSH")), "{names:?}");
}

#[test]
fn the_first_time_that_texts_leave_the_machine_is_said_once() {
    let place = Place::with("");
    fs::write(place.path("play/Memories.md"), "").unwrap();
    assert!(place.run(&QUIET, &[("MEMORIES_PROVIDER", "offline")]).status.success());
    let there = [("MEMORIES_BASE_URL", "https://models.invalid/v1"), KEYS[0]];
    let notice = "warning: turns, chats and memories that a model is asked about are sent to `models.invalid`, \
                  which is not this machine";
    let said = place.run(&QUIET, &there);
    assert_eq!(stderr(&said).lines().next(), Some(format!("{notice}; this is said once").as_str()));
    assert_eq!(fs::read_to_string(place.path("home/.config/memories/hosts")).unwrap(), "models.invalid\n");
    assert_eq!(stderr(&place.run(&QUIET, &there)), "");
    // Without a home it cannot be remembered.
    for _ in 0..2 {
        let mut command = place.command(&QUIET);
        let said = command.envs(there).env_remove("HOME").output().unwrap();
        assert_eq!(stderr(&said).lines().next(), Some(notice));
    }
    let embedder = [("MEMORIES_EMBEDDER", "ollama"), ("MEMORIES_EMBEDDING_URL", "http://vectors.invalid")];
    fs::write(place.path("play/Memories.md"), "").unwrap();
    let said = place.run(&["query", "lamp"], &embedder);
    assert!(
        stderr(&said).contains("memories and questions are sent to `vectors.invalid`"),
        "{}",
        stderr(&said)
    );
    assert!(!stderr(&place.run(&["query", "lamp"], &embedder)).contains("vectors.invalid`, which"));
    let here = [("MEMORIES_BASE_URL", "http://127.0.0.1:1/v1")];
    assert_eq!(stderr(&place.run(&QUIET, &here)), "");
}

#[cfg(feature = "proxy")]
#[test]
fn the_proxy_obeys_the_same_rules() {
    let place = Place::with("[llm]\nprovider = \"command\"\ncommand = \"touch mark\"\n");
    let mut proxy =
        place.command(&["proxy", "--upstream", "https://chats.invalid", "--listen", "127.0.0.1:0"]);
    let mut child = proxy.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    let said = child.wait_with_output().unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}{}", stderr(&said));
    let text = stderr(&said);
    assert!(text.contains("`memories.toml` may not set `llm.provider`, `llm.command`"), "{text}");
    let notice =
        "warning: chats and the memories in them are sent to `chats.invalid`, which is not this machine";
    assert!(text.contains(notice), "{text}");
    assert!(!place.path("play/mark").exists());
}

#[test]
fn a_key_over_plain_http_is_warned_of_each_time() {
    let place = Place::with("");
    place.run(&QUIET, &[("MEMORIES_PROVIDER", "offline")]);
    let there = |url: &'static str| [("MEMORIES_BASE_URL", url), KEYS[0]];
    let warning = "warning: a key goes to `models.invalid` without encryption: use https\n";
    for _ in 0..2 {
        assert!(stderr(&place.run(&QUIET, &there("http://models.invalid/v1"))).ends_with(warning));
    }
    assert_eq!(stderr(&place.run(&QUIET, &there("https://models.invalid/v1"))), "");
    let without_key = [("MEMORIES_BASE_URL", "http://models.invalid/v1")];
    assert_eq!(stderr(&place.run(&QUIET, &without_key)), "");
}

#[test]
fn a_reply_that_repeats_the_secrets_of_the_address_is_shown_without_them() {
    let echo = |request: &crate::server::Request, _| {
        let sent = request.header("authorization").unwrap_or_default();
        Behaviour::error(401, &format!("`{sent}` may not use {}", request.path))
    };
    let server = Server::deciding(echo);
    let place = Place::with("");
    let url = server.base_url().replace("http://", "http://user:URLPASSWORD@") + "?key=QUERYSECRET";
    let variables = [("MEMORIES_BASE_URL", url.as_str()), ("MEMORIES_PROVIDER", "openai")];
    let said = place.run(&RECORD, &variables);
    // `printf 'user:URLPASSWORD' | base64`
    let secrets = ["URLPASSWORD", "dXNlcjpVUkxQQVNTV09SRA", "QUERYSECRET"];
    let request = &server.requests()[0];
    assert!(
        request.header("authorization").unwrap().contains(secrets[1]) && request.path.contains(secrets[2])
    );
    let journal = fs::read_to_string(place.path("play/.memories/Memories.md/journal.jsonl")).unwrap();
    assert!(stderr(&said).contains("HTTP 401") && journal.contains("HTTP 401"), "{}", stderr(&said));
    for secret in secrets {
        assert!(!stderr(&said).contains(secret) && !journal.contains(secret), "{}{journal}", stderr(&said));
    }
}

#[test]
fn a_short_key_and_a_key_in_the_wrong_place_are_not_repeated() {
    let echo = |request: &crate::server::Request, _| {
        let sent = request.header("authorization").unwrap_or_default();
        Behaviour::error(401, &format!("{sent} is no key"))
    };
    let server = Server::deciding(echo);
    let place = Place::with("");
    let url = server.base_url();
    let variables = [("MEMORIES_BASE_URL", url.as_str()), ("MEMORIES_API_KEY", "q7z")];
    let said = place.run(&RECORD, &variables);
    assert!(stderr(&said).contains("HTTP 401") && !stderr(&said).contains("q7z"), "{}", stderr(&said));
    fs::write(place.path("play/own.toml"), "[llm]\nprovider = \"sk-in-provider-SECRET2\"\n").unwrap();
    let wrong: [(&[&str], (&str, &str)); 3] = [
        (&["list", "--config", "own.toml"], ("MEMORIES_MODEL", "m")),
        (&["list"], ("MEMORIES_PROVIDER", "sk-in-provider-SECRET2")),
        (&RECORD, ("MEMORIES_BASE_URL", "htp://user:SECRET2@host/v1")),
    ];
    for (arguments, variable) in wrong {
        let said = place.run(arguments, &[variable]);
        assert_eq!(said.status.code(), Some(4), "{}", stderr(&said));
        assert!(!stderr(&said).contains("SECRET2"), "{}", stderr(&said));
    }
    let said = place.run(&["list", "--config", "own.toml"], &[]);
    assert!(stderr(&said).contains("the value is not a provider"), "{}", stderr(&said));
}
