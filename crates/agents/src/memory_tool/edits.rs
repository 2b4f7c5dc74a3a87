//! The commands that change files: `create`, `str_replace`, `insert`, `delete` and `rename`, each in one transaction.

use serde_json::{Value, json};

use crate::memory_tool::command::Command;
use crate::memory_tool::content::{content_of, new_entry, problem_of, with_content};
use crate::memory_tool::error::refused;
use crate::memory_tool::folders::{is_bare, name_of, new_scope, without_sections};
use crate::memory_tool::lines::{inserted, replaced, snippet};
use crate::memory_tool::path::{ToolPath, below, is_in, parent, shown};
use crate::memory_tool::tree::{StoredFile, Tree};
use memories_document::types::text::composed;
use memories_document::types::{Author, Category, Memory, Outcome, Scope};
use memories_document::{EntryEdit, Section, stored};
use memories_llm::redact::redact;
use memories_notebook::authority::{Authority, protection};
use memories_notebook::authorship::Repeated;
use memories_notebook::protection::Protection;
use memories_notebook::titles::free_title;
use memories_notebook::{Draft, NotebookError};
use memories_store::journal::entry::{Entry, MemoryEntry};

/// Bytes of a date without its time.
const DATE: usize = 10;

/// Carries out a command that changes files, and gives the text of its result.
///
/// # Errors
///
/// Refuses what cannot be done; nothing is written then.
pub(super) fn change(draft: &mut Draft<'_>, command: &Command) -> Result<String, NotebookError> {
    draft.by(Author::Agent);
    match command {
        Command::View { path, .. } => refused(format!("The path {} is only shown", path.named)),
        Command::Create { path, content } => create(draft, path, content),
        Command::StrReplace { path, old, new } => {
            let file = file_to_change(draft, path)?;
            let (content, at) = replaced(&path.named, &content_of(&file.memory), old, new)?;
            let masked = write(draft, &file, &path.named, &content)?;
            // Where a secret was masked, the change may stand elsewhere.
            let Some((content, note)) = masked else { return Ok(snippet(&content, at)) };
            Ok(snippet(&content, content.floor_char_boundary(at)) + &note)
        }
        Command::Insert { path, line, text } => {
            let file = file_to_change(draft, path)?;
            let content = inserted(&content_of(&file.memory), *line, text)?;
            let note = write(draft, &file, &path.named, &content)?.map(|(_, note)| note);
            Ok(format!("The file {} has been edited.{}", path.named, note.unwrap_or_default()))
        }
        Command::Delete { path } => delete(draft, path),
        Command::Rename { old, new } => rename(draft, old, new),
    }
}

fn create(draft: &mut Draft<'_>, path: &ToolPath, content: &str) -> Result<String, NotebookError> {
    refuse_whole(path)?;
    let tree = Tree::of(&draft.files.lasting);
    if tree.is_file(&path.path) || tree.is_folder(&path.path) {
        return refused(format!("File {} already exists", path.named));
    }
    tree.refuse_below_file(path)?;
    tree.refuse_look_alike(path, None)?;
    let (content, note) = masked(content);
    refuse_problem(&path.named, &content)?;
    let mut memory = new_entry(parent(&path.path).1, &path.path, &content);
    memory.provenance.date = Some(today(draft));
    if let Some(writer) = &draft.files.writer {
        memory.add_writer(writer);
    }
    let (scope, memory) = add(draft, memory, &path.path)?;
    note_change(draft, Outcome::Stored, vec![written(Outcome::Stored, &scope, &memory)]);
    Ok(format!("File created successfully at: {}{note}", path.named))
}

/// Adds the entry of a file to the section of its folder, with a title that is free there.
fn add(draft: &mut Draft<'_>, memory: Memory, path: &str) -> Result<(Scope, Memory), NotebookError> {
    let folder = parent(path).0;
    let known = Tree::of(&draft.files.lasting).section_for(folder);
    let scope = known.unwrap_or_else(|| new_scope(&draft.files.lasting, folder));
    let memory = free_title(&draft.files, &scope, stored(&memory), |_| false);
    draft.files.authorship.note(&scope, &memory, Repeated::No);
    draft.files.lasting.add(&scope, &name_of(folder), &memory)?;
    Ok((scope, memory))
}

/// Gives a file another content. Where a secret was masked, the content that was written, and what is said of it.
fn write(
    draft: &mut Draft<'_>,
    file: &StoredFile,
    named: &str,
    content: &str,
) -> Result<Option<(String, String)>, NotebookError> {
    let (content, note) = masked(content);
    refuse_problem(named, &content)?;
    let mut memory = with_content(file.memory.clone(), &file.path, &content);
    memory.provenance.date = Some(today(draft));
    let memory = stored(&memory);
    draft.files.authorship.note(&file.scope, &memory, Repeated::No);
    if let Some(mut entry) = draft.files.lasting.entry_mut(&file.scope, file.number) {
        entry.edit(EntryEdit::Revise(memory.clone()));
    }
    note_change(draft, Outcome::Revised, vec![written(Outcome::Revised, &file.scope, &memory)]);
    Ok((!note.is_empty()).then_some((content, note)))
}

fn delete(draft: &mut Draft<'_>, path: &ToolPath) -> Result<String, NotebookError> {
    let named = &path.named;
    if path.is_root() {
        return refused("Cannot delete the /memories directory itself");
    }
    refuse_whole(path)?;
    let gone = Moved::of(draft, path)?;
    let Some(gone) = gone else { return refused(format!("The path {named} does not exist")) };
    if let Some(file) = gone.files.iter().find(|file| file.memory.context.is_some()) {
        return refused(format!(
            "The file {} stays: others wrote a line `Context:` below it, which would be lost with it.",
            shown(&file.path)
        ));
    }
    gone.remove(draft)?;
    keep_folder(draft, parent(&path.path).0)?;
    let forgotten = |StoredFile { scope, memory, .. }: &StoredFile| MemoryEntry {
        memory: Some(json!(memory)),
        ..written(Outcome::Forgotten, scope, memory)
    };
    note_change(draft, Outcome::Forgotten, gone.files.iter().map(forgotten).collect());
    Ok(format!("Successfully deleted {named}"))
}

fn rename(draft: &mut Draft<'_>, old: &ToolPath, new: &ToolPath) -> Result<String, NotebookError> {
    if old.is_root() {
        return refused("Cannot rename the /memories directory itself");
    }
    refuse_whole(old)?;
    refuse_whole(new)?;
    let tree = Tree::of(&draft.files.lasting);
    if tree.is_file(&new.path) || tree.is_folder(&new.path) {
        return refused(format!("The destination {} already exists", new.named));
    }
    let Some(moved) = Moved::of(draft, old)? else {
        return refused(format!("The path {} does not exist", old.named));
    };
    tree.refuse_below_file(new)?;
    tree.refuse_look_alike(new, Some(&old.path))?;
    if is_in(&composed(&new.path), &composed(&old.path)) {
        return refused(format!("Cannot rename {} to {}, which is inside it", old.named, new.named));
    }
    moved.remove(draft)?;
    let renamed = |path: &str| match below(path, &old.path) {
        "" => new.path.clone(),
        rest => format!("{}/{rest}", new.path),
    };
    for (folder, _) in &moved.sections {
        keep_folder(draft, &renamed(folder))?;
    }
    let mut parts = Vec::with_capacity(moved.files.len());
    for file in &moved.files {
        let path = renamed(&file.path);
        let mut memory = with_content(file.memory.clone(), &path, &content_of(&file.memory));
        memory.title = parent(&path).1.to_owned();
        let (scope, memory) = add(draft, memory, &path)?;
        parts.push(written(Outcome::Renamed, &scope, &memory));
    }
    keep_folder(draft, parent(&old.path).0)?;
    note_change(draft, Outcome::Renamed, parts);
    Ok(format!("Successfully renamed {} to {}", old.named, new.named))
}

/// Files and folders that leave their place.
struct Moved {
    files: Vec<StoredFile>,
    sections: Vec<(String, Scope)>,
}

impl Moved {
    /// The file at a path, or the folder with all that is in it; `None` where there is nothing.
    fn of(draft: &Draft<'_>, path: &ToolPath) -> Result<Option<Moved>, NotebookError> {
        let tree = Tree::of(&draft.files.lasting);
        let moved = match tree.file(&path.path) {
            Some(file) => Moved { files: vec![file], sections: Vec::new() },
            None if tree.is_folder(&path.path) => {
                Moved { files: tree.files_in(&path.path), sections: tree.sections_in(&path.path) }
            }
            None => return Ok(None),
        };
        moved.files.iter().try_for_each(|file| refuse_protected(draft, file))?;
        Ok(Some(moved))
    }

    /// Removes the entries, and sections that have nothing else.
    fn remove(&self, draft: &mut Draft<'_>) -> Result<(), NotebookError> {
        let mut files: Vec<&StoredFile> = self.files.iter().collect();
        // From the last, so that the numbers of those before stay.
        files.sort_by(|a, b| (&b.scope, b.number).cmp(&(&a.scope, a.number)));
        for file in files {
            if let Some(entry) = draft.files.lasting.entry_mut(&file.scope, file.number) {
                entry.remove();
            }
        }
        let document = &draft.files.lasting;
        if let Some((folder, scope)) = self.sections.iter().find(|(_, scope)| !is_bare(document, scope)) {
            return refused(format!(
                "The directory {} stays: its section ({scope}) has memories or notes besides the tool's files. \
                 Delete or rename the files in it one by one.",
                shown(folder)
            ));
        }
        if !self.sections.is_empty() {
            let scopes: Vec<Scope> = self.sections.iter().map(|(_, scope)| scope.clone()).collect();
            let text = without_sections(document, &scopes);
            draft.replace_text(text);
        }
        Ok(())
    }
}

/// Gives a folder a section, unless it is there without.
fn keep_folder(draft: &mut Draft<'_>, folder: &str) -> Result<(), NotebookError> {
    if Tree::of(&draft.files.lasting).is_folder(folder) {
        return Ok(());
    }
    let scope = new_scope(&draft.files.lasting, folder);
    let section = Section { name: name_of(folder), ..Section::default() };
    Ok(draft.files.lasting.update(&[(scope, section.into())].into())?)
}

/// The file of a command that gives it another content.
fn file_to_change(draft: &Draft<'_>, path: &ToolPath) -> Result<StoredFile, NotebookError> {
    refuse_whole(path)?;
    let file = Tree::of(&draft.files.lasting).file_to_change(path)?;
    refuse_protected(draft, &file)?;
    Ok(file)
}

fn refuse_whole(path: &ToolPath) -> Result<(), NotebookError> {
    if path.is_whole() {
        refused(format!(
            "{} can only be read: it is the whole memory file, which the commands `memories add` and \
         `memories supersede` change",
            path.named
        ))
    } else {
        Ok(())
    }
}

/// Refuses to change a file that is a person's, or that weighs more than a model's may.
fn refuse_protected(draft: &Draft<'_>, file: &StoredFile) -> Result<(), NotebookError> {
    let category = Category::note();
    let author = draft.files.authorship.author_of(&file.scope, &file.memory);
    match protection(&draft.files, &file.scope, &file.memory, Some(&category), Authority::MODEL) {
        // The old text would be gone, and not struck.
        None if author == Author::Unknown => refused(format!(
            "The file {} stays as it is: nobody knows who wrote it as it stands. It can be read; create another file \
             beside it, or let a person run `memories adopt {} --author model`.",
            file.path, file.scope
        )),
        None => Ok(()),
        Some(why) => {
            let why = if why == Protection::Person { "a person wrote or edited it" } else { why.into() };
            let path = shown(&file.path);
            refused(format!(
                "The file {path} stays as it is: {why}. It can be read; create another file beside it."
            ))
        }
    }
}

fn refuse_problem(named: &str, content: &str) -> Result<(), NotebookError> {
    match problem_of(content) {
        Some(problem) => refused(format!("The file {named} cannot be written: {problem}")),
        None => Ok(()),
    }
}

/// The content without secrets, and what is said of them; nothing where there are none.
fn masked(content: &str) -> (String, String) {
    match redact(content) {
        None => (content.to_owned(), String::new()),
        Some(masked) => {
            let shown =
                masked.kinds.iter().map(|kind| format!("`({kind} masked)`")).collect::<Vec<_>>().join(", ");
            let note =
                format!("\nWarning: what looks like a secret was masked: the file has {shown} in its place.");
            (masked.text, note)
        }
    }
}

fn today(draft: &Draft<'_>) -> String {
    draft.now.chars().take(DATE).collect()
}

/// The part of the journal's line about one file.
fn written(outcome: Outcome, scope: &Scope, memory: &Memory) -> MemoryEntry<'static> {
    MemoryEntry {
        outcome: Some(outcome.into()),
        scope: Some(scope.to_string().into()),
        title: Some(memory.title.clone().into()),
        author: Some(Author::Agent),
        ..MemoryEntry::default()
    }
}

fn note_change(draft: &mut Draft<'_>, outcome: Outcome, parts: Vec<MemoryEntry<'_>>) {
    draft.note(Entry::<Value> { outcome: Some(outcome.into()), memories: Some(parts), ..Entry::default() });
}
