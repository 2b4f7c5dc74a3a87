//! Plans of `consolidate` as a person reads and keeps them.
//!
//! An object of JSON enters, as a command printed it and a person may have edited it; a plan leaves. A decision enters;
//! its lines leave.

use std::path::Path;

use serde_json::Value;

use crate::ask::consolidate::{AppliedPlan, Candidates, ProposedPlan};
use crate::ask::plan::{Action, Decision, plan_of};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::ui::Ui;
use memories_document::types::{Scope, json};

/// Lower bound of `max_output_tokens`, in tokens: a plan is longer than other answers.
pub(super) const MIN_PLAN_TOKENS: u32 = 2000;

/// Notice for a plan that was only shown.
pub(super) const ONLY_SHOWN: &str =
    "nothing is changed: `--apply` writes; `--json` prints a plan to keep for `--plan FILE --apply`";

/// Reads the file of a plan; `hint` names the command that prints one.
pub(super) fn read_plan_file(cli: &mut Cli<'_>, file: &Path, hint: &str) -> Result<Value, Failure> {
    let bytes = cli.read_file(file, hint)?;
    json::read(&bytes).map_err(|error| unusable(file, error.to_string(), hint))
}

/// The failure for the file of a plan that cannot be used.
pub(super) fn unusable(file: &Path, problem: String, hint: &str) -> Failure {
    Failure::user(format!("cannot use the plan `{}`: {problem}", file.display())).hint(hint)
}

/// Names the parts of a plan that were refused, and why.
pub(super) fn warn_of_refused(ui: &mut Ui, applied: &AppliedPlan) {
    for refused in &applied.refused {
        let titles = quoted(&refused.decision.titles);
        ui.warning(&format!("{} {titles} is refused: {}", refused.decision.action, refused.why));
    }
}

/// The plan of an object that `--json` prints, or bare decisions.
pub(super) fn given_in(value: &Value, scope: &Scope, found: &Candidates) -> Result<ProposedPlan, String> {
    if let Some(other) = value["scope"].as_str().filter(|other| *other != scope.to_string()) {
        return Err(format!("it is a plan for {other}, not for {scope}"));
    }
    let plan = if value["plan"].is_object() { &value["plan"] } else { value };
    let mut warnings = Vec::new();
    let plan = plan.as_object().ok_or_else(|| "it is not an object".to_owned());
    let plan = plan.and_then(|plan| plan_of(plan, &mut warnings))?;
    let seen = match &value["memories"] {
        Value::Null => found.seen(),
        memories => serde_json::from_value(memories.clone()).map_err(|error| error.to_string())?,
    };
    Ok(ProposedPlan { plan, seen, model: None, warnings })
}

/// One decision as text, with its reason below.
pub(super) fn render(decision: &Decision) -> String {
    let titles = quoted(&decision.titles);
    let mut out = match decision.action {
        Action::Merge => {
            let category =
                decision.category.as_ref().map(|category| format!("[{category}] ")).unwrap_or_default();
            let text = decision.text.replace('\n', "\n             ");
            format!("  merge      {titles}\n        into {category}{}\n             {text}\n", decision.title)
        }
        Action::Supersede => format!("  supersede  {titles}\n          by \"{}\"\n", decision.title),
        Action::Drop | Action::Keep => format!("  {:<9}  {titles}\n", decision.action),
    };
    if !decision.reason.is_empty() {
        out.push_str(&format!("         why {}\n", decision.reason));
    }
    out
}

/// Titles in quotation marks.
fn quoted(titles: &[String]) -> String {
    let quoted: Vec<String> = titles.iter().map(|title| format!("\"{title}\"")).collect();
    quoted.join(" + ")
}
