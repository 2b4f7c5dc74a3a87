//! The memories that a query found, as text and as JSON.

use anstyle::Style;
use serde_json::{Value, json};

use crate::cli::commands::common::{at_turn, counted, memory_json};
use crate::cli::failure::Failure;
use crate::cli::ui::Ui;
use crate::document::text::stored_line;
use crate::recall::budget::estimate_tokens;
use crate::search::filter::MemoryKind;
use crate::search::parsed_query::ParsedQuery;
use crate::search::{Hit, SearchResults};
use crate::types::{Persistence, Status};

/// The answer when there are no hits.
fn nothing_found(answer: &SearchResults) -> &'static str {
    match answer.entries {
        0 => "No memories recorded yet.\n",
        _ => "No relevant memories found.\n",
    }
}

/// The first items that fit into a budget of tokens; always at least one.
pub(super) fn within<T>(items: Vec<T>, tokens: Option<usize>, text: impl Fn(&T) -> String) -> Vec<T> {
    let Some(mut left) = tokens else { return items };
    let mut kept = Vec::new();
    for item in items {
        let cost = estimate_tokens(&text(&item));
        if cost > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        kept.push(item);
    }
    kept
}

/// Numbered hits that fit into a budget of tokens.
pub(super) struct Listing {
    /// The hits to show, numbered from 1.
    pub(super) hits: Vec<(usize, Hit)>,
    left_out: usize,
    explain: bool,
}

impl Listing {
    /// Takes the hits out of the results.
    pub(super) fn of(found: &mut SearchResults, max_tokens: Option<usize>, explain: bool) -> Listing {
        let hits = (1..).zip(std::mem::take(&mut found.hits)).collect();
        Listing::take(hits, &found.question, max_tokens, explain)
    }

    /// Those of numbered hits that fit.
    pub(super) fn take(
        hits: Vec<(usize, Hit)>,
        question: &ParsedQuery,
        max_tokens: Option<usize>,
        explain: bool,
    ) -> Listing {
        let all = hits.len();
        let text = |(number, hit): &(usize, Hit)| render(*number, hit, question, explain, Style::new());
        let hits = within(hits, max_tokens, text);
        Listing { left_out: all - hits.len(), hits, explain }
    }

    /// Prints the hits; `found` are the results that they are from.
    pub(super) fn show(&self, ui: &mut Ui, found: &SearchResults) -> Result<u8, Failure> {
        if self.hits.is_empty() {
            ui.data(nothing_found(found))?;
        }
        let mark = ui.mark();
        for (number, hit) in &self.hits {
            ui.data(&render(*number, hit, &found.question, self.explain, mark))?;
        }
        if self.left_out > 0 {
            let left_out = counted(self.left_out, "more memory", "more memories");
            ui.data(&format!("({left_out} not shown)\n"))?;
        }
        Ok(0)
    }
}

/// One hit with its number; words that match the query are printed in the style `mark`.
fn render(number: usize, hit: &Hit, question: &ParsedQuery, explain: bool, mark: Style) -> String {
    let memory = &hit.memory;
    let title = marked(&memory.title, question, mark);
    let mut out = format!("{number}. [{}] {title} ({:.2})\n", at_turn(&hit.place, memory), hit.relevance);
    let mut about = vec![memory.category.to_string()];
    about.extend(memory.provenance.episode.map(|episode| format!("Ep{episode}")));
    about.push(hit.scope.to_string());
    match memory.persistence {
        Persistence::Core => about.push("core".to_owned()),
        Persistence::Ephemeral => about.push("this episode only".to_owned()),
        Persistence::Permanent => {}
    }
    match memory.status {
        Status::Superseded => about.push("SUPERSEDED".to_owned()),
        Status::Tentative => about.push("tentative".to_owned()),
        Status::Active => {}
    }
    out.push_str(&format!("   {}\n", about.join(", ")));
    for line in memory.text.lines() {
        let line = marked(line, question, mark);
        out.push_str(&format!("   {line}\n"));
    }
    if explain {
        if let Some(passage) = &hit.passage {
            out.push_str(&format!("   most similar passage: {}\n", stored_line(passage)));
        }
        let parts = hit.parts;
        out.push_str(&format!(
            "   similarity {:.2} (words {:.2}, related words {:.2}, meaning {:.2}) × importance {:.2} × recency {:.2}\n",
            hit.similarity,
            parts.keywords,
            parts.related_words,
            parts.meaning,
            hit.importance_factor,
            hit.recency_factor
        ));
    }
    out
}

/// A text in which the words that match the query have a style.
fn marked(text: &str, question: &ParsedQuery, style: Style) -> String {
    if style == Style::new() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 32);
    let is_word = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word > 0 && question.matches_word(&rest[..word]) {
            out.push_str(&format!("{style}{}{style:#}", &rest[..word]));
        } else {
            out.push_str(&rest[..word]);
        }
        let gap = rest[word..].find(is_word).map_or(rest.len(), |gap| word + gap);
        out.push_str(&rest[word..gap]);
        rest = &rest[gap..];
    }
    out
}

pub(super) fn hit_json(hit: &Hit, question: &ParsedQuery, explain: bool) -> Value {
    let memory = &hit.memory;
    let mut value = memory_json(&hit.scope, memory);
    value["content"] = json!(memory.text);
    if let Some(passage) = &hit.passage {
        value["passage"] = json!(passage);
    }
    value["relevance"] = json!(rounded(hit.relevance));
    value["turn"] = json!(memory.provenance.turns.map(|turns| turns.first));
    value["name"] = json!(hit.name);
    value["type"] = json!(<&str>::from(MemoryKind::of(&hit.scope, memory)));
    value["matched"] = json!(question.matching_words(&format!("{}\n{}", memory.title, memory.text)));
    if explain {
        value["explain"] = json!({
            "likeness": rounded(hit.similarity), "words": rounded(hit.parts.keywords), "soft": rounded(hit.parts.related_words),
            "meaning": rounded(hit.parts.meaning), "importance_factor": rounded(hit.importance_factor),
            "recency_factor": rounded(hit.recency_factor),
        });
    }
    value
}

/// Rounds to three decimals; the scores are not more precise.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}
