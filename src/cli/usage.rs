//! What is wrong with a command line, in the words of this program.
//!
//! An error of clap enters, a [`Failure`] with hints leaves: the same form as every other error.

use std::error::Error as _;
use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::args::Arguments;
use crate::cli::failure::Failure;
use crate::types::did_you_mean;
use crate::types::text::fold_spaces;

/// The failure that a wrong command line is.
pub fn failure_of(error: &clap::Error, arguments: &[OsString]) -> Failure {
    let mut failure = Failure::usage(problem_of(error));
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let near: Vec<String> = suggested.into_iter().flat_map(|kind| texts_of(error, kind)).collect();
    failure.hints.extend(did_you_mean(&near));
    failure.hint(match (command_of(arguments), usage_of(error)) {
        (None, _) => "`memories` shows all commands".to_owned(),
        (Some(_), Some(usage)) => format!("usage: {usage}"),
        (Some(command), None) => format!("`memories {command} --help` shows all flags"),
    })
}

/// The command that was meant, where the line names one.
fn command_of(arguments: &[OsString]) -> Option<&str> {
    let all = Arguments::command();
    let mut words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    words.find(|word| all.find_subcommand(word).is_some())
}

fn problem_of(error: &clap::Error) -> String {
    let named = |kind| texts_of(error, kind);
    let quoted = |kind| quote(&texts_of(error, kind));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            format!("there is no command {}", quoted(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingSubcommand => {
            format!(
                "{} wants a further word: {}",
                quoted(ContextKind::InvalidSubcommand),
                quote(&named(ContextKind::ValidSubcommand)).replace(" and ", " or ")
            )
        }
        ErrorKind::UnknownArgument => format!("{} is not understood", quoted(ContextKind::InvalidArg)),
        ErrorKind::ArgumentConflict if named(ContextKind::InvalidArg) == named(ContextKind::PriorArg) => {
            format!("{} is given twice", quoted(ContextKind::InvalidArg))
        }
        ErrorKind::ArgumentConflict => {
            format!("{} does not go with {}", quoted(ContextKind::InvalidArg), quoted(ContextKind::PriorArg))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = named(ContextKind::InvalidArg);
            let verb = if missing.len() == 1 { "is" } else { "are" };
            format!("{} {verb} missing", quote(&missing))
        }
        ErrorKind::InvalidValue if named(ContextKind::InvalidValue).iter().all(String::is_empty) => {
            format!("{} is without a value", quoted(ContextKind::InvalidArg))
        }
        ErrorKind::InvalidValue => format!(
            "{}: {} is none of {}",
            quoted(ContextKind::InvalidArg),
            quoted(ContextKind::InvalidValue),
            quoted(ContextKind::ValidValue)
        ),
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            let value = quoted(ContextKind::InvalidValue);
            let value = if why.contains(&value) { String::new() } else { format!("{value}: ") };
            format!("{}: {value}{why}", quoted(ContextKind::InvalidArg))
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            first.trim_start_matches("error: ").to_owned()
        }
    }
}

fn texts_of(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn quote(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The form that the command wants, in one line.
fn usage_of(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let text = usage.to_string();
    let text = text.trim().trim_start_matches("Usage:");
    Some(fold_spaces(text))
}
