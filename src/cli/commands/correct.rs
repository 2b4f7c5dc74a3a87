//! Code shared by the five corrections: targets, corrections from JSON, one transaction, the answer.

use serde_json::{Value, json};

use crate::cli::commands::common::{resolve_scope, warn_of_secrets};
use crate::cli::commands::memory_args::JsonFields;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::notebook::correct::{Corrected, Correction, Marks, Target, check_consistent};
use crate::store::Store;
use crate::types::fields::{count, named, text, texts};

/// Arguments of every correction.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CorrectionArgs {
    /// Line of the entry, if several entries share the title
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// Show what would be done; change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// End of each correction's help: the JSON form.
pub(crate) const JSON_HELP: &str = "\
Without arguments, JSON is read from stdin: one object or a list, all or nothing:
  {\"command\": \"supersede\", \"scope\": \"23\", \"titles\": [\"old title\"],
   \"title\": \"new title\", \"text\": \"…\", \"category\": \"NOTE\"}
  {\"command\": \"invalidate\", \"scope\": \"23\", \"titles\": [\"…\"], \"reason\": \"…\"}
  {\"command\": \"mark\", \"scope\": \"23\", \"title\": \"…\", \"status\": \"active\",
   \"importance\": 900, \"persistence\": \"core\"}
  {\"command\": \"forget\", \"scope\": \"23\", \"title\": \"…\"}
  {\"command\": \"rename\", \"scope\": \"23\", \"name\": \"…\"}

Answer: a line for each title, or with --json
{version, changed, results: [{outcome, scope, title}]}.";

/// Resolves the entries that the arguments name.
pub(crate) fn targets(
    store: &Store,
    scope: &str,
    titles: &[String],
    line: Option<usize>,
) -> Result<Vec<Target>, Failure> {
    let scope = resolve_scope(store, scope)?;
    Ok(titles
        .iter()
        .map(|title| Target { scope: scope.clone(), title: title.trim().to_owned(), line })
        .collect())
}

/// Applies the correction of the arguments or, without arguments, the corrections on stdin.
pub fn run(
    mut cli: Cli<'_>,
    command: &'static str,
    args: CorrectionArgs,
    from_flags: impl FnOnce(&Store) -> Option<Result<Correction, Failure>>,
) -> Result<u8, Failure> {
    let notebook = cli.notebook()?;
    let corrections = match from_flags(notebook.store()) {
        Some(correction) => vec![correction?],
        None if cli.ui.stdin_is_terminal() => {
            let failure = Failure::usage("no correction is given");
            return Err(failure.hint(format!(
                "`memories {command} --help` shows examples; send several at once as JSON on stdin"
            )));
        }
        None => from_json(notebook.store(), command, &cli.read_input("a list of corrections")?)?,
    };
    check_consistent(&corrections)?;
    for correction in &corrections {
        if let Correction::Supersede(_, successor) = correction {
            warn_of_secrets(&mut cli, successor);
        }
    }
    let (results, _) = cli.edit(&notebook, command, args.dry_run, |draft| draft.correct(&corrections))?;
    show_results(cli, &results, args.dry_run)
}

fn show_results(cli: Cli<'_>, results: &[Corrected], dry_run: bool) -> Result<u8, Failure> {
    if cli.ui.json {
        let list: Vec<Value> = results
            .iter()
            .map(|result| json!({"outcome": result.outcome, "scope": result.scope, "title": result.title}))
            .collect();
        cli.ui.json_line(&json!({"version": 1, "changed": !dry_run, "results": list}))?;
        return Ok(0);
    }
    for result in results {
        let would = if dry_run { "would be " } else { "" };
        let scope = result.scope.label("");
        let name = if result.outcome == "renamed" { " to" } else { "" };
        cli.ui.data(&format!("{would}{}{name} \"{}\" in {scope}\n", result.outcome, result.title))?;
    }
    Ok(0)
}

fn from_json(store: &Store, command: &str, text: &str) -> Result<Vec<Correction>, Failure> {
    const HINT: &str = "`memories supersede --help` shows the form of each correction";
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Failure::user(anyhow::anyhow!("not JSON: {error}")).hint(HINT))?;
    let list = match value {
        Value::Array(list) => list,
        other => vec![other],
    };
    if list.is_empty() {
        return Err(Failure::user(anyhow::anyhow!("the list of corrections is empty")).hint(HINT));
    }
    list.iter().map(|value| one_from_json(store, command, &JsonFields::of(value, HINT)?)).collect()
}

fn one_from_json(store: &Store, command: &str, fields: &JsonFields<'_>) -> Result<Correction, Failure> {
    let scope = fields.required("scope")?;
    let line = fields.read("line", count)?.and_then(|line| usize::try_from(line).ok());
    let many = |name: &str| targets(store, &scope, &fields.read(name, texts)?.unwrap_or_default(), line);
    let one = || {
        let mut targets = targets(store, &scope, &[fields.required("title")?], line)?;
        Ok::<_, Failure>(targets.remove(0))
    };
    match fields.read("command", text)?.as_deref().unwrap_or(command) {
        "supersede" => Ok(Correction::Supersede(many("titles")?, Box::new(fields.memory()?))),
        "invalidate" => Ok(Correction::Invalidate(many("titles")?, fields.required("reason")?)),
        "mark" => {
            let marks = Marks {
                status: fields.read("status", named)?,
                importance: fields.importance(),
                persistence: fields.read("persistence", named)?,
            };
            Ok(Correction::Mark(one()?, marks))
        }
        "forget" => Ok(Correction::Forget(one()?)),
        "rename" => Ok(Correction::Rename(resolve_scope(store, &scope)?, fields.required("name")?)),
        other => Err(fields.wrong(format!("`{other}` is not a correction"))),
    }
}
