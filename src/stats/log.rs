//! Why each decision was taken: the journal's lines for people.
//!
//! A line of the journal enters; whether it is wanted, and one line of text, leave. What games and
//! models wrote is shown without control characters.

use crate::document::text::stored_line;
use crate::journal::entry::Entry;
use crate::journal::text::Text;
use crate::recall::budget::cut_at_word;
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

impl Entry<'_> {
    /// Whether a filter lets it through.
    pub(crate) fn passes(&self, filter: &Filter) -> bool {
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
            || (outcome == "invalidated" && self.invalidated.iter().flatten().next().is_some())
            || (outcome == "superseded" && self.parts().any(|part| !part.superseded.is_empty()))
    }

    fn episode(&self) -> Option<u64> {
        self.turn.as_ref().map_or(self.episode, |turn| turn.episode)
    }

    /// The entry on one line: `2026-01-31T10:40:00Z  Ep1 T3  Hall (5)  open door → stored "Open door": why`.
    pub(crate) fn render(&self) -> String {
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
        let quoted = |title: &Text<'_>| format!("\"{}\"", stored_line(title));
        let mut said: Vec<String> = Vec::new();
        for part in self.parts() {
            let title = part.title.as_ref().map(&quoted).unwrap_or_default();
            let elsewhere = part.scope.as_ref().filter(|scope| !self.is_here(scope));
            let elsewhere = elsewhere.map(|scope| format!(" in {}", stored_line(scope)));
            said.push(format!(
                "{} {title}{}",
                stored_line(text(&part.outcome)),
                elsewhere.unwrap_or_default()
            ));
            said.extend(part.superseded.iter().map(|title| format!("superseded {}", quoted(title))));
        }
        said.extend(self.invalidated.iter().flatten().map(|title| format!("invalidated {}", quoted(title))));
        let outcome = text(&self.outcome);
        // Where each part says what became of it, the whole need not.
        if said.is_empty() || self.is_queued() {
            said.insert(0, stored_line(outcome));
        }
        said.join(", ")
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
    text.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::entry::PlayedTurn;

    const TURN: &str = r#"{"version": 1, "time": "2026-01-31T10:40:00Z", "outcome": "stored", "turn":
        {"episode": 2, "turn": 7, "action": "give lunch\nto troll", "response": "…", "location_before": {"id": 5, "name": "Cave"}},
        "memories": [{"outcome": "stored", "scope": "location:6", "title": "Troll \u001b[31mattacks", "superseded": ["Kind"]}],
        "invalidated": ["Safe"], "reasoning": "It\nbit."}"#;

    fn entry(line: &str) -> Entry<'_> {
        Entry::parse(line).unwrap()
    }

    fn passes(filter: &Filter) -> bool {
        entry(TURN).passes(filter)
    }

    #[test]
    fn an_entry_is_one_line_without_control_characters() {
        assert_eq!(
            entry(TURN).render(),
            "2026-01-31T10:40:00Z  Ep2 T7  Cave (5)  give lunch to troll → stored \"Troll \u{FFFD}[31mattacks\" \
             in location:6, superseded \"Kind\", invalidated \"Safe\": It bit."
        );
    }

    #[test]
    fn entries_without_a_turn() {
        let line = r#"{"time": "t", "outcome": "corrected", "command": "forget", "reasoning": "",
            "corrected": [{"outcome": "forgotten", "scope": "world", "title": "War"}]}"#;
        let forgotten = entry(line);
        assert_eq!(forgotten.render(), "t  forget → forgotten \"War\" in world");
        assert!(forgotten.passes(&Filter { scope: Some(Scope::World), ..Filter::default() }));
        assert!(forgotten.passes(&Filter { outcome: Some("forgotten".to_owned()), ..Filter::default() }));
        let line = r#"{"time": "t", "outcome": "episode_started", "command": "episode", "episode": 3}"#;
        assert_eq!(entry(line).render(), "t  Ep3  episode → episode_started");
        let line =
            r#"{"outcome": "queued", "turn": {"action": "x"}, "model": {"name": "m", "error": "down"}}"#;
        assert_eq!(entry(line).render(), "x → queued: down");
        assert!(
            Entry::<PlayedTurn<'_>>::parse("[]").is_none()
                && Entry::<PlayedTurn<'_>>::parse("{\"turn\": 7}").is_none()
        );
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
