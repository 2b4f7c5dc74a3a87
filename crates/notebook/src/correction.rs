//! The corrections that can be made, their results and their errors.

use serde::Serialize;

use crate::add_report::{AddReport, KeptEntry};
use crate::files::{Files, FoundEntry};
use crate::protection::Protection;
use memories_document::types::hint::{Advice, Hint};
use memories_document::types::{
    Memory, Outcome, Persistence, Scope, Status, did_you_mean, one_of, same_title, told_by_tag, witness_tag,
};
pub use memories_document::{DocumentError, EntryRef, nearest};

/// An entry's address: its exact title, and its line if several entries written by hand share the title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The section.
    pub scope: Scope,
    /// The title, compared without case and outer space.
    pub title: String,
    /// Line of the entry in its file.
    pub line: Option<usize>,
}

/// A correction of entries or of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Correction {
    /// A new memory supersedes others.
    Supersede(Vec<Target>, Box<Memory>),
    /// Memories are wrong, for the given reason.
    Invalidate(Vec<Target>, String),
    /// Sets a memory's status, importance or persistence.
    Mark(Target, Marks),
    /// Raises a memory's importance by an amount, for an agent.
    Reinforce(Target, u16),
    /// Tells a memory to others.
    Tell(Target, Telling),
    /// Links two memories to each other.
    Link(Target, Target),
    /// Removes a memory from the file.
    Forget(Target),
    /// Renames a section.
    Rename(Scope, String),
    /// Believes a memory that waits for a person's decision.
    Accept(Target),
    /// Strikes one.
    Reject(Target),
}

/// Values that `mark` sets; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// The new status.
    pub status: Option<Status>,
    /// The new importance, 1 to 1000.
    pub importance: Option<u16>,
    /// The new persistence.
    pub persistence: Option<Persistence>,
    /// True pins the entry, false frees it.
    pub pinned: Option<bool>,
}

/// Who is told of an entry, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Telling {
    /// The ids of the listeners.
    pub to: Vec<String>,
    /// The ids of those who tell.
    pub by: Vec<String>,
}

impl Telling {
    /// The tags of a new entry that these know.
    pub fn tags(&self) -> impl Iterator<Item = String> {
        self.to.iter().map(|id| witness_tag(id)).chain(self.by.iter().map(|id| told_by_tag(id)))
    }
}

/// The result for one entry or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// `superseded`, `revised`, `stored`, `contested`, `confirmed`, `duplicate`, `invalidated`, `marked`, `reinforced`,
    /// `linked`, `unchanged`, `forgotten`, `renamed`, `accepted` or `rejected`.
    pub outcome: Outcome,
    /// The section.
    pub scope: Scope,
    /// The title; of a renamed section, its new name.
    pub title: String,
    /// For a successor that is core because it supersedes a core memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<Persistence>,
    /// The forgotten memory, for the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The protected entries that the memory contests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<KeptEntry>,
    /// Why an entry is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Protection>,
}

impl From<&AddReport> for Corrected {
    fn from(report: &AddReport) -> Corrected {
        let contested = report.contested.clone();
        Corrected { contested, ..Corrected::of(report.outcome.into(), &report.entry.scope, report.title()) }
    }
}

impl Corrected {
    /// The result for a memory that was stored, or confirmed, and those for what it struck.
    pub fn all_of(report: &AddReport) -> Vec<Corrected> {
        let struck = report.superseded.iter();
        let struck = struck.map(|title| Corrected::of(Outcome::Superseded, &report.entry.scope, title));
        std::iter::once(Corrected::from(report)).chain(struck).collect()
    }

    /// The result for one title, and nothing besides.
    pub fn of(outcome: Outcome, scope: &Scope, title: &str) -> Corrected {
        Corrected {
            outcome,
            scope: scope.clone(),
            title: title.to_owned(),
            persistence: None,
            memory: None,
            contested: Vec::new(),
            why: None,
        }
    }
}

/// Why a correction fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorrectionError {
    /// No entry has the title.
    #[error("no {} of {scope} is called `{title}`", if *live { "live memory" } else { "memory" })]
    Unknown {
        /// The section.
        scope: Scope,
        /// The title that was given.
        title: String,
        /// Similar titles.
        nearest: Vec<String>,
        /// True if only live entries were searched.
        live: bool,
    },
    /// Several entries have the title.
    #[error("{} memories of {scope} are called `{title}`", lines.len())]
    Ambiguous {
        /// The section.
        scope: Scope,
        /// The title that was given.
        title: String,
        /// Their lines.
        lines: Vec<usize>,
        /// The flag that says which one is meant.
        flag: &'static str,
    },
    /// No live entry of the scope has the title; entries of other scopes have it.
    #[error("no live memory of {scope} is called `{title}`")]
    Elsewhere {
        /// The section.
        scope: Scope,
        /// The title that was given.
        title: String,
        /// The other scopes.
        others: Vec<Scope>,
    },
    /// A lasting entry would become ephemeral.
    #[error("`{0}` lasts: it does not become ephemeral")]
    Lasting(String),
    /// Another live entry has the title.
    #[error("a memory of {scope} is called `{title}` already")]
    TitleInUse {
        /// The section.
        scope: Scope,
        /// The title.
        title: String,
    },
    /// Another live entry says nearly the same.
    #[error("`{0}` says this already")]
    NearDuplicate(String),
    /// An agent's section would be told to another.
    #[error("`{listener}` does not see the section {scope}")]
    NotTold {
        /// The section.
        scope: Scope,
        /// The characters who would be told.
        listener: String,
    },
    /// Memories with different witnesses would be replaced by one.
    #[error("`{0}` and `{1}` have different witnesses")]
    OtherWitnesses(String, String),
    /// A memory would be linked to itself.
    #[error("`{0}` cannot be linked to itself")]
    Itself(String),
    /// Both memories that an agent would link are protected.
    #[error(
        "`{0}` and `{1}` stay as they are: a person, a seed or another writer wrote them, or they weigh too much"
    )]
    BothProtected(String, String),
    /// One command both supersedes and invalidates an entry.
    #[error("`{0}` is both superseded and invalidated")]
    Both(String),
    /// A named writer would change what it did not write alone.
    #[error("`{title}` stays as it is: {why}")]
    Kept {
        /// The title.
        title: String,
        /// Why it is protected.
        why: Protection,
    },
    /// The memory waits for no decision.
    #[error("`{0}` waits for no decision")]
    NothingToDecide(String),
    /// A required text is empty: the title, reason, name or text.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// No value to set was given.
    #[error("there is nothing to set")]
    NothingToSet,
    /// The scope has no section.
    #[error("there is no section of {0}")]
    NoSection(Scope),
    /// The file cannot take the edit.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for CorrectionError {
    fn advice(&self) -> Advice {
        Advice::fix(match self {
            CorrectionError::Unknown { nearest, scope, .. } => match did_you_mean(nearest) {
                Some(near) => format!("titles are exact; {near}"),
                None => format!("titles are exact; `memories show {scope}` shows them"),
            },
            CorrectionError::Ambiguous { lines, flag, .. } => {
                let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
                format!("say which one with `{flag}`, one of {}", lines.join(", "))
            }
            CorrectionError::Elsewhere { others, .. } => {
                let flags: Vec<String> = others.iter().map(|scope| format!("--in {scope}")).collect();
                let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                format!("this title stands in another scope: add {}", one_of(&flags))
            }
            CorrectionError::Lasting(_) => "leave out `ephemeral`, or forget the entry first".to_owned(),
            CorrectionError::TitleInUse { .. } => "choose another title, or supersede that memory".to_owned(),
            CorrectionError::NearDuplicate(title) => format!("correct `{title}` instead"),
            CorrectionError::NotTold { .. } => "store it in a section that both see".to_owned(),
            CorrectionError::OtherWitnesses(..) => {
                "replace them one by one, or name the witnesses".to_owned()
            }
            CorrectionError::Itself(_) => "name two different memories".to_owned(),
            CorrectionError::BothProtected(..) => {
                "form a memory of your own, and link that to one of them".to_owned()
            }
            CorrectionError::Kept { .. } => {
                "contest it by `supersede` or `invalidate`, or let a person decide".to_owned()
            }
            CorrectionError::NothingToDecide(_) => "`memories review` lists what waits".to_owned(),
            CorrectionError::Both(_) => "name each title for only one of the two".to_owned(),
            CorrectionError::Empty("reason") => {
                "give a reason, such as `The troll was only asleep.`".to_owned()
            }
            CorrectionError::NothingToSet => {
                "say what to set: `--status`, `--importance`, `--persistence` or `--pin`".to_owned()
            }
            CorrectionError::Empty(what) => format!("give a {what}; nothing is changed"),
            CorrectionError::NoSection(_) => "`memories list` shows what there is".to_owned(),
            CorrectionError::Document(error) => return error.advice(),
        })
    }
}

/// Refuses a list of corrections in which one title is both superseded and invalidated.
///
/// # Errors
///
/// [`CorrectionError::Both`].
pub fn check_consistent(corrections: &[Correction]) -> Result<(), CorrectionError> {
    let superseded = corrections.iter().flat_map(|correction| match correction {
        Correction::Supersede(targets, _) => targets.as_slice(),
        _ => &[],
    });
    let superseded: Vec<&Target> = superseded.collect();
    for correction in corrections {
        let Correction::Invalidate(targets, _) = correction else { continue };
        let both = targets.iter().find(|target| {
            superseded
                .iter()
                .any(|other| other.scope == target.scope && same_title(&other.title, &target.title))
        });
        if let Some(target) = both {
            return Err(CorrectionError::Both(target.title.clone()));
        }
    }
    Ok(())
}

/// The only `wanted` entry with the title, and the line, of a target.
pub(super) fn locate<'a>(
    files: &'a mut Files,
    target: &Target,
    live: bool,
    wanted: impl Fn(&Memory) -> bool,
) -> Result<FoundEntry<'a>, CorrectionError> {
    let Target { scope, title, line } = target;
    let meant =
        |entry: &EntryRef<'_>| wanted(&entry.memory()) && line.is_none_or(|line| entry.line() == line);
    let unknown = |files: &Files| {
        if !files.headings().any(|heading| heading.scope == *scope) {
            return CorrectionError::NoSection(scope.clone());
        }
        let section = files.section(scope);
        let titles =
            section.memories.iter().filter(|memory| wanted(memory)).map(|memory| memory.title.as_str());
        let nearest = nearest(title, titles, 3);
        CorrectionError::Unknown { scope: scope.clone(), title: title.clone(), nearest, live }
    };
    let (tier, number) = match files.titled(scope, title, meant).as_slice() {
        [(tier, number, _)] => (*tier, *number),
        [] => return Err(unknown(files)),
        several => {
            let lines = several.iter().map(|(.., entry)| entry.line()).collect();
            let (scope, title) = (scope.clone(), title.clone());
            return Err(CorrectionError::Ambiguous { scope, title, lines, flag: "--line" });
        }
    };
    Ok(files.entry(scope, tier, number))
}
