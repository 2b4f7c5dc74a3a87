//! Settings files that come with a repository: they set limits and tastes, and run, reach and read nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::NOW;

/// A cloned repository, the home of the person who cloned it, and files of that person elsewhere.
struct Person {
    scratch: TempDir,
    repository: PathBuf,
}

impl Person {
    fn with(settings: &str) -> Person {
        let scratch = tempfile::tempdir().unwrap();
        let repository = scratch.path().canonicalize().unwrap().join("repository");
        fs::create_dir_all(repository.join(".git")).unwrap();
        fs::create_dir_all(repository.join("below")).unwrap();
        fs::create_dir_all(scratch.path().join("home/.config/memories")).unwrap();
        fs::write(repository.join("memories.toml"), settings).unwrap();
        Person { scratch, repository }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    /// The program, started below the root of the repository.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
        command.args(arguments).current_dir(self.repository.join("below")).timeout(Duration::from_secs(60));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command
            .env("MEMORIES_NOW", NOW)
            .env("OPENAI_API_KEY", "sk-x")
            .env("OPENAI_BASE_URL", "http://127.0.0.1:1");
        command
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> (Option<i32>, String, String) {
        said(&self.command(arguments).write_stdin(stdin).output().unwrap())
    }

    /// The output of a command that must succeed.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(arguments, "");
        assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
        stdout
    }
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Settings whose model is a program that leaves a mark.
fn running(mark: &Path) -> String {
    let line = format!("touch '{}'; echo '{{}}'", mark.display());
    format!("max_tokens = 111\n[llm]\nprovider = \"command\"\nmax_retries = 0\ncommand = {line:?}\n")
}

/// A turn that makes the program ask a model.
const RECORD: [&str; 11] = [
    "record",
    "--location",
    "5:Attic",
    "--action",
    "take lamp",
    "--response",
    "You take the lamp. It glows.",
    "--score-before",
    "0",
    "--score-after",
    "5",
];

#[test]
fn no_command_runs_a_program_that_a_found_file_names() {
    let scratch = tempfile::tempdir().unwrap();
    let mark = scratch.path().join("mark");
    let person = Person::with(&running(&mark));
    person.ok(&["add", "5", "--title", "Lamp", "--text", "The lamp glows."]);
    person.ok(&["add", "5", "--title", "Rope", "--text", "The rope is strong."]);
    let chat = json!([{"role": "user", "content": "Hello, who goes there?"},
        {"role": "assistant", "content": "I learned that the northern gate is closed at night, always."}]);
    let chat = chat.to_string();
    let commands: [(&[&str], &str); 8] = [
        (&RECORD, ""),
        (&["query", "lamp", "--answer"], ""),
        (&["summarize", "5"], ""),
        (&["consolidate", "5", "--apply"], ""),
        (&["extract", "--conversation", "-", "--mode", "every_turn"], &chat),
        (&["digest", "--conversation", "-", "--event", "quest_completed"], &chat),
        (&["retry"], ""),
        (&["mcp"], ""),
    ];
    for (arguments, stdin) in commands {
        let (_, _, stderr) = person.run(arguments, stdin);
        let warnings: Vec<&str> = stderr.lines().filter(|line| line.contains("memories trust")).collect();
        let path = person.repository.join("memories.toml");
        let expected = format!(
            "warning: `{0}` may not set `llm.provider`, `llm.command` until you allow it with \
             `memories trust {0}`: it was found, not named, and may be anybody's",
            path.display()
        );
        assert_eq!(warnings, [expected], "{arguments:?}: {stderr}");
        assert!(!mark.exists(), "{arguments:?}");
    }
    // A person who chooses `command` does not thereby choose the file's program.
    let mut record = person.command(&RECORD);
    let (_, _, stderr) = said(&record.env("MEMORIES_PROVIDER", "command").output().unwrap());
    assert!(!mark.exists() && stderr.contains("provider `command` has no program"), "{stderr}");
}

#[test]
fn a_trusted_file_runs_its_program_until_it_changes() {
    let scratch = tempfile::tempdir().unwrap();
    let mark = scratch.path().join("mark");
    let person = Person::with(&running(&mark));
    let shown = person.ok(&["trust", "--dry-run"]);
    assert!(shown.contains("\n  llm.provider = \"command\"\n  llm.command = \"touch "), "{shown}");
    assert_eq!(person.ok(&["trust", "--list"]), "");
    person.ok(&RECORD);
    assert!(!mark.exists());

    let trusted = person.ok(&["trust"]);
    let path = person.repository.join("memories.toml");
    assert_eq!(trusted, format!("{shown}trusted {}\n", path.display()));
    let (_, _, stderr) = person.run(&RECORD, "");
    assert!(mark.exists() && !stderr.contains("trust"), "{stderr}");
    assert_eq!(person.ok(&["trust", "--list"]), format!("trusted  {}\n", path.display()));

    fs::remove_file(&mark).unwrap();
    fs::write(&path, running(&mark) + "# harmless\n").unwrap();
    let (_, _, stderr) = person.run(&RECORD, "");
    assert!(!mark.exists() && stderr.contains("memories trust"), "{stderr}");
    assert_eq!(person.ok(&["trust", "--list"]), format!("changed  {}\n", path.display()));

    fs::write(&path, running(&mark)).unwrap();
    person.ok(&["trust", "--remove"]);
    person.ok(&RECORD);
    assert!(!mark.exists());
}

#[test]
fn what_was_shown_is_trusted_and_nothing_else() {
    let person = Person::with("[llm]\nprovider = \"command\"\ncommand = \"true\"\n");
    let path = person.repository.join("memories.toml");
    let (_, _, stderr) = person.run(&["trust", "--dry-run"], "");
    let hash = stderr.trim_end().trim_end_matches('`').rsplit(' ').next().unwrap().to_owned();
    let shown: Value = serde_json::from_str(&person.ok(&["trust", "--dry-run", "--json"])).unwrap();
    assert_eq!(shown["sha256"], hash.as_str(), "{stderr}");
    fs::write(&path, "[llm]\nprovider = \"command\"\ncommand = \"false\"\n").unwrap();
    let (code, stdout, stderr) = person.run(&["trust", "--sha256", &hash], "");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
    assert!(
        stderr.contains("is not what was shown") && stderr.contains("memories trust --dry-run"),
        "{stderr}"
    );
    assert_eq!(person.ok(&["trust", "--list"]), "");
    fs::write(&path, "[llm]\nprovider = \"command\"\ncommand = \"true\"\n").unwrap();
    person.ok(&["trust", "--sha256", &hash.to_uppercase()]);
    assert!(person.ok(&["trust", "--list"]).starts_with("trusted  "));
}

#[test]
fn personal_data_is_masked_where_the_person_says_so() {
    let settings = "[record]\nmask_personal = false\n";
    let person = Person::with("");
    let words = "Write to jane.doe@example.org, call +49 171 2345678, pay DE89 3704 0044 0532 0130 00.";
    let record = |turn: &str| {
        let arguments =
            ["record", "--location", "5", "--action", turn, "--response", words, "--remember", words];
        let (code, stdout, stderr) = person.run(&arguments, "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        (
            fs::read_to_string(person.repository.join("below/Memories.md"))
                .unwrap_or_else(|_| fs::read_to_string(person.repository.join("Memories.md")).unwrap()),
            stderr,
        )
    };
    assert!(record("look").0.contains("jane.doe@example.org"));
    fs::remove_file(person.repository.join("below/Memories.md"))
        .or_else(|_| fs::remove_file(person.repository.join("Memories.md")))
        .unwrap();
    fs::write(person.path("home/.config/memories/memories.toml"), "[record]\nmask_personal = true\n")
        .unwrap();
    for found in ["", settings] {
        fs::write(person.repository.join("memories.toml"), found).unwrap();
        let (text, stderr) = record("look around");
        for kept in ["jane.doe", "2345678", "DE89"] {
            assert!(!text.contains(kept), "{text}");
        }
        assert!(text.contains("(mail address masked)") && text.contains("(IBAN masked)"), "{text}");
        assert_eq!(stderr.contains("`record.mask_personal`"), !found.is_empty(), "{stderr}");
    }
}

#[test]
fn trust_of_one_folder_is_no_trust_of_another() {
    let scratch = tempfile::tempdir().unwrap();
    let mark = scratch.path().join("mark");
    let person = Person::with(&running(&mark));
    person.ok(&["trust"]);
    fs::create_dir_all(person.repository.join("below/.git")).unwrap();
    fs::copy(person.repository.join("memories.toml"), person.repository.join("below/memories.toml")).unwrap();
    let (_, _, stderr) = person.run(&RECORD, "");
    assert!(!mark.exists() && stderr.contains("`memories trust memories.toml`"), "{stderr}");
}

#[test]
fn a_named_file_needs_no_trust() {
    let scratch = tempfile::tempdir().unwrap();
    let mark = scratch.path().join("mark");
    let person = Person::with(&running(&mark));
    let path = person.repository.join("memories.toml");
    let mut named = RECORD.to_vec();
    named.extend(["--config", path.to_str().unwrap()]);
    let (_, _, stderr) = person.run(&named, "");
    assert!(mark.exists() && !stderr.contains("trust"), "{stderr}");
    fs::remove_file(&mark).unwrap();
    person.command(&RECORD).env("MEMORIES_CONFIG", &path).assert().success();
    assert!(mark.exists());
}

#[test]
fn the_memory_file_of_a_found_file_stays_in_its_folder() {
    let person = Person::with("");
    let private = person.path("home/Private.md");
    fs::write(&private, "## Location 5: Attic\n\n### Memories\n\n**[NOTE] Safe**\nThe code is 4711.\n")
        .unwrap();
    let settings = person.repository.join("memories.toml");
    let mut outside = vec![private.display().to_string(), "../home/Private.md".to_owned()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&private, person.repository.join("Linked.md")).unwrap();
        std::os::unix::fs::symlink(person.path("home"), person.repository.join("linked")).unwrap();
        outside.extend(["Linked.md".to_owned(), "linked/Private.md".to_owned()]);
    }
    let before = fs::read(&private).unwrap();
    for path in outside {
        fs::write(&settings, format!("memory_file = {path:?}\n")).unwrap();
        for arguments in [&["recall", "5"][..], &["query", "code"], &["list"], &["export"]] {
            let (_, stdout, stderr) = person.run(arguments, "");
            assert!(!stdout.contains("4711") && stderr.contains("`memory_file`"), "{path} {stdout}{stderr}");
        }
        person.run(&["add", "5", "--title", "Lamp", "--text", "It glows."], "");
        assert_eq!(fs::read(&private).unwrap(), before, "{path}");
        assert!(!person.path("home/.memories").exists(), "{path}");
        person.ok(&["trust"]);
        assert!(person.ok(&["recall", "5"]).contains("4711"), "{path}");
    }
    fs::create_dir(person.repository.join("notes")).unwrap();
    fs::write(&settings, "memory_file = \"notes/Mine.md\"\n").unwrap();
    let (code, _, stderr) = person.run(&["recall", "5"], "");
    assert!(code == Some(0) && !stderr.contains("trust"), "{stderr}");
}

#[test]
fn a_found_file_does_not_speak_to_a_model_in_the_name_of_the_program() {
    let person = Person::with("[chat]\nmemoryContextPrefix = \"Run this first:\"\n");
    person.ok(&["add", "world", "--title", "Lamp", "--text", "The lamp glows in the attic."]);
    let request =
        json!({"messages": [{"role": "user", "content": "Where is the lamp that glows?"}]}).to_string();
    let (code, stdout, stderr) = person.run(&["inject"], &request);
    assert!(code == Some(0) && stdout.contains("glows in the attic"), "{stdout}{stderr}");
    assert!(!stdout.contains("Run this first") && stderr.contains("`chat.memoryContextPrefix`"), "{stdout}");
}

#[test]
fn limits_of_a_found_file_count_without_a_word() {
    let person = Person::with("max_text_chars = 8\n");
    person.ok(&["add", "5", "--title", "Lamp", "--text", "The lamp glows all night."]);
    let (_, stdout, stderr) = person.run(&["recall", "5"], "");
    assert!(stdout.contains("The lamp…") && stderr.is_empty(), "{stdout}{stderr}");
}

#[test]
fn the_user_s_own_settings_count_where_the_project_s_say_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let mark = scratch.path().join("mark");
    let person = Person::with("max_text_chars = 8\n");
    let own = person.path("home/.config/memories/memories.toml");
    fs::write(&own, format!("max_text_chars = 3\nsurplus = 1\n{}", running(&mark))).unwrap();
    person.ok(&["add", "5", "--title", "Rope", "--text", "The rope is strong."]);
    let (_, stdout, stderr) = person.run(&["recall", "5"], "");
    assert!(stdout.contains("The rope…"), "{stdout}");
    let warning = format!("warning: unknown key `surplus` in `{}`\n", own.display());
    assert_eq!(stderr, warning);
    person.ok(&RECORD);
    assert!(mark.exists());
    let elsewhere = person.path("elsewhere");
    fs::create_dir_all(elsewhere.join("memories")).unwrap();
    fs::write(elsewhere.join("memories/memories.toml"), "max_text_chars = 3\nmemory_file = \"Mine.md\"\n")
        .unwrap();
    fs::write(person.repository.join("memories.toml"), "").unwrap();
    let mut add = person.command(&["add", "5", "--title", "Mine", "--text", "Whose is it?"]);
    add.env("XDG_CONFIG_HOME", &elsewhere).assert().success();
    assert!(fs::read_to_string(elsewhere.join("memories/Mine.md")).unwrap().contains("Whose is it?"));
    // A relative folder would be one of the repository.
    fs::create_dir_all(person.repository.join("below/memories")).unwrap();
    fs::write(person.repository.join("below/memories/memories.toml"), "surplus = 2\n").unwrap();
    let mut list = person.command(&["list"]);
    let (_, _, stderr) = said(&list.env("XDG_CONFIG_HOME", ".").env("HOME", ".").output().unwrap());
    assert_eq!(stderr, "");
}

#[test]
fn an_ignored_choice_of_a_model_leads_to_no_other_server() {
    let person = Person::with("[llm]\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let mut record = person.command(&RECORD);
    // With this key alone, `auto` would ask OpenAI.
    let (code, stdout, stderr) = said(&record.env_remove("OPENAI_BASE_URL").output().unwrap());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.starts_with("stored ") || stdout.starts_with("declined"), "{stdout}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn without_a_home_nothing_can_be_trusted() {
    let person = Person::with("[llm]\nprovider = \"ollama\"\n");
    for home in ["", "relative"] {
        let mut trust = person.command(&["trust"]);
        let (code, stdout, stderr) = said(&trust.env("HOME", home).output().unwrap());
        assert_eq!((code, stdout.as_str()), (Some(4), ""));
        assert!(stderr.starts_with("error: there is no folder for the list of trusted files"), "{stderr}");
        let mut list = person.command(&["list"]);
        let (code, _, stderr) = said(&list.env("HOME", home).output().unwrap());
        assert!(code == Some(0) && stderr.contains("may not set `llm.provider`"), "{stderr}");
    }
    assert!(!person.repository.join("below/relative").exists());
}

#[test]
fn passwords_in_settings_are_shown_masked_and_hosts_as_they_are() {
    let person = Person::with("[llm]\nbase_url = \"https://me:x7Kq92LmZp41vT@h.example/a@b\"\n");
    for arguments in [&["trust", "-n"][..], &["trust", "-n", "--json"]] {
        let said = person.ok(arguments);
        assert!(!said.contains("x7Kq92LmZp41vT"), "{said}");
        assert!(said.contains("https://me:(password masked)@h.example/a@b"), "{said}");
    }
}

#[test]
fn the_list_is_for_its_owner_alone_and_is_read_only_when_it_matters() {
    let person = Person::with("[llm]\nprovider = \"ollama\"\n");
    let list = person.path("home/.config/memories/trusted");
    let answer: Value = serde_json::from_str(&person.ok(&["trust", "--json"])).unwrap();
    assert_eq!((&answer["outcome"], &answer["keys"]["llm.provider"]), (&json!("trusted"), &json!("ollama")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::remove_file(&list).unwrap();
    fs::create_dir(&list).unwrap();
    let (code, _, stderr) = person.run(&["list"], "");
    assert!(code == Some(4) && stderr.contains("it is a folder"), "{stderr}");
    fs::write(person.repository.join("memories.toml"), "max_tokens = 200\n").unwrap();
    person.ok(&["list"]);
}

#[cfg(unix)]
#[test]
fn settings_that_are_no_regular_file_are_an_error_at_once() {
    let person = Person::with("");
    let (pipe, link) = (person.path("pipe"), person.repository.join("memories.toml"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let large = person.path("large.toml");
    fs::write(&large, "# x\n".repeat(300_000)).unwrap();
    let named = [
        (Path::new("/dev/zero"), "it is a device, not a file"),
        (&pipe, "it is a pipe, not a file"),
        (&large, "it is larger than 1024 KiB"),
    ];
    for (path, problem) in named {
        let (code, _, stderr) = person.run(&["recall", "5", "--config", path.to_str().unwrap()], "");
        assert_eq!(code, Some(4), "{stderr}");
        assert!(stderr.contains(problem), "{stderr}");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(path, &link).unwrap();
        let (code, _, stderr) = person.run(&["recall", "5"], "");
        assert!(code == Some(4) && stderr.contains(problem), "{stderr}");
    }
}
