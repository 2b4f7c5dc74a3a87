//! Errors of the command line: clap's message in the form of every other failure.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::args::Arguments;
use crate::cli::commands::command_meant;
use crate::cli::failure::Failure;
use memories_document::types::did_you_mean;
use memories_document::types::text::fold_spaces;

/// The failure for a wrong command line.
pub(crate) fn failure_of(error: &clap::Error, arguments: &[OsString]) -> Failure {
    let text = error.render().to_string();
    // Tips and usage follow after an empty line; they become hints.
    let problem = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let mut failure = Failure::usage(fold_spaces(problem));
    if let Some(hint) = hint_on_other_flag(error) {
        return failure.hint(hint);
    }
    let suggested = command_for_word(error).map_or_else(|| suggestions(error), |name| vec![name]);
    failure.hints.extend(did_you_mean(&suggested));
    if error.kind() == ErrorKind::ArgumentConflict {
        let is_repeated = text.contains("multiple times");
        return failure.hint(if is_repeated { "give it only once" } else { "give only one of them" });
    }
    failure.hint(match (command_of(arguments), usage_of(error)) {
        (None, _) => "`memories help all` shows all commands".to_owned(),
        (Some(_), Some(usage)) => format!("usage: {usage}"),
        (Some(command), None) => format!("`memories {command} --help` shows all flags"),
    })
}

/// The hint for a flag that former versions or other programs have.
fn hint_on_other_flag(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    match flag.as_str() {
        _ if error.kind() != ErrorKind::UnknownArgument => None,
        "--confirmed-by" => {
            Some("leave it out: nobody counts writers, and `memories review` lists what a person decides")
        }
        "--as-of" => Some(
            "questions take it: recall, show, query, top, map, goals, route, list, report; `memories restore` brings a former state back",
        ),
        "--port" => Some("name address and port together: `--listen 127.0.0.1:8080`"),
        _ => None,
    }
}

/// The flags or commands that clap suggests. Clap puts the most similar last; here it comes first.
fn suggestions(error: &clap::Error) -> Vec<String> {
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let texts = kinds.into_iter().filter_map(|kind| error.get(kind));
    let mut texts: Vec<String> = texts
        .flat_map(|value| match value {
            ContextValue::String(text) => vec![text.clone()],
            ContextValue::Strings(texts) => texts.clone(),
            _ => Vec::new(),
        })
        .collect();
    texts.reverse();
    texts
}

/// The command for which other programs have the word that was given.
fn command_for_word(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    command_meant(word)
}

/// The command that the arguments name.
fn command_of(arguments: &[OsString]) -> Option<&str> {
    let all = Arguments::command();
    let mut words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    words.find(|word| all.find_subcommand(word).is_some())
}

/// The form that the command expects, on one line.
fn usage_of(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    Some(fold_spaces(usage.to_string().trim().trim_start_matches("Usage:")))
}
