//! Verdicts about commands: has this one failed here, and has anything changed since?
//!
//! Lines of the log, the tries of the memory file and the present state enter; a verdict leaves, with words for an agent.

use std::time::Duration;

use crate::work::command::Command;
use crate::work::log::{COMMAND_CHARS, Event, Failures, Line, Outcome, Run};
use crate::work::surroundings::{Changes, Surroundings};
use memories_document::text::stored_line;
use memories_document::types::Attempt;
use memories_document::types::frame::one_line;
use memories_document::types::text::truncate;

/// Milliseconds for which nothing outside of the repository is taken to change: an hour.
const FRESH: u64 = 60 * 60 * 1000;

/// Commands after a failure among which one in its place is looked for.
const SOON: usize = 20;

/// Characters of a reply in an answer.
const REPLY_CHARS: usize = 200;

/// Characters of a change in an answer.
const CHANGE_CHARS: usize = 100;

/// The answer to whether a command is worth another try.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// It failed here, and nothing has changed since.
    InVain(Failure),
    /// It failed here, but its circumstances have changed.
    OtherCircumstances(Failure, Difference),
    /// It failed here, and a file that the failure names has changed since.
    Changed,
    /// It succeeded the last time.
    Worked,
    /// It was done here, and nobody knows how it ended.
    UnknownEffect,
    /// It was never done here.
    No,
}

/// Knowledge of a command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The command line that failed last.
    pub command: String,
    /// Failures since the last success.
    pub count: u64,
    /// Time since the last failure; `None` where nobody knows.
    pub ago: Option<Duration>,
    /// The line of its output that says most.
    pub reply: String,
    /// A command that succeeded afterwards in its place.
    pub instead: Option<String>,
}

/// The difference between a failure and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// These have changed.
    Changes(Changes),
    /// The command that failed is nearly the same, with another name of a file, hash or line.
    Wording,
    /// It failed for a reason that may be over.
    Passing,
    /// It ran again since, and nobody knows how that ended.
    Unknown,
    /// It has succeeded before, although nothing had changed since a failure.
    Unsteady,
    /// It is so long ago that something outside of the repository may have changed.
    Old,
    /// The memory file says so, and nobody knows the circumstances.
    NotSeen,
}

impl Verdict {
    /// The verdict about a command of which a part is not compared, since it was masked.
    pub(crate) fn of_masked(self) -> Verdict {
        match self {
            Verdict::InVain(failure) => Verdict::OtherCircumstances(failure, Difference::Wording),
            other => other,
        }
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Changes since the failure, in words.
    pub fn changed(&self) -> &[String] {
        match self {
            Verdict::OtherCircumstances(_, Difference::Changes(changes)) => &changes.named,
            _ => &[],
        }
    }

    /// The failure, where it is worth a word.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::InVain(failure) | Verdict::OtherCircumstances(failure, _) => Some(failure),
            Verdict::Changed | Verdict::Worked | Verdict::UnknownEffect | Verdict::No => None,
        }
    }
}

/// The verdict about a command. `lines` begin with the first about it; `tried` and `worked` are those of the section.
pub(crate) fn judge(
    command: &Command,
    lines: &[Line],
    tried: &[Attempt],
    worked: &[Attempt],
    surroundings: &Surroundings,
    now: u64,
) -> Verdict {
    let history = History::of(command.action, surroundings.folder.as_str(), lines);
    let shown = history.as_ref().map_or(&[][..], |history| &history.shown);
    let is_same = |attempt: &&Attempt| is_listed_as(&attempt.action, command.action, shown);
    let listed = tried.iter().find(is_same);
    let Some(history) = history else {
        return match listed {
            Some(attempt) => Verdict::OtherCircumstances(listed_failure(attempt), Difference::NotSeen),
            None if worked.iter().any(|attempt| is_same(&attempt)) => Verdict::Worked,
            None => Verdict::No,
        };
    };
    let Some((at, last)) = history.last_failure else {
        return if history.worked { Verdict::Worked } else { Verdict::UnknownEffect };
    };
    // A person deleted it from the memory file.
    if history.is_kept && listed.is_none() {
        return Verdict::No;
    }
    let failure = Failure {
        command: last.command.clone(),
        count: history.failures.max(listed.map_or(0, |attempt| attempt.count)),
        ago: Some(Duration::from_millis(now.saturating_sub(at))),
        reply: last.reply.clone(),
        instead: history.instead.map(str::to_owned),
    };
    let changes = surroundings.changes_since(at, last, history.later);
    let difference = if changes.is_of_named_file {
        return Verdict::Changed;
    } else if last.outcome == Outcome::Passing {
        Difference::Passing
    } else if history.ran_unknown {
        Difference::Unknown
    } else if last.wording != command.wording {
        Difference::Wording
    } else if !changes.is_empty() {
        Difference::Changes(changes)
    } else if history.is_unsteady {
        Difference::Unsteady
    } else if now.saturating_sub(at) > FRESH {
        Difference::Old
    } else {
        return Verdict::InVain(failure);
    };
    Verdict::OtherCircumstances(failure, difference)
}

/// True if a line of the memory file is about an action. The file has a command on one line and cut, so that it may
/// read as another action: `shown` are its commands as the log has them, from which the line was made.
pub(super) fn is_listed_as(listed: &str, action: u64, shown: &[&str]) -> bool {
    Command::is_action(listed, action) || shown.iter().any(|shown| stored_line(shown) == listed)
}

fn listed_failure(attempt: &Attempt) -> Failure {
    Failure {
        command: attempt.action.clone(),
        count: attempt.count,
        ago: None,
        reply: attempt.reply.clone(),
        instead: None,
    }
}

/// The record in the log of an action in a folder, since it last succeeded.
#[derive(Default)]
pub(super) struct History<'a> {
    /// Failures since the last success.
    pub(super) failures: u64,
    /// The last failure since the last success, and when it was.
    pub(super) last_failure: Option<(u64, &'a Run)>,
    /// It has succeeded.
    pub(super) worked: bool,
    /// It ran after its last failure, and nobody knows how that ended.
    pub(super) ran_unknown: bool,
    /// The failures are in the memory file.
    pub(super) is_kept: bool,
    /// The first command that succeeded afterwards in its place.
    pub(super) instead: Option<&'a str>,
    /// Commands that succeeded since the last failure and were compared with it.
    compared: usize,
    /// The one that took its place is in the memory file.
    pub(super) is_learned: bool,
    /// It succeeded once although nothing had changed since a failure.
    is_unsteady: bool,
    /// The lines behind the last failure.
    later: &'a [Line],
    /// Its command lines, as the log shows them.
    pub(super) shown: Vec<&'a str>,
}

impl<'a> History<'a> {
    /// `None` where the log knows nothing of the action.
    pub(super) fn of(action: u64, folder: &str, lines: &'a [Line]) -> Option<History<'a>> {
        let mut history = History::default();
        let mut is_known = false;
        // A file was edited, or a command may have changed something, since the last failure.
        let (mut is_edited, mut is_changed) = (false, false);
        for (number, line) in lines.iter().enumerate() {
            let here = line.folder == folder;
            match &line.event {
                Event::Ran(run) if here && run.action == action => {
                    is_known = true;
                    if !history.shown.contains(&run.command.as_str()) {
                        history.shown.push(&run.command);
                    }
                    history.add(line.at, run, &lines[number + 1..], is_changed);
                    if matches!(run.outcome, Outcome::Failed | Outcome::Passing) {
                        (is_edited, is_changed) = (false, false);
                    }
                }
                // Which part of a list failed nobody knows.
                Event::Ran(run) if here && run.parts.contains(&action) && run.outcome == Outcome::Worked => {
                    is_known = true;
                    history.add(line.at, run, &[], true);
                }
                Event::Ran(run) => {
                    is_changed |= run.may_change;
                    if here && !is_edited && run.outcome == Outcome::Worked {
                        history.replaced_by(run);
                    }
                }
                Event::Edited(_) => (is_edited, is_changed) = (true, true),
                Event::Learned(of) if here && *of == action => history.is_learned |= history.is_told_by(line),
                Event::Kept(of) if here && *of == action => history.is_kept |= history.is_told_by(line),
                _ => {}
            }
        }
        is_known.then_some(history)
    }

    /// The failures so far.
    pub(super) fn until(&self) -> Failures {
        Failures { count: self.failures, last: self.last_failure.map_or(0, |(at, _)| at) }
    }

    /// True if a line about the memory file was written with all failures in mind.
    fn is_told_by(&self, line: &Line) -> bool {
        line.until.is_none_or(|until| until == self.until())
    }

    /// Adds a run of the action.
    fn add(&mut self, at: u64, run: &'a Run, later: &'a [Line], is_changed: bool) {
        match run.outcome {
            Outcome::Worked => {
                self.is_unsteady |=
                    self.last_failure.is_some_and(|(_, failed)| failed.commit == run.commit) && !is_changed;
                (self.failures, self.last_failure) = (0, None);
                (self.worked, self.is_kept) = (true, false);
            }
            Outcome::Failed | Outcome::Passing => {
                self.failures += 1;
                self.last_failure = Some((at, run));
                self.later = later;
                (self.ran_unknown, self.is_kept) = (false, false);
                (self.instead, self.compared, self.is_learned) = (None, 0, false);
            }
            Outcome::Unknown => self.ran_unknown = true,
        }
    }

    /// A command that succeeded after the last failure.
    fn replaced_by(&mut self, run: &'a Run) {
        let is_open = self.instead.is_none() && self.compared < SOON;
        let Some((_, failed)) = self.last_failure.filter(|_| is_open) else { return };
        self.compared += 1;
        if Command::read(&run.command).stands_in_for(&Command::read(&failed.command)) {
            self.instead = Some(&run.command);
        }
    }
}

impl Failure {
    /// The failure in words: `Failed here 2 times, last 5 minutes ago`.
    fn summary(&self) -> String {
        let times = if self.count > 1 { format!(" {} times", self.count) } else { String::new() };
        let last = match (self.ago, self.count) {
            (None, _) => String::new(),
            (Some(ago), 0 | 1) => format!(" {}", in_words(ago)),
            (Some(ago), _) => format!(", last {}", in_words(ago)),
        };
        format!("Failed here{times}{last}")
    }

    fn quoted(&self) -> String {
        let (command, reply) = (shown(&self.command, COMMAND_CHARS), shown(&self.reply, REPLY_CHARS));
        if reply.is_empty() { format!("`{command}`") } else { format!("`{command}`: {reply}") }
    }
}

/// A verdict in words for an agent; empty where there is nothing to say.
pub(crate) fn in_words_for_agent(verdict: &Verdict) -> String {
    let Some(failure) = verdict.failure() else { return String::new() };
    let summary = failure.summary();
    let quoted = failure.quoted();
    let circumstances = match verdict {
        Verdict::OtherCircumstances(_, difference) => match difference {
            Difference::Changes(_) => "",
            Difference::Wording => " in nearly the same words",
            Difference::Passing => ", for a reason that may be over",
            Difference::Unknown => ", and ran since with a result that nobody knows",
            Difference::Unsteady => ", but not each time",
            Difference::Old => ", and no file has changed since",
            Difference::NotSeen => ", as the memory file says",
        },
        _ => ", and nothing has changed since",
    };
    let mut text = format!("{summary}{circumstances}: {quoted}\n");
    if let Verdict::OtherCircumstances(_, Difference::Changes(changes)) = verdict {
        let more = if changes.more > 0 { format!(" and {} more", changes.more) } else { String::new() };
        let named: Vec<String> = changes.named.iter().map(|change| shown(change, CHANGE_CHARS)).collect();
        text.push_str(&format!("Changed since: {}{more}\n", named.join(", ")));
    }
    if let Some(instead) = &failure.instead {
        text.push_str(&format!("Worked here instead: `{}`\n", shown(instead, COMMAND_CHARS)));
    }
    text
}

/// A text of the log in an answer. The log may come with a repository, so it is cut again.
fn shown(text: &str, limit: usize) -> String {
    truncate(&one_line(text), limit)
}

/// A time as people say it, to the largest unit.
fn in_words(ago: Duration) -> String {
    let seconds = ago.as_secs();
    let (number, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_store::{Existing, write_file};

    fn run(command: &str, outcome: Outcome) -> Event {
        let read = Command::read(command);
        Event::Ran(Run {
            command: command.to_owned(),
            wording: read.wording,
            action: read.action,
            parts: read.parts,
            outcome,
            reply: "error: no".to_owned(),
            environment: 7,
            may_change: read.may_change,
            ..Run::default()
        })
    }

    /// The verdict about `make`, `later` milliseconds after the last of these events, in a repository whose one file is
    /// older.
    fn verdict(events: Vec<Event>, later: u64) -> String {
        let folder = tempfile::tempdir().unwrap();
        let index = [b"DIRC\0\0\0\x02\0\0\0\x01".as_slice(), &[0; 60], b"\0\x01a", &[0]].concat();
        memories_store::create_folder(&folder.path().join(".git")).unwrap();
        for (name, bytes) in [(".git/index", index.as_slice()), ("a", b"x")] {
            assert!(write_file(&folder.path().join(name), bytes, Existing::Keep).unwrap());
        }
        let changed = memories_store::changed_at(&std::fs::metadata(folder.path().join("a")).unwrap());
        let file = folder.path().join("Memories.md");
        let surroundings = Surroundings::of(folder.path(), folder.path(), None, &file, 7).unwrap();
        let line = |(number, mut event): (usize, Event)| Line {
            at: changed + 1000 + number as u64,
            session: String::new(),
            folder: "/".to_owned(),
            event: {
                if let Event::Ran(run) = &mut event {
                    run.environment = surroundings.environment;
                }
                event
            },
            until: None,
        };
        let lines: Vec<Line> = events.into_iter().enumerate().map(line).collect();
        let now = lines.last().map_or(0, |line| line.at) + later;
        let verdict = judge(&Command::read("make"), &lines, &[], &[], &surroundings, now);
        match &verdict {
            Verdict::OtherCircumstances(_, difference) => format!("{difference:?}"),
            other => other.name().to_owned(),
        }
    }

    #[test]
    fn a_line_about_the_memory_file_counts_for_the_failures_that_it_knows() {
        let action = Command::read("make").action;
        let line =
            |at, event, until| Line { at, session: String::new(), folder: "/".to_owned(), event, until };
        let failed = |at| line(at, run("make", Outcome::Failed), None);
        let worked = line(3, run("make", Outcome::Worked), None);
        let kept = |count, last| line(9, Event::Kept(action), Some(Failures { count, last }));
        let learned = |last| line(9, Event::Learned(action), Some(Failures { count: 2, last }));
        let of = |lines: &[Line]| {
            let history = History::of(action, "/", lines).unwrap();
            (history.failures, history.is_kept, history.is_learned)
        };
        assert_eq!(of(&[failed(1), failed(2), kept(2, 2), learned(2)]), (2, true, true));
        assert_eq!(of(&[failed(1), failed(2), failed(3), kept(2, 2), learned(2)]), (3, false, false));
        assert_eq!(of(&[failed(1), failed(2), failed(3), kept(2, 2), kept(3, 3)]), (3, true, false));
        assert_eq!(of(&[failed(1), failed(2), worked, failed(4), failed(5), kept(2, 2)]), (2, false, false));
        // As earlier versions wrote it.
        assert_eq!(of(&[failed(1), line(9, Event::Kept(action), None)]), (1, true, false));
    }

    #[test]
    fn what_a_verdict_rests_on() {
        use Outcome::{Failed, Passing, Unknown, Worked};
        let made = |outcome| run("make", outcome);
        let cases = [
            (vec![], 0, "no"),
            (vec![made(Failed)], 5, "in_vain"),
            (vec![made(Failed)], FRESH + 1, "Old"),
            (vec![made(Failed), made(Worked)], 5, "worked"),
            (vec![made(Passing)], 5, "Passing"),
            (vec![made(Unknown)], 5, "unknown_effect"),
            (vec![made(Failed), made(Unknown)], 5, "Unknown"),
            // It worked without any change: it is not the files that decide.
            (vec![made(Failed), made(Worked), made(Failed)], 5, "Unsteady"),
            (vec![made(Failed), Event::Edited("a".into()), made(Worked), made(Failed)], 5, "in_vain"),
            (vec![made(Failed), run("ls -l", Worked)], 5, "in_vain"),
            (vec![made(Failed), run("ls && make", Worked)], 5, "worked"),
            (vec![made(Failed), run("ls | sort", Failed)], 5, "in_vain"),
            // A person deleted it from the memory file.
            (vec![made(Failed), Event::Kept(Command::read("make").action)], 5, "no"),
        ];
        for (number, (events, later, expected)) in cases.into_iter().enumerate() {
            assert_eq!(verdict(events, later), expected, "{number}");
        }
        let changed = verdict(vec![made(Failed), run("touch b", Worked)], 5);
        assert!(changed.contains("`touch b` ran"), "{changed}");
        // A command that failed may have changed something first.
        for outcome in [Failed, Passing] {
            let changed = verdict(vec![made(Failed), run("npm install && npm run lint", outcome)], 5);
            assert!(changed.contains("`npm install && npm run lint` ran"), "{changed}");
        }
    }

    #[test]
    fn times_in_words() {
        let words = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!(
            [words(0), words(60), words(7_300), words(200_000)],
            ["just now", "1 minute ago", "2 hours ago", "2 days ago"]
        );
    }
}
