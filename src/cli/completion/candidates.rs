//! The candidates for the values of flags and arguments, by the names that help gives these values.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use strum::VariantNames as _;

use crate::cli::facts::{Candidates, Facts};
use crate::cli::section_order::Order;
use crate::cli::settings::{ProcessEnvironment, Settings};
use crate::cli::working_folder::WorkingFolder;
use memories_chat::api_format::ApiFormat;
use memories_chat::inject::block::InjectMode;
use memories_document::types::text::{fold_case, fold_spaces, truncate};
use memories_document::types::unseen::visible;
use memories_document::types::{Persistence, Scope, ScopeName, Status, fold_title};
use memories_document::{Document, KNOWN_CATEGORIES};
use memories_llm::Provider;
use memories_search::filter::MemoryKind;
use memories_store::Store;

/// Characters of a memory's text that stand beside its title.
const HELP: usize = 60;

/// The command line with candidates for its values. `words` are those of the line that is completed.
pub(super) fn attached(
    mut program: Command,
    words: &[OsString],
    environment: ProcessEnvironment,
    facts_of: impl Fn(&str) -> Option<Facts>,
) -> Command {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = Arc::new(Line { words, environment, file: OnceLock::new() });
    // Commands have no arguments before.
    program.build();
    program.mut_subcommands(|command| {
        attached_to(command, &facts_of, &line).mut_subcommands(|inner| attached_to(inner, &facts_of, &line))
    })
}

fn attached_to(command: Command, facts_of: &impl Fn(&str) -> Option<Facts>, line: &Arc<Line>) -> Command {
    let own = facts_of(command.get_name()).map_or(&[][..], |facts| facts.completes);
    command.mut_args(|arg| with_candidates(arg, own, line))
}

fn with_candidates(arg: Arg, own: &[(&str, Candidates)], line: &Arc<Line>) -> Arg {
    let Some(name) = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string) else {
        return arg;
    };
    let own = own.iter().find(|(value, _)| *value == name).map(|(_, candidates)| *candidates);
    let Some(candidates) = own.or_else(|| of_all(&name)) else { return arg };
    if candidates == Candidates::Titles && !arg.is_positional() {
        return arg;
    }
    let line = Arc::clone(line);
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| match candidates {
        Candidates::Places => line.scopes(typed, true),
        Candidates::Scopes => line.scopes(typed, false),
        Candidates::Titles => line.titles(typed),
        Candidates::Values(values) => matching(typed, values.iter().map(|value| (*value, ""))),
    }))
}

/// The candidates for a value that has the same name in all commands.
fn of_all(name: &str) -> Option<Candidates> {
    Some(match name {
        "PLACE" => Candidates::Places,
        "SCOPE" => Candidates::Scopes,
        "MODE" => Candidates::Values(InjectMode::VARIANTS),
        "SHAPE" => Candidates::Values(ApiFormat::VARIANTS),
        "ORDER" => Candidates::Values(Order::VARIANTS),
        "PROVIDER" => Candidates::Values(Provider::VARIANTS),
        "TYPE" => Candidates::Values(MemoryKind::VARIANTS),
        "STATUS" => Candidates::Values(Status::VARIANTS),
        "PERSISTENCE" => Candidates::Values(Persistence::VARIANTS),
        "CATEGORY" => Candidates::Values(&KNOWN_CATEGORIES),
        "BOOL" => Candidates::Values(&["true", "false"]),
        _ => return None,
    })
}

/// The values that begin with the typed text, without regard to case.
fn matching<'a>(typed: &OsStr, values: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<CompletionCandidate> {
    let typed = fold_case(&typed.to_string_lossy());
    let begins = |value: &str| fold_case(value).starts_with(&typed);
    // A name with what a terminal obeys could not be typed, and is not offered.
    let is_plain = |value: &str| visible(value) == value && !value.contains('\n');
    values
        .filter(|(value, _)| begins(value) && is_plain(value))
        .map(|(value, help)| {
            let help = (!help.is_empty()).then(|| visible(help).into_owned().into());
            CompletionCandidate::new(value.to_owned()).help(help)
        })
        .collect()
}

/// The line that is completed.
struct Line {
    words: Vec<String>,
    environment: ProcessEnvironment,
    file: OnceLock<KnownFile>,
}

/// The contents of the memory file that a line may name.
#[derive(Default)]
struct KnownFile {
    /// Scopes, with names.
    scopes: Vec<(Scope, String)>,
    /// Titles in the scope that the line names, with the beginning of each text.
    titles: Vec<(String, String)>,
}

impl Line {
    fn scopes(&self, typed: &OsStr, places_only: bool) -> Vec<CompletionCandidate> {
        let scopes = &self.file().scopes;
        let mut bearers: HashMap<String, usize> = HashMap::new();
        for (_, name) in scopes {
            *bearers.entry(fold_title(name)).or_default() += 1;
        }
        let by_number = typed.to_string_lossy().starts_with(|c: char| c.is_ascii_digit());
        let mut values: Vec<(String, &str)> = Vec::new();
        for (scope, name) in scopes {
            let is_name = bearers[&fold_title(name)] == 1 && matches!(name.parse(), Ok(ScopeName::Name(_)));
            match scope {
                Scope::Location(_) if is_name && !by_number => values.push((name.clone(), "")),
                Scope::Location(id) => values.push((id.to_string(), name)),
                other if !places_only => values.push((other.to_string(), name)),
                _ => {}
            }
        }
        matching(typed, values.iter().map(|(value, help)| (value.as_str(), *help)))
    }

    fn titles(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let titles = &self.file().titles;
        matching(typed, titles.iter().map(|(title, text)| (title.as_str(), text.as_str())))
    }

    /// The memory file; where it cannot be read there are no candidates.
    fn file(&self) -> &KnownFile {
        self.file.get_or_init(|| self.read().unwrap_or_default())
    }

    fn read(&self) -> Option<KnownFile> {
        let environment = self.environment.clone();
        let (file, config) = (self.flag(&["-f", "--file"]), self.flag(&["--config"]));
        let (settings, _) = Settings::load(file, config, Duration::ZERO, environment, false).ok()?;
        let store = Store::open(&settings.file, Duration::ZERO).ok()?;
        let document = Document::parse(store.read().ok()??);
        let headings = document.headings();
        let scopes: Vec<(Scope, String)> =
            headings.map(|heading| (heading.scope.clone(), heading.name.clone())).collect();
        let sections = self
            .scopes_in(&document, &settings.working_folder)
            .into_iter()
            .filter_map(|scope| document.section(&scope));
        let titles = sections.flat_map(|section| section.memories);
        let titles = titles.map(|memory| (memory.title.clone(), truncate(&fold_spaces(&memory.text), HELP)));
        Some(KnownFile { scopes, titles: titles.collect() })
    }

    /// The value of a flag on the line.
    fn flag(&self, names: &[&str]) -> Option<PathBuf> {
        let mut pairs = self.words.windows(2);
        let apart = pairs.find(|pair| names.contains(&pair[0].as_str())).map(|pair| pair[1].as_str());
        let joined = || {
            let mut words = self.words.iter();
            words.find_map(|word| names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('=')))
        };
        apart.or_else(joined).map(PathBuf::from)
    }

    /// The first scope that the line names and the file has, and the scope of the flag `--in`.
    fn scopes_in(&self, document: &Document, folder: &WorkingFolder) -> Vec<Scope> {
        let Some((_, before)) = self.words.split_last() else { return Vec::new() };
        let scope_of = |word: &str| match folder.scope_name(word).ok()? {
            ScopeName::Scope(scope) => {
                document.headings().any(|heading| heading.scope == scope).then_some(scope)
            }
            ScopeName::Name(name) | ScopeName::Place(name) => {
                let heading = document.headings().find(|heading| heading.is_called(&name))?;
                Some(heading.scope.clone())
            }
        };
        let first = before.iter().skip(2).find_map(|word| scope_of(word));
        let other = self.flag(&["--in"]).and_then(|name| scope_of(name.to_str()?));
        first.iter().cloned().chain(other.filter(|other| first.as_ref() != Some(other))).collect()
    }
}
