//! `record --turns`: many turns, each as it comes.
//!
//! A thread reads the lines, this one records them, all those that wait at a time. A signal ends the work after the
//! turn in hand; a reader that still waits for a line then ends with the program.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde_json::json;

use crate::cli::commands::common::{RETRY, counted};
use crate::cli::context::{Cli, MAX_INPUT};
use crate::cli::failure::Failure;
use crate::cli::interrupt::on_interrupt;
use crate::cli::ui::progress_bar;
use memories_document::types::Outcome;
use memories_document::types::Scope;
use memories_document::types::hint::Remedy;
use memories_document::types::json::without_mark;
use memories_notebook::Snapshot;
use memories_record::many::{Holdings, Line, LineWarning, MAX_GROUP, ManyTurns, TurnSummary};
use memories_record::{RecordReport, Recorder};
use memories_store::Store;

/// Limit on different warnings that are shown.
const MAX_WARNINGS: usize = 10;

/// Lines that are read ahead: while a group is written, the next one is read.
const READ_AHEAD: usize = MAX_GROUP;

/// The turns to be recorded.
pub(super) struct Request<'a> {
    /// Their file; `-` is stdin.
    pub file: &'a Path,
    /// The first line, from 1.
    pub from: usize,
    /// A model that fails is a failure.
    pub strict: bool,
    /// A notice that is printed before the first turn.
    pub notice: Option<String>,
}

/// A message of the reading thread, or a signal.
enum Event {
    /// A line that is not blank, and its number.
    Line(Line),
    /// No line comes any more.
    End,
    /// The input cannot be read.
    Broken(io::Error),
    /// The user or a supervisor ends the program.
    Interrupted,
}

/// The lines of the input, as they come.
struct Lines {
    events: Receiver<Event>,
    /// An event that was received before its time.
    next: Option<Event>,
    stopped: Arc<AtomicBool>,
}

impl Lines {
    /// Begins to read, and to heed signals.
    fn of(input: Box<dyn Read + Send>) -> Result<Lines, Failure> {
        let (sender, events) = sync_channel(READ_AHEAD);
        let stopped = Arc::new(AtomicBool::new(false));
        let (stop, wake) = (Arc::clone(&stopped), sender.clone());
        on_interrupt(move || {
            stop.store(true, Ordering::Relaxed);
            // Where lines are waiting, nobody needs to be woken.
            let _ = wake.try_send(Event::Interrupted);
        })?;
        std::thread::spawn(move || read_lines(input, &sender));
        Ok(Lines { events, next: None, stopped })
    }

    /// The next line, or how the input ends. Waits for it.
    fn next(&mut self) -> Event {
        let event = self.next.take().map_or_else(|| self.events.recv(), Ok);
        if self.stopped.load(Ordering::Relaxed) { Event::Interrupted } else { event.unwrap_or(Event::End) }
    }

    /// The next line if it is there.
    fn next_waiting(&mut self) -> Option<Line> {
        if self.next.is_none() {
            self.next = self.events.try_recv().ok();
        }
        match self.next.take() {
            Some(Event::Line(line)) if !self.stopped.load(Ordering::Relaxed) => Some(line),
            other => {
                self.next = other;
                None
            }
        }
    }
}

/// Sends the lines that are not blank until the receiver is gone.
fn read_lines(input: impl Read, events: &SyncSender<Event>) {
    let mut input = BufReader::new(input);
    let mut number = 0;
    loop {
        number += 1;
        let event = match read_line(&mut input) {
            Ok(line) if line.is_empty() => Event::End,
            Ok(line) if without_mark(&line).trim_ascii().is_empty() => continue,
            Ok(line) => Event::Line((number, line)),
            Err(error) => Event::Broken(error),
        };
        let is_last = !matches!(event, Event::Line(_));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// A line with its end; empty where there is none any more.
fn read_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(MAX_INPUT + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > MAX_INPUT {
        let problem = format!("a line has more than {} MiB", MAX_INPUT >> 20);
        Err(io::Error::new(io::ErrorKind::FileTooLarge, problem))
    } else {
        Ok(line)
    }
}

/// Records the turns of a file or of stdin.
pub(super) fn record_many(
    mut cli: Cli<'_>,
    recorder: &Recorder<'_>,
    request: &Request<'_>,
) -> Result<u8, Failure> {
    let Request { file, from, strict, ref notice } = *request;
    let (input, count) = open(&mut cli, file)?;
    cli.ui.notices(notice);
    let path = count.map(|_| file.canonicalize().unwrap_or_else(|_| file.to_owned()));
    let name = path.as_ref().map(|path| path.to_string_lossy());
    let mut turns = ManyTurns::begin(recorder, name.as_deref())?;
    let mut lines = Lines::of(input)?;
    let bar = progress_bar(cli.ui.shows_progress() && count.is_some(), count.unwrap_or_default(), "lines");
    let mut last = 0;
    let is_stopped = loop {
        let line = match lines.next() {
            Event::Line(line) => line,
            Event::End => break false,
            Event::Interrupted => break count.is_none_or(|count| last < count),
            Event::Broken(error) => {
                let failure = Failure::caused("cannot read the turns", error);
                return Err(failure.hint(format!("go on with --from {}", last + 1)));
            }
        };
        let mut tell = |number: usize, report: Option<&RecordReport>| {
            if let Some(report) = report {
                cli.ui.detail(&report.one_line());
            }
            last = number;
            bar.set_position(number as u64);
        };
        if line.0 < from {
            tell(line.0, None)
        } else {
            turns.record(line, &mut || lines.next_waiting(), &mut tell).map_err(|(line, error)| {
                Failure::from(error).hint(format!("the turns before line {line} are recorded"))
            })?;
        }
    };
    bar.finish_and_clear();
    let summary = turns.finish();
    warn(&mut cli, &summary);
    let after = is_stopped.then(|| last.max(from - 1));
    show_summary(&mut cli, recorder.notebook.store(), after, &summary)?;
    if let Some(after) = after {
        cli.ui.warning(&format!("stopped after line {after}; go on with --from {}", after + 1));
        return Ok(Remedy::Retry.exit_code());
    }
    if last > 0 && last < from {
        cli.ui.warning(&format!("no turn is recorded: line {last} is the last, before --from {from}"));
    }
    Ok(match (summary.refused.is_empty(), strict && !summary.model_errors.is_empty()) {
        (false, _) => Remedy::Fix.exit_code(),
        (true, true) => Remedy::Retry.exit_code(),
        (true, false) => 0,
    })
}

/// The input, and of a file the number of its last line that is not blank.
fn open(cli: &mut Cli<'_>, file: &Path) -> Result<(Box<dyn Read + Send>, Option<usize>), Failure> {
    if file == Path::new("-") {
        return Ok((cli.ui.take_stdin(), None));
    }
    let text = cli.read_file(file, "--turns takes a file with one JSON object a line")?;
    let lines = text.trim_ascii_end();
    let count = memchr::memchr_iter(b'\n', lines).count() + usize::from(!lines.is_empty());
    Ok((Box::new(Cursor::new(text)), Some(count)))
}

fn warn(cli: &mut Cli<'_>, summary: &TurnSummary) {
    for (line, problem) in &summary.refused {
        cli.ui.error(&format!("line {line}: {problem}"));
    }
    for (error, count) in &summary.model_errors {
        let turns = counted(*count, "turn is", "turns are");
        cli.ui.warning(&format!("{error}; {turns} queued"));
    }
    if !summary.model_errors.is_empty() {
        cli.ui.hint(RETRY);
    }
    for LineWarning { line, more, text } in summary.warnings.iter().take(MAX_WARNINGS) {
        let more = match more {
            0 => String::new(),
            more => format!(" (and {})", counted(*more, "more line", "more lines")),
        };
        cli.ui.warning(&format!("line {line}: {text}{more}"));
    }
    if summary.warnings.len() > MAX_WARNINGS {
        let more = counted((summary.warnings.len() - MAX_WARNINGS) as u64, "warning", "warnings");
        cli.ui.warning(&format!("{more} more like these; the journal has them all"));
    }
}

fn show_summary(
    cli: &mut Cli<'_>,
    store: &Store,
    stopped_after: Option<usize>,
    summary: &TurnSummary,
) -> Result<(), Failure> {
    let TurnSummary { lines: turns, outcomes, refused, .. } = summary;
    let snapshot = Snapshot::read(store)?;
    cli.ui.warnings(&snapshot.warning());
    let Holdings { places, memories, tried, largest } = Holdings::of(snapshot.document());
    let path = store.path().display().to_string();
    if cli.ui.json {
        let refused = refused.iter().map(|(line, problem)| json!({"line": line, "error": problem}));
        let mut answer = json!({
            "file": path, "turn_count": turns, "outcomes": outcomes, "failed": refused.collect::<Vec<_>>(),
            "place_count": places, "memory_count": memories, "tried_count": tried,
        });
        if let Some(line) = stopped_after {
            answer["stopped_after"] = json!(line);
        }
        cli.ui.json_answer(&answer)?;
        return Ok(());
    }
    let before = outcomes.get(Outcome::RecordedBefore.name()).copied().unwrap_or_default();
    let done = (turns - refused.len()) as u64 - before;
    let outcomes = outcomes.iter().filter(|(name, _)| **name != Outcome::RecordedBefore.name());
    let outcomes: Vec<String> = outcomes.map(|(name, count)| format!("{count} {name}")).collect();
    let outcomes = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    if before > 0 {
        cli.ui.data(&format!("{} recorded before\n", counted(before, "turn was", "turns were")))?;
    }
    if done > 0 || before == 0 {
        cli.ui.data(&format!("{} recorded{outcomes}\n", counted(done, "turn", "turns")))?;
    }
    cli.ui.data(&format!(
        "{path} now knows {}: {}, {}\n",
        counted(places, "place", "places"),
        counted(memories, "memory", "memories"),
        counted(tried, "tried action", "tried actions"),
    ))?;
    if before > 0 {
        cli.ui.hint("`--again` records them all the same");
    }
    match refused.is_empty() {
        true => {}
        false if done + before == 0 => cli.ui.hint("correct these lines; nothing is recorded"),
        false => cli.ui.hint("correct these lines and record only them; the others are recorded"),
    }
    if let Some((Scope::Location(id), name)) = largest.filter(|_| done + before > 0) {
        let place = if name.is_empty() { "that place" } else { name.as_str() };
        cli.ui.hint(&format!("try `memories recall {id}` for what is known of {place}"));
    }
    Ok(())
}
