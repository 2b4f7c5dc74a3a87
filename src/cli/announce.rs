//! Says once for each host that texts are about to leave the machine.
//!
//! The hosts that a person was told of are in a file `hosts` in the user's own folder, one a line. Where it cannot be
//! written, it is said each time.

use std::path::Path;

use crate::cli::context::Cli;
use memories_llm::Destination;
use memories_store::{change_private, read_bounded};

/// Name of the list in the user's folder.
const NAME: &str = "hosts";

/// Largest list that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Hosts that are kept; the oldest leave first.
const MAX_HOSTS: usize = 200;

impl Cli<'_> {
    /// Warns before texts go to other machines for the first time, and wherever a key goes in clear; `what` names the
    /// texts.
    pub(super) fn announce(&mut self, destinations: &[Destination], what: &str) {
        for Destination { host, exposes_key } in destinations {
            let folder = self.settings.user_folder.as_deref();
            if !folder.is_some_and(|folder| is_known(folder, host)) {
                let is_kept = folder.is_some_and(|folder| keep(folder, host));
                let often = if is_kept { "; this is said once" } else { "" };
                self.ui.warning(&format!("{what} are sent to `{host}`, which is not this machine{often}"));
            }
            if *exposes_key {
                self.ui.warning(&format!("a key goes to `{host}` without encryption: use https"));
            }
        }
    }
}

fn is_known(folder: &Path, host: &str) -> bool {
    let bytes = read_bounded(&folder.join(NAME), MAX_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().any(|known| known == host)
}

/// Remembers a host. Returns `false` where that fails.
fn keep(folder: &Path, host: &str) -> bool {
    let with_host = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes);
        let mut hosts: Vec<&str> = text.lines().filter(|known| *known != host).collect();
        hosts.push(host);
        let surplus = hosts.len().saturating_sub(MAX_HOSTS);
        Some(hosts[surplus..].iter().map(|host| format!("{host}\n")).collect::<String>().into_bytes())
    };
    change_private(&folder.join(NAME), MAX_BYTES, with_host).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_once_it_is_kept_and_the_oldest_leave() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("memories");
        assert!(!is_known(&folder, "h0"));
        for at in 0..=MAX_HOSTS {
            assert!(keep(&folder, &format!("h{at}")));
        }
        assert!(is_known(&folder, "h1") && is_known(&folder, "h200") && !is_known(&folder, "h0"));
        assert!(!keep(&folder.join(NAME), "h"), "the folder is a file");
    }
}
