//! Contests: an entry that a model or an agent would strike, but may not, stays beside the memory that contests it.
//!
//! A memory that contests is tentative, bears a tag, and links to the entry. Without a memory, a note of its own
//! holds the reason, one at most for each entry.

use crate::add_report::{AddOutcome, AddReport, KeptEntry};
use crate::authority::{Authority, protection};
use crate::authorship::Repeated;
use crate::confirm::confirm;
use crate::duplicate_entry::duplicate_report;
use crate::files::Files;
use crate::telling::inherit_witnesses;
use crate::titles::free_title;
use memories_document::link::Link;
use memories_document::types::text::cut_at_sentence;
use memories_document::types::{
    CONTESTED_TAG, Category, Memory, MemoryObject, Moment, Persistence, Scope, Span, Status, means_title,
};
use memories_document::{DocumentError, stored};

/// Beginning of the titles of notes that contest an entry without saying something else.
pub(super) const NOTE_TITLE: &str = "Contested: ";

/// Longest reason that is kept in a note, in characters.
const REASON_CHARS: usize = 400;

/// The protected entries among those that a memory would strike. The built-in rules contest nothing.
pub(super) fn contested_of(
    files: &Files,
    scope: &Scope,
    titles: &[String],
    new: &Category,
    authority: Authority,
) -> Vec<KeptEntry> {
    let mut contested: Vec<KeptEntry> = Vec::new();
    if matches!(authority, Authority::Command | Authority::Rules(_)) {
        return contested;
    }
    for one in titles.iter().filter_map(|title| protected(files, scope, title, Some(new), authority)) {
        note(&mut contested, one);
    }
    contested
}

/// The first live entry with a title that is protected from a change; see [`protection`].
pub fn protected(
    files: &Files,
    scope: &Scope,
    title: &str,
    new: Option<&Category>,
    authority: Authority,
) -> Option<KeptEntry> {
    files.find(scope, title).into_iter().find_map(|(_, old)| {
        let reason = protection(files, scope, &old, new, authority)?;
        Some(KeptEntry { title: old.title, reason })
    })
}

/// Adds an entry, once.
pub(super) fn note(contested: &mut Vec<KeptEntry>, one: KeptEntry) {
    if !contested.iter().any(|other| means_title(&other.title, &one.title)) {
        contested.push(one);
    }
}

/// Makes a memory one that contests entries of its section. It is tentative, unless the game shows that it is right.
pub(super) fn mark(
    files: &Files,
    scope: &Scope,
    memory: &mut Memory,
    contested: &[KeptEntry],
    authority: Authority,
) {
    if contested.is_empty() {
        return;
    }
    let mut olds = contested.iter().flat_map(|one| files.find(scope, &one.title));
    // A contest of a named writer always waits for a person.
    if files.writer.is_some() || !olds.all(|(_, old)| authority.is_shown_against(memory, &old)) {
        memory.status = Status::Tentative;
    }
    if !memory.has_tag(CONTESTED_TAG) {
        memory.provenance.tags.push(CONTESTED_TAG.to_owned());
    }
    for one in contested {
        if let Some(see_also) = Link::to(scope, &one.title).add_to(memory.see_also.as_deref()) {
            memory.see_also = Some(see_also);
        }
    }
}

/// True if a memory links to an entry of its section.
pub(super) fn links_to(memory: &Memory, scope: &Scope, title: &str) -> bool {
    memory.see_also.is_some() && Link::to(scope, title).add_to(memory.see_also.as_deref()).is_none()
}

/// Stores a note that contests an entry for a reason; where there is one already, that one stays.
pub fn contest(
    files: &mut Files,
    scope: &Scope,
    contested: KeptEntry,
    reason: &str,
    at: &Moment,
) -> Result<AddReport, DocumentError> {
    let is_note =
        |memory: &Memory| memory.has_tag(CONTESTED_TAG) && links_to(memory, scope, &contested.title);
    let find_note = || {
        let mut titled = files.live(scope).filter(|entry| entry.title().starts_with(NOTE_TITLE));
        titled.find_map(|entry| Some(entry.read()).filter(is_note))
    };
    if let Some(old) = find_note() {
        let report = duplicate_report(files, scope, &old, reason);
        let report = match confirm(files, scope, &old) {
            Some(memory) => report.confirmed(&memory),
            None => report,
        };
        return Ok(AddReport { contested: vec![contested], ..report });
    }
    let title = format!("{NOTE_TITLE}{}", contested.title);
    let mut memory = Memory::new(Category::note(), title, cut_at_sentence(reason, REASON_CHARS));
    mark(files, scope, &mut memory, std::slice::from_ref(&contested), Authority::MODEL);
    let ephemeral = |(_, old): &(_, Memory)| old.persistence == Persistence::Ephemeral;
    if files.find(scope, &contested.title).iter().all(ephemeral) {
        memory.persistence = Persistence::Ephemeral;
    }
    for (_, old) in files.find(scope, &contested.title) {
        inherit_witnesses(&mut memory, &old);
    }
    memory.provenance.episode = at.episode;
    memory.provenance.turns = at.turn.map(Span::one);
    files.sign(&mut memory);
    let memory = free_title(files, scope, stored(&memory), |_| false);
    let name = files.name_of(scope);
    files.append(scope, &name, &memory, Repeated::No)?;
    let author = files.authorship.author();
    let entry = MemoryObject::of(scope, &name, &memory, author);
    let report = AddReport::of(AddOutcome::Contested, author, entry);
    Ok(AddReport { contested: vec![contested], ..report })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::add::{Claim, store_memory};
    use crate::authority::Proof;
    use crate::protection::Protection;
    use crate::samples::{MODEL, SCOPE, files, live, memory, store};
    use memories_document::types::{Author, PINNED_TAG, UNSUPPORTED_TAG};

    #[test]
    fn what_contests_is_revised_by_its_author_and_names_each_entry_once() {
        let (_folder, mut files) = files();
        files.authorship.set_author(Author::Person);
        store(&mut files, &memory("NOTE", "Troll", "The troll sleeps."), Authority::Command);
        files.authorship.set_author(Author::Model);
        let first = store(&mut files, &memory("NOTE", "Troll", "The troll is awake."), MODEL);
        assert_eq!((first.outcome, first.title()), (AddOutcome::Contested, "Troll (2)"));
        let again = store(&mut files, &memory("NOTE", "Troll", "The troll eats."), MODEL);
        assert_eq!((again.outcome, again.title()), (AddOutcome::Contested, "Troll (2)"));
        assert_eq!(again.superseded, ["Troll (2)"]);
        assert_eq!(live(&files), ["Troll: The troll sleeps.", "Troll (2): The troll eats."]);
        store(&mut files, &memory("NOTE", "Bat", "A bat hangs here."), MODEL);
        let supersedes = ["Troll".to_owned(), "[troll]".to_owned(), "Bat".to_owned()];
        let claim = Claim { supersedes: &supersedes, ..Claim::of(MODEL) };
        let mut claim_ogre = |warnings: &mut Vec<String>| {
            let new = memory("NOTE", "Ogre", "An ogre came.");
            store_memory(&mut files, &SCOPE, "", &new, claim, warnings).unwrap()
        };
        let mut warnings = Vec::new();
        let report = claim_ogre(&mut warnings);
        assert_eq!((report.outcome, report.contested.len()), (AddOutcome::Contested, 1));
        assert_eq!(warnings, ["`Bat` is not superseded: it is confirmed"]);
        let repeated = claim_ogre(&mut Vec::new());
        assert_eq!((repeated.outcome, repeated.title()), (AddOutcome::Duplicate, "Ogre"));
        assert_eq!(repeated.contested, report.contested);
        assert_eq!(live(&files).len(), 4, "{:?}", live(&files));
    }

    #[test]
    fn a_duplicate_changes_nothing_of_a_persons_entry() {
        for persistence in [Persistence::Permanent, Persistence::Ephemeral] {
            let (_folder, mut files) = files();
            files.authorship.set_author(Author::Person);
            let old = Memory { persistence, ..memory("NOTE", "Door", "The door is open.") };
            store(&mut files, &old, Authority::Command);
            files.authorship.set_author(Author::Model);
            let text = |files: &Files| {
                let [lasting, session] =
                    [&files.lasting, &files.session].map(|file| file.clone().into_text().unwrap());
                (lasting, session)
            };
            let before = text(&files);
            let mut same = memory("DANGER", "Gate", "the door is open");
            same.provenance.importance = Some(650);
            let report = store(&mut files, &same, MODEL);
            match persistence {
                Persistence::Ephemeral => {
                    assert_eq!(report.outcome, AddOutcome::Stored, "the model's memory lasts");
                    assert_eq!(text(&files).1, before.1);
                }
                _ => {
                    assert_eq!(
                        (report.outcome, report.stays),
                        (AddOutcome::Duplicate, Some(Protection::Person))
                    );
                    assert_eq!(text(&files), before);
                }
            }
        }
    }

    #[test]
    fn facts_of_the_game_beat_a_doubt() {
        const SCORED: Authority = Authority::Turn(Proof { died: false, scored: true, rose: false });
        const DEAD: Authority = Authority::Turn(Proof { died: true, scored: false, rose: false });
        const POINTS: Authority = Authority::Turn(Proof { died: false, scored: true, rose: true });
        let pinned = |category: &str| {
            let mut old = memory(category, "Troll", "It cannot be passed.");
            old.provenance.tags = vec![PINNED_TAG.to_owned()];
            old
        };
        for (old, new, authority, status) in [
            ("FAILURE", "SUCCESS", POINTS, Status::Active),
            ("FAILURE", "SUCCESS", SCORED, Status::Tentative),
            ("FAILURE", "NOTE", POINTS, Status::Tentative),
            ("NOTE", "SUCCESS", POINTS, Status::Tentative),
            ("NOTE", "DANGER", DEAD, Status::Active),
            ("NOTE", "DANGER", POINTS, Status::Tentative),
            ("NOTE", "SUCCESS", Authority::MODEL, Status::Tentative),
        ] {
            let (_folder, mut files) = files();
            store(&mut files, &pinned(old), Authority::Command);
            let report = store(&mut files, &memory(new, "Troll", "It lets who gives pass."), authority);
            assert_eq!(
                (report.outcome, report.contested[0].reason),
                (AddOutcome::Contested, Protection::Pinned)
            );
            let stored = files.live_with_title(&SCOPE, "Troll (2)").unwrap();
            assert_eq!((stored.status, stored.provenance.tags), (status, vec!["contested".to_owned()]));
        }
        let (_folder, mut files) = files();
        let mut warnings = Vec::new();
        store_memory(&mut files, &SCOPE, "", &pinned("NOTE"), Claim::of(MODEL), &mut warnings).unwrap();
        assert_eq!(warnings, ["a tag `#pinned` is left out: only a person pins a memory"]);
        assert_eq!(files.live_with_title(&SCOPE, "Troll").unwrap().provenance.tags, [""; 0]);
    }

    #[test]
    fn what_nothing_bears_out_strikes_nothing_and_loses_its_mark_to_a_turn() {
        let unsupported = |text: &str| {
            let mut memory = memory("NOTE", "Troll", text);
            memory.provenance.tags.push(UNSUPPORTED_TAG.to_owned());
            memory
        };
        let marked = |files: &Files| {
            let section = files.section(&SCOPE);
            let told = section.live().map(|memory| {
                format!("{} {:?} {}", memory.title, memory.status, memory.provenance.tags.join("+"))
            });
            told.collect::<Vec<_>>()
        };
        let doubt = Authority::Unsupported(Proof::default());
        let (_folder, mut files) = files();
        files.authorship.set_author(Author::Model);
        assert_eq!(store(&mut files, &unsupported("It eats gold."), doubt).outcome, AddOutcome::Stored);
        // A doubtful entry yields to another one, and to what a turn bears out.
        assert_eq!(store(&mut files, &unsupported("It eats iron."), doubt).outcome, AddOutcome::Revised);
        assert_eq!(marked(&files), ["Troll Active unsupported"]);
        let same = memory("NOTE", "Troll", "It eats iron.");
        assert_eq!(store(&mut files, &same, MODEL).outcome, AddOutcome::Duplicate, "an agent repeats it");
        assert_eq!(marked(&files), ["Troll Active unsupported"]);
        let borne_out = Claim { is_borne_out: true, ..Claim::of(MODEL) };
        let bear_out = |files: &mut Files, memory: &Memory| {
            store_memory(files, &SCOPE, "Bridge", memory, borne_out, &mut Vec::new()).unwrap()
        };
        assert_eq!(bear_out(&mut files, &same).outcome, AddOutcome::Duplicate);
        assert_eq!(marked(&files), ["Troll Active "]);
        let contest = store(&mut files, &unsupported("It eats gold."), doubt);
        assert_eq!((contest.outcome, contest.title()), (AddOutcome::Contested, "Troll (2)"));
        assert_eq!(contest.contested[0].reason, Protection::Unsupported);
        // A turn that bears out the contest settles it.
        let report = bear_out(&mut files, &memory("NOTE", "Troll", "It eats gold."));
        assert_eq!((report.outcome, report.title()), (AddOutcome::Revised, "Troll"));
        assert_eq!(live(&files), ["Troll: It eats gold."]);
        assert_eq!(marked(&files), ["Troll Active "]);
        // An entry that ends with the episode is told as one.
        let ends = |memory: Memory| Memory { persistence: Persistence::Ephemeral, ..memory };
        let bridge = ends(Memory { title: "Bridge".to_owned(), ..unsupported("It sways in the wind.") });
        assert_eq!(store(&mut files, &bridge, doubt).outcome, AddOutcome::Stored);
        let report = bear_out(&mut files, &ends(memory("NOTE", "Bridge", "It sways in the wind.")));
        assert_eq!(report.outcome, AddOutcome::Duplicate);
        assert_eq!(report.entry.memory.persistence, Persistence::Ephemeral);
    }
}
