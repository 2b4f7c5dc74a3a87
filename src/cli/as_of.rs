//! `--as-of`: a command that asks gets the file as it was at a moment of its past, for as long as it runs.
//!
//! The command runs on a copy of the file and of what stood beside it then. So no answer can mix past and present.

use serde_json::json;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::git::GitError;
use crate::cli::git_file::{Commit, GitFile};
use memories_document::types::instant::Instant;
use memories_notebook::past::{Found, Missing, Moment, Past, Timeline, Wanted, When};
use memories_store::journal::change::text_hash;
use memories_store::{ScratchFile, Store};

/// The forms of a moment.
const FORMS: &str = "write a turn (`3.120`), an episode (`3`), a day (`2026-01-31`), a time (`2026-01-31T10:40:00Z`) or \
                     a git revision (`HEAD~2`)";

/// Commits behind a turn among which the text that it left is looked for.
const COMMITS: usize = 20;

/// The moment that a question is about.
#[derive(Debug, clap::Args)]
pub(crate) struct AsOfArgs {
    /// The file as it was: after a turn (3.120), at the end of an episode (3) or of a day (2026-01-31), at a time, or
    /// in a git revision
    #[arg(long, value_name = "WHEN")]
    pub as_of: Option<String>,
}

impl Cli<'_> {
    /// Goes back to a moment: the memory file is from now on a copy of what it was, and `now` of the settings is that
    /// moment. The copy is there until the value is dropped.
    pub(crate) fn look_back(&mut self, when: &str) -> Result<Option<ScratchFile>, Failure> {
        if self.settings.shown_file.is_some() {
            return Err(Failure::user("nothing is known of the past of a remote copy")
                .hint("name a memory file on this machine with `-f`"));
        }
        let store = Store::open(&self.settings.file, self.settings.lock_timeout)?;
        let timeline = Timeline::read(&store)?;
        let git = GitFile::of(&store);
        let (past, commit) = match When::of(when) {
            None => {
                let (past, commit) = revision(&timeline, &git, &store, when)?;
                (past, Some(commit))
            }
            Some(moment) => match timeline.at(moment, Instant::of(&self.settings.now)) {
                Ok(Found::Present(moment)) => {
                    self.say_when(moment, "file", None);
                    return Ok(None);
                }
                Ok(Found::Past(past)) => (past, None),
                Err(missing) => {
                    let found = committed(&timeline, &git, &missing.commit);
                    let (past, commit) = found.ok_or_else(|| unknown(missing, &timeline, &git))?;
                    (past, Some(commit))
                }
            },
        };
        let name = store.real_path().file_name().unwrap_or_default();
        let copy = ScratchFile::new(&std::env::temp_dir(), name.as_ref(), &past.text)?;
        past.write_beside(&Store::open(copy.path(), self.settings.lock_timeout)?)?;
        self.say_when(past.moment, if commit.is_some() { "git" } else { "history" }, commit);
        let settings = &mut self.settings;
        settings.shown_file = Some(std::mem::replace(&mut settings.file, copy.path().to_owned()));
        if let Some(time) = past.moment.time {
            settings.now = time.to_string();
            settings.limits = settings.limits.at(&settings.now);
        }
        Ok(Some(copy))
    }

    /// Says which moment the answer is about.
    fn say_when(&mut self, moment: Moment, from: &str, commit: Option<Commit>) {
        let Moment { episode, turn, time } = moment;
        let time = time.map(|time| time.to_string());
        let commit = commit.map(|commit| commit.name);
        if self.ui.json {
            let mut said = json!({"episode": episode, "turn": turn, "time": time, "from": from});
            commit.into_iter().for_each(|commit| said["commit"] = json!(commit));
            self.ui.as_of = Some(said);
            return;
        }
        let of_turn = episode.zip(turn).map(|(episode, turn)| format!("after turn {episode}.{turn}"));
        let of_episode = || episode.map(|episode| format!("in episode {episode}"));
        let at: Vec<String> =
            of_turn.or_else(of_episode).into_iter().chain(time.map(|time| format!("at {time}"))).collect();
        let source = match (from, &commit) {
            ("file", _) => ", which is the present".to_owned(),
            (_, Some(commit)) => format!(", by git commit {}", &commit[..commit.len().min(10)]),
            _ => String::new(),
        };
        self.ui.notice(&format!("the file {}{source}", at.join(", ")));
    }
}

/// The file at a git revision.
fn revision(
    timeline: &Timeline,
    git: &GitFile<'_>,
    store: &Store,
    when: &str,
) -> Result<(Past, Commit), Failure> {
    let shown = store.path().display();
    let is_range = when.contains("..");
    let commit = if is_range { Ok(None) } else { git.commit(when) }.map_err(|error| match &error {
        GitError::Missing(error) => {
            Failure::user(format!("`{when}` may be a git revision, and `git` cannot be run: {error}"))
                .hint(FORMS)
        }
        GitError::Refused { .. } if let Some(message) = error.of_other_owner() => {
            Failure::user(format!("git refuses the repository of `{shown}`: {message}"))
                .hint("`git config --global --add safe.directory FOLDER` lets git read it")
        }
        GitError::Refused { .. } if error.is_outside() => {
            Failure::usage(format!("`{when}` is no moment, and `{shown}` is not in a git repository"))
                .hint(FORMS)
        }
        GitError::Refused { .. } => {
            Failure::usage(format!("`{when}` is no moment and no git revision")).hint(FORMS)
        }
    })?;
    let commit =
        commit.ok_or_else(|| Failure::usage(format!("`{when}` is not one git revision")).hint(FORMS))?;
    let bytes = git.bytes(&commit.name).map_err(|_| {
        Failure::user(format!("git revision `{when}` does not have `{shown}`"))
            .hint(git.reach())
            .hint("`git log -- FILE` shows the revisions that have it")
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::user(format!("`{shown}` at revision `{when}` is not UTF-8")).hint("name another revision")
    })?;
    Ok((timeline.at_commit(text, commit.time), commit))
}

/// The file by the commit that tells what it held.
fn committed(timeline: &Timeline, git: &GitFile<'_>, wanted: &Wanted) -> Option<(Past, Commit)> {
    let text = |commit: &Commit| String::from_utf8(git.bytes(&commit.name).ok()?).ok();
    match wanted {
        Wanted::Nothing => None,
        Wanted::Last { time, command } => {
            let limits = ["--max-count=1", &format!("--min-age={}", time.as_second())];
            let commit = git.commits(&limits).ok()?.pop()?;
            let mut past = timeline.at_commit(text(&commit)?, commit.time);
            past.moment.time = Some(*time);
            (Some(commit.time) > *command).then_some((past, commit))
        }
        Wanted::Text { hash, cut, since } => {
            let since = format!("--max-age={}", since.map_or(0, Instant::as_second));
            git.commits(&[&since]).ok()?.into_iter().rev().take(COMMITS).find_map(|commit| {
                let text = text(&commit).filter(|text| text_hash(text) == *hash)?;
                Some((timeline.with_text(*cut, text), commit))
            })
        }
    }
}

/// The failure for a moment of which nobody knows what the file held.
fn unknown(missing: Missing, timeline: &Timeline, git: &GitFile<'_>) -> Failure {
    Failure::user(missing.problem).hint(timeline.reach()).hint(git.reach())
}
