//! The pager through which a person reads a long answer.

use std::io::{self, BufWriter};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The pager where the environment names none, and what it is told where its own variable says nothing: to leave at once
/// what fits on the screen, to pass colours on, and to leave the text there.
const DEFAULT: [&str; 3] = ["less", "LESS", "FRX"];

/// A running pager.
pub(super) struct Pager {
    child: Child,
}

impl Pager {
    /// Starts the pager that the environment names, else the usual one, with its input. `None` where there is none: an
    /// empty name and `cat` stand for no pager.
    pub(super) fn start(named: Option<&str>) -> Option<(Pager, BufWriter<ChildStdin>)> {
        let words = match named {
            Some(named) => shlex::split(named)?,
            None => vec![DEFAULT[0].to_owned()],
        };
        let (program, arguments) = words.split_first().filter(|(program, _)| *program != "cat")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        if std::env::var_os(DEFAULT[1]).is_none() {
            command.env(DEFAULT[1], DEFAULT[2]);
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take()?;
        outlive_interrupt();
        Some((Pager { child }, BufWriter::new(input)))
    }

    /// Waits until the person leaves it; its input must have ended.
    pub(super) fn wait(mut self) -> io::Result<()> {
        self.child.wait().map(|_| ())
    }
}

/// Ctrl-C is meant for the pager from now on: if this program ended first, the shell and the pager would both read the
/// keyboard.
#[cfg(unix)]
fn outlive_interrupt() {
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default());
}

#[cfg(not(unix))]
fn outlive_interrupt() {}
