//! The last agreed text of a memory file and its remote copy, kept so that a kill at any moment counts nothing twice.
//!
//! The state names the last text on which both agreed by the id of its push, and `remotes/` of the sidecar has the text.
//! Before a text is put, `remotes/` gets it under the id of its push, with the local text that went into it. If the next
//! sync finds that id among the pushes of the copy, the text arrived: the sync that was cut off is completed first.
//!
//! Where the copy does not know the last push, a store has lost it: it was set back, or does not heed conditions. What
//! the copy lacks then was not removed by anybody. So the base is the last text that both do know.

use sha2::{Digest, Sha256};

use crate::error::SyncError;
use crate::options::Options;
use crate::remote::{Copy, MAX_PUSHES, Version};
use memories_document::compare::{Presence, compare_lines};
use memories_document::merge::merge_keeping_both;
use memories_document::types::Outcome;
use memories_notebook::{Draft, Notebook};
use memories_store::{Agreement, Remotes};

/// The text on which both sides agreed.
const AGREED: &str = "md";

/// A text that was put, or was about to be.
const SENT: &str = "sent";

/// The local text that went into it.
const FROM: &str = "from";

/// The ids of the pushes that the copy had then, with commas.
const PUSHES: &str = "pushes";

/// Earlier texts on which both sides agreed that are kept.
const MAX_PARENTS: usize = 2;

/// The text of the last sync, with the version of the copy that had it.
pub(super) struct Agreed {
    pub(super) text: String,
    pub(super) version: Version,
    pub(super) pushes: Vec<String>,
}

/// A merged text before both sides have it.
pub(super) struct Pending {
    /// The id of its push, or of the text where nothing has to be put.
    pub(super) id: Option<String>,
    /// The local text that went into it.
    pub(super) ours: String,
    pub(super) merged: String,
    /// The id of the remote text that went into it; `None` where there was none.
    pub(super) parent: Option<String>,
}

/// Knowledge of one remote copy.
pub(super) struct Agreements<'a> {
    notebook: &'a Notebook,
    url: String,
    /// Begins the names of the files of this copy.
    key: String,
    /// `None` in a dry run, which writes nothing.
    remotes: Option<Remotes>,
}

impl<'a> Agreements<'a> {
    /// Takes the right to sync this memory file, unless nothing is to be written.
    pub(super) fn open(
        notebook: &'a Notebook,
        url: String,
        options: Options,
    ) -> Result<Agreements<'a>, SyncError> {
        let remotes = if options.dry_run {
            None
        } else {
            let remotes = notebook.store().remotes(options.lock_timeout)?;
            // A kill between text and state would leave a base that is older than the text.
            notebook.store().complete_last_change()?;
            Some(remotes)
        };
        let key = hash(&url, 8);
        Ok(Agreements { notebook, url, key, remotes })
    }

    /// The text of the last sync. `None` before the first one, and where the memory file is gone since: then all that
    /// the copy has is new to it.
    pub(super) fn last(&self) -> Result<Option<Agreed>, SyncError> {
        let Some(agreement) = self.agreement() else { return Ok(None) };
        if agreement.id.is_empty() || self.notebook.store().read()?.is_none() {
            return Ok(None);
        }
        let read = |kind| self.notebook.store().remote_text(&self.name(&agreement.id, kind));
        let (Some(text), Some(pushes)) = (read(AGREED)?, read(PUSHES)?) else { return Ok(None) };
        let Agreement { e_tag, version, .. } = agreement;
        let pushes = pushes.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Ok(Some(Agreed { text, version: Version { e_tag, version }, pushes }))
    }

    fn agreement(&self) -> Option<Agreement> {
        self.notebook.state().remotes.remove(&self.key)
    }

    /// The base for merging with a copy: the last text on which both agreed that the copy descends from. A sync that was
    /// cut off behind its push is completed before.
    pub(super) fn base_for(&mut self, copy: &Copy) -> Result<String, SyncError> {
        if let Some(pending) = self.arrived(&copy.pushes)? {
            let pushes = copy.pushes.clone();
            self.complete(pending, &Version::default(), &pushes)?;
        }
        let Some(agreed) = self.last()? else { return Ok(String::new()) };
        let Some(agreement) = self.agreement() else { return Ok(agreed.text) };
        // A copy without ids was written by other means, so whatever it lacks was removed on purpose.
        if copy.pushes.is_empty() || copy.pushes.contains(&agreement.id) {
            return Ok(agreed.text);
        }
        for parent in agreement.parents.iter().filter(|parent| copy.pushes.contains(parent)) {
            if let Some(text) = self.notebook.store().remote_text(&self.name(parent, AGREED))? {
                return Ok(text);
            }
        }
        // With all ids in use, others pushed so often since that ours is not among the last.
        Ok(if copy.pushes.len() < MAX_PUSHES { String::new() } else { agreed.text })
    }

    /// The text of a push that was cut off, and did arrive.
    fn arrived(&self, pushes: &[String]) -> Result<Option<Pending>, SyncError> {
        let Some(remotes) = &self.remotes else { return Ok(None) };
        // Pushes up to the last agreement are complete, though a kill may have left their files.
        let agreed = self.agreement().map(|agreement| agreement.id).unwrap_or_default();
        for id in pushes.iter().rev().take_while(|id| **id != agreed) {
            if let Some(merged) = remotes.read(&self.name(id, SENT))? {
                let ours = remotes.read(&self.name(id, FROM))?.unwrap_or_else(|| merged.clone());
                let parent = self.agreement().map(|agreement| agreement.id);
                return Ok(Some(Pending { id: Some(id.clone()), ours, merged, parent }));
            }
        }
        Ok(None)
    }

    /// Notes that a text is about to be put, and gives its push an id.
    pub(super) fn begin(&self, pending: Pending, theirs: &str) -> Result<Pending, SyncError> {
        let id = self.fresh_id();
        if let Some(remotes) = &self.remotes {
            if let Some(parent) = &pending.parent {
                remotes.keep(&self.name(parent, AGREED), theirs)?;
            }
            if pending.ours != pending.merged {
                remotes.keep(&self.name(&id, FROM), &pending.ours)?;
            }
            remotes.keep(&self.name(&id, SENT), &pending.merged)?;
        }
        Ok(Pending { id: Some(id), ..pending })
    }

    /// Completes a sync when the copy has the merged text: the memory file takes it, with what was recorded meanwhile, and
    /// from now on it is the base.
    pub(super) fn complete(
        &mut self,
        pending: Pending,
        version: &Version,
        pushes: &[String],
    ) -> Result<(), SyncError> {
        let Pending { id, ours, merged, parent } = pending;
        let id = id.unwrap_or_else(|| push_id(&merged));
        let remotes = self.remotes.as_ref().expect("a dry run completes nothing");
        let old = self.agreement().unwrap_or_default();
        let Version { e_tag, version } = version.clone();
        let mut parents: Vec<String> = Vec::new();
        for parent in parent.into_iter().chain([old.id.clone()]).chain(old.parents.iter().cloned()) {
            if parent != id && !parent.is_empty() && !parents.contains(&parent) && parents.len() < MAX_PARENTS
            {
                parents.push(parent);
            }
        }
        let new = Agreement { id: id.clone(), parents, e_tag, version, ..old.clone() };
        if new == old && ours == merged {
            return Ok(());
        }
        remotes.keep(&self.name(&id, AGREED), &merged)?;
        remotes.keep(&self.name(&id, PUSHES), &pushes.join(","))?;
        let written = self.notebook.edit("sync", |draft| {
            take(draft, &ours, &merged).ok_or_else(|| SyncError::Clash {
                url: self.url.clone(),
                file: self.notebook.store().path().display().to_string(),
            })?;
            self.set(draft, new.clone())
        })?;
        drop(written);
        let kept = [self.name(&id, AGREED), self.name(&id, PUSHES)];
        let kept: Vec<String> =
            new.parents.iter().map(|parent| self.name(parent, AGREED)).chain(kept).collect();
        for other in
            remotes.names()?.iter().filter(|name| name.starts_with(&self.key) && !kept.contains(name))
        {
            remotes.remove(other)?;
        }
        Ok(())
    }

    /// True if the store has proven that it heeds conditions.
    pub(super) fn is_proven(&self) -> bool {
        self.agreement().is_some_and(|agreement| agreement.proven)
    }

    /// Keeps that it has.
    pub(super) fn note_proof(&self) -> Result<(), SyncError> {
        let proven = Agreement { proven: true, ..self.agreement().unwrap_or_default() };
        self.notebook.edit("sync", |draft| self.set(draft, proven.clone())).map(drop)
    }

    fn set(&self, draft: &mut Draft<'_>, agreement: Agreement) -> Result<(), SyncError> {
        let mut state = draft.state()?;
        state.remotes.insert(self.key.clone(), agreement);
        draft.new_state = Some(state);
        Ok(())
    }

    /// An id that no other push has.
    pub(super) fn fresh_id(&self) -> String {
        push_id(&format!("{} {}", self.notebook.clock().fresh_id(), self.url))
    }

    fn name(&self, id: &str, kind: &str) -> String {
        // An id comes from the copy: it must not lead out of the folder.
        let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{}-{id}.{kind}", self.key)
    }
}

/// Gives the memory file the merged text, with what was recorded since `ours` was read. `None` where lines clash.
fn take(draft: &mut Draft<'_>, ours: &str, merged: &str) -> Option<()> {
    let present = draft.text().ok()?;
    let text = merge_keeping_both(ours, &present, merged)?.text;
    if text != present {
        let runs = compare_lines(&present, &text);
        let changed = runs.iter().filter(|run| run.presence != Presence::Kept);
        let lines = changed.map(|run| run.text.lines().count()).sum();
        draft.rewrite(Outcome::Synced, text, lines);
    }
    Some(())
}

/// The id of a text that bears none: the first 8 hexadecimal digits of its SHA-256.
pub(super) fn push_id(text: &str) -> String {
    hash(text, 4)
}

/// The first bytes of a text's SHA-256 in hexadecimal digits.
fn hash(text: &str, bytes: usize) -> String {
    Sha256::digest(text.as_bytes()).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
