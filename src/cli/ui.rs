//! Where commands write: data on stdout, everything else on stderr.
//!
//! Nothing else in the program prints. A closed pipe is no error: whoever read has read enough.

use std::io::{self, IsTerminal, Read, Write};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// The three streams of a process, or stand-ins for them in a test.
pub struct Streams {
    /// Input.
    pub stdin: Box<dyn Read>,
    /// Data.
    pub stdout: Box<dyn Write>,
    /// Notices, progress and diagnostics.
    pub stderr: Box<dyn Write>,
    /// Whether input comes from a person's keyboard.
    pub stdin_is_terminal: bool,
    /// Whether a person reads stdout.
    pub stdout_is_terminal: bool,
    /// Whether a person reads stderr.
    pub stderr_is_terminal: bool,
}

impl Streams {
    /// Those of this process.
    pub fn standard() -> Streams {
        Streams {
            stdin: Box::new(io::stdin()),
            stdout: Box::new(io::BufWriter::new(io::stdout())),
            stderr: Box::new(io::stderr()),
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
        }
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The one way for commands to say something.
pub(crate) struct Ui {
    streams: Streams,
    /// Answers are JSON.
    pub json: bool,
    quiet: bool,
    verbose: bool,
    colored: bool,
    /// Whether stdout shows marks.
    marked: bool,
}

impl Ui {
    /// A user interface on these streams. `no_color` is the person's wish from the environment.
    pub(crate) fn new(
        streams: Streams,
        json: bool,
        quiet: bool,
        verbose: bool,
        color: Color,
        no_color: bool,
    ) -> Ui {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => streams.stderr_is_terminal && !no_color,
        };
        let marked = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => streams.stdout_is_terminal && !no_color,
        };
        Ui { streams, json, quiet, verbose, colored, marked }
    }

    /// Writes data as it is.
    ///
    /// # Errors
    ///
    /// When stdout takes no more.
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Writes data that need not be text.
    ///
    /// # Errors
    ///
    /// When stdout takes no more.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.streams.stdout.write_all(bytes);
        written.map_err(|error| naming("cannot write the answer", &error))
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    ///
    /// When stdout takes no more.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        self.data(&line)
    }

    /// How words are marked in data: not at all where no person sees it.
    pub(crate) fn mark(&self) -> Style {
        if self.marked { Style::new().bold().underline() } else { Style::new() }
    }

    /// Hands over what was written so far.
    ///
    /// # Errors
    ///
    /// When stdout takes no more.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.streams.stdout.flush().map_err(|error| naming("cannot write the answer", &error))
    }

    /// Tells what was done besides the answer; silent under `--quiet`.
    pub(crate) fn notice(&mut self, text: &str) {
        if !self.quiet {
            self.say(None, "", text);
        }
    }

    /// Tells details; only under `--verbose`.
    pub(crate) fn detail(&mut self, text: &str) {
        if self.verbose {
            self.say(None, "", text);
        }
    }

    /// Tells what may not be as wished. Shown also under `--quiet`.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say(Some(AnsiColor::Yellow), "warning: ", text);
    }

    /// Tells what failed.
    pub(crate) fn error(&mut self, text: &str) {
        self.say(Some(AnsiColor::Red), "error: ", text);
    }

    /// Tells what to do next.
    pub fn hint(&mut self, text: &str) {
        self.say(Some(AnsiColor::Cyan), "hint: ", text);
    }

    fn say(&mut self, color: Option<AnsiColor>, label: &str, text: &str) {
        let style = color.filter(|_| self.colored).map_or(Style::new(), |color| color.on_default().bold());
        // What was answered before is seen before; a stdout that takes no more is told at the end.
        let _ = self.streams.stdout.flush();
        // Nobody is left to be told where stderr is gone.
        let _ = writeln!(self.streams.stderr, "{style}{label}{style:#}{text}");
    }

    /// Whether a progress bar would be seen.
    pub(crate) fn shows_progress(&self) -> bool {
        self.streams.stderr_is_terminal && !self.quiet && !self.json
    }

    /// Whether input comes from a person's keyboard.
    pub(crate) fn stdin_is_terminal(&self) -> bool {
        self.streams.stdin_is_terminal
    }

    /// All of stdin.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(crate) fn read_stdin(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.streams.stdin.read_to_end(&mut bytes);
        read.map_err(|error| naming("cannot read stdin", &error))?;
        Ok(bytes)
    }
}

/// An error that says on what it happened; its kind stays.
fn naming(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// A bar for what takes long: so many of what; hidden where no person would see it.
pub(crate) fn progress_bar(is_shown: bool, length: u64, of_what: &str) -> ProgressBar {
    if !is_shown {
        return ProgressBar::hidden();
    }
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {of_what}, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    ProgressBar::new(length).with_style(style.expect("the template is well formed"))
}
