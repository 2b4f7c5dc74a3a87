//! `init`: writes a first memory file and settings file.

use std::path::Path;

use crate::cli::commands::common::show_written;
use crate::cli::commands::merge_install;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::settings::TEMPLATE;
use memories_store::{Existing, write_file};

/// Text of a new memory file of a game: a title, and a comment that explains the format.
pub(crate) const EXAMPLE: &str = include_str!("../../../examples/Memories.md.example");

/// The same for work on a repository.
const EXAMPLE_OF_WORK: &str = include_str!("../../../examples/Memories.md.work.example");

/// Files that say how a repository of code is built; beside them, memories are those of work.
const BUILD_FILES: [&str; 12] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Gemfile",
    "composer.json",
    "Makefile",
];

/// Write a memory file that explains itself, and its settings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Existing files stay as they are. `init` is optional: the first `record` makes
the memory file. Beside a file that builds code, such as Cargo.toml or
package.json, the new file explains folders and subjects, else the places of a
game. In a git repository `init` names the command that lets git merge memory
files.

Examples:
  memories init
  memories init --json

With --json: {version, written: [PATH], kept: [PATH]}.")]
pub(crate) struct InitArgs {}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { synonyms: &["setup", "install"], ..Facts::of(Group::SetUp) };

pub fn run(mut cli: Cli<'_>, InitArgs {}: InitArgs) -> Result<u8, Failure> {
    let notebook = cli.notebook()?;
    let folder = notebook.store().real_path().parent().unwrap_or(Path::new("/"));
    let is_code = BUILD_FILES.iter().any(|name| folder.join(name).is_file());
    let (is_new, _) = cli.edit(&notebook, "init", false, |draft| {
        if draft.is_new {
            draft.replace_text(if is_code { EXAMPLE_OF_WORK } else { EXAMPLE }.to_owned());
        }
        Ok(draft.is_new)
    })?;
    let config = cli.settings.config_path.as_path();
    let config_written = write_file(config, TEMPLATE.as_bytes(), Existing::Keep)?;
    let files: [(&Path, bool); 2] = [(notebook.store().path(), is_new), (config, config_written)];
    let names = |wanted: bool| {
        let files = files.iter().filter(|(_, written)| *written == wanted);
        files.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
    };
    let code = show_written(cli.ui, &names(true), &names(false))?;
    if is_new && is_code {
        cli.ui.notice(
            "this is a repository of code: memories stand under `dir:FOLDER` and `topic:NAME`, and `memories setup` wires \
             coding agents to them",
        );
    }
    if let Some(notice) = merge_install::offer(folder) {
        cli.ui.notice(notice);
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::check::problems;
    use memories_document::types::{FolderPath, Scope};
    use memories_document::{Document, Section};

    #[test]
    fn the_example_is_a_clean_file_without_memories() {
        for example in [EXAMPLE, EXAMPLE_OF_WORK] {
            assert_eq!(problems(example), []);
            assert_eq!(Document::parse(example.to_owned()).headings().count(), 0);
        }
    }

    fn shown(example: &str) -> String {
        let (_, shown) = example.split_once("looks like this:\n").expect("an example");
        let (shown, _) = shown.split_once("\nIn brackets:").expect("its end");
        assert_eq!(problems(shown), []);
        shown.to_owned()
    }

    #[test]
    fn the_example_of_work_can_be_read() {
        let scope = Scope::Folder(FolderPath::parse("src/search").expect("a path"));
        let section: Section = Document::parse(shown(EXAMPLE_OF_WORK)).section(&scope).expect("a folder");
        let statuses = (section.memories.len(), section.live().count(), section.tried.len());
        assert_eq!(statuses, (4, 3, 2));
    }

    #[test]
    fn the_example_in_the_comment_can_be_read() {
        let section: Section =
            Document::parse(shown(EXAMPLE)).section(&Scope::Location(15)).expect("a place");
        let statuses = (section.memories.len(), section.live().count(), section.tried.len());
        assert_eq!(statuses, (4, 3, 2));
        assert_eq!((section.visits, section.episodes), (3, vec![1, 2, 3]));
        assert_eq!(section.memories[1].importance(), 900);
        assert_eq!(section.memories[3].text, "Troll accepted lunch without attacking.");
    }

    #[test]
    fn the_settings_template_has_only_known_keys() {
        let uncommented = crate::cli::settings::uncommented_template();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memories.toml");
        assert!(write_file(&path, uncommented.as_bytes(), Existing::Keep).expect("written"));
        let file = Some(folder.path().join("Memories.md"));
        let environment = crate::cli::settings::ProcessEnvironment::default();
        let wait = std::time::Duration::ZERO;
        let loaded = crate::cli::settings::Settings::load(file, Some(path), wait, environment, false);
        let (settings, warnings) = loaded.expect("read");
        assert_eq!(warnings, [""; 0]);
        assert!(settings.enabled);
    }
}
