//! `--as-of`: each answer about a moment of the past is the one that was given then, or none is given.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memories::Store;
use memories::notebook::past::{Found, Timeline, When};
use memories::types::instant::Instant;
use serde_json::Value;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::episodes;
use crate::program::memories;

/// Steps of the play.
const STEPS: usize = 50;

/// Steps after which all commands are asked; after the others some are.
const ALL_EVERY: usize = 12;

/// What is asked. Places are those of the episodes.
const QUESTIONS: [&[&str]; 18] = [
    &["recall", "75", "64", "world", "--max-tokens", "500"],
    &["show", "--all"],
    &["list"],
    &["recall", "75", "--all", "--json"],
    &["query", "where is the lamp, and what happened yesterday", "--json"],
    &["top", "-n", "20", "--json"],
    &["map"],
    &["map", "--json"],
    &["map", "path", "64", "75", "--json"],
    &["map", "near"],
    &["map", "frontier"],
    &["frontier", "64", "-n", "50", "--json"],
    &["goals", "--json"],
    &["route", "--json"],
    &["route", "--from", "."],
    &["show", "75", "--json"],
    &["list", "--json"],
    &["report", "-o", "-"],
];

fn is_long_run() -> bool {
    std::env::var_os("PROPTEST_CASES").is_some()
}

/// The questions that are asked after a step.
fn asked(step: usize) -> Vec<&'static [&'static str]> {
    let is_wanted = |number: &usize| {
        is_long_run() || step % ALL_EVERY == ALL_EVERY - 1 || number % 9 == step % 9 && *number < 17
    };
    (0..QUESTIONS.len()).filter(is_wanted).map(|number| QUESTIONS[number]).collect()
}

/// The time of a step.
fn time(step: usize) -> String {
    let start = Instant::of("2026-03-01T22:00:00Z").unwrap().as_second();
    Instant::of_second(start + 97 * step as i64).unwrap().to_string()
}

/// The exit code and stdout; JSON without the moment that it is about.
fn answer(folder: &Path, question: &[&str], now: &str) -> (Option<i32>, String) {
    let output = memories(folder, question).env("MEMORIES_NOW", now).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let said = match serde_json::from_str::<Value>(&stdout) {
        Ok(mut json) => {
            json.as_object_mut().unwrap().shift_remove("as_of");
            json.to_string()
        }
        Err(_) => stdout,
    };
    (output.status.code(), said)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// A moment, as it was.
struct Then {
    step: usize,
    /// The names of the moment.
    names: Vec<String>,
    text: String,
    answers: BTreeMap<Vec<&'static str>, (Option<i32>, String)>,
}

/// A game of five episodes, with corrections and hand edits between the turns.
struct Game {
    folder: TempDir,
    dice: Dice,
    turns: Vec<String>,
    /// The next turn.
    next: usize,
    moments: Vec<Then>,
    /// Times between a command and the next one, before which the file was changed by hand.
    uncertain: Vec<(String, String)>,
    edited: Option<String>,
}

impl Game {
    fn new() -> Game {
        let texts = episodes::turns().map(|path| fs::read_to_string(path).unwrap());
        let of_each = if is_long_run() { usize::MAX } else { 60 };
        let turns = texts.iter().flat_map(|text| text.lines().take(of_each).map(str::to_owned)).collect();
        Game {
            folder: tempfile::tempdir().unwrap(),
            dice: Dice::of(7),
            turns,
            next: 0,
            moments: Vec::new(),
            uncertain: Vec::new(),
            edited: None,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("Memories.md")).unwrap_or_default()
    }

    fn run(&self, arguments: &[&str], stdin: &str, step: usize) {
        let mut command = memories(self.folder.path(), arguments);
        command.env("MEMORIES_NOW", time(step)).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    }

    /// Scope and title of a memory.
    fn memory(&mut self) -> (String, String) {
        let (_, top) = answer(self.folder.path(), &["top", "-n", "20", "--json"], &time(0));
        let top: Value = serde_json::from_str(&top).unwrap();
        let memories = top["memories"].as_array().unwrap();
        let memory = &memories[self.dice.below(memories.len())];
        let text = |name: &str| memory[name].as_str().unwrap().to_owned();
        (text("scope"), text("title"))
    }

    /// Records turns, as many as lead to the end of the last episode within all steps. The names of the moment.
    fn record(&mut self, step: usize) -> Vec<String> {
        let count = (self.turns.len() - self.next) / (STEPS - step).div_ceil(2).max(1);
        let turns = self.turns[self.next..][..count.max(1)].to_vec();
        self.next += turns.len();
        self.run(&["record", "--turns", "-", "--provider", "offline"], &(turns.join("\n") + "\n"), step);
        let last: Value = serde_json::from_str(turns.last().unwrap()).unwrap();
        vec![format!("{}.{}", last["episode"], last["turn"])]
    }

    /// The names of the moment behind the step.
    fn play(&mut self, step: usize) -> Vec<String> {
        match self.dice.below(9) {
            _ if step == 0 || step + 1 == STEPS => self.record(step),
            4 => {
                // Changes nothing; what was changed by hand is found by it.
                self.run(&["add", "75", "--title", "Again", "--text", "It glows, and it hums."], "", step);
                Vec::new()
            }
            0 => {
                let title = format!("Thing {step}");
                self.run(&["add", "75", "--title", &title, "--text", "It glows, and it hums."], "", step);
                Vec::new()
            }
            1 => {
                let (scope, title) = self.memory();
                let (new, text) = (format!("Better {step}"), format!("Seen anew at step {step}."));
                self.run(&["supersede", &scope, &title, "--title", &new, "--text", &text], "", step);
                Vec::new()
            }
            2 => {
                let (scope, title) = self.memory();
                self.run(&["forget", &scope, &title], "", step);
                Vec::new()
            }
            3 => {
                self.run(&["mark", "75", &self.added(step), "--importance", "900"], "", step);
                Vec::new()
            }
            _ => self.record(step),
        }
    }

    /// The title of a memory that is added for a step.
    fn added(&self, step: usize) -> String {
        let title = format!("Marked {step}");
        self.run(&["add", "75", "--title", &title, "--text", &format!("Text {step}.")], "", step);
        title
    }

    fn step(&mut self, step: usize) {
        let before = self.moments.last().map(|moment| time(moment.step));
        let mut names = self.play(step);
        names.push(time(step));
        if let (Some(text), Some(before)) = (self.edited.take(), before) {
            let middle = Instant::of(&before).unwrap().as_second() + 40;
            self.uncertain.push((Instant::of_second(middle).unwrap().to_string(), text));
        }
        let answers = asked(step)
            .into_iter()
            .map(|question| (question.to_vec(), answer(self.folder.path(), question, &time(step))));
        let answers = answers.collect();
        self.moments.push(Then { step, names, text: self.text(), answers });
        if self.dice.below(6) == 0 {
            let text = self.text()
                + &format!("\n## Location 9{step}: By hand\n\n**[NOTE] Bell {step}**\nIt rings.\n");
            fs::write(self.folder.path().join("Memories.md"), &text).unwrap();
            self.edited = Some(text);
        }
    }
}

fn assert_as_then(folder: &Path, moment: &Then) {
    let store = Store::open(folder.join("Memories.md"), Duration::ZERO).unwrap();
    let timeline = Timeline::read(&store).unwrap();
    for name in &moment.names {
        for (question, then) in &moment.answers {
            let question: Vec<&str> = question.iter().copied().chain(["--as-of", name]).collect();
            let now = answer(folder, &question, "2026-06-01T00:00:00Z");
            assert_eq!(now, *then, "step {}: {question:?}", moment.step);
        }
        let found = timeline.at(When::of(name).unwrap(), None);
        let Ok(Found::Past(past)) = found else { panic!("{name}: {found:?}") };
        assert_eq!(past.text, moment.text, "step {}: {name}", moment.step);
    }
}

#[test]
fn each_answer_is_the_one_that_was_given_then() {
    let mut game = Game::new();
    (0..STEPS).for_each(|step| game.step(step));
    assert!(game.uncertain.len() > 3 && game.next == game.turns.len());
    let (folder, next) = (game.folder.path(), AtomicUsize::new(0));
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(moment) = game.moments.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = std::panic::catch_unwind(|| assert_as_then(folder, moment));
                    if checked.is_err() {
                        *failed.lock().unwrap() = Some(moment.step);
                    }
                }
            });
        }
    });
    assert_eq!(failed.into_inner().unwrap(), None);
    for (time, _) in &game.uncertain {
        // Whatever the clock says now.
        let output = memories(folder, &["list", "--as-of", time]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{time}: {}", said(&output));
        assert!(said(&output).contains("something else than a command changed the file"));
    }
}

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
    assert_eq!(output.status.code(), Some(if cfg!(feature = "page") { 4 } else { 2 }), "{}", said(&output));
    assert_eq!(fs::read(repository.path().join("Memories.md")).unwrap(), before);
}
