//! The command line: arguments in, exit code out.
//!
//! This is the only module that reads the environment and the wall clock. Only this module and `mcp` write to
//! stdout and stderr. A command resolves its arguments, calls one flow, and reports the result.

mod anchors;
mod announce;
mod args;
mod as_of;
mod commands;
mod completion;
mod context;
mod embedder;
mod facts;
mod failure;
mod git;
mod git_file;
mod interrupt;
#[cfg(feature = "agents")]
mod machine;
mod overview;
mod own_program;
mod pager;
mod paint;
#[cfg(feature = "sync")]
mod remote_file;
mod section_order;
mod settings;
mod ui;
mod usage;
mod values;
mod working_folder;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use args::{Arguments, Global};
use commands::{Command, MemoryCommand, facts_of};
use context::Cli;
use failure::Failure;
use settings::{ProcessEnvironment, Settings, find_settings};
use ui::{Form, Ui};

pub use ui::{Streams, report_panic};

/// Exit code of a panic.
pub const EXIT_BUG: u8 = 70;

/// Runs one command line, the program's name first, and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: Streams) -> u8 {
    interrupt::outlive_file_limit();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let environment = ProcessEnvironment::of_process();
    if let Some(shell) = environment.completes_for.clone() {
        return complete(&shell, &arguments, environment, streams);
    }
    let arguments = args::with_flags_for_words(arguments);
    let parsed = parse(&arguments);
    let form = match &parsed {
        Ok(parsed) => parsed.global.form,
        Err(_) => args::form_of(&arguments),
    };
    let mut ui = Ui::new(streams, form, &environment);
    // With arguments that are not understood, too: for some agents a wrong hook forbids what it was asked about.
    let is_hook = match &parsed {
        Ok(Arguments { command: Some(Command::Memory(command)), .. }) => {
            matches!(command, MemoryCommand::Hook(_))
        }
        Ok(_) => false,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => false,
        Err(_) => arguments.get(1).is_some_and(|first| first == "hook"),
    };
    let result = match parsed {
        Ok(arguments) => dispatch(&mut ui, arguments, environment),
        Err(error) => answer_or_refuse(&mut ui, &error, &arguments),
    };
    let finished = ui.finish();
    let result = result.and_then(|code| finished.map(|()| code).map_err(Failure::from));
    match result {
        // An agent takes any other exit code of a hook for its own trouble.
        Err(failure) if is_hook => {
            ui.detail(&failure.message());
            0
        }
        result => result.unwrap_or_else(|failure| report(&mut ui, &failure)),
    }
}

/// Answers a shell that completes a command line.
fn complete(shell: &str, arguments: &[OsString], environment: ProcessEnvironment, streams: Streams) -> u8 {
    let mut ui = Ui::new(streams, Form::default(), &environment);
    let answer = completion::answer(shell, arguments, Arguments::command(), environment, facts_of);
    let written = answer.and_then(|answer| Ok(ui.bytes(&answer).and_then(|()| ui.finish())?));
    written.map_or_else(|failure| report(&mut ui, &failure), |()| 0)
}

/// Parses with the named command alone; what that does not understand is answered by the whole command line.
fn parse(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    match args::command_of(arguments).try_get_matches_from(arguments) {
        Ok(matches) => return Arguments::from_arg_matches(&matches),
        Err(version) if version.kind() == ErrorKind::DisplayVersion => return Err(version),
        Err(_) => {}
    }
    let asks_help = |argument: &OsString| argument == "-h" || argument == "--help";
    let command = if arguments.iter().any(asks_help) {
        overview::command_with_help(arguments)
    } else {
        Arguments::command()
    };
    Arguments::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// Prints help and version; any other error of clap is a wrong command line.
fn answer_or_refuse(ui: &mut Ui, error: &clap::Error, arguments: &[OsString]) -> Result<u8, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            if error.kind() == ErrorKind::DisplayHelp {
                ui.page();
            }
            ui.styled(&error.render())?;
            Ok(0)
        }
        _ => Err(usage::failure_of(error, arguments)),
    }
}

fn dispatch(ui: &mut Ui, arguments: Arguments, environment: ProcessEnvironment) -> Result<u8, Failure> {
    let Arguments { global, command } = arguments;
    let Some(command) = command else {
        ui.page();
        ui.styled(&overview::with_usual().render_help())?;
        return Ok(0);
    };
    let command = match command {
        Command::Program(command) => {
            let settings = global.config.or_else(|| find_settings(global.file.as_deref(), &environment));
            return command.run(ui, Arguments::command(), settings, &environment);
        }
        Command::Memory(command) => command,
    };
    let Global { file, config, form: Form { verbose, .. }, lock_timeout } = global;
    let begins = matches!(command, MemoryCommand::Init(_));
    // A command that git calls is about one file. Settings of the repository may be in conflict themselves: none count.
    if let Some(file) = command.own_file() {
        let settings = Settings::without_files(file.to_owned(), lock_timeout, environment)?;
        return command.run(Cli::new(ui, settings));
    }
    let (settings, warnings) = Settings::load(file, config, lock_timeout, environment, begins)?;
    // An agent reads no warnings of its hooks.
    let is_hook = matches!(command, MemoryCommand::Hook(_));
    for warning in warnings.iter().filter(|_| !is_hook || verbose) {
        ui.warning(warning);
    }
    if verbose {
        ui.detail(&settings.in_use());
    }
    // A client reports a missing server as an error; so the server starts and offers no tools.
    let serves = matches!(command, MemoryCommand::Mcp(_));
    if !settings.enabled && !begins && !serves {
        ui.detail("memory is switched off (`enabled = false`)");
        // Exit code 1 of `tried` means "not tried yet": without memory, a script plays the action. That of
        // `path` means "no path known".
        return Ok(u8::from(command.asks_yes_or_no()));
    }
    if command.is_read_by_people() {
        ui.page();
    }
    let mut cli = Cli::new(ui, settings);
    #[cfg(feature = "sync")]
    let _copy = cli.fetch_remote_file(&command)?;
    let _past = command.as_of().map(|when| cli.look_back(when)).transpose()?;
    // `check` lists it.
    if !matches!(command, MemoryCommand::Check(_) | MemoryCommand::Hook(_)) {
        warn_of_damage(&mut cli);
    }
    if command.is_question() {
        say_that_no_file_is_there(cli.ui, &cli.settings);
    }
    command.run(cli)
}

/// Says where a memory file was looked for, so that a wrong working directory does not pass for an empty memory.
fn say_that_no_file_is_there(ui: &mut Ui, settings: &Settings) {
    if settings.file.try_exists().is_ok_and(|is_there| !is_there) {
        let path = std::path::absolute(&settings.file).unwrap_or_else(|_| settings.file.clone());
        ui.notice(&format!("there is no memory file at `{}` yet", path.display()));
    }
}

/// Warns of a sidecar folder that is not the caller's own, and of a damaged session or state. That withholds nothing
/// that lasts.
fn warn_of_damage(cli: &mut Cli<'_>) {
    let Ok(store) = cli.store() else { return };
    let ui = &mut *cli.ui;
    if let Err(error) = store.sidecar().check() {
        let failure = Failure::from(error);
        ui.warning(&format!("{}; history and ephemeral memories are left out", failure.message()));
        return failure.hints.iter().for_each(|hint| ui.hint(hint));
    }
    for damage in store.sidecar().damage() {
        ui.warning(&damage.to_string());
    }
}

fn report(ui: &mut Ui, failure: &Failure) -> u8 {
    if failure.remedy.is_some() {
        ui.failure(failure);
    }
    failure.exit_code()
}
