//! Witnesses: who is told of an entry, and who knows what takes its place.

use crate::correction::{Corrected, CorrectionError, Target, Telling, locate};
use crate::files::Files;
use memories_document::types::{Memory, Outcome, Scope, is_witness_tag};

/// Adds listeners to the witnesses of an entry. An entry that everybody knows stays as it is, and so does one that all of
/// them know.
pub(super) fn tell(
    files: &mut Files,
    target: &Target,
    telling: &Telling,
) -> Result<Vec<Corrected>, CorrectionError> {
    if let Scope::Agent(id) = &target.scope
        && let Some(listener) = telling.to.iter().find(|listener| *listener != id)
    {
        return Err(CorrectionError::NotTold { scope: target.scope.clone(), listener: listener.clone() });
    }
    let mut found = locate(files, target, true, Memory::is_live)?;
    let mut memory = found.memory();
    let witnesses = memory.provenance.witnesses();
    let result = |outcome| vec![Corrected::of(outcome, &target.scope, &memory.title)];
    if telling.to.iter().all(|listener| witnesses.has(listener)) {
        return Ok(result(Outcome::Unchanged));
    }
    let done = result(Outcome::Told);
    for tag in telling.tags() {
        if !memory.has_tag(&tag) {
            memory.provenance.tags.push(tag);
        }
    }
    found.revise_line(&memory);
    Ok(done)
}

/// Gives a memory without witnesses those of the entry that it speaks of.
pub(super) fn inherit_witnesses(memory: &mut Memory, old: &Memory) {
    if memory.provenance.witnesses().is_everybody() {
        let tags = old.provenance.tags.iter().filter(|tag| is_witness_tag(tag));
        memory.provenance.tags.extend(tags.cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::add::{AddOutcome, AddReport, Claim, store_memory};
    use crate::authority::Authority;
    use crate::correct::{Correction, correct};
    use crate::protection::Protection;
    use crate::samples::{SCOPE, files, memory, target};
    use memories_document::types::{Moment, Viewer, witness_tag};

    fn store(files: &mut Files, title: &str, text: &str, witnesses: &[&str]) -> AddReport {
        let mut new = memory("NOTE", title, text);
        new.provenance.tags = witnesses.iter().map(|id| witness_tag(id)).collect();
        store_memory(files, &SCOPE, "Bridge", &new, Claim::of(Authority::MODEL), &mut Vec::new()).unwrap()
    }

    fn change(files: &mut Files, correction: &Correction) -> Result<Outcome, CorrectionError> {
        correct(files, correction, &Moment::default(), Authority::MODEL).map(|done| done[0].outcome)
    }

    fn telling(to: &[&str]) -> Telling {
        Telling { to: to.iter().map(|id| (*id).to_owned()).collect(), by: vec!["jo".to_owned()] }
    }

    #[test]
    fn only_what_the_same_characters_know_is_a_duplicate_or_replaced() {
        let (_folder, mut files) = files();
        store(&mut files, "Key", "The key is in the box.", &["jo", "ann"]);
        for (witnesses, outcome, title) in [
            (&["jo"][..], AddOutcome::Duplicate, "Key"),
            (&["ann", "jo"], AddOutcome::Duplicate, "Key"),
            (&["bo"], AddOutcome::Stored, "Key (2)"),
            (&["ann", "bo"], AddOutcome::Stored, "Key (3)"),
            (&[], AddOutcome::Stored, "Key (4)"),
            (&["bo"], AddOutcome::Duplicate, "Key (2)"),
        ] {
            let report = store(&mut files, "Key", "The key is in the box.", witnesses);
            assert_eq!((report.outcome, report.title()), (outcome, title), "{witnesses:?}");
        }
        let beside = store(&mut files, "Key", "The key is gone.", &["jo"]);
        assert_eq!(beside.beside.unwrap().reason, Protection::Witnesses);
        let revised = store(&mut files, "Key", "The key is lost.", &["ann", "jo"]);
        assert_eq!((revised.outcome, revised.superseded), (AddOutcome::Revised, vec!["Key".to_owned()]));
    }

    #[test]
    fn a_writer_learns_nothing_of_what_it_may_not_see() {
        let (_folder, mut files) = files();
        store(&mut files, "Key", "The key is in the box.", &["jo"]);
        files.viewer = Viewer::of(Some("ann"));
        let stored = store(&mut files, "Key", "The key is in the box.", &[]);
        assert_eq!((stored.outcome, stored.title()), (AddOutcome::Stored, "Key (2)"));
        assert_eq!(stored.beside, None);
        let unknown = change(&mut files, &Correction::Invalidate(vec![target("Key")], "no".to_owned()));
        let Err(CorrectionError::Unknown { nearest, .. }) = unknown else { panic!("{unknown:?}") };
        assert_eq!(nearest, ["Key (2)"]);
        assert_eq!(files.section(&SCOPE).memories.len(), 1);
    }

    #[test]
    fn a_telling_adds_listeners_and_never_takes_any() {
        let (_folder, mut files) = files();
        store(&mut files, "Key", "The key is in the box.", &["jo"]);
        store(&mut files, "Rope", "A rope lies here.", &[]);
        let tags = |files: &Files, title: &str| files.find(&SCOPE, title)[0].1.provenance.tags.clone();
        let mut tell = |title: &str, to: &[&str]| {
            let outcome = change(&mut files, &Correction::Tell(target(title), telling(to)));
            (outcome.unwrap(), tags(&files, title))
        };
        let told = ["witness:jo", "witness:ann", "told-by:jo"].map(str::to_owned).to_vec();
        assert_eq!(tell("Key", &["ann"]), (Outcome::Told, told.clone()));
        assert_eq!(tell("Key", &["ann", "jo"]), (Outcome::Unchanged, told));
        assert_eq!(tell("Rope", &["ann"]), (Outcome::Unchanged, Vec::new()));
        let own = Target { scope: Scope::Agent("jo".to_owned()), ..target("Own") };
        assert!(matches!(
            change(&mut files, &Correction::Tell(own, telling(&["ann"]))),
            Err(CorrectionError::NotTold { .. })
        ));
    }

    #[test]
    fn what_takes_the_place_of_an_entry_has_its_witnesses() {
        let (_folder, mut files) = files();
        store(&mut files, "Key", "The key is in the box.", &["jo"]);
        store(&mut files, "Rope", "A rope lies here.", &["ann"]);
        let successor = Box::new(memory("NOTE", "Gone", "All of it is gone."));
        let both = Correction::Supersede(vec![target("Key"), target("Rope")], successor.clone());
        assert!(matches!(change(&mut files, &both), Err(CorrectionError::OtherWitnesses(..))));
        change(&mut files, &Correction::Supersede(vec![target("Key")], successor)).unwrap();
        assert_eq!(files.find(&SCOPE, "Gone")[0].1.provenance.tags, ["witness:jo"]);
    }
}
