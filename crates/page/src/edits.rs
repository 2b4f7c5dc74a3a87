//! Changes by a person on a served page: adds, rewords, confirms and strikes memories, and undoes the last change.
//!
//! A request in JSON enters; a sentence leaves, or an error with its hint. Each change is one transaction of the
//! notebook, with a person as the author, and uses the same code as the command.

use serde::Deserialize;

use memories_document::types::hint::Refused;
use memories_document::types::{
    Category, EXPECTED_IMPORTANCE, Memory, Outcome, Scope, ScopeName, Status, importance_of_person, json,
};
use memories_llm::redact::redact;
use memories_notebook::add::AddOutcome;
use memories_notebook::authority::Authority;
use memories_notebook::correct::{Corrected, Correction, Marks, Target};
use memories_notebook::{Draft, NewMemory, Notebook, NotebookError, RESTORE};

/// A change that a page asks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Wish {
    /// A new memory.
    Add { scope: String, category: String, title: String, text: String, importance: Option<f64> },
    /// Other words for a memory, which is struck.
    Reword { scope: String, title: String, new_title: String, text: String, category: String },
    /// A memory is sure from now on.
    Confirm { scope: String, title: String },
    /// A memory is wrong, for this reason.
    Strike { scope: String, title: String, reason: String },
    /// The last change of the page is taken back.
    Undo {},
}

/// The changes that pages make of one memory file.
pub(super) struct Edits {
    notebook: Notebook,
    /// The last change, until it is taken back.
    last: Option<Change>,
}

/// The texts before and after a change.
struct Change {
    before: String,
    after: String,
}

impl Edits {
    /// No change was made yet.
    pub(super) fn new(notebook: Notebook) -> Edits {
        Edits { notebook, last: None }
    }

    /// Makes the change of a request, and says what was done.
    ///
    /// # Errors
    ///
    /// See [`NotebookError`]; nothing is changed then.
    pub(super) fn make(&mut self, request: &[u8]) -> Result<String, NotebookError> {
        let wish: Wish = json::read(request).map_err(|error| {
            let problem = format!("the request cannot be read: {error}");
            Refused::fix(problem, "load the page anew: it may be of another version")
        })?;
        if matches!(wish, Wish::Undo {}) {
            return self.undo();
        }
        let mut change = None;
        let command = wish.command();
        let written = self.notebook.edit(command, |draft| -> Result<String, NotebookError> {
            let before = draft.text()?;
            let said = wish.carry_out(draft)?;
            change = Some(Change { before, after: draft.text()? });
            Ok(said)
        })?;
        if written.written {
            self.last = change;
        }
        Ok([vec![written.value], written.warnings].concat().join(". "))
    }

    fn undo(&mut self) -> Result<String, NotebookError> {
        let Change { before, after } = self.last.as_ref().ok_or_else(nothing_to_undo)?;
        let written = self.notebook.edit(RESTORE, |draft| -> Result<(), NotebookError> {
            if draft.text()? != *after {
                return Err(Refused::fix(
                    "the file has changed since the last change of this page",
                    "`memories log` says what was written; `memories restore --list` has former states",
                )
                .into());
            }
            draft.rewrite(Outcome::Restored, before.clone(), before.lines().count());
            Ok(())
        })?;
        self.last = None;
        Ok([vec!["undone".to_owned()], written.warnings].concat().join(". "))
    }
}

impl Wish {
    /// The command that does the same.
    fn command(&self) -> &'static str {
        match self {
            Wish::Add { .. } => "add",
            Wish::Reword { .. } => "supersede",
            Wish::Confirm { .. } => "mark",
            Wish::Strike { .. } => "invalidate",
            Wish::Undo {} => RESTORE,
        }
    }

    fn carry_out(&self, draft: &mut Draft<'_>) -> Result<String, NotebookError> {
        match self {
            Wish::Add { scope, category, title, text, importance } => {
                let mut memory = Memory::new(category_of(category)?, title, text);
                if let Some(number) = importance {
                    let importance = importance_of_person(*number).ok_or_else(|| {
                        let problem = format!("the importance is not {EXPECTED_IMPORTANCE}: {number}");
                        Refused::fix(problem, "500 is the usual one")
                    })?;
                    memory.provenance.importance = Some(importance);
                }
                add(draft, scope_of(scope)?, memory)
            }
            Wish::Reword { scope, title, new_title, text, category } => {
                let scope = scope_of(scope)?;
                let old = draft.files.live_with_title(&scope, title);
                let mut new = old.unwrap_or_else(|| Memory::new(Category::note(), "", ""));
                new.drop_writers();
                (new.category, new.title, new.text) =
                    (category_of(category)?, new_title.clone(), text.clone());
                let said = secrets(&new);
                let correction = Correction::Supersede(vec![target(scope, title)], Box::new(new));
                Ok(correct(draft, correction)? + &said)
            }
            Wish::Confirm { scope, title } => {
                let marks = Marks { status: Some(Status::Active), ..Marks::default() };
                correct(draft, Correction::Mark(target(scope_of(scope)?, title), marks))
            }
            Wish::Strike { scope, title, reason } => {
                let targets = vec![target(scope_of(scope)?, title)];
                correct(draft, Correction::Invalidate(targets, reason.clone()))
            }
            Wish::Undo {} => Err(nothing_to_undo().into()),
        }
    }
}

fn add(draft: &mut Draft<'_>, scope: Scope, memory: Memory) -> Result<String, NotebookError> {
    let said = secrets(&memory);
    let new = NewMemory { scope, name: String::new(), memory, speaker: None };
    let applied = draft.add(&new, Authority::Command, &mut Vec::new())?;
    let what = match applied.outcome {
        AddOutcome::Stored | AddOutcome::Revised | AddOutcome::Contested => "stored",
        AddOutcome::Confirmed => "confirmed",
        AddOutcome::Duplicate => "duplicate of",
    };
    Ok(format!("{what} \"{}\"{said}", applied.title()))
}

fn correct(draft: &mut Draft<'_>, correction: Correction) -> Result<String, NotebookError> {
    let results: Vec<Corrected> = draft.correct::<NotebookError>(&[correction], Authority::Command)?;
    let said = results.iter().map(|Corrected { outcome, title, .. }| format!("{outcome} \"{title}\""));
    Ok(said.collect::<Vec<_>>().join(", "))
}

/// The warning about a memory that seems to hold a secret; empty for others.
fn secrets(memory: &Memory) -> String {
    let found = memory.texts().into_iter().filter_map(|text| redact(text)).flat_map(|masked| masked.kinds);
    let kinds: Vec<String> = found.map(|kind| kind.to_string()).collect();
    if kinds.is_empty() {
        String::new()
    } else {
        format!(". This looks like a secret and is stored as you wrote it: {}", kinds.join(", "))
    }
}

/// The page has changed nothing since it was served.
fn nothing_to_undo() -> Refused {
    Refused::fix("there is no change of this page to undo", "`memories restore` goes back to a former state")
}

fn scope_of(text: &str) -> Result<Scope, Refused> {
    match text.parse() {
        Ok(ScopeName::Scope(scope)) => Ok(scope),
        _ => {
            let problem = format!("`{text}` is no place, character, agent or other section");
            Err(Refused::fix(problem, "choose a section that the page shows"))
        }
    }
}

fn category_of(text: &str) -> Result<Category, Refused> {
    Category::new(text).ok_or_else(|| {
        let problem = format!("`{text}` cannot be a category");
        Refused::fix(problem, "write a word in capital letters, such as `NOTE`")
    })
}

fn target(scope: Scope, title: &str) -> Target {
    Target { scope, title: title.trim().to_owned(), line: None }
}
