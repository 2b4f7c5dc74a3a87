//! The command line: arguments in, exit code out.
//!
//! This is the only room that reads the environment and the clock, and with `mcp` the only one that
//! talks. A command resolves its arguments, calls one flow, and reports what came of it.

mod args;
mod commands;
mod embedder;
mod failure;
mod settings;
mod ui;
mod usage;

use std::ffi::OsString;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use args::{Arguments, Command, Global};
use commands::{
    add, check, completions, consolidate, diff, digest, episode, export, extract, fmt, forget, import, init,
    inject, invalidate, list, log, man, mark, mcp, proxy, query, recall, record, rename, restore, retry,
    seed, show, stats, summarize, supersede, top, tried,
};
use failure::{Failure, Kind};
use settings::{Environment, Settings};
use ui::Ui;

pub use ui::Streams;

/// Exit code of a panic.
pub const EXIT_BUG: u8 = 70;

/// What a command has at hand.
struct Cli<'a> {
    ui: &'a mut Ui,
    settings: Settings,
}

/// Runs one command line, the program's name first, and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: Streams) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let environment = Environment::of_process();
    let parsed = parse(&arguments);
    let global = parsed.as_ref().ok().map(|arguments| &arguments.global);
    let json = global.is_some_and(|global| global.json);
    let (quiet, verbose) = global.map_or((false, false), |global| (global.quiet, global.verbose));
    let color = global.map(|global| global.color).unwrap_or_default();
    let mut ui = Ui::new(streams, json, quiet, verbose, color, environment.no_color);
    let result = match parsed {
        Ok(arguments) => dispatch(&mut ui, arguments, environment),
        Err(error) => answer_or_refuse(&mut ui, &error, &arguments),
    };
    let result = result.and_then(|code| ui.flush().map(|()| code).map_err(Failure::from));
    result.unwrap_or_else(|failure| report(&mut ui, &failure))
}

fn parse(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    // clap copies the global flags into every command. So first only the commands are built whose names
    // are there; what these do not understand is for all commands to answer.
    if let Ok(matches) = args::command_of(arguments).try_get_matches_from(arguments) {
        return Arguments::from_arg_matches(&matches);
    }
    let about_all = |argument: &OsString| argument == "-h" || argument == "--help";
    let command = match arguments.len() <= 1 || arguments.iter().any(about_all) {
        true => args::command_with_overview(),
        false => <Arguments as clap::CommandFactory>::command(),
    };
    Arguments::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// Help and version are answers; everything else is a wrong command line.
fn answer_or_refuse(ui: &mut Ui, error: &clap::Error, arguments: &[OsString]) -> Result<u8, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            ui.data(&error.render().to_string())?;
            Ok(0)
        }
        _ => Err(usage::failure_of(error, arguments)),
    }
}

fn dispatch(ui: &mut Ui, arguments: Arguments, environment: Environment) -> Result<u8, Failure> {
    let Arguments { global, command } = arguments;
    let Some(command) = command else {
        ui.data(&args::command_with_overview().render_help().to_string())?;
        return Ok(0);
    };
    // What is asked of the program itself needs no settings, and works where they are broken.
    match &command {
        Command::Completions(args) => return completions::run(ui, args),
        Command::Man(args) => return man::run(ui, args),
        _ => {}
    }
    let Global { file, config, json: _, quiet: _, verbose: _, color: _, lock_timeout } = global;
    let begins = matches!(command, Command::Init(_));
    let (settings, warnings) = Settings::load(file, config, lock_timeout, environment, begins)?;
    for warning in warnings {
        ui.warning(&warning);
    }
    // A server that were not there would be an error to its client: it is there and offers nothing.
    let serves = matches!(command, Command::Mcp(_));
    if !settings.enabled && !begins && !serves {
        ui.detail("memory is switched off (`enabled = false`)");
        // Without memory nothing has been tried: a script that asks must go on and play.
        return Ok(u8::from(matches!(command, Command::Tried(_))));
    }
    let cli = Cli { ui, settings };
    match command {
        Command::Record(args) => record::run(cli, args),
        Command::Recall(args) => recall::run(cli, args),
        Command::Query(args) => query::run(cli, args),
        Command::Top(args) => top::run(cli, args),
        Command::Summarize(args) => summarize::run(cli, args),
        Command::Add(args) => add::run(cli, args),
        Command::Tried(args) => tried::run(cli, args),
        Command::Check(args) => check::run(cli, args),
        Command::List(args) => list::run(cli, args),
        Command::Show(args) => show::run(cli, args),
        Command::Diff(args) => diff::run(cli, args),
        Command::Digest(args) => digest::run(cli, args),
        Command::Stats(args) => stats::run(cli, args),
        Command::Log(args) => log::run(cli, args),
        Command::Supersede(args) => supersede::run(cli, args),
        Command::Invalidate(args) => invalidate::run(cli, args),
        Command::Mark(args) => mark::run(cli, args),
        Command::Forget(args) => forget::run(cli, args),
        Command::Rename(args) => rename::run(cli, args),
        Command::Consolidate(args) => consolidate::run(cli, args),
        Command::Episode(args) => episode::run(cli, args),
        Command::Fmt(args) => fmt::run(cli, args),
        Command::Restore(args) => restore::run(cli, args),
        Command::Retry(args) => retry::run(cli, args),
        Command::Seed(args) => seed::run(cli, args),
        Command::Extract(args) => extract::run(cli, args),
        Command::Proxy(args) => proxy::run(cli, args),
        Command::Inject(args) => inject::run(cli, args),
        Command::Import(args) => import::run(cli, args),
        Command::Export(args) => export::run(cli, args),
        Command::Mcp(args) => mcp::run(cli, args),
        Command::Init(args) => init::run(cli, args),
        Command::Completions(args) => completions::run(cli.ui, &args),
        Command::Man(args) => man::run(cli.ui, &args),
    }
}

fn report(ui: &mut Ui, failure: &Failure) -> u8 {
    if failure.kind != Kind::ClosedPipe {
        ui.error(&failure.message());
        for hint in &failure.hints {
            ui.hint(hint);
        }
    }
    failure.kind.exit_code()
}
