//! Whose files are found: those of another user do not count, as git has it, unless the caller trusts their folder.
//!
//! A folder and a name enter; the file of that name leaves, in the folder or, within a git work tree, in one above it.
//! Whoever may write into a folder above, such as `/tmp`, could otherwise tell an agent anything.

use std::path::{Path, PathBuf};

use crate::cli::settings::trust_list::TrustList;
use memories_store::foreign_owner;

/// Decides which files count.
pub(super) struct Owners<'a> {
    /// The folder with the list of trusted folders.
    pub user_folder: Option<&'a Path>,
    /// The owner of a path, if that is another user.
    pub foreign_owner: fn(&Path) -> Option<u32>,
}

/// A file that was looked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The file.
    pub path: Option<PathBuf>,
    /// A file of another user, or below a repository of another user, that does not count.
    pub foreign: Option<Foreign>,
}

/// A file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreign {
    /// The file.
    pub path: PathBuf,
    /// The folder that is to be trusted so that it counts.
    pub folder: PathBuf,
    owner: u32,
}

impl Foreign {
    /// What is wrong with it.
    pub fn problem(&self) -> String {
        let Foreign { path, owner, .. } = self;
        format!(
            "`{}` is not read: it, or its repository, belongs to another user (id {owner})",
            path.display()
        )
    }

    /// The command that lets it count.
    pub fn remedy(&self) -> String {
        format!("if you trust its owner: memories trust {}", self.folder.display())
    }
}

impl<'a> Owners<'a> {
    /// Owners as the system has them.
    pub fn of_system(user_folder: Option<&'a Path>) -> Owners<'a> {
        Owners { user_folder, foreign_owner }
    }

    /// Finds a file in a folder or, within a git work tree, in one above it up to the root of the tree.
    pub fn find_above(&self, folder: &Path, name: &str) -> Found {
        let (root, Some(any)) = search(folder, name, |_| true) else { return Found::default() };
        let (_, path) = search(folder, name, |path| self.counts(path));
        if path.as_ref() == Some(&any) {
            return Found { path, foreign: None };
        }
        let git = root.map(|root| root.join(".git")).filter(|git| !self.counts(git));
        let meant = git.as_ref().unwrap_or(&any);
        let folder = meant.parent().unwrap_or(folder).to_owned();
        let owner = (self.foreign_owner)(meant);
        Found { path, foreign: owner.map(|owner| Foreign { path: any.clone(), folder, owner }) }
    }

    /// True if a path belongs to the caller or to root, or stands in a folder that the caller trusts.
    fn counts(&self, path: &Path) -> bool {
        (self.foreign_owner)(path).is_none() || self.is_trusted(path)
    }

    fn is_trusted(&self, path: &Path) -> bool {
        let list = self.user_folder.and_then(|folder| TrustList::read(folder).ok());
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        list.zip(folder).is_some_and(|(list, folder)| list.holds_folder_of(&folder))
    }
}

/// The root of the git work tree of a folder. A repository of another user is none, unless the caller trusts its folder.
pub(crate) fn repository_of(folder: &Path, user_folder: Option<&Path>) -> Option<PathBuf> {
    let owners = Owners::of_system(user_folder);
    work_tree(folder, |path| path.exists() && owners.counts(path)).map(Path::to_owned)
}

fn work_tree(folder: &Path, is_there: impl Fn(&Path) -> bool) -> Option<&Path> {
    folder.ancestors().find(|folder| is_there(&folder.join(".git")))
}

/// The root of the git work tree of a folder, and the file of a name there or below, as far as they count.
fn search(folder: &Path, name: &str, counts: impl Fn(&Path) -> bool) -> (Option<PathBuf>, Option<PathBuf>) {
    let is_there = |path: &Path| path.exists() && counts(path);
    let root = work_tree(folder, is_there);
    let end = root.unwrap_or(folder);
    let candidates = folder.ancestors().take_while(|folder| folder.starts_with(end));
    let found = candidates.map(|folder| folder.join(name)).find(|path| is_there(path));
    (root.map(Path::to_owned), found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_store::{Existing, create_folder, write_file};

    /// A repository with a memory file, a folder in it, and a home. Who owns a path is in its name.
    fn found(
        git: &str,
        files: &[&str],
        owner: fn(&Path) -> Option<u32>,
        trusts: Option<&str>,
    ) -> (Found, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let here = root.join("shared/mine/project");
        create_folder(&here).unwrap();
        if !git.is_empty() {
            create_folder(&root.join(git).join(".git")).unwrap();
        }
        for file in files {
            write_file(&root.join(file), b"x", Existing::Keep).unwrap();
        }
        let home = root.join("home");
        create_folder(&home).unwrap();
        if let Some(folder) = trusts {
            TrustList::add(&home, &crate::cli::settings::Trusted::of_folder(&root.join(folder)).unwrap())
                .unwrap();
        }
        let owners = Owners { user_folder: Some(&home), foreign_owner: owner };
        (owners.find_above(&here, "Memories.md"), root)
    }

    const NOBODY: fn(&Path) -> Option<u32> = |_| None;
    const ALL: fn(&Path) -> Option<u32> = |_| Some(7);
    const ABOVE: fn(&Path) -> Option<u32> =
        |path| (!path.components().any(|part| part.as_os_str() == "mine")).then_some(7);

    #[test]
    fn a_file_that_another_user_put_above_does_not_count() {
        let (of_others, root) = found("shared", &["shared/Memories.md"], ABOVE, None);
        let foreign = of_others.foreign.unwrap();
        assert_eq!((of_others.path, &foreign.folder), (None, &root.join("shared")));
        assert!(foreign.problem().contains("(id 7)"), "{}", foreign.problem());
        let command = format!("memories trust {}", root.join("shared").display());
        assert!(foreign.remedy().ends_with(&command), "{}", foreign.remedy());
    }

    #[test]
    fn an_own_file_counts_whoever_owns_what_is_above() {
        let own = "shared/mine/project/Memories.md";
        let (own_first, root) = found("shared", &["shared/Memories.md", own], ABOVE, None);
        assert_eq!(own_first, Found { path: Some(root.join(own)), foreign: None });
        let (without_git, root) = found("", &[own], ABOVE, None);
        assert_eq!(without_git.path, Some(root.join(own)));
    }

    #[test]
    fn files_of_a_mapped_id_of_a_group_or_of_a_network_drive_name_the_command_that_lets_them_count() {
        for files in [&["shared/Memories.md"][..], &["shared/mine/project/Memories.md"]] {
            let (refused, root) = found("shared", files, ALL, None);
            assert_eq!((refused.path, refused.foreign.unwrap().folder), (None, root.join("shared")));
            let (trusted, root) = found("shared", files, ALL, Some("shared"));
            assert_eq!(trusted, Found { path: Some(root.join(files[0])), foreign: None });
            let (elsewhere, _) = found("shared", files, ALL, Some("home"));
            assert_eq!(elsewhere.path, None);
        }
    }

    #[test]
    fn where_all_is_own_all_counts() {
        let (own, root) = found("shared", &["shared/Memories.md"], NOBODY, None);
        assert_eq!(own, Found { path: Some(root.join("shared/Memories.md")), foreign: None });
        assert_eq!(found("shared", &[], ALL, None).0, Found::default());
    }
}
