//! Adds memories to the files: a memory is stored, takes the place of the entry with its title, or is left
//! out as a duplicate; entries that it supersedes are struck.
//!
//! Titles are exact. No words vanish: what is replaced is struck and stays in the file, and what may not be
//! replaced keeps its title. A permanent or core memory never becomes ephemeral.

use crate::document::{DocumentError, EntryEdit, stored};
pub use crate::notebook::add_report::{AddOutcome, AddReport, Beside};
use crate::notebook::authority::{Authority, is_rewritten, protection};
use crate::notebook::authorship::Repeated;
use crate::notebook::duplicates::find_duplicate;
use crate::notebook::files::{Files, Tier, live};
use crate::notebook::titles::{free_title, numbered_titles};
use crate::types::{Category, Cause, Memory, Moment, Persistence, Reference, Scope, means_title, same_title};

/// Circumstances of storing a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// The grounds on which it may replace others.
    pub authority: Authority,
    /// Titles that the memory supersedes.
    pub supersedes: &'a [String],
    /// The time for reference lines.
    pub at: &'a Moment,
}

impl Claim<'_> {
    /// A memory that supersedes none by name.
    pub(crate) fn of(authority: Authority) -> Claim<'static> {
        const NO_MOMENT: Moment = Moment { episode: None, turn: None, message: None, date: None };
        Claim { authority, supersedes: &[], at: &NO_MOMENT }
    }
}

/// Stores a memory in a section, which is made if it is missing.
///
/// A live entry that says the same makes it a duplicate. A live entry with its title is superseded: struck,
/// with all its words. Where the memory may not take its place (see [`protection`]), it gets a title of its
/// own. A text that holds all of what the same program wrote under the title takes its place without a trace.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn store_memory(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Result<AddReport, DocumentError> {
    let mut memory = stored(memory);
    if memory.category.only_grows() {
        // Entries of kinds that only grow get a number where their title is in use.
        memory = free_title(files, scope, memory, |_| false);
    } else if let Some(mut old) = duplicate_of(files, scope, &memory, claim.supersedes) {
        let mut report = merge_duplicate(files, (scope, name), &old, &memory)?;
        if claim.authority == Authority::Command {
            report.not_taken = not_taken(&old, &memory);
        }
        let superseded = supersede(files, scope, &mut old, claim, warnings)?;
        return Ok(AddReport { superseded, ..report });
    }
    let mut report = AddReport::of(AddOutcome::Stored, scope, &memory);
    let owner = take_title(files, scope, &mut memory, claim, &mut report);
    // The entry whose title the memory could not have is named by the report.
    let stays =
        |title: &&String| report.beside.as_ref().is_some_and(|beside| means_title(title, &beside.title));
    let titles: Vec<String> = claim.supersedes.iter().filter(|title| !stays(title)).cloned().collect();
    let claimed = Claim { supersedes: &titles, ..claim };
    let mut superseded = supersede(files, scope, &mut memory, claimed, warnings)?;
    if let Some(old) = owner {
        report.outcome = AddOutcome::Revised;
        if is_rewritten(files, scope, &old, &memory, claim.authority) {
            rewrite_note(files, scope, &old, &memory)?;
            return Ok(AddReport { superseded, ..report });
        }
        memory.persistence = memory.persistence.min(old.persistence);
        memory.see_also = memory.see_also.or(old.see_also);
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        superseded.extend(strike(files, scope, &old.title, &reference, warnings)?);
    }
    add(files, (scope, name), &memory, Repeated::No)?;
    Ok(AddReport { superseded, persistence: memory.persistence, ..report })
}

/// The live entry that says the same; of entries that the memory supersedes only one that is equal to it.
fn duplicate_of(files: &Files, scope: &Scope, memory: &Memory, supersedes: &[String]) -> Option<Memory> {
    let section = files.section(scope);
    let differs = |old: &Memory| {
        (&old.text, &old.category, old.status) != (&memory.text, &memory.category, memory.status)
    };
    let named = |old: &Memory| supersedes.iter().any(|title| means_title(title, &old.title));
    let others = || section.live().filter(|old| !(named(old) && differs(old)));
    let same_title = others().filter(|old| same_title(&old.title, &memory.title));
    find_duplicate(&memory.text, same_title).or_else(|| find_duplicate(&memory.text, others())).cloned()
}

/// Gives the higher importance to the entry that is there.
/// One that would end with its episode becomes lasting if the memory is: its words stay, and whose they are.
fn merge_duplicate(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    old: &Memory,
    memory: &Memory,
) -> Result<AddReport, DocumentError> {
    let report =
        AddReport { title: old.title.clone(), ..AddReport::of(AddOutcome::Duplicate, scope, memory) };
    if Tier::of(old.persistence) == Tier::Session && Tier::of(memory.persistence) == Tier::Lasting {
        let repeated = if files.is_by_hand(scope, old) { Repeated::Yes } else { Repeated::No };
        let mut lasting = Memory { persistence: memory.persistence, ..old.clone() };
        if memory.importance() > old.importance() {
            lasting.provenance.importance = memory.provenance.importance;
        }
        if let Some(found) = files.first(scope, &old.title) {
            found.entry.remove();
        }
        add(files, (scope, name), &lasting, repeated)?;
        return Ok(AddReport { outcome: AddOutcome::Revised, ..report });
    }
    files.authorship.note(scope, old, Repeated::Yes);
    let raised_to = raise_importance(files, scope, old, memory.importance());
    Ok(AddReport { raised_to, ..report })
}

/// Fields that the caller gave and the existing entry does not have.
fn not_taken(old: &Memory, memory: &Memory) -> Vec<&'static str> {
    let tags = &memory.provenance.tags;
    let wishes = [
        ("category", memory.category != Category::note() && memory.category != old.category),
        ("persistence", memory.persistence < old.persistence && memory.persistence == Persistence::Core),
        ("status", memory.status != old.status),
        ("tags", tags.iter().any(|tag| !old.provenance.tags.contains(tag))),
        ("context", memory.context.is_some() && memory.context != old.context),
    ];
    wishes.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
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
    let section = files.section(scope);
    let mut owner = None;
    for title in numbered_titles(&memory.title.clone()) {
        memory.title = title;
        owner = section.live().find(|old| same_title(&old.title, &memory.title));
        let Some(old) = owner else { break };
        let reason = match old.category.only_grows() {
            true => Some("it is part of a record"),
            false => protection(files, scope, old, Some(memory), claim.authority),
        };
        let Some(reason) = reason else { break };
        report.beside.get_or_insert(Beside { title: old.title.clone(), reason });
    }
    report.title.clone_from(&memory.title);
    owner.cloned()
}

/// Strikes an entry that an answer calls wrong, unless it may not be.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn invalidate(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    authority: Authority,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, DocumentError> {
    let protected =
        files.find(scope, title).iter().find_map(|(_, old)| protection(files, scope, old, None, authority));
    match protected {
        Some(reason) => {
            warnings.push(format!("`{title}` is not invalidated: {reason}"));
            Ok(None)
        }
        None => strike(files, scope, title, reference, warnings),
    }
}

/// Adds a memory to the file for its persistence.
fn add(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    repeated: Repeated,
) -> Result<(), DocumentError> {
    let tier = Tier::of(memory.persistence);
    let persistence = tier.written(memory.persistence);
    files.authorship.note(scope, memory, repeated);
    files.of(tier).add(scope, name, &Memory { persistence, ..memory.clone() })
}

/// Raises an entry's importance; `None` where it is at least as high, or the title is not unique.
fn raise_importance(files: &mut Files, scope: &Scope, old: &Memory, importance: u16) -> Option<u16> {
    if importance <= old.importance() {
        return None;
    }
    let mut found = files.only(scope, &old.title, live).ok()?;
    let mut memory = found.entry.memory().clone();
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Some(importance)
}

/// Gives a note of the built-in rules another text. What else its line says stays: tags, sources, remarks, a
/// higher importance, and that it is a danger.
fn rewrite_note(files: &mut Files, scope: &Scope, old: &Memory, new: &Memory) -> Result<(), DocumentError> {
    let mut revised = old.revised_to(new.clone());
    let (fields, kept) = (&mut revised.provenance, &old.provenance);
    fields.importance = fields.importance.max(kept.importance);
    for (list, old) in [
        (&mut fields.tags, &kept.tags),
        (&mut fields.sources, &kept.sources),
        (&mut fields.other, &kept.other),
    ] {
        let missing: Vec<String> = old.iter().filter(|value| !list.contains(value)).cloned().collect();
        list.extend(missing);
    }
    if old.category.is_danger() {
        revised.category = Category::danger();
    }
    files.authorship.take_back(scope, old);
    files.authorship.note(scope, &revised, Repeated::No);
    let Some(mut found) = files.first(scope, &old.title) else { return Ok(()) };
    let persistence = found.tier.written(revised.persistence);
    found.entry.edit(EntryEdit::Revise(Memory { persistence, ..revised }))
}

/// Strikes the entries that a memory supersedes, unless they may not be. What supersedes a core memory is core.
/// An entry with the memory's own title is left to [`take_title`].
fn supersede(
    files: &mut Files,
    scope: &Scope,
    memory: &mut Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, DocumentError> {
    let mut done = Vec::new();
    for title in claim.supersedes.iter().filter(|title| !means_title(title, &memory.title)) {
        let olds = files.find(scope, title);
        let reason =
            olds.iter().find_map(|(_, old)| protection(files, scope, old, Some(memory), claim.authority));
        if let Some(reason) = reason {
            warnings.push(format!("`{title}` is not superseded: {reason}"));
            continue;
        }
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        if let Some(title) = strike(files, scope, title, &reference, warnings)? {
            if olds.iter().any(|(_, old)| old.persistence == Persistence::Core) {
                memory.persistence = Persistence::Core;
            }
            done.push(title);
        }
    }
    Ok(done)
}

/// Strikes the live entry with a title. If there is none, or several, it only adds a warning.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn strike(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, DocumentError> {
    match files.only(scope, title, live) {
        Ok(mut found) => {
            let struck = found.memory();
            found.entry.edit(EntryEdit::Supersede(Some(reference.clone())))?;
            files.authorship.take_back(scope, &struck);
            Ok(Some(struck.title))
        }
        Err(0) => {
            warnings.push(format!("no live memory of {scope} is called `{title}`: left alone"));
            Ok(None)
        }
        Err(several) => {
            warnings.push(format!("{several} memories of {scope} are called `{title}`: left alone"));
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::document::Document;
    use crate::notebook::authorship::Author;
    use crate::store::Sidecar;
    use crate::types::{OFFLINE_TAG, Status};

    const SCOPE: Scope = Scope::Location(5);

    /// Files of a folder of their own, in which a program writes.
    fn files() -> (TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let [lasting, session] = [(); 2].map(|()| Document::parse(String::new()));
        let mut files =
            Files::new(lasting, session).with_sidecar(&Sidecar::of(&folder.path().join("Memories.md")));
        files.authorship.set_author(Author::Program);
        (folder, files)
    }

    fn memory(category: &str, title: &str, text: &str) -> Memory {
        Memory::new(Category::new(category).unwrap(), title, text)
    }

    fn store(files: &mut Files, memory: &Memory, authority: Authority) -> AddReport {
        store_memory(files, (&SCOPE, "Bridge"), memory, Claim::of(authority), &mut Vec::new()).unwrap()
    }

    fn live(files: &Files) -> Vec<String> {
        files.section(&SCOPE).live().map(|memory| format!("{}: {}", memory.title, memory.text)).collect()
    }

    /// Stores `old`, then `new` under its title; the reason why `old` stays, if it does.
    fn reason(author: Author, old: &Memory, new: &Memory, authority: Authority) -> Option<&'static str> {
        let (_folder, mut files) = files();
        files.authorship.set_author(author);
        store(&mut files, old, Authority::Command);
        files.authorship.set_author(Author::Program);
        let report = store(&mut files, new, authority);
        assert_eq!(report.outcome == AddOutcome::Revised, report.beside.is_none());
        let texts = files.section(&SCOPE).memories;
        assert!(texts.iter().any(|memory| memory.text == old.text), "the old words stay: {texts:?}");
        assert!(texts.iter().any(|memory| memory.text == new.text && memory.is_live()), "{texts:?}");
        report.beside.map(|beside| beside.reason)
    }

    #[test]
    fn an_entry_stays_where_the_new_memory_is_the_weaker_one() {
        use Author::{Person, Program};
        use Authority::{Command, Model, ProvenModel};
        let old = memory("NOTE", "Troll", "The troll sleeps.");
        let new = memory("NOTE", "troll", "The troll is awake.");
        for (author, authority, expected) in [
            (Program, Model, None),
            (Program, ProvenModel, None),
            (Person, Model, Some("a person wrote it")),
            (Person, Authority::Rules, Some("a person wrote it")),
            (Person, ProvenModel, None),
            (Person, Command, None),
        ] {
            assert_eq!(reason(author, &old, &new, authority), expected, "{author:?} {authority:?}");
        }
        let tentative = Memory { status: Status::Tentative, ..new.clone() };
        assert_eq!(reason(Program, &old, &tentative, ProvenModel), Some("it is confirmed"));
        assert_eq!(reason(Program, &tentative, &old, Model), None);
        assert_eq!(
            reason(
                Program,
                &Memory { text: "It may sleep.".to_owned(), ..tentative.clone() },
                &tentative,
                Model
            ),
            None
        );
        let ephemeral = Memory { persistence: Persistence::Ephemeral, ..new.clone() };
        assert_eq!(reason(Program, &old, &ephemeral, ProvenModel), Some("it lasts"));
        assert_eq!(reason(Program, &ephemeral, &old, Model), None);
    }

    #[test]
    fn core_stays_unless_the_new_memory_weighs_as_much() {
        let weighing = |category: &str, importance: u16, text: &str| {
            let mut memory = memory(category, "Troll", text);
            memory.provenance.importance = Some(importance);
            memory
        };
        let core = |category: &str| Memory {
            persistence: Persistence::Core,
            ..weighing(category, 900, "It kills.")
        };
        let judged = |old: &Memory, category: &str, importance: u16| {
            reason(
                Author::Program,
                old,
                &weighing(category, importance, "It is awake."),
                Authority::ProvenModel,
            )
        };
        assert_eq!(judged(&core("DANGER"), "DANGER", 899), Some("it is core"));
        assert_eq!(judged(&core("DANGER"), "NOTE", 900), Some("it is core"));
        assert_eq!(judged(&core("DANGER"), "DANGER", 900), None);
        assert_eq!(judged(&core("NOTE"), "SUCCESS", 900), None);
        let (_folder, mut files) = files();
        store(&mut files, &core("DANGER"), Authority::Command);
        store(&mut files, &weighing("DANGER", 950, "It is awake."), Authority::ProvenModel);
        let successor = files.find(&SCOPE, "Troll").remove(0).1;
        assert_eq!(successor.persistence, Persistence::Core, "what takes the place of core is core");
    }

    #[test]
    fn what_may_not_replace_gets_a_title_of_its_own_and_keeps_it() {
        let (_folder, mut files) = files();
        files.authorship.set_author(Author::Person);
        store(&mut files, &memory("NOTE", "Troll", "The troll sleeps."), Authority::Command);
        files.authorship.set_author(Author::Program);
        let beside = store(&mut files, &memory("NOTE", "Troll", "The troll is awake."), Authority::Model);
        assert_eq!((beside.outcome, beside.title.as_str()), (AddOutcome::Stored, "Troll (2)"));
        let again = store(&mut files, &memory("NOTE", "Troll", "The troll eats."), Authority::Model);
        assert_eq!((again.outcome, again.title.as_str()), (AddOutcome::Revised, "Troll (2)"));
        assert_eq!(again.superseded, ["Troll (2)"]);
        assert_eq!(live(&files), ["Troll: The troll sleeps.", "Troll (2): The troll eats."]);
        let claim = Claim { supersedes: &["Troll".to_owned()], ..Claim::of(Authority::Model) };
        let mut warnings = Vec::new();
        let new = memory("NOTE", "Ogre", "An ogre came.");
        let report = store_memory(&mut files, (&SCOPE, ""), &new, claim, &mut warnings).unwrap();
        assert_eq!(
            (report.superseded, warnings.as_slice()),
            (Vec::new(), ["`Troll` is not superseded: a person wrote it".to_owned()].as_slice())
        );
    }

    #[test]
    fn the_rules_rewrite_their_notes_and_nothing_else_is_rewritten() {
        let (_folder, mut files) = files();
        store(&mut files, &memory("NOTE", "Exits", "A way leads north."), Authority::Model);
        let other = memory("NOTE", "Exits", "All ways are shut.");
        assert_eq!(store(&mut files, &other, Authority::Model).superseded, ["Exits"]);
        assert_eq!(files.section(&SCOPE).memories.len(), 2);
        let noted = |text: &str| {
            let mut note = memory("NOTE", "Here", text);
            note.provenance.tags = vec![OFFLINE_TAG.to_owned()];
            note
        };
        store(&mut files, &noted("n: Hall"), Authority::Rules);
        let mut found = files.first(&SCOPE, "Here").unwrap();
        let mut marked = found.entry.memory().clone();
        marked.category = Category::danger();
        marked.provenance.importance = Some(950);
        marked.provenance.tags.push("vital".to_owned());
        found.entry.revise_line(&marked);
        assert_eq!(store(&mut files, &noted("e: Stable"), Authority::Rules).superseded, [""; 0]);
        let here = files.find(&SCOPE, "Here").remove(0).1;
        assert_eq!((here.category.as_str(), here.importance()), ("DANGER", 950));
        assert_eq!(here.provenance.tags, [OFFLINE_TAG, "vital"]);
        assert_eq!(live(&files)[1], "Here: e: Stable");
        assert_eq!(store(&mut files, &noted("s: Well"), Authority::Model).superseded, ["Here"]);
    }

    #[test]
    fn an_equal_text_is_stored_once_and_lasts_if_either_does() {
        let (folder, mut files) = files();
        let lasting = memory("NOTE", "Door", "The door is open.");
        let ephemeral =
            Memory { persistence: Persistence::Ephemeral, ..memory("NOTE", "Gate", "the door is open") };
        assert_eq!(store(&mut files, &ephemeral, Authority::Model).outcome, AddOutcome::Stored);
        let kept = store(&mut files, &lasting, Authority::Model);
        assert_eq!((kept.outcome, kept.title.as_str()), (AddOutcome::Revised, "Gate"));
        assert_eq!(live(&files), ["Gate: the door is open"], "the words that were there stay");
        assert!(files.session.section(&SCOPE).unwrap_or_default().memories.is_empty());
        let mut important = lasting.clone();
        important.provenance.importance = Some(800);
        let again = store(&mut files, &important, Authority::Model);
        assert_eq!((again.outcome, again.raised_to), (AddOutcome::Duplicate, Some(800)));
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is written here");
    }
}
