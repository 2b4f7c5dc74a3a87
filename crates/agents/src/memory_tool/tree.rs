//! All files and folders of the tool, as the memory file has them.
//!
//! Files are the live entries with a tag `#file:PATH` in sections of topics. Of two with the same path the first
//! counts. A folder is there if it has a section, or if a file or folder in it is there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::memory_tool::content::{content_of, path_of};
use crate::memory_tool::error::refused;
use crate::memory_tool::folders::sections_of;
use crate::memory_tool::path::{ToolPath, ancestors, below, is_in, parent, shown};
use memories_document::types::text::composed;
use memories_document::types::{Memory, Scope};
use memories_document::{Document, EntryText, look_alike};
use memories_notebook::NotebookError;

/// Where files are looked for.
const TAG: &str = "#file:";

/// Files and folders by their paths from the root in NFC. Each keeps its path as it was written.
pub(super) struct Tree<'a> {
    files: BTreeMap<String, Place<'a>>,
    /// Folders that have a section.
    folders: BTreeMap<String, (String, Scope)>,
}

/// Where the entry of a file stands.
struct Place<'a> {
    path: String,
    scope: &'a Scope,
    number: usize,
    entry: EntryText<'a>,
}

/// A file.
#[derive(Debug, Clone)]
pub(super) struct StoredFile {
    /// Its path from the root.
    pub(super) path: String,
    /// The section of its entry.
    pub(super) scope: Scope,
    /// The number of the entry among all of the section.
    pub(super) number: usize,
    /// The entry.
    pub(super) memory: Memory,
}

/// A file or folder in a listing.
pub(super) enum Item {
    /// A file with its size in bytes.
    File(usize),
    /// A folder with what is in it.
    Folder(BTreeMap<String, Item>),
}

impl<'a> Tree<'a> {
    /// The files and folders of a memory file.
    pub(super) fn of(document: &'a Document) -> Tree<'a> {
        let mut files = BTreeMap::new();
        for heading in document.headings().filter(|heading| matches!(heading.scope, Scope::Topic(_))) {
            let scope = &heading.scope;
            for (number, entry) in document.entries(scope).enumerate() {
                let entry = entry.text();
                if !entry.is_live() || !entry.parts().fields.contains(TAG) {
                    continue;
                }
                let path = path_of(&entry).and_then(|path| ToolPath::of_file(&path));
                if let Some(path) = path.filter(|path| !path.is_empty()) {
                    let key = composed(&path).into_owned();
                    files.entry(key).or_insert(Place { path, scope, number, entry });
                }
            }
        }
        let mut folders = BTreeMap::new();
        for (path, scope) in sections_of(document) {
            folders.entry(composed(&path).into_owned()).or_insert((path, scope));
        }
        Tree { files, folders }
    }

    /// The file at a path.
    pub(super) fn file(&self, path: &str) -> Option<StoredFile> {
        let Place { path, scope, number, entry } = self.files.get(&*composed(path))?;
        let (scope, number, memory) = ((*scope).clone(), *number, entry.read());
        Some(StoredFile { path: path.clone(), scope, number, memory })
    }

    /// True for a file.
    pub(super) fn is_file(&self, path: &str) -> bool {
        self.files.contains_key(&*composed(path))
    }

    /// True for a folder, and for the root.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        let path = &*composed(path);
        let first = |paths: &mut dyn Iterator<Item = &String>| paths.next().is_some();
        let below = format!("{path}/");
        let begins = |other: &&String| other.starts_with(&below);
        path.is_empty()
            || self.folders.contains_key(path)
            || first(&mut self.files.range(below.clone()..).map(|(path, _)| path).take_while(begins))
            || first(&mut self.folders.range(below.clone()..).map(|(path, _)| path).take_while(begins))
    }

    /// The file of a command that changes one.
    ///
    /// # Errors
    ///
    /// Refuses a folder, and what is not there.
    pub(super) fn file_to_change(&self, path: &ToolPath) -> Result<StoredFile, NotebookError> {
        let named = &path.named;
        match self.file(&path.path) {
            Some(file) => Ok(file),
            None if self.is_folder(&path.path) => refused(format!("The path {named} is not a file.")),
            None => refused(format!("The path {named} does not exist. Please provide a valid path.")),
        }
    }

    /// Refuses a path that leads through a file.
    pub(super) fn refuse_below_file(&self, path: &ToolPath) -> Result<(), NotebookError> {
        match ancestors(&path.path).find(|above| self.is_file(above)) {
            Some(file) => refused(format!("Cannot use {}: {} is a file", path.named, shown(file))),
            None => Ok(()),
        }
    }

    /// Refuses a new path that a person would take for another one, of which one folder may be a part. What is in
    /// `moved` does not count.
    pub(super) fn refuse_look_alike(
        &self,
        path: &ToolPath,
        moved: Option<&str>,
    ) -> Result<(), NotebookError> {
        let known = || {
            let written = self.files.values().map(|place| &place.path);
            let written = written.chain(self.folders.values().map(|(path, _)| path)).map(String::as_str);
            let paths = written.flat_map(|path| std::iter::once(path).chain(ancestors(path)));
            paths.filter(|path| moved.is_none_or(|moved| !is_in(&composed(path), &composed(moved))))
        };
        let new = std::iter::once(path.path.as_str()).chain(ancestors(&path.path));
        for new in new.filter(|new| !self.is_file(new) && !self.is_folder(new)) {
            if let Some(other) = known().find(|other| look_alike(other, new)) {
                return refused(format!(
                    "{} looks like {}, which exists. Use that one, or choose another name.",
                    shown(new),
                    shown(other)
                ));
            }
        }
        Ok(())
    }

    /// All files in a folder and below.
    pub(super) fn files_in(&self, folder: &str) -> Vec<StoredFile> {
        let folder = composed(folder);
        let paths = self.files.keys().filter(|path| is_in(path, &folder));
        paths.filter_map(|path| self.file(path)).collect()
    }

    /// The folders with sections that are this one or in it.
    pub(super) fn sections_in(&self, folder: &str) -> Vec<(String, Scope)> {
        let folder = composed(folder);
        let inside = self.folders.iter().filter(|(path, _)| is_in(path, &folder));
        inside.map(|(_, named)| named.clone()).collect()
    }

    /// The section for the files of a folder: its own, else that of another file in it; `None` where a new one is
    /// needed.
    pub(super) fn section_for(&self, folder: &str) -> Option<Scope> {
        let folder = &*composed(folder);
        let beside = || {
            let mut others = self.files.iter().filter(|(path, _)| parent(path).0 == folder);
            others.next().map(|(_, place)| place.scope.clone())
        };
        self.folders.get(folder).map(|(_, scope)| scope.clone()).or_else(beside)
    }

    /// Lists the contents of a folder, two levels deep, without hidden files and folders.
    pub(super) fn listing(&self, folder: &str) -> BTreeMap<String, Item> {
        let mut items = BTreeMap::new();
        let folder = composed(folder);
        let below = |(key, path): (&str, &str)| {
            let rest = if is_in(key, &folder) { below(path, &folder) } else { "" };
            Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned)
        };
        for (key, place) in &self.files {
            if let Some(rest) = below((key, &place.path)) {
                let size = || content_of(&place.entry.read()).len();
                put(&mut items, &rest, 2, &|| Item::File(size()));
            }
        }
        for (key, (path, _)) in &self.folders {
            if let Some(rest) = below((key, path)) {
                put(&mut items, &rest, 2, &|| Item::Folder(BTreeMap::new()));
            }
        }
        items
    }
}

/// Puts the item at a path into a listing that shows at most `levels` levels.
fn put(items: &mut BTreeMap<String, Item>, path: &str, levels: usize, item: &dyn Fn() -> Item) {
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let is_same = |known: &&String| !name.is_ascii() && composed(known) == composed(name);
    let known = items.keys().find(is_same).cloned();
    let name = known.as_deref().unwrap_or(name);
    if levels == 0 || name.starts_with('.') {
        return;
    }
    let Some(rest) = rest else {
        if let Entry::Vacant(vacant) = items.entry(name.to_owned()) {
            vacant.insert(item());
        }
        return;
    };
    let folder = items.entry(name.to_owned()).or_insert_with(|| Item::Folder(BTreeMap::new()));
    if let Item::Folder(inside) = folder {
        put(inside, rest, levels - 1, item);
    }
}
