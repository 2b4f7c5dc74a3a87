//! Where the past comes from: the history, git, or nothing, with an error that says how far back both reach.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::said;
use crate::program::memories;

/// A folder with a file that git has, whose commits have times.
struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let repository = Repository(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q", "-b", "main", "."], 0);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs git on a day of March.
    fn git(&self, arguments: &[&str], day: u32) {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.path()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            command.env(format!("{name}_NAME"), "a").env(format!("{name}_EMAIL"), "a@b.invalid");
            command.env(format!("{name}_DATE"), format!("2026-03-{day:02}T12:00:00Z"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    }

    /// Runs the program on a day of March, in the morning.
    fn memories(&self, arguments: &[&str], day: u32) -> Output {
        let mut command = memories(self.path(), arguments);
        command.env("MEMORIES_NOW", format!("2026-03-{day:02}T08:00:00Z"));
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").output().unwrap()
    }

    /// Adds a memory on a day, and commits the file.
    fn add(&self, title: &str, day: u32) {
        let output = self.memories(&["add", "5", "--name", "Hall", "--title", title, "--text", title], day);
        assert!(output.status.success(), "{}", said(&output));
        self.commit(day);
    }

    fn commit(&self, day: u32) {
        self.git(&["add", "-A"], day);
        self.git(&["commit", "-q", "-m", "x"], day);
    }

    /// The titles of the hall as of a moment, and what is told of it; the error where there are none.
    fn titles(&self, when: &str) -> Result<(Vec<String>, Value), String> {
        let output = self.memories(&["show", "5", "--json", "--as-of", when], 28);
        if !output.status.success() {
            return Err(format!("{} {}", output.status.code().unwrap(), said(&output)));
        }
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let titles = json["memories"].as_array().unwrap().iter();
        Ok((
            titles.map(|memory| memory["title"].as_str().unwrap().to_owned()).collect(),
            json["as_of"].clone(),
        ))
    }

    #[track_caller]
    fn assert_titles(&self, when: &str, titles: &[&str], from: &str) {
        let (found, as_of) = self.titles(when).unwrap();
        assert_eq!(found, titles, "{when}");
        assert_eq!(as_of["from"], from, "{when}: {as_of}");
    }

    #[track_caller]
    fn assert_unknown(&self, when: &str, parts: &[&str]) {
        let error = self.titles(when).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{when}: {error}");
    }

    fn forget_history(&self) {
        fs::remove_dir_all(self.path().join(".memories")).unwrap();
    }
}

#[test]
fn git_tells_what_the_history_does_not() {
    let repository = Repository::new();
    for (title, day) in [("A", 1), ("B", 3), ("C", 5)] {
        repository.add(title, day);
    }
    repository.git(&["tag", "old", "HEAD~1"], 6);
    repository.assert_titles("2026-03-03", &["A", "B"], "history");
    repository.assert_titles("2026-03-04T07:00:00+02:00", &["A", "B"], "history");
    repository.assert_titles("HEAD~1", &["A", "B"], "git");
    repository.assert_titles("2027-01-01", &["A", "B", "C"], "file");
    repository.assert_titles("1", &["A", "B", "C"], "file");
    repository.assert_unknown(
        "2026-02-01",
        &["4 ", "the history reaches back to a command at 2026-03-01T08:00:00Z"],
    );
    repository
        .assert_unknown("1.7", &["4 ", "no turn of episode 1 is in the journal", "git has the file since"]);
    repository.assert_unknown("7", &["4 ", "episode 7 is not in the journal"]);
    repository.assert_unknown("nonsense", &["2 ", "`nonsense` is no moment and no git revision", "`HEAD~2`"]);
    repository.assert_unknown("HEAD~1..HEAD", &["2 ", "is not one git revision"]);
    repository.forget_history();
    repository.assert_titles("2026-03-04", &["A", "B"], "git");
    repository.assert_titles("old", &["A", "B"], "git");
    repository.assert_unknown(
        "2026-02-01",
        &["4 ", "no former state", "git has the file since 2026-03-01T12:00:00Z"],
    );
    repository.assert_unknown("1.7", &["4 ", "no turn of episode 1 is in the journal"]);
    let (_, as_of) = repository.titles("2026-03-04").unwrap();
    let mut head = Command::new("git");
    head.args(["rev-parse", "old"]).current_dir(repository.path());
    let head = String::from_utf8(head.output().unwrap().stdout).unwrap();
    assert_eq!(as_of["commit"].as_str(), Some(head.trim()));
    assert_eq!((&as_of["episode"], &as_of["time"]), (&Value::Null, &Value::from("2026-03-04T23:59:59Z")));
}

/// A commit that is older than a command's last text does not tell what the file held after it.
#[test]
fn a_commit_tells_nothing_of_what_came_after_it() {
    let repository = Repository::new();
    repository.add("A", 1);
    let by_hand = |titles: &str| {
        let path = repository.path().join("Memories.md");
        fs::write(&path, fs::read_to_string(&path).unwrap() + titles).unwrap();
    };
    by_hand("\n**[NOTE] By hand**\nh\n");
    let added = repository.memories(&["add", "5", "--title", "B", "--text", "b"], 9);
    assert!(added.status.success(), "{}", said(&added));
    // Committed on the first day: after the command, and before the change by hand, for all that is known.
    repository.assert_titles("2026-03-01T08:00:00Z", &["A"], "history");
    repository.assert_titles("2026-03-05", &["A"], "git");
    repository.assert_titles("2026-03-09", &["A", "B", "By hand"], "history");
    by_hand("\n**[NOTE] Again**\nx\n");
    repository.assert_unknown("2026-03-20", &["4 ", "something else than a command changed the file"]);
    repository.commit(15);
    repository.assert_titles("2026-03-20", &["A", "B", "By hand", "Again"], "git");
    repository.assert_unknown("2026-03-14", &["4 ", "something else than a command changed the file"]);
}

#[test]
fn a_text_of_a_turn_that_the_journal_has_lost_is_taken_from_the_commit_with_its_hash() {
    let repository = Repository::new();
    for (turn, day) in [("1", 1), ("2", 2), ("3", 3)] {
        let words = ["record", "--location", "5:Hall", "--turn", turn, "--remember", turn];
        let rest =
            ["--action", "take lamp", "--response", "Taken.", "--score-before", "0", "--score-after", "5"];
        let output = repository.memories(&[&words[..], &rest, &["--provider", "offline"]].concat(), day);
        assert!(output.status.success(), "{}", said(&output));
        if turn == "2" {
            repository.commit(day);
        }
    }
    let known = repository.titles("1.2").unwrap();
    assert_eq!(known.1["from"], "history");
    // The journal loses a change, and so all that lies before it.
    let journal = repository.path().join(".memories/Memories.md/journal.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let last = lines.lines().last().unwrap();
    let (before, _) = last.split_once("\"edits\":").unwrap();
    let to = last.rsplit_once("\"to\":").unwrap().1;
    fs::write(&journal, lines.replace(last, &format!("{before}\"to\":{to}"))).unwrap();
    fs::remove_dir_all(repository.path().join(".memories/Memories.md/backups")).unwrap();
    let (titles, as_of) = repository.titles("1.2").unwrap();
    assert_eq!((titles, &as_of["from"], &as_of["turn"]), (known.0, &"git".into(), &2.into()));
    repository.assert_unknown("1.1", &["4 ", "is not in the journal any more"]);
}

#[test]
fn a_shallow_clone_says_how_far_it_reaches() {
    let (origin, clone) = (Repository::new(), Repository(tempfile::tempdir().unwrap()));
    for (title, day) in [("A", 1), ("B", 3), ("C", 5)] {
        origin.add(title, day);
    }
    let url = format!("file://{}", origin.path().display());
    clone.git(&["clone", "-q", "--depth", "2", &url, "."], 6);
    clone.assert_titles("2026-03-04", &["A", "B"], "git");
    clone.assert_unknown("2026-03-02", &["4 ", "this clone is shallow: `git fetch --unshallow`"]);
}

#[test]
fn files_without_history_and_without_git_have_no_past() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), "## Location 5: Hall\n\n**[NOTE] A**\nx\n").unwrap();
    let show = |when: &str| {
        let mut command = memories(folder.path(), &["show", "5", "--as-of", when]);
        let output = command.env("GIT_CEILING_DIRECTORIES", folder.path()).output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, error) = show("2026-01-01");
    assert_eq!(code, Some(4));
    assert!(error.contains("no former state is in the journal"), "{error}");
    assert_eq!(
        show("HEAD").0,
        Some(4 - 2 * i32::from(show("HEAD").1.contains("is not in a git repository")))
    );
    assert_eq!(show("2030-01-01").0, Some(0));
}

#[test]
fn the_times_of_a_clock_that_was_set_back_tell_no_order() {
    let repository = Repository::new();
    for (title, day) in [("A", 1), ("B", 9), ("C", 5), ("D", 11)] {
        repository.add(title, day);
    }
    repository.assert_titles("2026-03-01", &["A"], "history");
    repository.assert_titles("2026-03-11", &["A", "B", "C", "D"], "history");
    let error = repository.titles("2026-03-07");
    // The commit of the fifth day is behind that of the ninth.
    let has_right_titles =
        |(titles, as_of): &(Vec<String>, Value)| titles.len() == 3 && as_of["from"] == "git";
    assert!(
        error.as_ref().map_or_else(|error| error.contains("not in order"), has_right_titles),
        "{error:?}"
    );
}

#[test]
fn a_journal_that_was_rotated_says_where_it_begins() {
    let repository = Repository::new();
    for (title, day) in [("A", 1), ("B", 3), ("C", 5)] {
        repository.add(title, day);
    }
    let journal = repository.path().join(".memories/Memories.md/journal.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> = lines.lines().skip(2).collect();
    fs::write(&journal, format!("{{\"journal\":2,\"dropped\":true}}\n{}\n", kept.join("\n"))).unwrap();
    fs::remove_dir_all(repository.path().join(".git")).unwrap();
    repository.assert_titles("2026-03-03", &["A", "B"], "history");
    repository.assert_unknown("2026-03-02", &["4 ", "reaches back to a command at 2026-03-03T08:00:00Z"]);
    let (_, as_of) = repository.titles("2026-03-04").unwrap();
    assert_eq!(as_of["episode"], Value::Null);
}

#[test]
fn memories_of_the_running_episode_are_known_until_the_next_command() {
    let repository = Repository::new();
    repository.add("A", 1);
    let turn = [
        "record",
        "--location",
        "5",
        "--action",
        "wait",
        "--response",
        "Time passes.",
        "--provider",
        "offline",
    ];
    let mut add = memories(repository.path(), &["add", "5"]);
    add.env("MEMORIES_NOW", "2026-03-02T08:00:00Z").stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = add.spawn().unwrap();
    let memory = br#"{"title": "S", "text": "Only now.", "persistence": "ephemeral"}"#;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), memory).unwrap();
    assert!(child.wait().unwrap().success());
    let recall = |when: &str| {
        let output = repository.memories(&["recall", "5", "--as-of", when], 28);
        said(&output).matches("[NOTE]").count()
    };
    assert_eq!((recall("2026-03-02T08:00:00Z"), recall("2026-03-01")), (2, 1));
    assert!(repository.memories(&turn, 3).status.success());
    assert_eq!((recall("2026-03-02T08:00:00Z"), recall("1.1")), (1, 2));
}

/// What `adopt` says of an author later was not said then.
#[test]
fn an_author_who_was_named_later_is_not_named() {
    let repository = Repository::new();
    repository.add("A", 1);
    repository.add("B", 2);
    let adopted = repository.memories(&["adopt", "5", "--title", "A", "--author", "model"], 3);
    assert!(adopted.status.success(), "{}", said(&adopted));
    let authors = |when: &[&str]| {
        let output = repository.memories(&[&["show", "5", "--json"], when].concat(), 28);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let memories = json["memories"].as_array().unwrap().clone();
        memories.iter().map(|memory| memory["author"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(authors(&[]), ["model", "person"]);
    assert_eq!(authors(&["--as-of", "2026-03-02"]), ["unknown", "person"]);
}

#[test]
fn a_page_of_the_past_replaces_no_memory_file() {
    let repository = Repository::new();
    repository.add("A", 1);
    repository.add("B", 2);
    let before = fs::read(repository.path().join("Memories.md")).unwrap();
    let report = ["report", "-o", "Memories.md", "--force", "--as-of", "2026-03-01"];
    let output = repository.memories(&report, 28);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert_eq!(fs::read(repository.path().join("Memories.md")).unwrap(), before);
}
