//! Memories of one section that say the same: all but one are struck, without a model.
//!
//! The files and a scope enter; pairs of titles leave, and the edited files. Only what the rules prove to be the same
//! counts, and nothing that is protected from the rules is struck or changed.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::authority::{Authority, Proof, protection};
use crate::correction::Corrected;
use crate::duplicates::ComparableText;
use crate::files::{Files, live};
use crate::strike::strike;
use memories_document::DocumentError;
use memories_document::types::text::{composed, fold_case};
use memories_document::types::{
    Cause, Memory, Moment, Outcome, Persistence, Provenance, Reference, Scope, fold_title,
};

/// The rules, which know of no turn.
const RULES: Authority = Authority::Rules(Proof { died: false, scored: false, rose: false });

/// A memory that says what another one says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Same {
    /// The title of the memory that is struck.
    pub title: String,
    /// The title of the memory that stays.
    pub by: String,
}

/// A memory to compare.
struct Candidate<'a> {
    memory: &'a Memory,
    text: ComparableText,
    is_protected: bool,
}

/// The memories of a section that say what another one says, each with the one that stays.
pub fn same_in(files: &Files, scope: &Scope) -> Vec<Same> {
    let section = files.section(scope);
    let mut bearers: HashMap<String, usize> = HashMap::new();
    section.live().for_each(|memory| *bearers.entry(fold_title(&memory.title)).or_default() += 1);
    let may_be = |memory: &&Memory| {
        memory.persistence != Persistence::Ephemeral
            && !memory.category.only_grows()
            && !memory.contests()
            && bearers[&fold_title(&memory.title)] == 1
            && adds_nothing(&memory.title, &memory.text)
    };
    let candidate = |memory| Candidate {
        memory,
        text: ComparableText::new(&memory.text),
        is_protected: protection(files, scope, memory, None, RULES).is_some(),
    };
    let mut candidates: Vec<Candidate<'_>> = section.live().filter(may_be).map(candidate).collect();
    candidates.sort_by_key(|one| Reverse((one.is_protected, one.memory.importance())));
    let mut stay: Vec<Candidate<'_>> = Vec::new();
    let mut same = Vec::new();
    for one in candidates {
        let by = stay.iter().find(|by| !one.is_protected && one.yields_to(by));
        match by {
            Some(by) => same.push(Same { title: one.memory.title.clone(), by: by.memory.title.clone() }),
            None => stay.push(one),
        }
    }
    same
}

/// Strikes memories in favour of those that say the same, which get their tags and sources. Pairs that are no longer the
/// same are left alone.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn join_same(
    files: &mut Files,
    scope: &Scope,
    wanted: &[Same],
    at: &Moment,
) -> Result<Vec<Corrected>, DocumentError> {
    let mut results = Vec::new();
    for Same { title, by } in same_in(files, scope).into_iter().filter(|same| wanted.contains(same)) {
        let Some(old) = files.live_with_title(scope, &title) else { continue };
        if let Ok(mut found) = files.only(scope, &by, live) {
            let mut stays = found.memory();
            add_missing(&mut stays.provenance.tags, &old.provenance.tags);
            add_missing(&mut stays.provenance.sources, &old.provenance.sources);
            if stays != found.memory() {
                found.revise_line(&stays);
            }
            let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(by) };
            let struck = strike(files, scope, &title, &reference, &mut Vec::new());
            results.extend(struck.map(|title| Corrected::of(Outcome::Superseded, scope, &title)));
        }
    }
    Ok(results)
}

impl Candidate<'_> {
    /// True if it says the same as another one, which has all that would be lost if it may not be changed.
    fn yields_to(&self, by: &Candidate<'_>) -> bool {
        let (one, other) = (&self.memory.provenance, &by.memory.provenance);
        let has_all = |own: &[String], more: &[String]| more.iter().all(|text| own.contains(text));
        let loses_nothing = !by.is_protected
            || has_all(&other.tags, &one.tags)
                && has_all(&other.sources, &one.sources)
                && by.memory.importance() >= self.memory.importance();
        loses_nothing && says_it_of_the_same(self.memory, by.memory) && self.text.says_the_same(&by.text)
    }
}

/// True if two memories are equal in all that stands beside their words and tells facts apart.
fn says_it_of_the_same(one: &Memory, other: &Memory) -> bool {
    let beside = |memory: &Memory| {
        let Provenance { score_change, other, goal, .. } = memory.provenance.clone();
        let Memory { category, persistence, status, context, see_also, .. } = memory.clone();
        (category, persistence, status, context, see_also, score_change, other, goal)
    };
    beside(one) == beside(other)
}

/// True if a title has no word that its text does not have.
fn adds_nothing(title: &str, text: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let text = fold_case(&composed(text));
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let known = words(text);
    words(title).iter().all(|word| known.contains(word))
}

/// Adds the texts that a list does not have yet.
pub(super) fn add_missing(own: &mut Vec<String>, more: &[String]) {
    more.iter().for_each(|text| {
        if !own.contains(text) {
            own.push(text.clone());
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use memories_document::types::{Author, Category, Status};
    use memories_document::{Document, Fences, render_entry, stored};

    const SCOPE: Scope = Scope::World;

    fn files(memories: &[(Memory, Author)]) -> Files {
        let mut text = "## World\n\n".to_owned();
        for (memory, _) in memories {
            text.push_str(&render_entry(&stored(memory), Fences::Keep));
            text.push_str("\n\n");
        }
        let [lasting, session] = [text.as_str(), ""].map(|text| Document::parse(text.to_owned()));
        let mut files = Files::new(lasting, session);
        for (memory, author) in memories {
            files.authorship.note_author(&SCOPE, &stored(memory), *author);
        }
        files
    }

    fn note(title: &str, text: &str) -> Memory {
        Memory::new(Category::note(), title, text)
    }

    fn joined(memories: &[(Memory, Author)]) -> (Files, Vec<Same>) {
        let mut files = files(memories);
        let same = same_in(&files, &SCOPE);
        join_same(&mut files, &SCOPE, &same, &Moment::default()).unwrap();
        (files, same)
    }

    #[test]
    fn what_says_the_same_is_struck_with_its_tags_kept() {
        let (mut one, mut other) =
            (note("The bell rings", "The bell rings."), note("Bell rings", "the bell  rings"));
        one.provenance.tags = vec!["bell".to_owned()];
        (other.provenance.tags, other.provenance.sources) = (vec!["noon".to_owned()], vec!["a:b".to_owned()]);
        let (files, same) = joined(&[(one, Author::Model), (other, Author::Agent)]);
        assert_eq!(same, [Same { title: "Bell rings".to_owned(), by: "The bell rings".to_owned() }]);
        let section = files.section(&SCOPE);
        let [stays, struck] = &section.memories[..] else { panic!("both are there") };
        assert_eq!(
            (stays.provenance.tags.join(" "), stays.provenance.sources.join(" ")),
            ("bell noon".to_owned(), "a:b".to_owned())
        );
        assert_eq!((struck.status, struck.text.as_str()), (Status::Superseded, "the bell  rings"));
    }

    #[test]
    fn what_may_say_something_else_or_is_protected_stays() {
        let bell = || note("Bell rings", "The bell rings.");
        let like = |change: &dyn Fn(&mut Memory)| {
            let mut memory = note("The bell rings", "The bell rings.");
            change(&mut memory);
            memory
        };
        let others = [
            like(&|memory| memory.title = "North tower".to_owned()),
            like(&|memory| memory.category = Category::danger()),
            like(&|memory| memory.status = Status::Tentative),
            like(&|memory| memory.persistence = Persistence::Core),
            like(&|memory| memory.context = Some("at noon".to_owned())),
            like(&|memory| memory.see_also = Some("[[World]]".to_owned())),
            like(&|memory| memory.provenance.score_change = Some(5)),
            like(&|memory| memory.provenance.goal = Some("ring".to_owned())),
            like(&|memory| memory.text = "The bell never rings.".to_owned()),
        ];
        for other in others {
            assert_eq!(joined(&[(bell(), Author::Model), (other.clone(), Author::Model)]).1, [], "{other:?}");
        }
        for author in [Author::Person, Author::Seed, Author::Unknown] {
            assert_eq!(joined(&[(bell(), author), (like(&|_| {}), author)]).1, [], "{author:?}");
            assert_eq!(joined(&[(bell(), author), (like(&|_| {}), Author::Model)]).1.len(), 1, "{author:?}");
            let tagged = like(&|memory| memory.provenance.tags.push("new".to_owned()));
            assert_eq!(joined(&[(bell(), author), (tagged, Author::Model)]).1, [], "{author:?}");
        }
        let by_writer = |name: &str| like(&|memory| memory.provenance.tags.push(format!("by:{name}")));
        assert_eq!(joined(&[(by_writer("a"), Author::Agent), (bell(), Author::Person)]).1, []);
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_a_second_run_changes_nothing(
            memories in prop::collection::vec((0..4_usize, 0..4_usize, 0..6_usize, any::<bool>(), 400..800_u16), 0..9),
        ) {
            let texts = ["The bell rings.", "the bell rings", "The bell rings now.", "The bell never rings."];
            let authors = [Author::Model, Author::Agent, Author::Rules, Author::Person, Author::Unknown, Author::Seed];
            let memories: Vec<(Memory, Author)> = memories.into_iter().enumerate().map(|(at, (title, text, author, tagged, importance))| {
                let titles = ["bell", "rings", "the bell", "the rings"];
                let mut memory = note(&format!("{}{}", titles[title], " bell".repeat(at)), texts[text]);
                memory.provenance.importance = Some(importance);
                memory.provenance.tags = if tagged { vec![format!("t{at}")] } else { Vec::new() };
                (memory, authors[author])
            }).collect();
            let (mut files, same) = joined(&memories);
            let section = files.section(&SCOPE);
            prop_assert_eq!(section.memories.len(), memories.len());
            for ((before, author), after) in memories.iter().zip(&section.memories) {
                prop_assert_eq!(&before.text, &after.text);
                let is_struck = same.iter().any(|one| one.title == before.title);
                prop_assert_eq!(is_struck, !after.is_live());
                if matches!(author, Author::Person | Author::Unknown | Author::Seed) {
                    prop_assert_eq!(&stored(before), after);
                }
            }
            let before = files.lasting.clone().into_text().unwrap();
            let again = same_in(&files, &SCOPE);
            prop_assert_eq!(&again, &[]);
            join_same(&mut files, &SCOPE, &same, &Moment::default()).unwrap();
            prop_assert_eq!(files.lasting.into_text().unwrap(), before);
        }
    }
}
