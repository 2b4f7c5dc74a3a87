//! Hints: what an error tells its reader to do next. The command line and the MCP server show the same.

/// What must happen before the same call can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the same call may succeed later.
    Retry,
    /// The command line or the arguments of the call must change.
    CommandLine,
    /// Something else must change: the file, the disk, the settings.
    Fix,
}

/// An error that knows what its reader can do about it.
pub trait Hint {
    /// The kind of remedy; decides the exit code of the command line.
    fn remedy(&self) -> Remedy {
        Remedy::Fix
    }

    /// The next steps, each a sentence in lower case without a full stop.
    fn hints(&self) -> Vec<String>;
}
