//! Options of a sync.

use std::time::Duration;

/// Options of a sync.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Put a copy anew that was there at the last sync.
    pub create: bool,
    /// Take over every removal, whoever made it and however much goes.
    pub allow_removals: bool,
    /// Change neither side.
    pub dry_run: bool,
    /// Time limit on waiting for another process that syncs this file.
    pub lock_timeout: Duration,
    /// A number that differs from run to run, for the length of pauses.
    pub seed: u64,
    /// The name of this host, by which people know the machine.
    pub host: String,
}
