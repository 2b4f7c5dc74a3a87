//! Confirming: a second writer stores the same memory as an entry, and the entry gets the writer's tag.
//!
//! An entry that contests others becomes active, and strikes them, as soon as it has at least two writers and no fewer
//! than each of them. Entries without writers are a person's, and are never struck in this way.

use crate::add_report::Contested;
use crate::doubt::contested_titles;
use crate::files::{Files, FoundEntry, Tier};
use crate::strike::strike;
use memories_document::DocumentError;
use memories_document::types::text::fold_spaces;
use memories_document::types::{
    CONTESTED_TAG, Cause, Memory, Moment, Outcome, Persistence, Reference, Scope, Status, UNSUPPORTED_TAG,
    means_title,
};

/// Beginning of the titles of notes that contest an entry without saying something else.
pub(super) const NOTE_TITLE: &str = "Contested: ";

/// Fewest writers of what strikes an entry of others.
const MIN_WRITERS: usize = 2;

/// An entry that got another writer.
#[derive(Debug)]
pub(super) struct Confirmed {
    /// The entry as it is now.
    pub(super) memory: Memory,
    /// Titles of the entries that it contested and has struck now.
    pub(super) struck: Vec<String>,
}

/// An entry that is believed now, and those that it struck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The section.
    pub(crate) scope: Scope,
    /// The title of what is believed now.
    pub(crate) title: String,
    /// Titles of what it struck.
    pub(super) struck: Vec<String>,
}

/// The outcome for what a confirmed contest with that title strikes.
pub(super) fn outcome_of_struck(title: &str) -> Outcome {
    if title.starts_with(NOTE_TITLE) { Outcome::Invalidated } else { Outcome::Superseded }
}

/// True if a memory contests others, and is not believed yet.
pub(super) fn contests(memory: &Memory) -> bool {
    memory.status == Status::Tentative && memory.has_tag(CONTESTED_TAG)
}

/// The titles of the live entries of its section that a memory contests.
pub(super) fn contested_by(files: &Files, scope: &Scope, memory: &Memory) -> Vec<String> {
    let titles = if contests(memory) { contested_titles(scope, memory) } else { Vec::new() };
    titles.into_iter().filter(|title| files.live_with_title(scope, title).is_some()).collect()
}

/// True if an entry that contests others says the same as a new memory, whose writer does not contest all of these:
/// its consent to the text is none to striking them.
pub(super) fn stands_apart(files: &Files, scope: &Scope, old: &Memory, contested: &[Contested]) -> bool {
    let Some(writer) = files.writer.as_ref().filter(|_| contests(old)) else { return false };
    let is_contested = |title: &String| contested.iter().any(|one| means_title(title, &one.title));
    !old.has_tag(&writer.tag()) && !contested_by(files, scope, old).iter().all(is_contested)
}

/// Adds the writer to an entry of others that says the same; `None` where there is no writer, or nothing to confirm.
/// A tentative entry that contests nothing becomes active if the writer `believes` it.
///
/// # Errors
///
/// See [`DocumentError`].
pub(super) fn confirm(
    files: &mut Files,
    scope: &Scope,
    old: &Memory,
    believes: bool,
    at: &Moment,
) -> Result<Option<Confirmed>, DocumentError> {
    let Some(writer) = files.writer.clone() else { return Ok(None) };
    let mut memory = old.clone();
    if old.writers().is_empty() || !memory.add_writer(&writer) {
        return Ok(None);
    }
    if believes && !contests(old) {
        memory.status = Status::Active;
    }
    let Some(mut found) = entry_of(files, scope, old) else { return Ok(None) };
    revise(&mut found, &memory);
    let settled = settle_entry(files, scope, &memory, at)?;
    let struck = settled.map_or_else(Vec::new, |settled| settled.struck);
    let memory = files.live_with_title(scope, &old.title).unwrap_or(memory);
    Ok(Some(Confirmed { memory, struck }))
}

/// Believes all contests of both files that have enough writers, as after a merge.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn settle(files: &mut Files, at: &Moment) -> Result<Vec<Settled>, DocumentError> {
    let mut settled = Vec::new();
    for scope in &files.scopes() {
        let waiting: Vec<Memory> = files.live(scope).map(|entry| entry.read()).filter(contests).collect();
        for memory in waiting.iter().filter(|memory| memory.writers().len() >= MIN_WRITERS) {
            settled.extend(settle_entry(files, scope, memory, at)?);
        }
    }
    Ok(settled)
}

/// Believes an entry that contests others, if it has enough writers, and strikes these. One that was settled before may
/// have struck the entry: then nothing is done.
fn settle_entry(
    files: &mut Files,
    scope: &Scope,
    memory: &Memory,
    at: &Moment,
) -> Result<Option<Settled>, DocumentError> {
    let writers = memory.writers().len();
    if !contests(memory) || writers < MIN_WRITERS {
        return Ok(None);
    }
    let titles = contested_by(files, scope, memory);
    let mut olds = Vec::new();
    for title in &titles {
        olds.extend(files.find(scope, title).into_iter().map(|(_, old)| old));
    }
    let stays = |old: &Memory| old.writers().is_empty() || old.writers().len() > writers;
    if olds.len() != titles.len() || olds.iter().any(stays) {
        return Ok(None);
    }
    let struck = believe(files, scope, memory, titles, at)?;
    Ok(struck.map(|struck| Settled { scope: scope.clone(), title: memory.title.clone(), struck }))
}

/// Makes a live entry active and takes its doubts away; the entries with the titles are struck. Answers with the titles
/// of those that were, or with `None` where the entry is no longer there.
///
/// # Errors
///
/// See [`DocumentError`].
pub(super) fn believe(
    files: &mut Files,
    scope: &Scope,
    memory: &Memory,
    titles: Vec<String>,
    at: &Moment,
) -> Result<Option<Vec<String>>, DocumentError> {
    let olds: Vec<Memory> =
        titles.iter().flat_map(|title| files.find(scope, title)).map(|(_, old)| old).collect();
    let Some(mut found) = entry_of(files, scope, memory) else { return Ok(None) };
    let mut believed = Memory { status: Status::Active, ..memory.clone() };
    believed.provenance.tags.retain(|tag| tag != CONTESTED_TAG && tag != UNSUPPORTED_TAG);
    let is_core = olds.iter().any(|old| old.persistence == Persistence::Core);
    if is_core && found.tier == Tier::Lasting {
        believed.persistence = Persistence::Core;
    }
    revise(&mut found, &believed);
    let cause = if memory.title.starts_with(NOTE_TITLE) {
        Cause::Invalidated(fold_spaces(&memory.text))
    } else {
        Cause::SupersededBy(memory.title.clone())
    };
    let reference = Reference { at: at.clone(), cause };
    let mut struck = Vec::new();
    for title in &titles {
        struck.extend(strike(files, scope, title, &reference, &mut Vec::new())?);
    }
    Ok(Some(struck))
}

/// The entry that a live memory was read from.
fn entry_of<'a>(files: &'a mut Files, scope: &Scope, memory: &Memory) -> Option<FoundEntry<'a>> {
    let (tier, number) = files.number_of(scope, memory)?;
    Some(files.entry(scope, tier, number))
}

/// Writes the first line of an entry anew.
fn revise(found: &mut FoundEntry<'_>, memory: &Memory) {
    let persistence = found.tier.written(memory.persistence);
    found.entry.revise_line(&Memory { persistence, ..memory.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::add::{AddOutcome, AddReport, Claim, store_memory};
    use crate::authority::{Authority, Proof};
    use crate::correct::{Corrected, Correction, CorrectionError, Marks, Target, correct};
    use crate::protection::Protection;
    use crate::samples::memory;
    use memories_document::Document;

    const SCOPE: Scope = Scope::Location(5);
    const MODEL: Authority = Authority::Turn(Proof { died: false, scored: false, rose: false });

    /// An empty place that named writers share.
    fn place() -> Files {
        let [lasting, session] = ["", ""].map(|text| Document::parse(text.to_owned()));
        Files::new(lasting, session)
    }

    fn write(files: &mut Files, name: &str, title: &str, text: &str) -> AddReport {
        files.writer = name.parse().ok();
        let new = memory("NOTE", title, text);
        let claim = Claim::of(Authority::Command);
        store_memory(files, &SCOPE, "Bridge", &new, claim, &mut Vec::new()).unwrap()
    }

    fn replace(files: &mut Files, name: &str, title: &str, text: &str) -> Vec<Corrected> {
        files.writer = name.parse().ok();
        let successor = Box::new(memory("NOTE", title, text));
        let correction = Correction::Supersede(vec![target(title)], successor);
        correct(files, &correction, &Moment::default(), Authority::MODEL).unwrap()
    }

    fn target(title: &str) -> Target {
        Target { scope: SCOPE, title: title.to_owned(), line: None }
    }

    fn change(files: &mut Files, name: &str, change: &Correction) -> Result<&'static str, CorrectionError> {
        files.writer = name.parse().ok();
        correct(files, change, &Moment::default(), Authority::Command)
            .map(|results| results[0].outcome.name())
    }

    fn marks(status: Status) -> Correction {
        Correction::Mark(target("Troll"), Marks { status: Some(status), ..Marks::default() })
    }

    /// Each live entry with its number of writers; `?` stands before a tentative one.
    fn live(files: &Files) -> Vec<String> {
        let section = files.section(&SCOPE);
        let shown = section.live().map(|memory| {
            let mark = if memory.status == Status::Tentative { "?" } else { "" };
            format!("{mark}{} {}", memory.title, memory.writers().len())
        });
        shown.collect()
    }

    #[test]
    fn a_second_writer_confirms_and_a_person_signs_nothing() {
        let mut files = place();
        assert_eq!(write(&mut files, "a", "Troll", "It sleeps.").outcome, AddOutcome::Stored);
        assert_eq!(write(&mut files, "a", "Troll", "It sleeps.").outcome, AddOutcome::Duplicate);
        let other = write(&mut files, "b", "Ogre", "it sleeps");
        assert_eq!((other.outcome, other.title()), (AddOutcome::Confirmed, "Troll"));
        assert_eq!(other.entry.writers, ["a", "b"]);
        files.writer = None;
        assert_eq!(write(&mut files, "", "Troll", "It sleeps.").outcome, AddOutcome::Duplicate);
        write(&mut files, "", "Lamp", "It is lit.");
        // A person's entry needs no confirmation, and repeating it does not make it the writer's.
        let repeated = write(&mut files, "a", "Lamp", "It is lit.");
        assert_eq!((repeated.outcome, repeated.stays), (AddOutcome::Duplicate, Some(Protection::Person)));
        assert_eq!(live(&files), ["Troll 2", "Lamp 0"]);
    }

    #[test]
    fn a_contest_strikes_with_as_many_writers_as_the_entry_has() {
        for writers in 1..5 {
            let mut files = place();
            for name in &["a", "b", "c", "d"][..writers] {
                write(&mut files, name, "Troll", "It sleeps.");
            }
            for (at, name) in ["w", "x", "y", "z"].into_iter().enumerate() {
                let results = replace(&mut files, name, "Troll", "It is awake.");
                let strikes = at + 1 == writers.max(2);
                let outcomes: Vec<&str> = results.iter().map(|one| one.outcome.name()).collect();
                match (at, strikes) {
                    (0, _) => assert_eq!(outcomes, ["contested"]),
                    (_, false) => assert_eq!(outcomes, ["confirmed"]),
                    (_, true) => assert_eq!(outcomes, ["confirmed", "superseded"]),
                }
                if strikes {
                    break;
                }
                assert_eq!(live(&files)[0], format!("Troll {writers}"), "{name}");
                // A writer has one voice.
                replace(&mut files, name, "Troll", "It is awake.");
            }
            assert_eq!(live(&files), [format!("Troll (2) {}", writers.max(2))]);
            let struck = &files.section(&SCOPE).memories[0];
            assert_eq!((struck.text.as_str(), struck.writers().len()), ("It sleeps.", writers));
        }
    }

    #[test]
    fn a_writer_makes_its_own_doubt_active_but_not_its_contest() {
        let mut files = place();
        write(&mut files, "a", "Troll", "It sleeps.");
        assert_eq!(change(&mut files, "a", &marks(Status::Tentative)).unwrap(), "marked");
        assert_eq!(live(&files), ["?Troll 1"]);
        assert_eq!(change(&mut files, "a", &marks(Status::Active)).unwrap(), "marked");
        assert_eq!(live(&files), ["Troll 1"]);
        replace(&mut files, "b", "Troll", "It is awake.");
        let contest = Marks { status: Some(Status::Active), ..Marks::default() };
        assert!(change(&mut files, "b", &Correction::Mark(target("Troll (2)"), contest)).is_err());
    }

    #[test]
    fn who_says_the_same_without_contesting_does_not_help_to_strike() {
        let mut files = place();
        write(&mut files, "a", "Troll", "It sleeps.");
        write(&mut files, "b", "Troll", "It sleeps.");
        replace(&mut files, "liar", "Troll", "The bridge is old.");
        for name in ["b", "c", "d"] {
            write(&mut files, name, "Bridge", "The bridge is old.");
        }
        assert_eq!(live(&files), ["Troll 2", "?Troll (2) 1", "Bridge 3"]);
        // A title that a contest has is free for others, who need not contest it.
        let titled = write(&mut files, "e", "Troll (2)", "It has an axe.");
        assert_eq!((titled.outcome, titled.title()), (AddOutcome::Stored, "Troll (2) (2)"));
    }

    #[test]
    fn reasons_differ_and_the_invalidation_is_the_same() {
        let mut files = place();
        write(&mut files, "a", "Troll", "It sleeps.");
        let wrong = |reason: &str| Correction::Invalidate(vec![target("Troll")], reason.to_owned());
        assert_eq!(change(&mut files, "b", &wrong("It was awake.")), Ok("contested"));
        assert_eq!(change(&mut files, "b", &wrong("Again.")), Ok("duplicate"));
        assert_eq!(live(&files), ["Troll 1", "?Contested: Troll 1"]);
        assert_eq!(change(&mut files, "c", &wrong("It attacked me.")), Ok("confirmed"));
        assert_eq!(live(&files), ["Contested: Troll 2"]);
        let reason = files.section(&SCOPE).memories[0].reference.clone().map(|reference| reference.cause);
        assert_eq!(reason, Some(Cause::Invalidated("It was awake.".to_owned())));
    }

    #[test]
    fn a_named_writer_changes_what_it_alone_wrote_and_no_more() {
        let mut files = place();
        write(&mut files, "a", "Troll", "It sleeps.");
        let importance = |importance| Marks { importance: Some(importance), ..Marks::default() };
        let weigh = Correction::Mark(target("Troll"), importance(100));
        let forget = Correction::Forget(target("Troll"));
        for wish in [&weigh, &forget, &marks(Status::Tentative)] {
            assert!(matches!(change(&mut files, "b", wish), Err(CorrectionError::Kept { .. })), "{wish:?}");
            let tried = change(&mut files.clone(), "a", wish);
            assert!(tried.is_ok(), "{tried:?}");
        }
        assert_eq!(change(&mut files, "b", &marks(Status::Active)), Ok("confirmed"));
        assert_eq!(change(&mut files, "b", &marks(Status::Active)), Ok("unchanged"));
        for name in ["a", "b"] {
            assert!(matches!(change(&mut files, name, &weigh), Err(CorrectionError::Kept { .. })), "{name}");
        }
        assert_eq!(change(&mut files, "a", &marks(Status::Superseded)), Ok("contested"));
        assert_eq!(live(&files), ["Troll 2", "?Contested: Troll 1"]);
        files.writer = None;
        assert_eq!(change(&mut files, "", &forget), Ok("forgotten"), "a person decides");
    }

    #[test]
    fn no_writer_makes_its_contest_stronger_or_wider() {
        let mut files = place();
        for (title, text) in [("Troll", "It sleeps."), ("Lamp", "It is lit.")] {
            write(&mut files, "a", title, text);
            write(&mut files, "b", title, text);
        }
        replace(&mut files, "liar", "Troll", "It is awake.");
        let contest = |status| Correction::Mark(target("Troll (2)"), Marks { status, ..Marks::default() });
        let active = change(&mut files, "liar", &contest(Some(Status::Active)));
        assert!(matches!(active, Err(CorrectionError::Kept { .. })), "{active:?}");
        let link = Correction::Link(target("Troll (2)"), target("Lamp"));
        assert!(matches!(change(&mut files, "liar", &link), Err(CorrectionError::BothProtected(..))));
        // Its successor contests the same.
        assert_eq!(replace(&mut files, "liar", "Troll (2)", "It eats.")[0].outcome, Outcome::Contested);
        assert_eq!(live(&files), ["Troll 2", "Lamp 2", "?Troll (2) 1"]);
        assert_eq!(change(&mut files, "c", &contest(Some(Status::Active))), Ok("confirmed"));
        assert_eq!(live(&files), ["Lamp 2", "Troll (2) 2"]);
    }

    #[test]
    fn the_rules_and_a_model_without_name_leave_what_writers_wrote() {
        let mut files = place();
        files.authorship.set_author(memories_document::types::Author::Model);
        write(&mut files, "a", "Troll", "It sleeps.");
        files.writer = None;
        let new = memory("NOTE", "Troll", "It is awake.");
        let mut store = |authority| {
            store_memory(&mut files, &SCOPE, "", &new, Claim::of(authority), &mut Vec::new()).unwrap()
        };
        let by_rules = store(Authority::Rules(Proof::default()));
        assert_eq!(by_rules.beside.unwrap().reason, Protection::AnotherWriter);
        assert_eq!(store(MODEL).outcome, AddOutcome::Duplicate);
        assert_eq!(live(&files), ["Troll 1", "Troll (2) 0"]);
    }

    #[test]
    fn a_tentative_entry_is_active_once_another_writer_believes_it() {
        let mut files = place();
        files.writer = "a".parse().ok();
        let guess = Memory { status: Status::Tentative, ..memory("NOTE", "Troll", "It may sleep.") };
        let store = |files: &mut Files, memory: &Memory| {
            store_memory(files, &SCOPE, "", memory, Claim::of(Authority::Command), &mut Vec::new()).unwrap()
        };
        store(&mut files, &guess);
        files.writer = "b".parse().ok();
        assert_eq!(store(&mut files, &guess).outcome, AddOutcome::Confirmed);
        assert_eq!(live(&files), ["?Troll 2"]);
        write(&mut files, "c", "Troll", "It may sleep.");
        assert_eq!(live(&files), ["Troll 3"]);
    }

    #[test]
    fn after_a_merge_contests_with_enough_writers_are_settled_and_those_of_persons_wait() {
        let entry = |title: &str, tags: &str, link: &str| {
            format!(
                "**[NOTE - TENTATIVE] {title}** *(#contested{tags})*\n{title} is right.\nSee also: [[Location 5 › {link}]]\n\n"
            )
        };
        let entries = [
            "**[NOTE] Troll** *(#by:a, #by:b)*\nIt sleeps.\n\n**[NOTE] Lamp**\nIt is lit.\n\n".to_owned(),
            entry("Ogre", ", #by:c, #by:d", "Troll"),
            entry("Dark", ", #by:c, #by:d, #by:e", "Lamp"),
            entry("Gone", ", #by:c, #by:d", "Nothing"),
            entry("Alone", ", #by:c", "Nothing"),
        ];
        let text = format!("## Location 5: Bridge\n\n### Memories\n\n{}---\n", entries.concat());
        let [lasting, session] = [text, String::new()].map(Document::parse);
        let mut files = Files::new(lasting, session);
        let settled = settle(&mut files, &Moment::default()).unwrap();
        let settled: Vec<(&str, usize)> =
            settled.iter().map(|one| (one.title.as_str(), one.struck.len())).collect();
        assert_eq!(settled, [("Ogre", 1), ("Gone", 0)]);
        assert_eq!(live(&files), ["Lamp 0", "Ogre 2", "?Dark 3", "Gone 2", "?Alone 1"]);
        assert!(settle(&mut files, &Moment::default()).unwrap().is_empty(), "settling twice changes nothing");
    }
}
