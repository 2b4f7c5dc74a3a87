//! Writes what a model or the rules propose for a turn.
//!
//! A proposal and the files enter; memories are stored and struck, and the report says how. What nothing bears out is
//! stored with a mark, and strikes nothing: what it would replace is contested.

use crate::changes::score_change;
use crate::context::{ModelOutcome, TurnContext};
use crate::places::Place;
use crate::prompt::turn_in_brief;
use crate::proposal::{Named, Proposal, Proposed, Side, Wrong};
use crate::report::{RecordReport, outcome};
use crate::{Judge, Recorder};
use memories_document::DocumentError;
use memories_document::types::{
    Author, Cause, DEFAULT_IMPORTANCE, Memory, Moment, OFFLINE_TAG, Persistence, Reference, Scope, Span,
    UNSUPPORTED_TAG, witness_tag,
};
use memories_notebook::add::{AddReport, Claim, KeptEntry, store_memory};
use memories_notebook::authority::{Authority, Proof};
use memories_notebook::contest::contest;
use memories_notebook::files::Files;
use memories_notebook::protection::Protection;
use memories_notebook::strike::{Invalidated, invalidate};
use memories_notebook::titles::{distinct_title, stored_under_free_title};
use memories_search::grounding::Grounding;

/// An entry that an answer calls wrong and may not strike, with the reason.
struct NotStruck {
    scope: Scope,
    contested: KeptEntry,
    reason: String,
    /// True where the answer gave another title: no memory of the answer takes its place.
    is_guess: bool,
}

/// Where a proposal is written, and when.
pub(super) struct Applying<'a> {
    context: &'a TurnContext,
    before: &'a Place,
    after: &'a Place,
    at: Moment,
    /// The running episode.
    running: u64,
    /// The time of the write.
    now: &'a str,
    /// True if the built-in rules made the proposal.
    by_rules: bool,
}

impl Recorder<'_> {
    /// Where and when the proposals about a turn are written: at the places before and after it, at the time `now`, in
    /// the running episode.
    pub(super) fn applying<'a>(
        &self,
        context: &'a TurnContext,
        before: &'a Place,
        after: &'a Place,
        now: &'a str,
        running: u64,
    ) -> Applying<'a> {
        let at = context.moment();
        Applying { context, before, after, at, running, now, by_rules: matches!(self.judge, Judge::Rules) }
    }

    /// Writes what was judged of a turn, and completes the report on it.
    pub(super) fn apply_judged(
        &self,
        files: &mut Files,
        applying: &Applying<'_>,
        judged: &ModelOutcome,
        mut report: RecordReport,
    ) -> Result<RecordReport, DocumentError> {
        report.judge = self.judge.name(judged);
        match judged {
            ModelOutcome::NotAsked | ModelOutcome::PutOff => {}
            ModelOutcome::Failed(model) => report.model = Some(model.clone()),
            ModelOutcome::Answered(proposal, model) => {
                report.model = Some(model.clone());
                self.apply(files, applying, proposal, &mut report)?;
            }
        }
        report.visits = files.section_without_memories(&applying.before.scope()).visits;
        report.outcome = outcome(&report, judged);
        Ok(report)
    }

    /// Puts a proposal into the document.
    fn apply(
        &self,
        files: &mut Files,
        applying: &Applying<'_>,
        proposal: &Proposal,
        report: &mut RecordReport,
    ) -> Result<(), DocumentError> {
        report.reasoning.clone_from(&proposal.reasoning);
        report.warnings.extend(proposal.warnings.iter().cloned());
        files.authorship.set_author(if applying.by_rules { Author::Rules } else { Author::Model });
        let not_struck = applying.invalidate(files, proposal, report);
        for proposed in &proposal.memories {
            self.store(files, applying, proposed, &not_struck, report)?;
        }
        applying.note_contested(files, not_struck, report)
    }

    /// Stores one memory of a proposal.
    fn store(
        &self,
        files: &mut Files,
        applying: &Applying<'_>,
        proposed: &Proposed,
        not_struck: &[NotStruck],
        report: &mut RecordReport,
    ) -> Result<(), DocumentError> {
        let Applying { context, at, running, now, by_rules, .. } = applying;
        let Proposed { memory, side, supersedes, grounding } = proposed;
        if memory.persistence == Persistence::Ephemeral && context.episode < *running {
            let (title, episode) = (&memory.title, context.episode);
            report.warnings.push(format!("`{title}` ends with episode {episode}, which is over: not kept"));
            return Ok(());
        }
        let place = applying.place(*side);
        let scope = &place.scope();
        let mut memory = self.with_provenance(memory.clone(), context, now, *by_rules);
        if *by_rules {
            memory.title = distinct_title(files, scope, &place.name, &memory.title);
        } else if memory.title.is_empty() {
            memory = stored_under_free_title(files, scope, &memory);
        }
        if *grounding == Grounding::Unsupported {
            memory.provenance.tags.push(UNSUPPORTED_TAG.to_owned());
        }
        let mut titles: Vec<String> = Vec::new();
        for Named { title, side, is_guess } in supersedes {
            if *is_guess && is_of_nobody(files, scope, title) {
                report.warnings.push(format!("nobody knows who wrote `{title}`: left alone"))
            } else if side.is_none_or(|side| applying.place(side).id == place.id) {
                titles.push(title.clone())
            } else {
                report.warnings.push(format!("`{title}` is a memory of the other place: left alone"))
            }
        }
        // A memory contests what its answer calls wrong and may not strike.
        let wrong = not_struck.iter().filter(|one| one.scope == *scope && !one.is_guess);
        titles.extend(wrong.map(|one| one.contested.title.clone()));
        let claim = Claim {
            supersedes: &titles,
            at,
            is_borne_out: *grounding == Grounding::BorneOut && !by_rules,
            ..Claim::of(applying.authority(*grounding))
        };
        report.memories.push(store_memory(files, scope, &place.name, &memory, claim, &mut report.warnings)?);
        Ok(())
    }

    /// The memory with the episode, the turns and the facts of its turn.
    pub(super) fn with_provenance(
        &self,
        mut memory: Memory,
        context: &TurnContext,
        now: &str,
        by_rules: bool,
    ) -> Memory {
        let turn = &context.turn;
        let fields = &mut memory.provenance;
        fields.episode = Some(context.episode);
        // The model knows of the number that the turn had when it was asked.
        let several = fields.turns.filter(|turns| turns.first < turns.last);
        let one = Span::one(context.number);
        fields.turns = Some(several.map_or(one, |turns| Span { last: context.number, ..turns }));
        if !by_rules {
            fields.score_change = score_change(turn).filter(|change| *change != 0);
        }
        fields.importance = fields.importance.filter(|importance| *importance != DEFAULT_IMPORTANCE);
        if by_rules {
            fields.tags.push(OFFLINE_TAG.to_owned());
        }
        fields.tags.extend(turn.present.iter().map(|id| witness_tag(id)));
        fields.date = turn.timestamp.clone();
        if self.settings.provenance {
            fields.date.get_or_insert_with(|| now.to_owned());
            fields.score = turn.score_after;
            fields.moves = turn.moves_after;
        }
        memory
    }
}

impl Applying<'_> {
    fn place(&self, side: Side) -> &Place {
        if side == Side::After { self.after } else { self.before }
    }

    fn authority(&self, grounding: Grounding) -> Authority {
        let proof: Proof = self.context.changes.proof();
        if self.by_rules {
            return Authority::Rules(proof);
        }
        match grounding {
            Grounding::Unsupported => Authority::Unsupported(proof),
            Grounding::BorneOut | Grounding::NotComparable => Authority::Turn(proof),
        }
    }

    /// Strikes the entries that an answer calls wrong. Those that it may not strike are returned.
    fn invalidate(
        &self,
        files: &mut Files,
        proposal: &Proposal,
        report: &mut RecordReport,
    ) -> Vec<NotStruck> {
        let mut not_struck = Vec::new();
        for Wrong { named: Named { title, side, is_guess }, reason, grounding } in &proposal.wrong {
            let reasons = [reason.as_str(), &proposal.reasoning];
            let reason = match reasons.into_iter().find(|reason| !reason.trim().is_empty()) {
                Some(reason) => reason.to_owned(),
                None => turn_in_brief(&self.context.turn),
            };
            let is_here = || !files.find(&self.before.scope(), title).is_empty();
            let side = side.unwrap_or_else(|| if is_here() { Side::Before } else { Side::After });
            let scope = self.place(side).scope();
            let reference = Reference { at: self.at.clone(), cause: Cause::Invalidated(reason.clone()) };
            let authority = self.authority(*grounding);
            if *is_guess && is_of_nobody(files, &scope, title) {
                let contested = KeptEntry { title: title.clone(), reason: Protection::UnknownAuthor };
                not_struck.push(NotStruck { scope, contested, reason, is_guess: true });
                continue;
            }
            match invalidate(files, &scope, title, &reference, authority, &mut report.warnings) {
                Invalidated::Struck(title) => report.invalidated.push(title),
                Invalidated::Contested(contested) => {
                    not_struck.push(NotStruck { scope, contested, reason, is_guess: false })
                }
                Invalidated::Unknown => {}
            }
        }
        not_struck
    }

    /// Leaves a note about each entry that an answer calls wrong, may not strike, and has no memory against.
    fn note_contested(
        &self,
        files: &mut Files,
        not_struck: Vec<NotStruck>,
        report: &mut RecordReport,
    ) -> Result<(), DocumentError> {
        for NotStruck { scope, contested, reason, .. } in not_struck {
            let is_said = |applied: &AddReport| {
                let titles = applied.contested.iter().map(|other| &other.title);
                applied.entry.scope == scope && titles.into_iter().any(|title| *title == contested.title)
            };
            if !report.memories.iter().any(is_said) {
                report.memories.push(contest(files, &scope, contested, &reason, &self.at)?);
            }
        }
        Ok(())
    }
}

/// True if nobody knows who wrote an entry with that title. It may be a person's: only an answer that names it strikes it.
fn is_of_nobody(files: &Files, scope: &Scope, title: &str) -> bool {
    let mut found = files.find(scope, title).into_iter();
    found.any(|(_, old)| files.authorship.author_of(scope, &old) == Author::Unknown)
}
