//! Verdicts about commands: has this one failed here, and has anything changed since?
//!
//! Lines of the log, the tries of the memory file and the present state enter; a verdict leaves, with words for an agent.

use std::time::Duration;

use crate::types::Attempt;
use crate::types::frame::one_line;
use crate::work::command::Command;
use crate::work::log::{Event, Line, Outcome, Run};
use crate::work::surroundings::{Changes, Surroundings};

/// The answer to whether a command is worth another try.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Verdict {
    /// It failed here, and nothing has changed since.
    InVain(Failure),
    /// It failed here, but what it meets is not the same any more.
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

/// What is known of a command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
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
pub(crate) enum Difference {
    /// These have changed.
    Changes(Changes),
    /// The command that failed is nearly the same, with another name of a file, hash or line.
    Wording,
    /// It failed for a reason that may be over.
    Passing,
    /// It ran again since, and nobody knows how that ended.
    Unknown,
    /// The memory file says so, and nobody knows the circumstances.
    NotSeen,
}

impl Verdict {
    /// The name in JSON.
    pub(crate) fn name(&self) -> &'static str {
        self.into()
    }

    /// What has changed since, in words.
    pub(crate) fn changed(&self) -> &[String] {
        match self {
            Verdict::OtherCircumstances(_, Difference::Changes(changes)) => &changes.named,
            _ => &[],
        }
    }

    /// The failure, where it is worth a word.
    pub(crate) fn failure(&self) -> Option<&Failure> {
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
    (tried, worked): (&[Attempt], &[Attempt]),
    surroundings: &Surroundings,
    now: u64,
) -> Verdict {
    let is_same = |attempt: &&Attempt| Command::read(&attempt.action).action == command.action;
    let listed = tried.iter().find(is_same);
    let Some(history) = History::of(command.action, surroundings.folder.as_str(), lines) else {
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
    let difference = match last.outcome {
        _ if changes.is_of_named_file => return Verdict::Changed,
        Outcome::Passing => Difference::Passing,
        _ if history.ran_unknown => Difference::Unknown,
        _ if last.wording != command.wording => Difference::Wording,
        _ if changes.is_empty() => return Verdict::InVain(failure),
        _ => Difference::Changes(changes),
    };
    Verdict::OtherCircumstances(failure, difference)
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

/// What the log knows of an action in a folder, since it last succeeded.
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
    /// That is in the memory file.
    pub(super) is_learned: bool,
    /// The lines behind the last failure.
    later: &'a [Line],
}

impl<'a> History<'a> {
    /// `None` where the log knows nothing of the action.
    pub(super) fn of(action: u64, folder: &str, lines: &'a [Line]) -> Option<History<'a>> {
        let mut history = History {
            failures: 0,
            last_failure: None,
            worked: false,
            ran_unknown: false,
            is_kept: false,
            instead: None,
            is_learned: false,
            later: &[],
        };
        let mut is_known = false;
        let mut is_edited = false;
        for (number, line) in lines.iter().enumerate() {
            let here = line.folder == folder;
            match &line.event {
                Event::Ran(run) if here && (run.action == action || run.parts.contains(&action)) => {
                    let is_whole = run.action == action;
                    match run.outcome {
                        Outcome::Worked => {
                            history = History {
                                worked: true,
                                failures: 0,
                                last_failure: None,
                                is_kept: false,
                                ..history
                            };
                        }
                        // Which part of a list failed nobody knows.
                        _ if !is_whole => continue,
                        Outcome::Failed | Outcome::Passing => {
                            history.failures += 1;
                            history.last_failure = Some((line.at, run));
                            history.later = &lines[number + 1..];
                            (history.ran_unknown, history.is_kept) = (false, false);
                            (history.instead, history.is_learned) = (None, false);
                            is_edited = false;
                        }
                        Outcome::Unknown => history.ran_unknown = true,
                    }
                    is_known = true;
                }
                Event::Ran(run)
                    if here && run.outcome == Outcome::Worked && history.instead.is_none() && !is_edited =>
                {
                    let failed = history.last_failure.map(|(_, failed)| Command::read(&failed.command));
                    if failed.is_some_and(|failed| Command::read(&run.command).stands_in_for(&failed)) {
                        history.instead = Some(&run.command);
                    }
                }
                Event::Edited(_) => is_edited = true,
                Event::Learned(learned) if here && *learned == action => history.is_learned = true,
                Event::Kept(kept) if here && *kept == action => history.is_kept = true,
                _ => {}
            }
        }
        is_known.then_some(history)
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
        let reply = if self.reply.is_empty() { String::new() } else { format!(": {}", self.reply) };
        one_line(&format!("`{}`{reply}", self.command)).into()
    }
}

/// A verdict in words for an agent; empty where there is nothing to say.
pub(crate) fn in_words_for_agent(verdict: &Verdict) -> String {
    let Some(failure) = verdict.failure() else { return String::new() };
    let summary = failure.summary();
    let quoted = failure.quoted();
    let mut text = match verdict {
        Verdict::OtherCircumstances(_, difference) => match difference {
            Difference::Changes(changes) => {
                let more =
                    if changes.more > 0 { format!(" and {} more", changes.more) } else { String::new() };
                let named = changes.named.join(", ");
                let named = one_line(&named);
                format!("{summary}: {quoted}\nChanged since: {named}{more}\n")
            }
            Difference::Wording => format!("{summary} in nearly the same words: {quoted}\n"),
            Difference::Passing => format!("{summary}, for a reason that may be over: {quoted}\n"),
            Difference::Unknown => {
                format!("{summary}, and ran since with a result that nobody knows: {quoted}\n")
            }
            Difference::NotSeen => format!("{summary}, as the memory file says: {quoted}\n"),
        },
        _ => format!("{summary}, and nothing has changed since: {quoted}\n"),
    };
    if let Some(instead) = &failure.instead {
        text.push_str(&format!("Worked here instead: `{}`\n", one_line(instead)));
    }
    text
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
