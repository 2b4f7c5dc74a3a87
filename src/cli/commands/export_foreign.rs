//! `export` in the formats of other programs, which keep what others wrote.

use std::path::{Path, absolute};

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::export_format::ForeignTarget;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::Section;
use memories_document::types::Scope;
use memories_document::types::hint::Remedy;
use memories_formats::{Folder, for_agents, for_codex, vault, with_section, world_info};
use memories_store::{OtherFile, Store, make_folders, real_path};

/// What is exported, and where to.
pub(super) struct ForeignExport<'a> {
    pub output: &'a Path,
    pub target: ForeignTarget,
    /// The sections, without secrets.
    pub sections: &'a [(Scope, Section)],
    /// No section is left out on request.
    pub is_whole: bool,
}

impl ForeignExport<'_> {
    /// Brings the files up to date, or prints the text of one.
    pub(super) fn run(&self, cli: &mut Cli<'_>, store: &Store) -> Result<u8, Failure> {
        let is_folder = matches!(self.target, ForeignTarget::Obsidian | ForeignTarget::Codex);
        if self.output == Path::new("-") {
            if is_folder {
                let failure = Failure::usage(format!("the format {} is a folder", self.target));
                return Err(failure.hint("name the folder to write to"));
            }
            let (text, _) = self.text(None)?;
            cli.ui.bytes(text.as_bytes())?;
            return Ok(0);
        }
        let whole = absolute(self.output)
            .map_err(|error| Failure::caused(format!("cannot find `{}`", self.output.display()), error))?;
        let path = real_path(&whole)?;
        if store.owns(&path) {
            let failure =
                Failure::user(format!("`{}` is the memory file or belongs to it", self.output.display()));
            return Err(failure.hint("export to another file"));
        }
        match self.target {
            ForeignTarget::Obsidian => self.write_vault(cli, &path),
            ForeignTarget::Codex => self.write_file(cli, &path.join("instructions.md")),
            ForeignTarget::WorldInfo | ForeignTarget::AgentsMd => self.write_file(cli, &path),
        }
    }

    /// The new text of the file, and what is in it.
    fn text(&self, existing: Option<&str>) -> Result<(String, String), Failure> {
        Ok(match self.target {
            ForeignTarget::WorldInfo => {
                let book = world_info(existing, self.sections, self.is_whole)?;
                let gone =
                    if book.gone > 0 { format!(", {} switched off", book.gone) } else { String::new() };
                (book.text, format!("{}{gone}", counted(book.entries, "entry", "entries")))
            }
            ForeignTarget::Codex => {
                (with_section(existing, &for_codex(self.sections))?, "one section".to_owned())
            }
            _ => (with_section(existing, &for_agents(self.sections))?, "one section".to_owned()),
        })
    }

    fn write_file(&self, cli: &mut Cli<'_>, path: &Path) -> Result<u8, Failure> {
        make_folders(path)?;
        let file = OtherFile::open(path)?;
        let (text, what) = self.text(file.text()).map_err(|failure| Failure {
            cause: failure.cause.context(format!("`{}`", self.output.display())),
            ..failure
        })?;
        let is_new = file.text() != Some(text.as_str());
        if is_new {
            replace(&file, &text)?;
        }
        self.report(cli, &what, usize::from(is_new), &[])
    }

    fn write_vault(&self, cli: &mut Cli<'_>, path: &Path) -> Result<u8, Failure> {
        make_folders(&path.join("x"))?;
        let vault = vault(self.sections, &Folder::read(path)?);
        for (name, text) in &vault.write {
            replace(&OtherFile::open(&path.join(name))?, text)?;
        }
        let notes = vault.write.len() + vault.same + vault.changed.len();
        self.report(cli, &counted(notes, "note", "notes"), vault.write.len(), &vault.changed)
    }

    fn report(
        &self,
        cli: &mut Cli<'_>,
        what: &str,
        written: usize,
        changed: &[String],
    ) -> Result<u8, Failure> {
        for path in changed {
            cli.ui.warning(&format!("`{path}` was changed by hand and stays as it is"));
        }
        if !changed.is_empty() {
            cli.ui.hint("remove such a note, and the next export writes it anew");
        }
        let file = self.output.display().to_string();
        let state = if written == 0 { "already up to date".to_owned() } else { format!("{written} written") };
        let json = json!({
            "format": self.target.to_string(), "file": file, "section_count": self.sections.len(),
            "written_count": written, "kept": changed,
        });
        cli.ui.answer(&json, &format!("exported {what} to {file}: {state}\n"))
    }
}

fn replace(file: &OtherFile, text: &str) -> Result<(), Failure> {
    if file.replace(text)? {
        return Ok(());
    }
    let problem = format!("another program wrote `{}` just now", file.path().display());
    Err(Failure { remedy: Some(Remedy::Retry), ..Failure::user(problem) }.hint("run the same command again"))
}
