//! The beginning of a transaction that records a turn: was it recorded before, and what is set aside for it?
//!
//! A turn and the draft enter; the report on the turn as it was recorded leaves, or what was set aside.

use crate::Recorder;
use crate::once::{Begun, Checked, recorded_before};
use crate::places::RecordError;
use crate::turn::Turn;
use memories_notebook::Draft;
use memories_store::StoreError;

impl Recorder<'_> {
    /// Looks whether a turn was recorded before, and sets aside what its `rewind` means. A turn that was recorded before
    /// and is sent with `rewind` stays, and only what followed it is set aside; one with an id was only sent again.
    pub(super) fn begin(
        &self,
        draft: &mut Draft<'_>,
        turn: &Turn,
        checked: Checked,
    ) -> Result<Begun, RecordError> {
        let episode = turn.episode.map_or_else(|| draft.state().map(|state| state.episode), Ok)?;
        let before = match checked {
            _ if self.settings.again => None,
            Checked::IsNew { .. } if !turn.rewind => None,
            _ => recorded_before(draft.journal(), turn, &draft.files, episode)?,
        };
        let number = turn.turn.filter(|_| turn.rewind || self.settings.rewind);
        Ok(match (before, number) {
            (Some(mut report), Some(number)) if turn.rewind && turn.id.is_none() => {
                report.rewound = draft.rewind_after(episode, number, [&turn.action, &turn.response])?;
                Begun::Before(Box::new(report))
            }
            (Some(report), _) => Begun::Before(Box::new(report)),
            (None, Some(number)) => Begun::New(draft.rewind_before(episode, number)?),
            (None, None) => Begun::New(None),
        })
    }

    /// True if a turn is sent with `rewind` and is not the next one of its episode and writer.
    pub(super) fn may_rewind(&self, draft: &Draft<'_>, turn: &Turn) -> Result<bool, StoreError> {
        let Some(number) = turn.turn.filter(|_| turn.rewind || self.settings.rewind) else {
            return Ok(false);
        };
        let episode = turn.episode.map_or_else(|| draft.state().map(|state| state.episode), Ok)?;
        let writer = draft.files.writer.as_ref().map(|writer| writer.name());
        let last = draft.journal().last_turn_by(episode, writer, |_| true)?;
        Ok(last.and_then(|last| last.number).is_some_and(|last| last >= number))
    }
}
