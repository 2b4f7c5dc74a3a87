//! A folder of notes: its Markdown files, without links and within limits.

use std::fs;
use std::path::Path;

use crate::found::Found;
use memories_document::types::hint::Refused;
use memories_document::types::json::text_without_mark;
use memories_store::read_bounded;

/// Most files of a folder.
const MOST_FILES: usize = 20_000;

/// Most folders in one another.
const DEEPEST: usize = 32;

/// Largest note in bytes, and largest sum of them.
const LARGEST_NOTE: u64 = 16 << 20;
const LARGEST: usize = 256 << 20;

/// A note of a folder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct File {
    /// Its path within the folder, with `/`.
    pub path: String,
    pub text: String,
}

/// A folder of notes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folder {
    /// Names of the folder and of the one above it.
    pub(crate) names: Vec<String>,
    pub(crate) files: Vec<File>,
    /// The counts of files that were not read. It has no notes.
    pub(crate) left_out: Found,
    /// Paths of everything else, which no note may take.
    pub(crate) others: Vec<String>,
    bytes: usize,
}

impl Folder {
    /// Reads the notes below a path. What cannot be read is left out.
    ///
    /// # Errors
    ///
    /// If the folder itself cannot be read, or is larger than the limits.
    pub fn read(path: &Path) -> Result<Folder, Refused> {
        let real = fs::canonicalize(path).map_err(|error| unreadable(&error))?;
        let names = real.ancestors().take(2).filter_map(|part| part.file_name());
        let mut folder = Folder {
            names: names.map(|name| name.to_string_lossy().into_owned()).collect(),
            ..Folder::default()
        };
        folder.add(&real, "", 0)?;
        Ok(folder)
    }

    fn add(&mut self, path: &Path, prefix: &str, depth: usize) -> Result<(), Refused> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(unreadable(&error)),
            Err(_) => {
                self.left_out.leave_out("folders", 1, "they cannot be read");
                return Ok(());
            }
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).take(MOST_FILES * 5).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else {
                self.left_out.leave_out("files", 1, "their names are not UTF-8");
                continue;
            };
            let inner = format!("{prefix}{name}");
            if !kind.is_file() {
                self.others.push(inner.clone());
            }
            if name.starts_with('.') {
                self.left_out.leave_out("hidden files and folders", 1, "their names begin with a dot");
            } else if kind.is_symlink() {
                self.left_out.leave_out("links", 1, "they may lead out of the folder");
            } else if kind.is_dir() && depth >= DEEPEST {
                self.left_out.leave_out("folders", 1, "they are more than 32 levels deep");
            } else if kind.is_dir() {
                self.add(&entry.path(), &format!("{inner}/"), depth + 1)?;
            } else if !name.to_ascii_lowercase().ends_with(".md") {
                self.left_out.leave_out("files of other kinds", 1, "they are no Markdown");
            } else {
                self.add_file(&entry.path(), inner)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, inner: String) -> Result<(), Refused> {
        if self.files.len() >= MOST_FILES || self.bytes >= LARGEST {
            let problem = format!("the folder has more than {MOST_FILES} notes or {} MiB", LARGEST >> 20);
            return Err(Refused::fix(problem, "import its folders one by one"));
        }
        match read_bounded(path, LARGEST_NOTE).map(String::from_utf8) {
            Ok(Ok(text)) => {
                self.bytes += text.len();
                let text = text_without_mark(&text).replace("\r\n", "\n");
                self.files.push(File { path: inner, text });
            }
            unread => {
                let why = if unread.is_ok() {
                    "they are not UTF-8"
                } else {
                    "they cannot be read, or are larger than 16 MiB"
                };
                self.left_out.leave_out("files", 1, why);
                self.others.push(inner);
            }
        }
        Ok(())
    }
}

fn unreadable(error: &std::io::Error) -> Refused {
    Refused::fix(
        format!("the folder cannot be read: {error}"),
        "give a folder of Markdown files that you may read",
    )
}

#[cfg(test)]
impl Folder {
    /// A folder of one note.
    pub(crate) fn of_text(path: &str, text: &str) -> Folder {
        Folder { files: vec![File { path: path.to_owned(), text: text.to_owned() }], ..Folder::default() }
    }
}
