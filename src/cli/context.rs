//! The context of a running command: where it writes, its settings, its memory file and its input.

use std::cell::OnceCell;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::cli::anchors::Repository;
use crate::cli::failure::{Failure, unreadable};
use crate::cli::settings::Settings;
use crate::cli::ui::Ui;
use memories_document::types::Viewer;
use memories_document::types::json::text_without_mark;
use memories_notebook::{AnchoredFiles, Draft, Notebook, Written};
use memories_store::{Store, read_bounded};

/// Largest input that is read whole, in bytes: 256 MiB.
pub(crate) const MAX_INPUT: u64 = 256 << 20;

/// The hint for input in another encoding.
pub(crate) const SEND_UTF8: &str = "send it in UTF-8";

/// The context that each command gets.
pub(crate) struct Cli<'a> {
    pub ui: &'a mut Ui,
    pub settings: Settings,
    /// For whom the memory file is read.
    pub viewer: Viewer,
    /// The memory file, once it was found.
    store: OnceCell<Store>,
}

impl<'a> Cli<'a> {
    /// The context of a command with these settings.
    pub(crate) fn new(ui: &'a mut Ui, settings: Settings) -> Cli<'a> {
        Cli { ui, settings, viewer: Viewer::Person, store: OnceCell::new() }
    }

    /// The memory file, for reading, as the viewer sees it.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        Ok(self.any_store()?.for_viewer(self.viewer.clone()))
    }

    fn any_store(&self) -> Result<Store, Failure> {
        if let Some(store) = self.store.get() {
            return Ok(store.clone());
        }
        let store = Store::open(&self.settings.file, self.settings.lock_timeout)?;
        let store = match &self.settings.shown_file {
            Some(shown) => store.shown_as(shown.clone()),
            None => store,
        };
        Ok(self.store.get_or_init(|| store).clone())
    }

    /// The memory file, for changes.
    pub(crate) fn notebook(&self) -> Result<Notebook, Failure> {
        let notebook = Notebook::new(self.store()?, self.settings.clock());
        Ok(notebook.with_writer(self.settings.writer.clone()).with_anchored(Some(self.anchored()?)))
    }

    /// The files of the repository, to which entries may be anchored.
    pub(crate) fn anchored(&self) -> Result<Arc<dyn AnchoredFiles>, Failure> {
        Ok(Arc::new(Repository::new(self.settings.working_folder.root(), self.store()?.real_path())))
    }

    /// Changes the files and shows the warnings; a dry run changes nothing. The second value is true if
    /// the memory file was written.
    pub(crate) fn edit<T>(
        &mut self,
        notebook: &Notebook,
        command: &'static str,
        dry_run: bool,
        edit: impl FnMut(&mut Draft<'_>) -> Result<T, Failure>,
    ) -> Result<(T, bool), Failure> {
        if dry_run {
            return Ok((notebook.preview(edit)?, false));
        }
        let Written { value, written, warnings } = notebook.edit(command, edit)?;
        self.ui.warnings(&warnings);
        Ok((value, written))
    }

    /// The text on stdin, which must not be blank; `what` names the expected input, and what may be given instead.
    pub(crate) fn read_input(&mut self, what: &str) -> Result<String, Failure> {
        let mut text = utf8("stdin", self.read_bytes()?, SEND_UTF8)?;
        text.drain(..text.len() - text_without_mark(&text).len());
        if text.trim().is_empty() {
            return Err(Failure::user("stdin is empty").hint(format!("send {what}")));
        }
        Ok(text)
    }

    /// Reads a file, or stdin for `-`. The hint of the failure describes the expected file.
    pub(crate) fn read_file(&mut self, path: &Path, hint: &str) -> Result<Vec<u8>, Failure> {
        if path == Path::new("-") {
            return self.read_bytes();
        }
        read_bounded(path, MAX_INPUT).map_err(|error| {
            let is_special = error.kind() == io::ErrorKind::InvalidInput;
            let stdin = "give a file, or `-` and send it on stdin";
            unreadable(path, error).hint(if is_special { stdin } else { hint })
        })
    }

    /// Refuses to read a file from stdin (`-`) if a person would have to type it.
    pub(crate) fn refuse_terminal(&self, path: &Path) -> Result<(), Failure> {
        if path == Path::new("-") && self.ui.stdin_is_terminal() {
            return Err(Failure::usage("no input on stdin").hint("give a file, or send one on stdin"));
        }
        Ok(())
    }

    /// Reads all of stdin.
    pub(crate) fn read_bytes(&mut self) -> Result<Vec<u8>, Failure> {
        let bytes = self.ui.read_stdin(MAX_INPUT);
        bytes.map_err(|error| Failure::caused("cannot read stdin", error))
    }
}

/// The text of input in UTF-8; the failure names the input and the first byte that is none.
pub(crate) fn utf8(input: &str, bytes: Vec<u8>, hint: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Failure::user(format!("{input} is not UTF-8: byte {at}")).hint(hint)
    })
}
