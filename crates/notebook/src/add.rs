//! Adds memories to the files: a memory is stored, takes the place of the entry with its title, or is left
//! out as a duplicate; entries that it supersedes are struck.
//!
//! Titles are exact. No words vanish: a replaced entry is struck and stays in the file, and an entry that may not be
//! replaced keeps its title. A permanent or core memory never becomes ephemeral.

pub use crate::add_report::{AddOutcome, AddReport, KeptEntry};
use crate::authority::{Authority, precedence, protection};
use crate::authorship::Repeated;
use crate::confirm::{confirm, stands_apart};
use crate::contest::{self, contested_of};
use crate::duplicate_entry::{anchor_anew, duplicate_report, merge_duplicate, not_taken, promotes};
use crate::duplicates::ComparableText;
use crate::files::{Files, date};
use crate::protection::Protection;
use crate::rewrite::{is_rewritten, rewrite_note};
use crate::strike::strike;
use crate::titles::{free_title, numbered_titles};
use crate::unsupported::{bear_out, unsupported_contest};
use memories_document::types::{
    Cause, Memory, MemoryObject, Moment, Persistence, Reference, Scope, UNSUPPORTED_TAG, fold_title,
    means_title, same_title,
};
use memories_document::{DocumentError, EntryText, stored};

/// Said of a memory that names a writer itself.
const FOREIGN_WRITER: &str = "a tag `#by:` is left out: it is made by `--writer` alone";

/// Circumstances of storing a memory.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The grounds on which it may replace others.
    pub authority: Authority,
    /// Titles that the memory supersedes.
    pub supersedes: &'a [String],
    /// The time for reference lines.
    pub at: &'a Moment,
    /// A turn bears it out: an entry that says the same is no longer marked as unsupported.
    pub is_borne_out: bool,
}

impl Claim<'_> {
    /// A memory that supersedes none by name.
    pub fn of(authority: Authority) -> Claim<'static> {
        const NO_MOMENT: Moment = Moment { episode: None, turn: None, message: None, date: None };
        Claim { authority, supersedes: &[], at: &NO_MOMENT, is_borne_out: false }
    }
}

/// Stores a memory in a section, which is made if it is missing.
///
/// A live entry that says the same makes it a duplicate. A live entry with its title is superseded: struck,
/// with all its words. Where the memory may not take its place, it gets a title of its own, and where that
/// entry is protected (see [`protection`]) it contests it. A text that holds all of what the same program wrote
/// under the title takes its place without a trace.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn store_memory(
    files: &mut Files,
    scope: &Scope,
    name: &str,
    memory: &Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Result<AddReport, DocumentError> {
    let mut memory = stored(memory);
    if files.sign(&mut memory) {
        warnings.push(FOREIGN_WRITER.to_owned());
    }
    let claim = Claim { authority: claim.authority.in_name_of(files.writer.as_ref()), ..claim };
    claim.authority.lower(&mut memory, warnings);
    let supersedes =
        [claim.supersedes, &unsupported_contest(files, scope, &memory, claim.is_borne_out)].concat();
    let claim = Claim { supersedes: &supersedes, ..claim };
    let author = files.authorship.author();
    let contested = contested_of(files, scope, claim.supersedes, &memory.category, claim.authority);
    if memory.category.only_grows() {
        // Entries of kinds that only grow get a number where their title is in use.
        memory = free_title(files, scope, memory, |_| false);
    } else if let Some(old) = duplicate_of(files, scope, &memory, claim, &contested) {
        let duplicate = Duplicate { old, memory: &memory };
        return store_duplicate(files, scope, name, duplicate, claim, contested, warnings);
    }
    date(&mut memory, files.today.as_deref());
    let known = files.name_of(scope);
    let shown = if known.is_empty() { name } else { &known };
    let entry = MemoryObject::of(scope, shown, &memory, author);
    let mut report = AddReport { contested, ..AddReport::of(AddOutcome::Stored, author, entry) };
    contest::mark(files, scope, &mut memory, &report.contested, claim.authority);
    let owner = take_title(files, scope, &mut memory, claim, &mut report);
    let titles = titles_to_strike(&report, claim);
    let claimed = Claim { supersedes: &titles, ..claim };
    let mut superseded = supersede(files, scope, &mut memory, claimed, warnings);
    if let Some(old) = owner {
        report.outcome = AddOutcome::Revised;
        if is_rewritten(files, scope, &old, &memory, claim.authority) {
            let revised = rewrite_note(files, scope, &old, &memory);
            return Ok(AddReport { superseded, ..report.with(&revised) });
        }
        memory.persistence = memory.persistence.min(old.persistence);
        memory.see_also = memory.see_also.or(old.see_also);
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        superseded.extend(strike(files, scope, &old.title, &reference, warnings));
    }
    if !report.contested.is_empty() {
        report.outcome = AddOutcome::Contested;
    }
    files.append(scope, name, &memory, Repeated::No)?;
    Ok(AddReport { superseded, ..report.with(&memory) })
}

/// The titles that a memory supersedes, without those of entries that stay, which the report names.
fn titles_to_strike(report: &AddReport, claim: Claim<'_>) -> Vec<String> {
    let beside = report.beside.iter().map(|beside| &beside.title);
    let stays: Vec<&String> = beside.chain(report.contested.iter().map(|one| &one.title)).collect();
    let is_struck = |title: &&String| !stays.iter().any(|stays| means_title(title, stays));
    claim.supersedes.iter().filter(is_struck).cloned().collect()
}

/// The live entry that says the same; of entries that the memory supersedes only one that is equal to it. A
/// protected entry that ends with its episode does not keep a memory from lasting.
fn duplicate_of(
    files: &Files,
    scope: &Scope,
    memory: &Memory,
    claim: Claim<'_>,
    contested: &[KeptEntry],
) -> Option<Memory> {
    let differs = |old: &Memory| {
        (&old.text, &old.category, old.status) != (&memory.text, &memory.category, memory.status)
    };
    let named = |old: &Memory| claim.supersedes.iter().any(|title| means_title(title, &old.title));
    let ends = |old: &Memory| {
        promotes(old, memory)
            && protection(files, scope, old, Some(&memory.category), claim.authority).is_some()
    };
    let text = ComparableText::new(&memory.text);
    let witnesses = memory.provenance.witnesses();
    let is_known = |old: &Memory| old.provenance.witnesses().cover(&witnesses);
    let is_apart = |old: &Memory| stands_apart(files, scope, old, contested);
    let is_meant = |old: &Memory| {
        text.is_duplicate(old) && is_known(old) && !(ends(old) || named(old) && differs(old) || is_apart(old))
    };
    let first = |wanted: &dyn Fn(&EntryText<'_>) -> bool| {
        let said = files.live(scope).filter(|entry| wanted(entry) && text.may_be_said_by(entry));
        said.map(|entry| entry.read()).find(is_meant)
    };
    let title = fold_title(&memory.title);
    first(&|entry| entry.has_title(&title)).or_else(|| first(&|_| true))
}

/// A memory, and the live entry that says the same.
struct Duplicate<'a> {
    old: Memory,
    memory: &'a Memory,
}

/// Stores nothing of a memory whose text is there already, but what else it says: its importance, and what it
/// supersedes. An entry that is protected stays as it is, but it may get another writer.
fn store_duplicate(
    files: &mut Files,
    scope: &Scope,
    name: &str,
    Duplicate { mut old, memory }: Duplicate<'_>,
    claim: Claim<'_>,
    mut contested: Vec<KeptEntry>,
    warnings: &mut Vec<String>,
) -> Result<AddReport, DocumentError> {
    let duplicate = duplicate_report(files, scope, &old, &memory.text);
    let protected = protection(files, scope, &old, Some(&memory.category), claim.authority);
    let mut report = match (confirm(files, scope, &old), protected) {
        (Some(memory), _) => duplicate.confirmed(&memory),
        (None, Some(why)) => AddReport { stays: Some(why), ..duplicate },
        (None, None) => merge_duplicate(files, scope, name, &old, memory, duplicate)?,
    };
    if report.stays.is_none() || claim.authority == Authority::Command {
        report = anchor_anew(files, scope, report, memory);
    }
    if claim.is_borne_out && old.has_tag(UNSUPPORTED_TAG) {
        report = bear_out(files, scope, report);
    }
    if matches!(claim.authority, Authority::Command | Authority::Writer) {
        report.not_taken = not_taken(&old, memory);
    }
    contested.retain(|one| !same_title(&one.title, &old.title));
    for one in contested.iter().filter(|one| !contest::links_to(&old, scope, &one.title)) {
        let reason = format!("\"{}\" is said to take its place.", old.title);
        contest::contest(files, scope, one.clone(), &reason, claim.at)?;
    }
    report.contested = contested;
    let titles = titles_to_strike(&report, claim);
    let claimed = Claim { supersedes: &titles, ..claim };
    report.superseded = supersede(files, scope, &mut old, claimed, warnings);
    Ok(report)
}

/// Finds a title that the memory may have: its own or, where an entry has that and may not be replaced, its
/// own with ` (2)`, ` (3)` … The entry with that title is returned, to be replaced.
fn take_title(
    files: &Files,
    scope: &Scope,
    memory: &mut Memory,
    claim: Claim<'_>,
    report: &mut AddReport,
) -> Option<Memory> {
    let mut owner = None;
    for title in numbered_titles(&memory.title.clone()) {
        memory.title = title;
        owner = files.owner_of_title(scope, &memory.title);
        let Some(old) = &owner else { break };
        let (witnesses, own) = (old.provenance.witnesses(), memory.provenance.witnesses());
        if witnesses != own {
            if files.viewer.knows(&witnesses) {
                let reason = Protection::Witnesses;
                report.beside.get_or_insert(KeptEntry { title: old.title.clone(), reason });
            }
            continue;
        }
        let protected = protection(files, scope, old, Some(&memory.category), claim.authority)
            .filter(|_| !old.category.only_grows());
        let reason = match protected {
            // An entry that contests others is tentative already: nobody needs to contest it.
            protected @ Some(_) if old.contests() && files.writer.is_some() => protected,
            Some(reason) if !matches!(claim.authority, Authority::Rules(_)) => {
                contest::note(&mut report.contested, KeptEntry { title: old.title.clone(), reason });
                contest::mark(files, scope, memory, &report.contested, claim.authority);
                continue;
            }
            None if old.category.only_grows() => Some(Protection::Record),
            protected => protected.or_else(|| precedence(old, memory, claim.authority)),
        };
        let Some(reason) = reason else { break };
        report.beside.get_or_insert(KeptEntry { title: old.title.clone(), reason });
    }
    owner
}

/// Strikes the entries that a memory supersedes, unless they may not be. What supersedes a core memory is core.
/// An entry with the memory's own title is left to [`take_title`].
fn supersede(
    files: &mut Files,
    scope: &Scope,
    memory: &mut Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let mut done = Vec::new();
    for title in claim.supersedes.iter().filter(|title| !means_title(title, &memory.title)) {
        let olds = files.find(scope, title);
        let reason = olds.iter().find_map(|(_, old)| {
            protection(files, scope, old, Some(&memory.category), claim.authority)
                .or_else(|| precedence(old, memory, claim.authority))
        });
        if let Some(reason) = reason {
            warnings.push(format!("`{title}` is not superseded: {reason}"));
            continue;
        }
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        if let Some(title) = strike(files, scope, title, &reference, warnings) {
            if olds.iter().any(|(_, old)| old.persistence == Persistence::Core) {
                memory.persistence = Persistence::Core;
            }
            done.push(title);
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::authority::Proof;
    use crate::samples::{MODEL, SCOPE, files, live, memory, store};
    use memories_document::Document;
    use memories_document::entry_text::ENTRIES_READ;
    use memories_document::types::Category;
    use memories_document::types::{Author, OFFLINE_TAG, Status};

    const SCORED: Authority = Authority::Turn(Proof { died: false, scored: true, rose: false });
    const DEAD: Authority = Authority::Turn(Proof { died: true, scored: true, rose: false });
    const RULES: Authority = Authority::Rules(Proof { died: false, scored: false, rose: false });

    fn weighing(category: &str, importance: u16, text: &str) -> Memory {
        let mut memory = memory(category, "Troll", text);
        memory.provenance.importance = Some(importance);
        memory
    }

    /// Stores `old`, then `new` under its title; the outcome, and the reason why `old` stays, if it does.
    fn outcome(
        author: Author,
        old: &Memory,
        new: &Memory,
        authority: Authority,
    ) -> (AddOutcome, &'static str) {
        let (_folder, mut files) = files();
        files.authorship.set_author(author);
        store(&mut files, old, Authority::Command);
        files.authorship.set_author(Author::Model);
        let before = files.lasting.clone().into_text().unwrap();
        let report = store(&mut files, new, authority);
        let memories = files.section(&SCOPE).memories;
        assert!(memories.iter().any(|memory| memory.text == old.text), "the old words stay: {memories:?}");
        let stored = memories.iter().find(|memory| memory.text == new.text && memory.is_live()).unwrap();
        if report.outcome == AddOutcome::Contested {
            let after = files.lasting.clone().into_text().unwrap();
            assert!(after.starts_with(before.trim_end().trim_end_matches('-')), "{before}\n{after}");
            assert_eq!(
                (stored.status, stored.provenance.tags.as_slice()),
                (Status::Tentative, &["contested".to_owned()][..])
            );
            assert_eq!(stored.see_also.as_deref(), Some("[[Location 5 › Troll]]"));
            assert_eq!((report.beside, report.contested[0].title.as_str()), (None, "Troll"));
            return (report.outcome, report.contested[0].reason.into());
        }
        (report.outcome, report.beside.map_or("", |beside| beside.reason.into()))
    }

    #[test]
    fn a_model_replaces_what_programs_wrote_and_contests_what_is_a_persons() {
        use AddOutcome::{Contested, Revised, Stored};
        use Author::{Agent, Model, Person, Program, Rules, Seed, Unknown};
        let old = memory("NOTE", "Troll", "The troll sleeps.");
        let new = memory("NOTE", "troll", "The troll is awake.");
        for (author, authority, expected) in [
            (Model, MODEL, (Revised, "")),
            (Agent, MODEL, (Revised, "")),
            (Rules, MODEL, (Revised, "")),
            (Program, MODEL, (Revised, "")),
            (Model, Authority::MODEL, (Revised, "")),
            (Person, MODEL, (Contested, "a person wrote it")),
            (Person, DEAD, (Contested, "a person wrote it")),
            (Person, Authority::MODEL, (Contested, "a person wrote it")),
            (Seed, SCORED, (Contested, "a seed wrote it")),
            (Person, RULES, (Stored, "a person wrote it")),
            (Unknown, MODEL, (Revised, "")),
            (Unknown, RULES, (Stored, "nobody knows who wrote it")),
            (Person, Authority::Command, (Revised, "")),
        ] {
            assert_eq!(outcome(author, &old, &new, authority), expected, "{author:?} {authority:?}");
        }
        let tentative = Memory { status: Status::Tentative, ..new.clone() };
        let guess = Memory { text: "It may sleep.".to_owned(), ..tentative.clone() };
        let ephemeral = Memory { persistence: Persistence::Ephemeral, ..new };
        assert_eq!(outcome(Model, &old, &tentative, SCORED), (Stored, "it is confirmed"));
        assert_eq!(outcome(Model, &tentative, &old, MODEL), (Revised, ""));
        assert_eq!(outcome(Model, &guess, &tentative, MODEL), (Revised, ""));
        assert_eq!(outcome(Model, &old, &ephemeral, SCORED), (Stored, "it lasts"));
        assert_eq!(outcome(Model, &ephemeral, &old, MODEL), (Revised, ""));
    }

    #[test]
    fn core_and_what_weighs_more_than_the_turn_proves_is_contested() {
        use AddOutcome::{Contested, Revised};
        let core = Memory { persistence: Persistence::Core, ..weighing("DANGER", 500, "It kills.") };
        let danger = weighing("DANGER", 1000, "It is awake.");
        let model = |old: &Memory, new: &Memory, authority| outcome(Author::Model, old, new, authority);
        assert_eq!(model(&core, &danger, DEAD), (Contested, "it is core"));
        let heavier = (Contested, "it is more important than this may be");
        for (importance, new, authority, expected) in [
            (700, &danger, MODEL, (Revised, "")),
            (701, &danger, MODEL, heavier),
            (800, &danger, SCORED, (Revised, "")),
            (801, &danger, SCORED, heavier),
            (1000, &danger, DEAD, (Revised, "")),
            (801, &weighing("NOTE", 1000, "It is awake."), DEAD, heavier),
        ] {
            let old = weighing("NOTE", importance, "It kills.");
            assert_eq!(model(&old, new, authority), expected, "{importance} {authority:?}");
        }
    }

    #[test]
    fn the_rules_rewrite_their_notes_and_nothing_else_is_rewritten() {
        let (_folder, mut files) = files();
        store(&mut files, &memory("NOTE", "Exits", "A way leads north."), MODEL);
        let other = memory("NOTE", "Exits", "All ways are shut.");
        assert_eq!(store(&mut files, &other, MODEL).superseded, ["Exits"]);
        assert_eq!(files.section(&SCOPE).memories.len(), 2);
        let mut of_rules = memory("NOTE", "Exits", "s: Cellar");
        of_rules.provenance.tags = vec![OFFLINE_TAG.to_owned()];
        assert_eq!(store(&mut files, &of_rules, RULES).superseded, ["Exits"], "a model's note stays, struck");
        assert_eq!(files.section(&SCOPE).memories.len(), 3);
        let noted = |text: &str| {
            let mut note = memory("NOTE", "Here", text);
            note.provenance.tags = vec![OFFLINE_TAG.to_owned()];
            note
        };
        files.authorship.set_author(Author::Rules);
        store(&mut files, &noted("n: Hall"), RULES);
        let mut found = files.first(&SCOPE, "Here").unwrap();
        let mut marked = found.entry.memory();
        marked.category = Category::danger();
        marked.provenance.importance = Some(950);
        marked.provenance.tags.push("vital".to_owned());
        found.entry.revise_line(&marked);
        assert_eq!(store(&mut files, &noted("e: Stable"), RULES).superseded, [""; 0]);
        let here = files.find(&SCOPE, "Here").remove(0).1;
        assert_eq!((here.category.as_str(), here.importance()), ("DANGER", 950));
        assert_eq!(here.provenance.tags, [OFFLINE_TAG, "vital"]);
        assert_eq!(live(&files)[1], "Here: e: Stable");
        let contested = store(&mut files, &noted("s: Well"), MODEL).contested.remove(0);
        assert_eq!(contested.reason, Protection::MoreImportant);
    }

    #[test]
    fn few_of_many_entries_are_read_to_store_one() {
        let said = |n: u32| format!("In this room the lever x{n}x is stuck and does not move.");
        let entry = |n: u32| format!("**[NOTE] Lever {n}** *(Ep1, T{n})*\n{}\n\n", said(n));
        for count in [30, 3000] {
            let text = format!("## Location 5: Bridge\n\n{}", (0..count).map(entry).collect::<String>());
            let [lasting, session] = [text, String::new()].map(Document::parse);
            let mut files = Files::new(lasting, session);
            let before = ENTRIES_READ.get();
            let new = memory("NOTE", "Lever 7", "The seventh lever moves.");
            assert_eq!(store(&mut files, &new, Authority::Command).superseded, ["Lever 7"]);
            let same = memory("NOTE", "Handle", &said(9).to_uppercase());
            assert_eq!(store(&mut files, &same, Authority::Command).title(), "Lever 9");
            let read = ENTRIES_READ.get() - before;
            assert!(read < 40, "{read} of {count} entries were read");
        }
    }

    #[test]
    fn an_equal_text_is_stored_once_and_lasts_if_either_does() {
        let (folder, mut files) = files();
        let lasting = memory("NOTE", "Door", "The door is open.");
        let ephemeral =
            Memory { persistence: Persistence::Ephemeral, ..memory("NOTE", "Gate", "the door is open") };
        assert_eq!(store(&mut files, &ephemeral, MODEL).outcome, AddOutcome::Stored);
        let kept = store(&mut files, &lasting, MODEL);
        assert_eq!((kept.outcome, kept.title()), (AddOutcome::Revised, "Gate"));
        assert_eq!(live(&files), ["Gate: the door is open"], "the words that were there stay");
        assert!(files.session.section(&SCOPE).unwrap_or_default().memories.is_empty());
        let mut important = lasting.clone();
        important.provenance.importance = Some(650);
        let again = store(&mut files, &important, MODEL);
        assert_eq!((again.outcome, again.raised_to), (AddOutcome::Duplicate, Some(650)));
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is written here");
    }
}
