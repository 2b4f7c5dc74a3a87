//! The command `view`: a folder, a file, or the memory file itself.

use std::collections::BTreeMap;

use crate::memory_tool::content::content_of;
use crate::memory_tool::error::refused;
use crate::memory_tool::lines::numbered_file;
use crate::memory_tool::path::{ToolPath, WHOLE};
use crate::memory_tool::tree::{Item, Tree};
use memories_notebook::{Notebook, NotebookError};

/// The size of a folder in a listing: that of a small folder on most file systems.
const FOLDER_SIZE: usize = 4096;

/// Carries out the command.
///
/// # Errors
///
/// Refuses a path that leads to nothing, and a file of too many lines.
pub(super) fn view(
    notebook: &Notebook,
    path: &ToolPath,
    range: Option<(i64, i64)>,
) -> Result<String, NotebookError> {
    let named = &path.named;
    let whole = notebook.store().read()?;
    if path.path == WHOLE
        && let Some(text) = &whole
    {
        return numbered_file(named, text, range);
    }
    let files = notebook.read_without_sidecar()?;
    let tree = Tree::of(&files.lasting);
    match tree.file(&path.path) {
        Some(file) => numbered_file(named, &content_of(&file.memory), range),
        None if tree.is_folder(&path.path) => {
            let own = whole.filter(|_| path.is_root()).map(|text| text.len());
            Ok(listing(named.trim_end_matches('/'), &tree.listing(&path.path), own))
        }
        None => refused(format!("The path {named} does not exist. Please provide a valid path.")),
    }
}

/// A folder for the model; of the root with the size of the memory file.
fn listing(named: &str, items: &BTreeMap<String, Item>, own: Option<usize>) -> String {
    let mut lines = vec![
        format!("Here're the files and directories up to 2 levels deep in {named}, excluding hidden items:"),
        format!("{}\t{named}", size(FOLDER_SIZE)),
    ];
    list(&mut lines, named, items);
    lines.extend(own.map(|bytes| format!("{}\t{named}/{WHOLE}", size(bytes))));
    lines.join("\n")
}

fn list(lines: &mut Vec<String>, folder: &str, items: &BTreeMap<String, Item>) {
    for (name, item) in items {
        match item {
            Item::File(bytes) => lines.push(format!("{}\t{folder}/{name}", size(*bytes))),
            Item::Folder(inside) => {
                lines.push(format!("{}\t{folder}/{name}/", size(FOLDER_SIZE)));
                list(lines, &format!("{folder}/{name}"), inside);
            }
        }
    }
}

/// A size as the listing writes it: `12B`, `1.5K`, `2M`.
fn size(bytes: usize) -> String {
    const UNITS: [char; 4] = ['B', 'K', 'M', 'G'];
    let power = (bytes.max(1).ilog2() / 10).min(3);
    let (unit, whole) = (UNITS[power as usize], 1_usize << (10 * power));
    match bytes % whole {
        0 => format!("{}{unit}", bytes / whole),
        _ => format!("{:.1}{unit}", bytes as f64 / whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_even() {
        for (bytes, written) in [
            (0, "0B"),
            (1, "1B"),
            (1023, "1023B"),
            (1024, "1K"),
            (1280, "1.2K"),
            (1536, "1.5K"),
            (1792, "1.8K"),
            (3328, "3.2K"),
            ((1 << 20) - 1, "1024.0K"),
            (1 << 20, "1M"),
            (5 << 30, "5G"),
        ] {
            assert_eq!(size(bytes), written, "{bytes}");
        }
    }
}
