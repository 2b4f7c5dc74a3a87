//! The journal for people: each entry as one line of text, and filters.
//!
//! Texts of games and models are shown without control characters.

use strum::VariantNames as _;

use memories_document::fields::write_moment;
use memories_document::nearest;
use memories_document::text::stored_line;
use memories_document::types::text::truncate;
use memories_document::types::{Moment, Outcome, Scope, did_you_mean, one_of};
use memories_recall::budget::cut_at_word;
use memories_store::journal::entry::Entry;
use memories_store::journal::text::Text;

/// Characters of an action that are shown.
const ACTION_CHARS: usize = 80;

/// Characters of a model's answer that are shown.
const ANSWER_CHARS: usize = 300;

/// An outcome by its name, also with spaces or hyphens.
///
/// # Errors
///
/// Names the outcomes that are nearest, or all.
pub fn parse_outcome(text: &str) -> Result<Outcome, String> {
    let name = text.trim().to_lowercase().replace([' ', '-'], "_");
    name.parse().map_err(|_| {
        let near = did_you_mean(&nearest(&name, Outcome::VARIANTS.iter().copied(), 3));
        let near = near.unwrap_or_else(|| format!("use {}", one_of(Outcome::VARIANTS)));
        format!("`{text}` is not an outcome: {near}")
    })
}

/// Conditions that an entry must meet, all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Done at this place, or written to this scope.
    pub scope: Option<Scope>,
    /// The outcome of the entry or of one memory in it.
    pub outcome: Option<Outcome>,
    /// Done in this episode.
    pub episode: Option<u64>,
}

/// True if it meets all conditions.
pub fn passes(entry: &Entry<'_>, filter: &LogFilter) -> bool {
    let LogFilter { scope, outcome, episode } = filter;
    scope.as_ref().is_none_or(|scope| concerns(entry, scope))
        && outcome.is_none_or(|outcome| has_outcome(entry, outcome))
        && episode.is_none_or(|episode| episode_of(entry) == Some(episode))
}

fn concerns(entry: &Entry<'_>, scope: &Scope) -> bool {
    let written = scope.to_string();
    is_here(entry, &written) || entry.parts().any(|part| text(&part.scope) == written)
}

/// True if this is the outcome of the entry or of one memory in it.
fn has_outcome(entry: &Entry<'_>, outcome: Outcome) -> bool {
    entry.has(outcome)
        || entry.parts().any(|part| part.has(outcome))
        || (outcome == Outcome::Invalidated && entry.invalidated.iter().flatten().next().is_some())
        || (outcome == Outcome::Superseded && entry.parts().any(|part| !part.superseded.is_empty()))
}

fn episode_of(entry: &Entry<'_>) -> Option<u64> {
    entry.turn.as_ref().map_or(entry.episode, |turn| turn.episode)
}

/// The entry on one line: `2026-01-31T10:40:00Z  Ep1 T3  Hall (5)  open door → stored "Open door": why`.
pub fn render(entry: &Entry<'_>) -> String {
    let mut columns = vec![stored_line(text(&entry.time))];
    let turn = entry.turn.as_ref();
    let number = turn.and_then(|turn| turn.turn);
    columns.push(write_moment(&Moment { episode: episode_of(entry), turn: number, ..Moment::default() }));
    if let Some(spot) = turn.and_then(|turn| turn.location_before.as_ref()) {
        let id = spot.id.map(|id| format!("({id})"));
        let name = Some(stored_line(text(&spot.name))).filter(|name| !name.is_empty());
        columns.push([name, id].into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    let command = stored_line(text(&entry.command));
    let action = turn.map(|turn| cut_at_word(&stored_line(text(&turn.action)), ACTION_CHARS));
    let did = match action {
        Some(action) if command.is_empty() => action,
        Some(action) => format!("{action} ({command})"),
        None => command,
    };
    let why = why(entry);
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let answered = answer_without_effect(entry).unwrap_or_default();
    columns.push(format!("{did} → {}{why}{answered}", results(entry)));
    columns.retain(|column| !column.is_empty());
    columns.join("  ")
}

/// The model's answer where nothing of it was stored: ` · the model said: {…}`.
fn answer_without_effect(entry: &Entry<'_>) -> Option<String> {
    let unused = [Outcome::Declined, Outcome::Failed, Outcome::Queued, Outcome::Unchanged];
    let is_unused = unused.into_iter().any(|outcome| entry.has(outcome));
    let answer = entry.model.as_ref().filter(|_| is_unused)?.answer.as_deref()?;
    let answer = stored_line(answer);
    Some(format!(" · the model said: {}", truncate(&answer, ANSWER_CHARS))).filter(|_| !answer.is_empty())
}

/// The outcome with the titles of the memories.
fn results(entry: &Entry<'_>) -> String {
    let quoted = |title: &Text<'_>| format!("\"{}\"", stored_line(title));
    let mut said: Vec<String> = Vec::new();
    for part in entry.parts() {
        let title = part.title.as_ref().map(&quoted).unwrap_or_default();
        let elsewhere = part.scope.as_ref().filter(|scope| !is_here(entry, scope));
        let elsewhere = elsewhere.map(|scope| format!(" in {}", stored_line(scope)));
        let outcome = stored_line(text(&part.outcome));
        let contested = part.contested.iter().map(|title| format!("contested {}", quoted(title)));
        said.extend(contested);
        let outcome = if part.has(Outcome::Contested) { "stored".to_owned() } else { outcome };
        let importance = part.importance.map(|importance| format!(", importance {importance}"));
        said.push(format!(
            "{outcome} {title}{}{}",
            elsewhere.unwrap_or_default(),
            importance.unwrap_or_default()
        ));
        said.extend(part.superseded.iter().map(|title| format!("superseded {}", quoted(title))));
    }
    said.extend(entry.invalidated.iter().flatten().map(|title| format!("invalidated {}", quoted(title))));
    let outcome = text(&entry.outcome);
    // Where each memory has its outcome, that of the whole is not needed.
    if said.is_empty() || entry.is_queued() {
        said.insert(0, stored_line(outcome));
    }
    said.join(", ")
}

fn is_here(entry: &Entry<'_>, scope: &str) -> bool {
    let here = entry.turn.as_ref().and_then(|turn| turn.location_before.as_ref()?.id);
    here.is_some_and(|id| Scope::Location(id).to_string() == scope)
}

/// The reason of what was decided, and the error of the model; empty if there is neither.
pub fn why(entry: &Entry<'_>) -> String {
    let reasoning = stored_line(text(&entry.reasoning));
    let error = entry.model.as_ref().map(|model| stored_line(text(&model.error))).unwrap_or_default();
    [reasoning, error].into_iter().filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ")
}

fn text<'a>(text: &'a Option<Text<'_>>) -> &'a str {
    text.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_store::journal::entry::PlayedTurn;

    const TURN: &str = r#"{"version": 1, "time": "2026-01-31T10:40:00Z", "outcome": "stored", "turn":
        {"episode": 2, "turn": 7, "action": "give lunch\nto troll", "response": "…", "location_before": {"id": 5, "name": "Cave"}},
        "memories": [{"outcome": "stored", "scope": "location:6", "title": "Troll \u001b[31mattacks", "superseded": ["Kind"]}],
        "invalidated": ["Safe"], "reasoning": "It\nbit."}"#;

    fn entry(line: &str) -> Entry<'_> {
        Entry::parse(line).unwrap()
    }

    fn passes_turn(filter: &LogFilter) -> bool {
        passes(&entry(TURN), filter)
    }

    #[test]
    fn an_entry_is_one_line_without_control_characters() {
        assert_eq!(
            render(&entry(TURN)),
            "2026-01-31T10:40:00Z  Ep2 T7  Cave (5)  give lunch to troll → stored \"Troll \u{FFFD}[31mattacks\" \
             in location:6, superseded \"Kind\", invalidated \"Safe\": It bit."
        );
    }

    #[test]
    fn entries_without_a_turn() {
        let line = r#"{"time": "t", "outcome": "corrected", "command": "forget", "reasoning": "",
            "corrected": [{"outcome": "forgotten", "scope": "world", "title": "War"}]}"#;
        let forgotten = entry(line);
        assert_eq!(render(&forgotten), "t  forget → forgotten \"War\" in world");
        assert!(passes(&forgotten, &LogFilter { scope: Some(Scope::World), ..LogFilter::default() }));
        assert!(passes(&forgotten, &LogFilter { outcome: Some(Outcome::Forgotten), ..LogFilter::default() }));
        let line = r#"{"time": "t", "outcome": "episode_started", "command": "episode", "episode": 3}"#;
        assert_eq!(render(&entry(line)), "t  Ep3  episode → episode_started");
        let line =
            r#"{"outcome": "queued", "turn": {"action": "x"}, "model": {"name": "m", "error": "down"}}"#;
        assert_eq!(render(&entry(line)), "x → queued: down");
        assert!(
            Entry::<PlayedTurn<'_>>::parse("[]").is_none()
                && Entry::<PlayedTurn<'_>>::parse("{\"turn\": 7}").is_none()
        );
    }

    #[test]
    fn filters() {
        let scope = |scope| LogFilter { scope: Some(scope), ..LogFilter::default() };
        let outcome =
            |name: &str| LogFilter { outcome: Some(parse_outcome(name).unwrap()), ..LogFilter::default() };
        let episode = |number| LogFilter { episode: Some(number), ..LogFilter::default() };
        assert!(passes_turn(&LogFilter::default()));
        assert!(passes_turn(&scope(Scope::Location(5))) && passes_turn(&scope(Scope::Location(6))));
        assert!(!passes_turn(&scope(Scope::Location(7))));
        assert!(
            passes_turn(&outcome("Stored"))
                && passes_turn(&outcome("invalidated"))
                && passes_turn(&outcome("superseded"))
        );
        assert!(!passes_turn(&outcome("tried")));
        assert!(passes_turn(&episode(2)) && !passes_turn(&episode(1)));
    }

    /// The fixture has lines of all commands.
    #[test]
    fn each_outcome_of_a_journal_can_be_asked_for() {
        for line in include_str!("../../../../fixtures/journal/journal.jsonl").lines() {
            let entry: Entry<'_> = Entry::parse(line).unwrap();
            for outcome in
                [text(&entry.outcome)].into_iter().chain(entry.parts().map(|part| text(&part.outcome)))
            {
                assert_eq!(parse_outcome(outcome).map(Outcome::name), Ok(outcome));
            }
        }
        assert_eq!(parse_outcome("not significant"), Ok(Outcome::NotSignificant));
        assert!(parse_outcome("store").is_err_and(|error| error.contains("did you mean `stored`")));
    }
}
