//! Changes one configuration file: reads, edits, backs up, replaces.
//!
//! A target and the folder of the record enter; the new text and the state of each entry leave. Between reading and
//! replacing, another program may save the file: then it is read again. What has to be undone later is recorded
//! before the file is replaced.

use std::path::{Path, PathBuf};

use super::agent::Target;
use super::edit::{self, Edited, Format};
use super::entry::State;
use super::error::SetupError;
use super::piece::Piece;
use super::record::{self, Written};
use super::yaml;
use memories_store::{OtherFile, make_folders, real_path, remove_empty_folder};

/// Times that a file is read again because another program changed it.
const MAX_TRIES: u32 = 5;

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Enter `memories`.
    Apply,
    /// Take it out again.
    Remove,
}

/// A file before and after.
#[derive(Debug)]
pub struct Change {
    /// None where there is no file.
    pub before: Option<String>,
    /// None where there is none afterwards.
    pub after: Option<String>,
    /// The state in which each entry was found.
    pub states: Vec<State>,
    /// Inserted and removed lines, without anything else of the file.
    pub difference: String,
    /// The edit that is left to a person: the lines to paste, or the place of the entry to remove.
    pub by_hand: Option<String>,
}

impl Change {
    /// True if the file is another one afterwards.
    pub fn is_some(&self) -> bool {
        self.before != self.after
    }
}

/// Settings of all changes.
#[derive(Debug)]
pub struct Options<'a> {
    /// The change to make.
    pub action: Action,
    /// The folder of the record.
    pub folder: &'a Path,
    /// If false, nothing is written.
    pub writes: bool,
    /// True if the file is a person's, so that the state before is kept beside it.
    pub keeps_former: bool,
}

/// Changes a file, or says what would change.
///
/// # Errors
///
/// When the file is not valid, leads out of its folder, or cannot be read or written. Then it is as it was.
pub fn change(target: &Target, options: &Options<'_>) -> Result<Change, SetupError> {
    let path = place(target)?;
    for _ in 0..MAX_TRIES {
        let file = OtherFile::open(&path)?;
        let mut written = record::read(options.folder, &path)?;
        let had_record = !written.pieces.is_empty();
        if is_another(target, &file, &written)? {
            written = Written::default();
        }
        let made = written.made.clone();
        let (change, pieces) = plan(target, &file, options.action, &written)?;
        if !options.writes {
            return Ok(change);
        }
        let is_done = match (&change.after, change.is_some()) {
            (_, false) => true,
            (Some(text), _) => put(&path, &file, text, pieces.clone(), written, options)?,
            (None, _) => file.remove()?,
        };
        if is_done {
            if options.action == Action::Remove {
                clean_up(&path, options, Written { made, pieces }, had_record)?;
            }
            return Ok(change);
        }
    }
    Err(SetupError::KeepsChanging { path, tries: MAX_TRIES })
}

/// The file behind links, which must be in its folder.
fn place(target: &Target) -> Result<PathBuf, SetupError> {
    let (path, within) = (real_path(&target.path)?, real_path(&target.within)?);
    let inside = path.strip_prefix(&within).ok();
    let is_inside = inside.is_some_and(|inside| inside.iter().all(|part| !part.eq_ignore_ascii_case(".git")));
    if is_inside {
        Ok(path)
    } else {
        Err(SetupError::Outside { path: target.path.clone(), within: target.within.clone(), target: path })
    }
}

/// True if the file that was written is gone, and another one, without our entries, stands in its place.
fn is_another(target: &Target, file: &OtherFile, written: &Written) -> Result<bool, SetupError> {
    let Some(text) = file.text() else { return Ok(false) };
    edit::has_none(target.format, text, &written.pieces)
        .map_err(|problem| SetupError::Text { path: target.path.clone(), problem })
}

fn plan(
    target: &Target,
    file: &OtherFile,
    action: Action,
    written: &Written,
) -> Result<(Change, Vec<Piece>), SetupError> {
    let before = file.text().map(str::to_owned);
    let text = before.as_deref().unwrap_or_default();
    let edit = match action {
        Action::Apply => edit::apply,
        Action::Remove => edit::remove,
    };
    let edited = edit(target.format, text, &target.entries, &written.pieces);
    let Edited { text, pieces, states, difference } =
        edited.map_err(|problem| SetupError::Text { path: target.path.clone(), problem })?;
    let by_hand = by_hand(target, action, &text, &states);
    let was_made = before.is_some() && written.made.contains(&file.path().to_owned());
    let after = match action {
        Action::Remove if before.is_none() || was_made && text.trim().is_empty() => None,
        _ => Some(text),
    };
    Ok((Change { before, after, states, difference, by_hand }, pieces))
}

/// The part of a person in a file that is only read.
fn by_hand(target: &Target, action: Action, text: &str, states: &[State]) -> Option<String> {
    let wanted = if action == Action::Apply { State::Missing } else { State::Present };
    let mut left = target.entries.iter().zip(states).filter(|(_, state)| **state == wanted);
    let (entry, _) = left.next().filter(|_| target.format == Format::Yaml)?;
    Some(match (action, yaml::line(text, entry)) {
        (Action::Apply, _) => yaml::block(entry),
        (Action::Remove, Some(line)) => format!("`{}` in line {line}", entry.name()),
        (Action::Remove, None) => format!("`{}`", entry.name()),
    })
}

/// Writes the new text. False if another program was faster.
fn put(
    path: &Path,
    file: &OtherFile,
    text: &str,
    pieces: Vec<Piece>,
    mut written: Written,
    options: &Options<'_>,
) -> Result<bool, SetupError> {
    if options.action == Action::Remove {
        return Ok(file.replace(text)?);
    }
    // A later copy would hold our own entries.
    let keeps_former = options.keeps_former && written.pieces.is_empty();
    if written.pieces.is_empty() {
        written.made.clear();
    }
    if file.text().is_none() {
        written.made = std::iter::once(path.to_owned()).chain(missing_folders(path)).collect();
    }
    written.pieces = pieces;
    record::write(options.folder, path, &written)?;
    if file.text().is_none() {
        make_folders(path)?;
    } else if keeps_former {
        file.back_up()?;
    }
    Ok(file.replace(text)?)
}

/// The folders above a file that are not there, the innermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Removes what belongs to entries that are gone: the former state, folders that were made, the record. What is `left` of
/// the record, because somebody changed an entry, needs all of them later.
fn clean_up(path: &Path, options: &Options<'_>, left: Written, had_record: bool) -> Result<(), SetupError> {
    if !left.pieces.is_empty() {
        return record::write(options.folder, path, &left);
    }
    if had_record && options.keeps_former {
        OtherFile::remove_backup(path)?;
    }
    if !path.exists() {
        for folder in left.made.iter().filter(|made| *made != path) {
            remove_empty_folder(folder);
        }
    }
    record::write(options.folder, path, &Written::default())
}
