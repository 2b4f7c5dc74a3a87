//! Code shared by the six corrections: targets, corrections from JSON, one transaction, the answer.

use serde_json::{Value, json};
use strum::VariantNames as _;

use crate::cli::commands::common::warn_of_secrets;
use crate::cli::commands::memory_args::JsonFields;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::types::fields::{count, flag, importance, named, text, texts};
use memories_document::types::{Moment, Outcome, Persistence, Scope, Status, one_of};
use memories_notebook::authority::Authority;
use memories_notebook::correct::{Corrected, Correction, Marks, Target, check_consistent};

/// Arguments of every correction.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CorrectionArgs {
    /// Line of the entry, if several entries share the title
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// Show what would be done; change nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub writer: WriterArgs,
}

/// End of each correction's help: the JSON form.
pub(crate) const JSON_HELP: &str = "\
Without arguments, JSON is read from stdin: one object or a list, all or
nothing:
  {\"command\": \"supersede\", \"scope\": \"23\", \"titles\": [\"old title\"],
   \"title\": \"new title\", \"text\": \"…\", \"category\": \"NOTE\"}
  {\"command\": \"invalidate\", \"scope\": \"23\", \"titles\": [\"…\"], \"reason\": \"…\"}
  {\"command\": \"mark\", \"scope\": \"23\", \"title\": \"…\", \"status\": \"active\",
   \"importance\": 900, \"persistence\": \"core\", \"pinned\": true}
  {\"command\": \"mark\", \"scope\": \"23\", \"title\": \"…\", \"witness\": [\"marta\"],
   \"told_by\": \"jordan\"}
  {\"command\": \"link\", \"scope\": \"23\", \"title\": \"…\", \"other\": \"…\",
   \"in\": \"5\"}
  {\"command\": \"forget\", \"scope\": \"23\", \"title\": \"…\"}
  {\"command\": \"rename\", \"scope\": \"23\", \"name\": \"…\"}
`supersede` takes all fields of `add`. `episode` and `turn` of what is struck go
into its reference line; without them those of the last recorded turn. An
unknown field is a warning.

Answer: a line for each title, or with --json {version, changed, results:
[{outcome, scope, title, persistence}]}; the last only where a successor stays
core.";

/// The command of a correction.
#[derive(Debug, Clone, Copy, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum CorrectionName {
    Supersede,
    Invalidate,
    Mark,
    Link,
    Forget,
    Rename,
}

/// The entry of a title.
pub(crate) fn target(scope: &Scope, title: &str, line: Option<usize>) -> Target {
    Target { scope: scope.clone(), title: title.trim().to_owned(), line }
}

/// The entries of several titles.
pub(crate) fn targets(scope: &Scope, titles: &[String], line: Option<usize>) -> Vec<Target> {
    titles.iter().map(|title| target(scope, title, line)).collect()
}

/// Applies the correction of the arguments, which name a scope, or else the corrections on stdin.
pub fn run(
    mut cli: Cli<'_>,
    name: CorrectionName,
    args: CorrectionArgs,
    scope: Option<String>,
    from_flags: impl FnOnce(Scope) -> Result<(Correction, Moment), Failure>,
) -> Result<u8, Failure> {
    args.writer.override_settings(&mut cli);
    let (command, notebook): (&str, _) = (name.into(), cli.notebook()?);
    let dated = match scope {
        Some(scope) => vec![from_flags(cli.scope(&scope)?)?],
        None if cli.ui.stdin_is_terminal() => {
            let failure = Failure::usage("no correction is given");
            return Err(failure.hint(format!(
                "`memories {command} --help` shows examples; send several at once as JSON on stdin"
            )));
        }
        None => {
            let text =
                cli.read_input("corrections as a JSON object or list, or name a scope; see `--help`")?;
            from_json(&mut cli, name, &text)?
        }
    };
    let (corrections, moments): (Vec<Correction>, Vec<Moment>) = dated.into_iter().unzip();
    for (correction, moment) in corrections.iter().zip(&moments) {
        check_moment(correction, moment)?;
    }
    check_consistent(&corrections)?;
    for correction in &corrections {
        match correction {
            Correction::Supersede(_, successor) => warn_of_secrets(&mut cli, successor.texts()),
            Correction::Invalidate(_, text) | Correction::Rename(_, text) => {
                warn_of_secrets(&mut cli, [text])
            }
            _ => {}
        }
    }
    let dry_run = args.dry_run;
    let (mut results, _) = cli.edit(&notebook, command, dry_run, |draft| {
        draft.correct_at(&corrections, &moments, Authority::Command)
    })?;
    for result in results.iter().filter(|result| result.persistence == Some(Persistence::Core)) {
        cli.ui.warning(&format!("`{}` stays core, because it supersedes a core memory", result.title));
    }
    // The forgotten memory is for the journal.
    results.iter_mut().for_each(|result| result.memory = None);
    let would = if dry_run { "would be " } else { "" };
    let text: String = results.iter().map(|result| format!("{would}{}\n", shown(result))).collect();
    cli.ui.answer(&json!({"changed": !dry_run, "results": results}), &text)
}

/// A correction that was applied, as a line of the answer.
fn shown(Corrected { outcome, scope, title, why, contested, .. }: &Corrected) -> String {
    let to = if *outcome == Outcome::Renamed { " to" } else { "" };
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let stays = contested.iter().map(|one| format!("; \"{}\" stays ({})", one.title, one.reason));
    // A memory that contests an entry is stored itself, as tentative.
    let outcome = if *outcome == Outcome::Contested { "stored as tentative" } else { outcome.name() };
    format!("{outcome}{to} \"{title}\" in {scope}{why}{}", stays.collect::<String>())
}

/// A moment is only for what strikes an entry.
fn check_moment(correction: &Correction, moment: &Moment) -> Result<(), Failure> {
    let strikes = match correction {
        Correction::Mark(_, marks) => marks.status == Some(Status::Superseded),
        Correction::Tell(..) => false,
        _ => true,
    };
    if strikes || *moment == Moment::default() {
        return Ok(());
    }
    let failure = Failure::user("`episode` and `turn` say when a memory was struck, and none is struck");
    Err(failure.hint("leave them out, or set the status `superseded`"))
}

/// The corrections of a JSON text.
fn from_json(
    cli: &mut Cli<'_>,
    called: CorrectionName,
    text: &str,
) -> Result<Vec<(Correction, Moment)>, Failure> {
    const HINT: &str = "`memories supersede --help` shows the form of each correction";
    let value: Value =
        serde_json::from_str(text).map_err(|error| Failure::user(format!("not JSON: {error}")).hint(HINT))?;
    let list = match value {
        Value::Array(list) => list,
        other => vec![other],
    };
    if list.is_empty() {
        return Err(Failure::user("the list of corrections is empty").hint(HINT));
    }
    let mut corrections = Vec::new();
    for value in &list {
        let fields = JsonFields::of(value, HINT)?;
        let name = name_of(&fields)?.unwrap_or(called);
        let correction = one_from_json(cli, name, &fields)?;
        let strikes = !matches!(name, CorrectionName::Link | CorrectionName::Forget | CorrectionName::Rename);
        if strikes {
            fields.expect(&["episode", "turn"]);
        }
        cli.ui.warnings(&fields.unknown(name.into()));
        corrections.push((correction, if strikes { fields.moment()? } else { Moment::default() }));
    }
    Ok(corrections)
}

/// The correction that a JSON object names.
fn name_of(fields: &JsonFields<'_>) -> Result<Option<CorrectionName>, Failure> {
    let Some(name) = fields.read("command", text)? else { return Ok(None) };
    let known = one_of(CorrectionName::VARIANTS);
    name.parse().map(Some).map_err(|_| fields.wrong(format!("`{name}` is not a correction: use {known}")))
}

fn one_from_json(
    cli: &Cli<'_>,
    name: CorrectionName,
    fields: &JsonFields<'_>,
) -> Result<Correction, Failure> {
    let scope = fields.required("scope")?;
    let line_of =
        |name| Ok::<_, Failure>(fields.read(name, count)?.and_then(|line| usize::try_from(line).ok()));
    let line = line_of("line")?;
    let many = || {
        let titles = fields.read("titles", texts)?.unwrap_or_default();
        Ok::<_, Failure>(targets(&cli.scope(&scope)?, &titles, line))
    };
    let one = || {
        let title = fields.required("title")?;
        Ok::<_, Failure>(target(&cli.scope(&scope)?, &title, line))
    };
    Ok(match name {
        CorrectionName::Supersede => Correction::Supersede(many()?, Box::new(fields.memory()?)),
        CorrectionName::Invalidate => Correction::Invalidate(many()?, fields.required("reason")?),
        CorrectionName::Mark => {
            let marks = Marks {
                status: fields.read("status", named)?,
                importance: fields.read("importance", importance)?,
                persistence: fields.read("persistence", named)?,
                pinned: fields.read("pinned", flag)?,
            };
            match fields.telling()? {
                None => Correction::Mark(one()?, marks),
                Some(telling) if marks == Marks::default() => Correction::Tell(one()?, telling),
                Some(_) => return Err(fields.wrong("`witness` tells a memory, and sets nothing else")),
            }
        }
        CorrectionName::Link => {
            let other_scope = cli.scope(&fields.read("in", text)?.unwrap_or_else(|| scope.clone()))?;
            let other = target(&other_scope, &fields.required("other")?, line_of("other_line")?);
            Correction::Link(one()?, other)
        }
        CorrectionName::Forget => Correction::Forget(one()?),
        CorrectionName::Rename => Correction::Rename(cli.scope(&scope)?, fields.required("name")?),
    })
}
