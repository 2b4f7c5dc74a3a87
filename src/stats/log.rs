//! Why each decision was taken: the journal's lines for people.
//!
//! A line of the journal enters; whether it is wanted, and one line of text, leave. What games and
//! models wrote is shown without control characters.

use serde::Deserialize;

use crate::document::text::stored_line;
use crate::recall::budget::cut_at_word;
use crate::stats::Text;
use crate::types::Scope;

/// Actions are shown up to this many characters.
const ACTION_CHARS: usize = 80;

/// Which entries are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only what was done at, or written to, this scope.
    pub scope: Option<Scope>,
    /// Only this outcome, of the whole entry or of one memory in it.
    pub outcome: Option<String>,
    /// Only this episode.
    pub episode: Option<u64>,
}

/// An entry of the journal, as far as it is shown.
#[derive(Debug, Deserialize)]
pub struct Entry<'a> {
    #[serde(borrow)]
    time: Option<Text<'a>>,
    #[serde(borrow)]
    outcome: Option<Text<'a>>,
    #[serde(borrow)]
    command: Option<Text<'a>>,
    episode: Option<u64>,
    #[serde(borrow)]
    turn: Option<Turn<'a>>,
    #[serde(borrow, default)]
    memories: Vec<Part<'a>>,
    #[serde(borrow, default)]
    corrected: Vec<Part<'a>>,
    #[serde(borrow, default)]
    invalidated: Vec<Text<'a>>,
    #[serde(borrow)]
    reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<Model<'a>>,
}

#[derive(Debug, Deserialize)]
struct Turn<'a> {
    episode: Option<u64>,
    turn: Option<u64>,
    #[serde(borrow)]
    action: Option<Text<'a>>,
    #[serde(borrow)]
    location_before: Option<Spot<'a>>,
}

#[derive(Debug, Deserialize)]
struct Spot<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
}

/// What became of one memory.
#[derive(Debug, Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    outcome: Option<Text<'a>>,
    #[serde(borrow)]
    scope: Option<Text<'a>>,
    #[serde(borrow)]
    title: Option<Text<'a>>,
    #[serde(borrow, default)]
    superseded: Vec<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct Model<'a> {
    #[serde(borrow)]
    error: Option<Text<'a>>,
}

impl Entry<'_> {
    /// Reads a line of the journal; `None` where it is no entry.
    pub fn parse(line: &str) -> Option<Entry<'_>> {
        serde_json::from_str(line).ok()
    }

    /// Whether a filter lets it through.
    pub fn passes(&self, filter: &Filter) -> bool {
        let Filter { scope, outcome, episode } = filter;
        scope.as_ref().is_none_or(|scope| self.concerns(scope))
            && outcome.as_deref().is_none_or(|outcome| self.has_outcome(outcome))
            && episode.is_none_or(|episode| self.episode() == Some(episode))
    }

    fn concerns(&self, scope: &Scope) -> bool {
        let here = self.turn.as_ref().and_then(|turn| turn.location_before.as_ref()?.id);
        let written = scope.to_string();
        here.is_some_and(|id| *scope == Scope::Location(id))
            || self.parts().any(|part| text(&part.scope) == written)
    }

    fn has_outcome(&self, outcome: &str) -> bool {
        let outcome = outcome.trim().to_lowercase().replace([' ', '-'], "_");
        text(&self.outcome) == outcome
            || self.parts().any(|part| text(&part.outcome) == outcome)
            || (outcome == "invalidated" && !self.invalidated.is_empty())
            || (outcome == "superseded" && self.parts().any(|part| !part.superseded.is_empty()))
    }

    fn episode(&self) -> Option<u64> {
        self.turn.as_ref().map_or(self.episode, |turn| turn.episode)
    }

    fn parts(&self) -> impl Iterator<Item = &Part<'_>> {
        self.memories.iter().chain(&self.corrected)
    }

    /// The entry on one line: `2026-01-31T10:40:00Z  Ep1 T3  Hall (5)  open door → stored "Open door": why`.
    pub fn render(&self) -> String {
        let mut columns = vec![stored_line(text(&self.time))];
        let number = |label: &str, number: Option<u64>| number.map(|number| format!("{label}{number}"));
        let turn = self.turn.as_ref();
        let when = [number("Ep", self.episode()), number("T", turn.and_then(|turn| turn.turn))];
        columns.push(when.into_iter().flatten().collect::<Vec<_>>().join(" "));
        if let Some(spot) = turn.and_then(|turn| turn.location_before.as_ref()) {
            let id = spot.id.map(|id| format!("({id})"));
            let name = Some(stored_line(text(&spot.name))).filter(|name| !name.is_empty());
            columns.push([name, id].into_iter().flatten().collect::<Vec<_>>().join(" "));
        }
        let command = stored_line(text(&self.command));
        let action = turn.map(|turn| cut_at_word(&stored_line(text(&turn.action)), ACTION_CHARS));
        let did = match action {
            Some(action) if command.is_empty() => action,
            Some(action) => format!("{action} ({command})"),
            None => command,
        };
        let why = self.why();
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        columns.push(format!("{did} → {}{why}", self.what_came()));
        columns.retain(|column| !column.is_empty());
        columns.join("  ")
    }

    /// The outcome with the titles that it is about.
    fn what_came(&self) -> String {
        let quoted = |title: &Text<'_>| format!("\"{}\"", stored_line(title.as_str()));
        let mut told: Vec<String> = Vec::new();
        for part in self.parts() {
            let title = part.title.as_ref().map(&quoted).unwrap_or_default();
            let elsewhere = part.scope.as_ref().filter(|scope| !self.is_here(scope.as_str()));
            let elsewhere = elsewhere.map(|scope| format!(" in {}", stored_line(scope.as_str())));
            told.push(format!(
                "{} {title}{}",
                stored_line(text(&part.outcome)),
                elsewhere.unwrap_or_default()
            ));
            told.extend(part.superseded.iter().map(|title| format!("superseded {}", quoted(title))));
        }
        told.extend(self.invalidated.iter().map(|title| format!("invalidated {}", quoted(title))));
        let outcome = text(&self.outcome);
        // Where each part says what became of it, the whole need not.
        if told.is_empty() || outcome == "queued" {
            told.insert(0, stored_line(outcome));
        }
        told.join(", ")
    }

    fn is_here(&self, scope: &str) -> bool {
        let here = self.turn.as_ref().and_then(|turn| turn.location_before.as_ref()?.id);
        here.is_some_and(|id| Scope::Location(id).to_string() == scope)
    }

    fn why(&self) -> String {
        let reasoning = stored_line(text(&self.reasoning));
        let error = self.model.as_ref().map(|model| stored_line(text(&model.error))).unwrap_or_default();
        [reasoning, error].into_iter().filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

fn text<'a>(text: &'a Option<Text<'_>>) -> &'a str {
    text.as_ref().map_or("", Text::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: &str = r#"{"version": 1, "time": "2026-01-31T10:40:00Z", "outcome": "stored", "turn":
        {"episode": 2, "turn": 7, "action": "give lunch\nto troll", "response": "…", "location_before": {"id": 5, "name": "Cave"}},
        "memories": [{"outcome": "stored", "scope": "location:6", "title": "Troll \u001b[31mattacks", "superseded": ["Kind"]}],
        "invalidated": ["Safe"], "reasoning": "It\nbit."}"#;

    fn passes(filter: &Filter) -> bool {
        Entry::parse(TURN).unwrap().passes(filter)
    }

    #[test]
    fn an_entry_is_one_line_without_control_characters() {
        assert_eq!(
            Entry::parse(TURN).unwrap().render(),
            "2026-01-31T10:40:00Z  Ep2 T7  Cave (5)  give lunch to troll → stored \"Troll \u{FFFD}[31mattacks\" \
             in location:6, superseded \"Kind\", invalidated \"Safe\": It bit."
        );
    }

    #[test]
    fn entries_without_a_turn() {
        let line = r#"{"time": "t", "outcome": "corrected", "command": "forget", "reasoning": "",
            "corrected": [{"outcome": "forgotten", "scope": "world", "title": "War"}]}"#;
        let entry = Entry::parse(line).unwrap();
        assert_eq!(entry.render(), "t  forget → forgotten \"War\" in world");
        assert!(entry.passes(&Filter { scope: Some(Scope::World), ..Filter::default() }));
        assert!(entry.passes(&Filter { outcome: Some("forgotten".to_owned()), ..Filter::default() }));
        let line = r#"{"time": "t", "outcome": "episode_started", "command": "episode", "episode": 3}"#;
        assert_eq!(Entry::parse(line).unwrap().render(), "t  Ep3  episode → episode_started");
        let line =
            r#"{"outcome": "queued", "turn": {"action": "x"}, "model": {"name": "m", "error": "down"}}"#;
        assert_eq!(Entry::parse(line).unwrap().render(), "x → queued: down");
        assert!(Entry::parse("[]").is_none() && Entry::parse("{\"turn\": 7}").is_none());
    }

    #[test]
    fn filters() {
        let scope = |scope| Filter { scope: Some(scope), ..Filter::default() };
        let outcome = |name: &str| Filter { outcome: Some(name.to_owned()), ..Filter::default() };
        let episode = |number| Filter { episode: Some(number), ..Filter::default() };
        assert!(passes(&Filter::default()));
        assert!(passes(&scope(Scope::Location(5))) && passes(&scope(Scope::Location(6))));
        assert!(!passes(&scope(Scope::Location(7))));
        assert!(
            passes(&outcome("Stored")) && passes(&outcome("invalidated")) && passes(&outcome("superseded"))
        );
        assert!(!passes(&outcome("tried")));
        assert!(passes(&episode(2)) && !passes(&episode(1)));
    }
}
