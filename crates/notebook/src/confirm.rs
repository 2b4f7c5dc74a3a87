//! Confirming: another writer stores the same memory as an entry, and the entry gets the writer's tag.

use crate::add_report::KeptEntry;
use crate::doubt::contested_titles;
use crate::files::Files;
use memories_document::types::{Memory, Scope, means_title};

/// The titles of the live entries of its section that a memory contests.
pub(super) fn contested_by(files: &Files, scope: &Scope, memory: &Memory) -> Vec<String> {
    let titles = if memory.contests() { contested_titles(scope, memory) } else { Vec::new() };
    titles.into_iter().filter(|title| files.live_with_title(scope, title).is_some()).collect()
}

/// True if an entry that contests others says the same as a new memory, whose writer does not contest all of these:
/// what the writer says is not tentative.
pub(super) fn stands_apart(files: &Files, scope: &Scope, old: &Memory, contested: &[KeptEntry]) -> bool {
    let Some(writer) = files.writer.as_ref().filter(|_| old.contests()) else { return false };
    let is_contested = |title: &String| contested.iter().any(|one| means_title(title, &one.title));
    !old.has_tag(&writer.tag()) && !contested_by(files, scope, old).iter().all(is_contested)
}

/// Adds the writer to an entry of others that says the same, and answers with the entry as it is now; `None` where
/// there is no writer, the entry names none, or it names this one already.
pub(super) fn confirm(files: &mut Files, scope: &Scope, old: &Memory) -> Option<Memory> {
    let writer = files.writer.clone()?;
    let mut memory = old.clone();
    if old.writers().is_empty() || !memory.add_writer(&writer) {
        return None;
    }
    let (tier, number) = files.number_of(scope, old)?;
    files.entry(scope, tier, number).revise_line(&memory);
    Some(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::add::{AddOutcome, AddReport, Claim, store_memory};
    use crate::authority::{Authority, Proof};
    use crate::correct::{Corrected, Correction, CorrectionError, Marks, correct};
    use crate::protection::Protection;
    use crate::samples::{MODEL, SCOPE, memory, target};
    use memories_document::Document;
    use memories_document::types::{Cause, Moment, Outcome, Status};

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
    fn a_contest_strikes_nothing_however_many_writers_it_has() {
        let mut files = place();
        for name in ["a", "b"] {
            write(&mut files, name, "Troll", "It sleeps.");
        }
        for (at, name) in ["w", "x", "y", "z", "w"].into_iter().enumerate() {
            let results = replace(&mut files, name, "Troll", "It is awake.");
            let outcomes: Vec<&str> = results.iter().map(|one| one.outcome.name()).collect();
            let expected = ["contested", "confirmed", "confirmed", "confirmed", "duplicate"];
            assert_eq!(outcomes, [expected[at]], "{name}");
            assert_eq!(live(&files), ["Troll 2".to_owned(), format!("?Troll (2) {}", (at + 1).min(4))]);
        }
        let accept = Correction::Accept(target("Troll (2)"));
        let by_writer = change(&mut files, "w", &accept);
        assert!(
            matches!(by_writer, Err(CorrectionError::Kept { why: Protection::Review, .. })),
            "{by_writer:?}"
        );
        assert_eq!(change(&mut files, "", &accept), Ok("accepted"));
        assert_eq!(live(&files), ["Troll (2) 4"]);
        let struck = &files.section(&SCOPE).memories[0];
        assert_eq!((struck.text.as_str(), struck.writers().len()), ("It sleeps.", 2));
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
        assert_eq!(live(&files), ["Troll 1", "?Contested: Troll 2"]);
        assert_eq!(change(&mut files, "", &Correction::Accept(target("Contested: Troll"))), Ok("accepted"));
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
        for wish in [&weigh, &forget, &marks(Status::Tentative), &marks(Status::Active)] {
            assert!(matches!(change(&mut files, "b", wish), Err(CorrectionError::Kept { .. })), "{wish:?}");
            let tried = change(&mut files.clone(), "a", wish);
            assert!(tried.is_ok(), "{tried:?}");
        }
        write(&mut files, "b", "Troll", "It sleeps.");
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
        let active = change(&mut files, "c", &contest(Some(Status::Active)));
        assert!(matches!(active, Err(CorrectionError::Kept { .. })), "{active:?}");
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
    fn a_tentative_entry_stays_tentative_whoever_says_the_same() {
        let mut files = place();
        files.writer = "a".parse().ok();
        let guess = Memory { status: Status::Tentative, ..memory("NOTE", "Troll", "It may sleep.") };
        store_memory(&mut files, &SCOPE, "", &guess, Claim::of(Authority::Command), &mut Vec::new()).unwrap();
        assert_eq!(write(&mut files, "b", "Troll", "It may sleep.").outcome, AddOutcome::Confirmed);
        assert_eq!(live(&files), ["?Troll 2"]);
    }
}
