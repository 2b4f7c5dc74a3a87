//! Output of commands: data on stdout, everything else on stderr.
//!
//! Nothing else in the program prints. All text goes through [`visible`], because a terminal obeys control characters
//! wherever they come from; JSON says the same in its escapes. Only [`Ui::bytes`] gives a program behind a pipe what
//! was asked for, byte by byte. A closed pipe is not an error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Read, Write};
use std::ops::Range;
use std::panic::PanicHookInfo;

use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::failure::Failure;
use crate::cli::pager::Pager;
use crate::cli::paint::{Span, painted};
use crate::cli::settings::ProcessEnvironment;
use memories_document::types::unseen::{visible, visible_json};

/// The three streams of a process, or replacements for a test.
pub struct Streams {
    /// Input of the command.
    pub stdin: Box<dyn Read + Send>,
    /// Data.
    pub stdout: Box<dyn Write>,
    /// Notices, progress and diagnostics.
    pub stderr: Box<dyn Write>,
    /// True if a person types the input.
    pub stdin_is_terminal: bool,
    /// True if a person reads stdout.
    pub stdout_is_terminal: bool,
    /// True if a person reads stderr.
    pub stderr_is_terminal: bool,
}

impl Streams {
    /// The streams of this process.
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

/// The flags about the form of the output.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Form {
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print details: the files and the model in use, and reasons
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = Color::Auto)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub color: Color,
    /// Print to the terminal at once, without a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
}

/// The output of a command. All commands write through it.
pub(crate) struct Ui {
    streams: Streams,
    /// True if answers are JSON.
    pub json: bool,
    form: Form,
    colored: bool,
    /// True if text on stdout is coloured.
    marked: bool,
    /// True if a long answer may go through a pager, named by the environment.
    may_page: bool,
    pager_name: Option<String>,
    /// True if the next text on stdout starts the pager.
    pages: bool,
    pager: Option<Pager>,
    /// Messages on stderr while a pager has the terminal.
    deferred: String,
    /// The moment of the past that the answer is about; JSON names it.
    pub as_of: Option<Value>,
}

impl Ui {
    /// Output in that form. The environment may forbid colour, and names the pager.
    pub(crate) fn new(streams: Streams, form: Form, environment: &ProcessEnvironment) -> Ui {
        let Form { json, color, no_pager, .. } = form;
        let is_colored = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !environment.no_color && !environment.is_dumb,
        };
        let (colored, marked) =
            (is_colored(streams.stderr_is_terminal), is_colored(streams.stdout_is_terminal));
        let may_page = streams.stdout_is_terminal && !json && !no_pager && !environment.is_dumb;
        Ui {
            streams,
            json,
            form,
            colored,
            marked,
            may_page,
            pager_name: environment.pager.clone(),
            pages: false,
            pager: None,
            deferred: String::new(),
            as_of: None,
        }
    }

    /// From now on, what is written goes through a pager if a person reads it.
    pub(crate) fn page(&mut self) {
        self.pages = self.may_page;
    }

    /// Ends the answer, and waits for the person to leave the pager.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        if let Some(pager) = self.pager.take() {
            self.streams.stdout = Box::new(io::sink());
            pager.wait()?;
            let _ = write!(self.streams.stderr, "{}", std::mem::take(&mut self.deferred));
        }
        flushed
    }

    /// Writes text.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        self.write(visible(text).as_bytes())
    }

    /// Writes text in which parts are highlighted if a person reads it.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn highlighted(&mut self, text: &str, parts: &[Range<usize>]) -> io::Result<()> {
        if !self.marked {
            return self.data(text);
        }
        let style = Style::new().bold().underline();
        let parts: Vec<Span> = parts.iter().map(|part| (part.clone(), style)).collect();
        self.write(painted(text, &parts).as_bytes())
    }

    /// Writes text, each line with the styles that a function gives its parts, in their order, if a person reads it.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn painted(&mut self, text: &str, paint: fn(&str) -> Vec<Span>) -> io::Result<()> {
        if !self.marked {
            return self.data(text);
        }
        let lines = text.split_inclusive('\n').map(|line| painted(line, &paint(line.trim_end_matches('\n'))));
        self.write(lines.collect::<String>().as_bytes())
    }

    /// Writes a text of the program itself that clap has laid out.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn styled(&mut self, text: &StyledStr) -> io::Result<()> {
        if self.marked {
            self.write(text.ansi().to_string().as_bytes())
        } else {
            self.data(&text.to_string())
        }
    }

    /// Writes bytes as they are, unless a person reads them.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.streams.stdout_is_terminal {
            self.data(&String::from_utf8_lossy(bytes))
        } else {
            self.write(bytes)
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.pages)
            && let Some((pager, input)) = Pager::start(self.pager_name.as_deref())
        {
            (self.pager, self.streams.stdout) = (Some(pager), Box::new(input));
        }
        let written = self.streams.stdout.write_all(bytes);
        written.map_err(|error| with_context("cannot write the answer", &error))
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.json_text(&serde_json::to_string(value)?)
    }

    /// Writes a line that is JSON already.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn json_text(&mut self, line: &str) -> io::Result<()> {
        self.write(format!("{}\n", visible_json(line)).as_bytes())
    }

    /// Writes the answer of a command as JSON, with the version of its form as the first field. The result
    /// is the exit code of success.
    pub(crate) fn json_answer(&mut self, answer: &impl Serialize) -> Result<u8, Failure> {
        #[derive(Serialize)]
        struct Versioned<'a, T> {
            version: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            as_of: Option<Value>,
            #[serde(flatten)]
            answer: &'a T,
        }
        let as_of = self.as_of.take();
        self.json_line(&Versioned { version: 1, as_of, answer })?;
        Ok(0)
    }

    /// Writes the answer of a command in the form that is wanted: JSON or text.
    pub(crate) fn answer(&mut self, json: &impl Serialize, text: &str) -> Result<u8, Failure> {
        if self.json {
            return self.json_answer(json);
        }
        self.data(text)?;
        Ok(0)
    }

    /// Flushes stdout.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.streams.stdout.flush().map_err(|error| with_context("cannot write the answer", &error))
    }

    /// Prints a notice about anything beside the answer; silent under `--quiet`.
    pub(crate) fn notice(&mut self, text: &str) {
        if !self.form.quiet {
            self.say(None, "", text);
        }
    }

    /// Prints notices, if any; silent under `--quiet`.
    pub(crate) fn notices<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.notice(text));
    }

    /// Prints details; only under `--verbose`.
    pub(crate) fn detail(&mut self, text: &str) {
        if self.form.verbose {
            self.say(None, "", text);
        }
    }

    /// Prints a warning, also under `--quiet`.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say(Some(AnsiColor::Yellow), "warning: ", text);
    }

    /// Prints warnings, also under `--quiet`.
    pub(crate) fn warnings<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.warning(text));
    }

    /// Prints why a command failed, and the next steps; with `--json` as one line of JSON.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if self.json {
            return self.json_failure(failure);
        }
        self.error(&failure.message());
        failure.hints.iter().for_each(|hint| self.hint(hint));
    }

    fn json_failure(&mut self, failure: &Failure) {
        let hint = (!failure.hints.is_empty()).then(|| failure.hints.join("; "));
        let code = failure.exit_code();
        let line = json!({"version": 1, "error": failure.message(), "hint": hint, "code": code}).to_string();
        let _ = self.streams.stdout.flush();
        // An error of stderr cannot be reported anywhere.
        let _ = writeln!(self.streams.stderr, "{}", visible_json(&line));
    }

    /// Prints an error.
    pub(crate) fn error(&mut self, text: &str) {
        self.say(Some(AnsiColor::Red), "error: ", text);
    }

    /// Prints the next step for the user.
    pub(crate) fn hint(&mut self, text: &str) {
        self.say(Some(AnsiColor::Cyan), "hint: ", text);
    }

    fn say(&mut self, color: Option<AnsiColor>, label: &str, text: &str) {
        let style = color.filter(|_| self.colored).map_or(Style::new(), |color| color.on_default().bold());
        // Keeps the order of the two streams. An error of stdout is reported by the last `flush`.
        let _ = self.streams.stdout.flush();
        let line = format!("{style}{label}{style:#}{}\n", visible(text));
        match self.pager {
            Some(_) => self.deferred.push_str(&line),
            // An error of stderr cannot be reported anywhere.
            None => drop(self.streams.stderr.write_all(line.as_bytes())),
        }
    }

    /// True if a person would see a progress bar.
    pub(crate) fn shows_progress(&self) -> bool {
        self.streams.stderr_is_terminal && !self.form.quiet && !self.json
    }

    /// True if a person types the input.
    pub(crate) fn stdin_is_terminal(&self) -> bool {
        self.streams.stdin_is_terminal
    }

    /// Stdin, for a thread that reads it. Nothing else can read it any more.
    pub(crate) fn take_stdin(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.streams.stdin, Box::new(io::empty()))
    }

    /// Reads all of stdin.
    ///
    /// # Errors
    ///
    /// When stdin cannot be read.
    pub(crate) fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.streams.stdin.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| with_context("cannot read stdin", &error))?;
        if bytes.len() as u64 > limit {
            let problem = format!("stdin has more than {} MiB", limit >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        Ok(bytes)
    }
}

/// Reports a panic on stderr, as the standard hook does, with the backtrace if the environment asks for one.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    let backtrace = std::backtrace::Backtrace::capture();
    let report = panic_report(&panic.to_string(), &backtrace.to_string());
    let _ = io::stderr().write_all(report.as_bytes());
}

fn panic_report(panic: &str, backtrace: &str) -> String {
    let thread = std::thread::current();
    let name = thread.name().map_or(Cow::Borrowed("a thread"), |name| Cow::Owned(format!("thread '{name}'")));
    format!("{name} {}\n{}\n", visible(panic), visible(backtrace))
}

/// An error of the same kind with context.
fn with_context(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// A progress bar over `length` items of the kind `of_what`; hidden unless `is_shown`.
pub(crate) fn progress_bar(is_shown: bool, length: usize, of_what: &str) -> ProgressBar {
    if !is_shown {
        return ProgressBar::hidden();
    }
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {of_what}, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    ProgressBar::new(length as u64).with_style(style.expect("the template is well formed"))
}
