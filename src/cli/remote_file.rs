//! `-f URL`: a command that only reads gets a copy of the remote text, for as long as it runs.

use std::path::PathBuf;

use crate::cli::commands::MemoryCommand;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::values::is_url;
use memories_store::ScratchFile;
use memories_sync::{Remote, RemoteUrl, Variables, destination, open, read};

/// File name of a copy whose address names none.
const FILE_NAME: &str = "Memories.md";

impl Cli<'_> {
    /// Opens a remote copy, and says to which machine memories go.
    pub(crate) fn remote(&mut self, url: &RemoteUrl) -> Result<Box<dyn Remote>, Failure> {
        let (variables, home) = crate::cli::settings::cloud_variables();
        let variables = Variables { variables, home };
        self.announce(destination(url, &variables).as_slice(), "memories");
        Ok(open(url, &variables, self.settings.clock())?)
    }

    /// Fetches the remote text where the memory file is named by an address. The file is there until the value is dropped.
    pub(crate) fn fetch_remote_file(
        &mut self,
        command: &MemoryCommand,
    ) -> Result<Option<ScratchFile>, Failure> {
        let Some(url) = self.settings.file.to_str().filter(|file| is_url(file)) else {
            return Ok(None);
        };
        let url = RemoteUrl::parse(url, FILE_NAME)?;
        if !command.only_reads() {
            return Err(Failure::usage(format!("`{url}` can only be read"))
                .hint(format!("record into a file of your own, and send it with `memories sync {url}`")));
        }
        let text = read(self.remote(&url)?.as_ref())?;
        let name = PathBuf::from(url.to_string()).file_name().map_or_else(|| FILE_NAME.into(), PathBuf::from);
        let copy = ScratchFile::new(&std::env::temp_dir(), &name, &text)?;
        self.settings.shown_file = Some(PathBuf::from(url.to_string()));
        self.settings.file = copy.path().to_owned();
        Ok(Some(copy))
    }
}
