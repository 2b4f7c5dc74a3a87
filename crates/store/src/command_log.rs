//! The log of commands and edits of coding agents, `commands.jsonl`.
//!
//! Lines enter and leave; they are not interpreted here. A line is added in one write at the end of the file, without
//! a sync: it tells of this machine and of the present, and nothing lasting is lost with it. A log that is full loses
//! its older half. A lock of its own keeps others from writing into the file that is being replaced.

use std::io::Write;
use std::time::Duration;

use crate::at::Access;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::sidecar::{Sidecar, stage};

const NAME: &str = "commands.jsonl";

/// The lock of those that write the log.
const LOCK: &str = "commands-lock";

/// Longest wait for it: another process holds it for the time of one write, or of cutting a file of 1 MB.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Size in bytes from which on the log is cut.
const MAX_SIZE: u64 = 1 << 20;

/// The log of a sidecar folder. The file need not exist.
#[derive(Debug, Clone)]
pub struct CommandLog {
    sidecar: Sidecar,
}

impl CommandLog {
    /// The log beside a memory file.
    pub fn of(sidecar: &Sidecar) -> CommandLog {
        CommandLog { sidecar: sidecar.clone() }
    }

    /// All lines; empty where there are none. Bytes that no text has are replaced.
    ///
    /// # Errors
    ///
    /// When the folder is not the caller's own, or the file cannot be read.
    pub fn read(&self) -> Result<String, StoreError> {
        let Some(folder) = self.sidecar.open()? else { return Ok(String::new()) };
        // A log that could not be cut is larger than `MAX_SIZE`.
        let bytes = folder.read_bounded(NAME, 4 * MAX_SIZE).unwrap_or_default();
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Adds lines, each without its line end.
    ///
    /// # Errors
    ///
    /// When the folder is not the caller's own, or the file cannot be written.
    pub fn append(&self, lines: &[String]) -> Result<(), StoreError> {
        // Without the lock the lines are still written, but the log is not cut.
        let locked = Lock::acquire(&self.sidecar, LOCK, MAX_WAIT);
        let (lock, folder) = match locked {
            Ok((lock, folder)) => (Some(lock), folder),
            Err(StoreError::Locked { .. } | StoreError::NoLocks { .. }) => (None, self.sidecar.create()?),
            Err(error) => return Err(error),
        };
        let path = folder.path(NAME);
        let failed = || StoreError::write("write", &path);
        let mut file = folder.write(NAME, Access::Append)?;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        file.write_all(text.as_bytes()).map_err(failed())?;
        let size = file.metadata().map_err(failed())?.len();
        if size > MAX_SIZE && lock.is_some() {
            let text = self.read()?;
            let half = text.len() - text.len() / 2;
            let newer = text.as_bytes()[half..].iter().position(|byte| *byte == b'\n');
            let newer = newer.map_or("", |at| &text[half + at + 1..]);
            stage(&folder, NAME, newer.as_bytes(), false)?.publish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn a_full_log_keeps_its_newer_half() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::ZERO).unwrap();
        let log = CommandLog::of(store.sidecar());
        assert_eq!(log.read().unwrap(), "");
        let line = |number: usize| format!("{number:>6} {}", "é".repeat(500));
        for number in 0..2_500 {
            log.append(&[line(number)]).unwrap();
        }
        let text = log.read().unwrap();
        assert!(text.len() as u64 <= MAX_SIZE && text.len() as u64 > MAX_SIZE / 3, "{}", text.len());
        let numbers: Vec<usize> = text.lines().map(|line| line[..6].trim().parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "whole lines, in order");
        assert_eq!(numbers.last(), Some(&2_499));
    }

    #[test]
    fn while_a_log_is_cut_no_line_of_another_writer_is_lost() {
        const WRITERS: usize = 4;
        const LINES: usize = 800;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let path = &path;
                scope.spawn(move || {
                    let store = Store::open(path, Duration::ZERO).unwrap();
                    let log = CommandLog::of(store.sidecar());
                    for number in 0..LINES {
                        log.append(&[format!("{writer} {number} {}", "x".repeat(1_000))]).unwrap();
                    }
                });
            }
        });
        let text = CommandLog::of(Store::open(&path, Duration::ZERO).unwrap().sidecar()).read().unwrap();
        for writer in 0..WRITERS {
            let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{writer} ")));
            let numbers: Vec<usize> =
                own.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
            assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{writer}: {numbers:?}");
            // The writer may have ended before the last cut.
            assert!(numbers.last().is_none_or(|last| *last == LINES - 1), "{writer}: {numbers:?}");
        }
    }
}
