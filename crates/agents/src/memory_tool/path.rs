//! Paths of the tool: from `/memories`, which is the root, to a folder or a file below it.

use crate::memory_tool::error::refused;
use memories_document::fields::percent_decode;
use memories_document::types::text::plain;
use memories_document::types::unseen::unseen;
use memories_llm::redact::redact;
use memories_notebook::NotebookError;

/// The root, as the tool names it.
pub(super) const ROOT: &str = "/memories";

/// The file that is the memory file itself, which can only be read.
pub(super) const WHOLE: &str = "Memories.md";

/// Longest path below the root, in bytes.
const MAX_PATH: usize = 200;

/// Longest path as it is named, with its dots and slashes, in bytes.
const MAX_NAMED: usize = 4096;

/// A path that leads nowhere but below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolPath {
    /// As the model wrote it.
    pub(super) named: String,
    /// From the root, without slashes at its ends and without dots; empty for the root.
    pub(super) path: String,
}

impl ToolPath {
    /// Reads a path of a command.
    ///
    /// # Errors
    ///
    /// Refuses one that leads out of the root or hides where it leads, and one that is too long.
    pub(super) fn parse(named: &str) -> Result<ToolPath, NotebookError> {
        let path = ToolPath::read(named)?;
        if let Some(secret) = redact(&path.path) {
            let kinds = secret.kinds.join(", ");
            return refused(format!("Path looks like it holds a secret ({kinds}). Choose another name."));
        }
        Ok(path)
    }

    fn read(named: &str) -> Result<ToolPath, NotebookError> {
        let too_long = |length: usize| {
            refused(format!("Path is too long: {length} bytes, at most {MAX_PATH} are allowed"))
        };
        if named.len() > MAX_NAMED {
            return too_long(named.len());
        }
        let below = named.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/'));
        let Some(below) = below else {
            return refused(format!("Path must start with /memories, got: {named}"));
        };
        if let Some((_, hidden)) =
            unseen(named).next().or_else(|| Some((0, '\n')).filter(|_| named.contains('\n')))
        {
            let code = u32::from(hidden);
            return refused(format!("Path {named:?} has a character that nobody sees (U+{code:04X})"));
        }
        let Some(path) = resolve(below).filter(|_| !hides_a_way(below) && !looks_like_a_way(below)) else {
            return refused(format!("Path {named} would escape /memories directory"));
        };
        if path.len() > MAX_PATH {
            return too_long(path.len());
        }
        Ok(ToolPath { named: named.to_owned(), path })
    }

    /// Reads a path from the root as a tag or a heading of the file has it; `None` for one that is not canonical.
    pub(super) fn of_file(path: &str) -> Option<String> {
        let parsed = ToolPath::read(&shown(path)).ok()?;
        (parsed.path == path).then_some(parsed.path)
    }

    /// True for the root.
    pub(super) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// True for the memory file itself, and for what would be below it.
    pub(super) fn is_whole(&self) -> bool {
        self.path.strip_prefix(WHOLE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// A path from the root as the tool names it.
pub(super) fn shown(path: &str) -> String {
    if path.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{path}") }
}

/// The folder of a path, and its last name.
pub(super) fn parent(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The folders above a path, the nearest first, without the root.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(folder_above(path), |folder| folder_above(folder))
}

/// The folder of a path, if that is not the root.
fn folder_above(path: &str) -> Option<&str> {
    Some(parent(path).0).filter(|folder| !folder.is_empty())
}

/// True if a path is a folder's, or below it.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The part of a path below a folder that it is in, or is; its bytes may differ from those of the folder's path, which
/// may have another normal form.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> &'p str {
    let above = folder.split('/').filter(|name| !name.is_empty()).count();
    (0..above).fold(path, |rest, _| rest.split_once('/').map_or("", |(_, rest)| rest))
}

/// Removes empty and single dots, and goes up at double dots, by the text alone. `None` where that leads out. The root
/// can be left and entered again.
fn resolve(below: &str) -> Option<String> {
    let mut parts: Vec<&str> = vec![&ROOT[1..]];
    for part in below.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    let (root, path) = parts.split_first()?;
    (*root == &ROOT[1..]).then(|| path.join("/"))
}

/// True for backslashes, and for dots, slashes and zero bytes that are percent-encoded, also more than once.
fn hides_a_way(below: &str) -> bool {
    let mut text = below.to_owned();
    loop {
        let folded = text.to_ascii_lowercase();
        if folded.contains('\\') || ["%2e", "%2f", "%5c", "%00"].iter().any(|code| folded.contains(code)) {
            return true;
        }
        match percent_decode(&text) {
            decoded if decoded == text => return false,
            decoded => text = decoded,
        }
    }
}

/// True for slashes, backslashes, dots and signs of escapes of full width and other styles: they look like a way.
fn looks_like_a_way(below: &str) -> bool {
    let plain = plain(below);
    let count = |text: &str| text.split('/').filter(|name| matches!(*name, "." | "..")).count();
    plain.matches('/').count() != below.matches('/').count()
        || count(&plain) != count(below)
        || hides_a_way(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(named: &str) -> Option<String> {
        ToolPath::parse(named).ok().map(|path| path.path)
    }

    #[test]
    fn a_path_leads_below_the_root() {
        for (named, expected) in [
            ("/memories", ""),
            ("/memories/", ""),
            ("/memories//a/./b.md/", "a/b.md"),
            ("/memories/a/../b", "b"),
            ("/memories/../memories/b", "b"),
            ("/memories/100%.md", "100%.md"),
            ("/memories/…/é 日.md", "…/é 日.md"),
        ] {
            assert_eq!(path(named).as_deref(), Some(expected), "{named}");
        }
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        let deep = format!("/memories{}", "/a".repeat(101));
        let dots = format!("/memories{}/a", "/.".repeat(2100));
        for named in [
            "",
            "memories/a",
            "/etc/passwd",
            "/memoriesa",
            "/memories/..",
            "/memories/../..",
            "/memories/../../memories/a",
            "/memories/a/../../../etc/passwd",
            "/memories/%2e%2e/etc",
            "/memories/．．/etc",
            "/memories/‥/etc",
            "/memories/a／b",
            "/memories/a＼b",
            "/memories/％2e％2e/etc",
            "/memories/%2E./a",
            "/memories/%252e%252e/a",
            "/memories/%25252fa",
            "/memories/..\\..\\etc",
            "/memories/a%5c..%5cb",
            "/memories/a\0b",
            "/memories/a\nb",
            "/memories/a\u{202e}b",
            "/memories/ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            &deep,
            &dots,
        ] {
            assert_eq!(path(named), None, "{named}");
        }
    }

    #[test]
    fn folders_above_a_path() {
        assert_eq!(ancestors("a/b/c.md").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(ancestors("a").count(), 0);
        assert!(is_in("a/b", "a") && is_in("a", "a") && is_in("a", "") && !is_in("ab", "a"));
    }
}
