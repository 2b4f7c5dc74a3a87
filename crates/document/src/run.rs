//! The best run of a game: the gains of its points, in order. It is the text of an entry, so that all that is done with
//! entries is done with it.
//!
//! Parsing takes the text, writing gives the canonical form of it. A line that is not understood is a person's remark.

use serde::Serialize;

use crate::evidence::{
    is_list_item, split_code_span, split_count, split_mark, write_code_span, write_count, write_mark,
};
use crate::fields::{parse_fields, write_fields};
use crate::text::stored_line;
use crate::types::{Memory, Provenance, Scope, Span, same_title};
use crate::ways::{split_link, write_link};

/// The title of the entry.
pub const BEST_RUN: &str = "Best run";

/// The first words of the line that says where a run begins.
const FROM: &str = "From ";

/// The field of a gain whose last action was denied, before the episode.
const FAILED: &str = "failed Ep";

/// The gains of a game, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The place where it begins; `None` where no line says so.
    pub begins_at: Option<Place>,
    /// The gains, in order.
    pub gains: Vec<Gain>,
}

/// A place of the game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The engine's id.
    pub id: u64,
    /// The name; may be empty.
    pub name: String,
}

/// A gain, and the actions since the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gain {
    /// The kind and size of the gain.
    pub earned: Earned,
    /// Where the player was afterwards.
    pub at: Place,
    /// Turn of the gain.
    pub turn: Option<u64>,
    /// In how many episodes it was made so.
    pub count: u64,
    /// The episode in which its last action was denied since.
    pub failed: Option<u64>,
    /// The actions, one for each time that it is done.
    pub steps: Vec<String>,
}

/// The kind of a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earned {
    /// The score rose by this number of points.
    Points(i64),
    /// The game was won.
    Won,
    /// A place was reached that is a goal.
    Reached,
    /// A person marked the run here.
    Done,
}

impl Earned {
    fn parse(text: &str) -> Option<Earned> {
        match text {
            "won" => Some(Earned::Won),
            "reached" => Some(Earned::Reached),
            "done" => Some(Earned::Done),
            points => Some(Earned::Points(points.strip_prefix('+')?.parse().ok()?)),
        }
    }
}

impl std::fmt::Display for Earned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Earned::Points(points) => write!(f, "{points:+}"),
            Earned::Won => f.write_str("won"),
            Earned::Reached => f.write_str("reached"),
            Earned::Done => f.write_str("done"),
        }
    }
}

impl Run {
    /// The run of an entry; `None` for any other entry.
    pub fn of(memory: &Memory) -> Option<Run> {
        let run = Run::parse(&memory.text);
        (memory.is_live() && same_title(&memory.title, BEST_RUN) && !run.gains.is_empty()).then_some(run)
    }

    /// Reads a text.
    pub fn parse(text: &str) -> Run {
        let mut lines = text.lines().map(str::trim).peekable();
        let begins_at = lines.peek().and_then(|line| place(line.strip_prefix(FROM)?)).map(|(place, _)| place);
        Run { begins_at, gains: lines.filter_map(Gain::parse).collect() }
    }

    /// The canonical text.
    pub fn write(&self) -> String {
        let from = self.begins_at.iter().map(|place| format!("{FROM}{}", place.link()));
        from.chain(self.gains.iter().map(Gain::write)).collect::<Vec<_>>().join("\n")
    }

    /// The points that it made.
    pub fn points(&self) -> i64 {
        self.gains.iter().map(Gain::points).fold(0, i64::saturating_add)
    }

    /// True if it ends in a victory.
    pub fn has_won(&self) -> bool {
        self.gains.iter().any(|gain| gain.earned == Earned::Won)
    }
}

impl Place {
    fn link(&self) -> String {
        write_link(self.id, &stored_line(&self.name))
    }

    /// The scope of the place.
    pub fn scope(&self) -> Scope {
        Scope::Location(self.id)
    }
}

impl Gain {
    /// The points; 0 where it is no rise of the score.
    pub fn points(&self) -> i64 {
        match self.earned {
            Earned::Points(points) => points,
            _ => 0,
        }
    }

    /// Reads `- +10 at [Kitchen](#location-203-kitchen) *(T31)* ×2: n ×3, open window`.
    fn parse(line: &str) -> Option<Gain> {
        let line = line.get(2..).filter(|_| is_list_item(line))?.trim_start();
        let (earned, rest) = line.split_once(" at ")?;
        let (at, rest) = place(rest)?;
        let (mark, rest) = split_mark(rest.trim_start());
        let fields = mark.map(parse_fields).unwrap_or_default();
        let failed = fields.other.iter().find_map(|field| field.strip_prefix(FAILED)?.parse().ok());
        let (count, rest) = split_count(rest)?;
        let steps = split_steps(rest.trim_start().strip_prefix(':')?)?;
        let turn = fields.turns.map(|turns| turns.last);
        Some(Gain { earned: Earned::parse(earned)?, at, turn, count, failed, steps })
    }

    fn write(&self) -> String {
        let Gain { earned, at, turn, count, failed, steps } = self;
        let other = failed.map(|episode| format!("{FAILED}{episode}")).into_iter().collect();
        let fields = Provenance { turns: turn.map(Span::one), other, ..Provenance::default() };
        let mark = write_mark(&write_fields(&fields));
        format!("- {earned} at {}{mark}{}: {}", at.link(), write_count(*count), write_steps(steps))
    }
}

fn place(text: &str) -> Option<(Place, &str)> {
    let (id, name, rest) = split_link(text)?;
    Some((Place { id, name }, rest))
}

/// Actions between commas, each as often as it says.
fn split_steps(text: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (action, behind) = match split_code_span(rest) {
            Some(split) => split,
            None => rest.split_at(rest.find([',', '×']).unwrap_or(rest.len())),
        };
        let (count, behind) = split_count(behind)?;
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None => Some(behind).filter(|behind| behind.is_empty())?,
        };
        let action = Some(action.trim()).filter(|action| !action.is_empty())?;
        let count = usize::try_from(count).ok().filter(|count| *count <= MAX_STEPS - steps.len())?;
        steps.extend(std::iter::repeat_n(action.to_owned(), count));
    }
    Some(steps)
}

/// Actions of one gain; a line with more is a slip, and no gain.
const MAX_STEPS: usize = 9999;

/// Actions between commas; those that follow each other and are the same stand once, with their number.
pub fn write_steps(steps: &[String]) -> String {
    let runs = steps.chunk_by(|one, other| one == other);
    let written = runs.map(|run| {
        let action = stored_line(&run[0]);
        let is_plain = |c: char| c.is_alphanumeric() || " '\"-.!?/".contains(c);
        let action = if action.chars().all(is_plain) { action } else { write_code_span(&action) };
        format!("{action}{}", write_count(run.len() as u64))
    });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_run_is_a_line_for_each_gain() {
        let text = "From [West of House](#location-180-west-of-house)\n\
                    - +10 at [Kitchen](#location-203-kitchen) *(T31)* ×2: n ×2, open window, `say \"a, b\"`\n\
                    - won at [Stone Barrow](#location-4-stone-barrow) *(T40, failed Ep4)*: w";
        let run = Run::parse(text);
        assert_eq!(run.write(), text);
        assert_eq!((run.points(), run.has_won(), run.begins_at.as_ref().unwrap().id), (10, true, 180));
        let first = &run.gains[0];
        assert_eq!((first.count, first.turn, first.failed), (2, Some(31), None));
        assert_eq!(first.steps, ["n", "n", "open window", "say \"a, b\""]);
        assert_eq!(run.gains[1].failed, Some(4));
        let remarked = format!("{text}\n\nMind the thief.\n- five points at the end");
        assert_eq!(Run::parse(&remarked), run, "a remark is no gain");
        for count in [10_000, u64::MAX] {
            let endless = format!("- +1 at [Hall](#location-1-hall): wait ×{count}");
            assert_eq!(Run::parse(&endless).gains, [], "{count}");
        }
    }

    proptest! {
        #[test]
        fn runs_come_back(
            steps in prop::collection::vec("[`a, ×*\\[é-]{1,6}", 1..6), points in -5..500_i64, name in "\\PC{0,12}",
            id: u64, count in 1..9_u64, turn: Option<u64>, failed: Option<u64>,
        ) {
            let steps: Vec<String> =
                steps.iter().map(|step| stored_line(step)).filter(|step| !step.trim().is_empty()).collect();
            let name = stored_line(&name);
            prop_assume!(!steps.is_empty() && name != format!("Location {id}"));
            let at = Place { id, name };
            let earned = Earned::Points(points.max(0));
            let gain = Gain { earned, at: at.clone(), turn, count, failed, steps };
            let run = Run { begins_at: Some(at), gains: vec![gain] };
            prop_assert_eq!(Run::parse(&run.write()), run);
        }
    }
}
