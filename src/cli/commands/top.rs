//! `top`: shows the most important memories of all places.

use serde_json::{Value, json};

use crate::cli::commands::common::at_turn;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::types::frame::{continued, one_line, text_below};
use memories_document::types::model_text::ModelText;
use memories_notebook::{MemoryObjects, Snapshot};
use memories_search::top::{RankedMemory, top};

/// Limit on the number of memories.
const MAX_SHOWN: usize = 20;

/// Default half-life of importance, in turns of play.
const HALF_LIFE: &str = "200";

/// Show the most important memories of all places
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Of equally important memories those that gained more points come first, then
the younger ones.

With --decay importance decays with age, in turns of play: it becomes importance
× 0.5^(age / half-life). Core memories do not decay, nor do memories without a
turn. Nothing is written.

Examples:
  memories top
  memories top -n 3
  memories top --decay             half-life of 200 turns
  memories top --decay 50 --json

With --json: {version, memories: [{scope, name, category, title, text,
importance, …}]}; with --decay also {decayed, age}.")]
pub(crate) struct TopArgs {
    /// Number of memories; at most 20 are shown
    #[arg(short = 'n', long, value_name = "N", default_value = "10", allow_negative_numbers = true, value_parser = parse_shown)]
    number: usize,
    /// Let importance decay with age; half-life in turns [default: 200]
    #[arg(long, value_name = "TURNS", num_args = 0..=1, default_missing_value = HALF_LIFE, allow_negative_numbers = true)]
    #[arg(value_parser = parse_half_life)]
    decay: Option<f64>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

fn parse_shown(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is not a number from 1 to {MAX_SHOWN}"))
}

fn parse_half_life(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is not a number of turns above 0"))
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { pages: true, ..Facts::of_question(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: TopArgs) -> Result<u8, Failure> {
    let TopArgs { number: wanted, decay, view } = args;
    view.read_for(&mut cli);
    let number = wanted.min(MAX_SHOWN);
    if number < wanted {
        cli.ui.warning(&format!("`top` shows {MAX_SHOWN} memories at most, and {wanted} were asked for"));
    }
    let snapshot = Snapshot::read(&cli.store()?)?;
    let ranked = top(&snapshot, number, decay);
    if cli.ui.json {
        let objects = MemoryObjects::of(&snapshot);
        let memories = ranked.iter().map(|ranked| object(&objects, ranked, decay.is_some()));
        return cli.ui.json_answer(&json!({"memories": memories.collect::<Value>()}));
    }
    if ranked.is_empty() {
        cli.ui.data("No memories recorded yet.\n")?;
        return Ok(0);
    }
    cli.ui.data(&format!("Top {number} Most Important Memories:\n"))?;
    for (at, ranked) in ranked.iter().enumerate() {
        cli.ui.data(&ModelText::of(&render(at + 1, ranked, decay.is_some())))?;
    }
    Ok(0)
}

fn render(number: usize, ranked: &RankedMemory, decayed: bool) -> String {
    let RankedMemory { place, memory, age, importance, .. } = ranked;
    let place = at_turn(place, memory);
    let text = continued(&text_below(&memory.title, &memory.text), "     ");
    let text = if text.is_empty() { String::new() } else { format!(": {text}") };
    let mut out = format!("{number}. [{}] {}{text}\n", one_line(&place), one_line(&memory.title));
    out.push_str(&format!("   Importance: {}/1000", memory.importance()));
    if let (true, Some(age)) = (decayed, age) {
        out.push_str(&format!(", {importance:.0} after {age} turns"));
    }
    out.push('\n');
    out
}

/// A ranked memory as JSON, with the effect of age on its importance.
fn object(objects: &MemoryObjects<'_>, ranked: &RankedMemory, is_decayed: bool) -> Value {
    let RankedMemory { scope, name, memory, age, importance, .. } = ranked;
    let mut value = json!(objects.object(scope, name, memory));
    if is_decayed {
        value["decayed"] = json!((importance * 10.0).round() / 10.0);
        value["age"] = json!(age);
    }
    value
}
