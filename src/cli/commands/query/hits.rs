//! The memories that a query found, as text and as JSON.

use std::ops::Range;

use serde_json::{Value, json};

use crate::cli::commands::common::{at_turn, counted};
use crate::cli::failure::Failure;
use crate::cli::ui::Ui;
use memories_document::text::stored_line;
use memories_document::types::frame::{lines, one_line, text_below};
use memories_document::types::model_text::ModelText;
use memories_document::types::{Persistence, Status, written_by};
use memories_notebook::MemoryObjects;
use memories_recall::budget::{estimate_tokens, within};
use memories_search::filter::MemoryKind;
use memories_search::parsed_query::ParsedQuery;
use memories_search::{ANSWER_TOKENS, Hit, SearchResults, cut_to_passages};

/// An answer in JSON with the quoted phrase that no memory has, if there is one.
pub(super) fn with_missing_phrase(mut answer: Value, found: &SearchResults) -> Value {
    if let Some(phrase) = &found.missing_phrase {
        answer["missing_phrase"] = json!(phrase);
    }
    answer
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

    /// The numbered hits that fit.
    pub(super) fn take(
        hits: Vec<(usize, Hit)>,
        question: &ParsedQuery,
        max_tokens: Option<usize>,
        explain: bool,
    ) -> Listing {
        let all = hits.len();
        let mut hits = hits;
        let cost = |hit: &Hit| estimate_tokens(&Rendered::of(1, hit, question, explain).text);
        cut_to_passages(hits.iter_mut().map(|(_, hit)| hit), max_tokens.unwrap_or(ANSWER_TOKENS), cost);
        let text = |(number, hit): &(usize, Hit)| Rendered::of(*number, hit, question, explain).text;
        let hits = within(hits, max_tokens, text);
        Listing { left_out: all - hits.len(), hits, explain }
    }

    /// Prints the hits; `found` are the results that they are from.
    pub(super) fn show(&self, ui: &mut Ui, found: &SearchResults) -> Result<u8, Failure> {
        if found.entries == 0 && self.hits.is_empty() {
            ui.data("No memories recorded yet.\n")?;
        } else if self.hits.is_empty() {
            ui.data("No relevant memories found.\n")?;
        } else if let Some(phrase) = &found.missing_phrase {
            ui.data(&format!("No memory has \"{}\"; nearest:\n", ModelText::of(&one_line(phrase))))?;
        }
        for (number, hit) in &self.hits {
            let Rendered { text, matches } = Rendered::of(*number, hit, &found.question, self.explain);
            ui.highlighted(&text, &matches)?;
        }
        if self.left_out > 0 {
            let left_out = counted(self.left_out, "more memory", "more memories");
            ui.data(&format!("({left_out} not shown)\n"))?;
        }
        Ok(0)
    }
}

/// The text of a hit.
struct Rendered {
    text: String,
    /// The words of title and text that match the query.
    matches: Vec<Range<usize>>,
}

impl Rendered {
    /// One hit with its number. What the program says of it is indented less than its text.
    fn of(number: usize, hit: &Hit, question: &ParsedQuery, explain: bool) -> Rendered {
        let memory = &hit.memory;
        let place = at_turn(&hit.place, memory);
        let mut out = Rendered { text: String::new(), matches: Vec::new() };
        out.push(&format!("{number}. [{}] ", one_line(&place)));
        out.push_searched(&one_line(&memory.title), question);
        let unsure = if hit.is_weak { ", nearest, unsure" } else { "" };
        out.push(&format!(" ({:.2}{unsure})\n   {}\n", hit.relevance, about(hit)));
        for line in lines(&text_below(&memory.title, &memory.text)) {
            out.push("     ");
            out.push_searched(line, question);
            out.push("\n");
        }
        if explain {
            out.push_explanation(hit);
        }
        out
    }

    /// Appends a text, fit for a model.
    fn push(&mut self, text: &str) {
        self.text.push_str(&ModelText::of(text));
    }

    fn push_explanation(&mut self, hit: &Hit) {
        if let Some(passage) = &hit.passage {
            self.push(&format!("   most similar passage: {}\n", stored_line(passage)));
        }
        let parts = hit.parts;
        self.push(&format!(
            "   similarity {:.2} (words {:.2}, related words {:.2}, meaning {:.2}) × importance {:.2} × recency {:.2}\n",
            hit.similarity,
            parts.keywords,
            parts.related_words,
            parts.meaning,
            hit.importance_factor,
            hit.recency_factor
        ));
    }

    /// Appends a text that was searched, and notes which of its words match.
    fn push_searched(&mut self, text: &str, question: &ParsedQuery) {
        // The last two join letters of one word.
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '\u{200C}' | '\u{200D}');
        let text = ModelText::of(text);
        let begin = self.text.len();
        let mut at = 0;
        while at < text.len() {
            let word = text[at..].find(|c| !is_word(c)).map_or(text.len(), |end| at + end);
            if word > at && question.matches_word(&text[at..word]) {
                self.matches.push(begin + at..begin + word);
            }
            at = text[word..].find(is_word).map_or(text.len(), |gap| word + gap);
        }
        self.text.push_str(&text);
    }
}

/// Hits as JSON.
pub(super) struct HitObjects<'a> {
    pub(super) objects: MemoryObjects<'a>,
    pub(super) question: &'a ParsedQuery,
    pub(super) explain: bool,
}

impl HitObjects<'_> {
    /// The hits that fit into a budget of tokens.
    pub(super) fn list(&self, hits: &mut [Hit], max_tokens: Option<usize>) -> Vec<Value> {
        self.cut(hits.iter_mut(), max_tokens);
        let memories = hits.iter().map(|hit| self.object(hit)).collect();
        within(memories, max_tokens, |memory| memory.to_string())
    }

    /// Cuts long texts of hits that are printed as JSON.
    pub(super) fn cut<'h>(
        &self,
        hits: impl DoubleEndedIterator<Item = &'h mut Hit>,
        max_tokens: Option<usize>,
    ) {
        let cost = |hit: &Hit| estimate_tokens(&self.object(hit).to_string());
        cut_to_passages(hits, max_tokens.unwrap_or(ANSWER_TOKENS), cost);
    }

    /// A hit: its memory, and what the search says of it.
    pub(super) fn object(&self, hit: &Hit) -> Value {
        let memory = &hit.memory;
        let mut value = json!(self.objects.object(&hit.scope, &hit.name, memory));
        if hit.is_cut {
            value["cut"] = json!(true);
        }
        if let Some(passage) = &hit.passage {
            value["passage"] = json!(passage);
        }
        value["relevance"] = json!(rounded(hit.relevance));
        if hit.is_weak {
            value["weak"] = json!(true);
        }
        value["type"] = json!(<&str>::from(MemoryKind::of(&hit.scope, memory)));
        let texts = format!("{}\n{}", memory.title, memory.text);
        value["matched"] = json!(self.question.matching_words(&texts));
        if self.explain {
            value["explain"] = json!({
                "similarity": rounded(hit.similarity), "words": rounded(hit.parts.keywords),
                "related": rounded(hit.parts.related_words), "meaning": rounded(hit.parts.meaning),
                "importance_factor": rounded(hit.importance_factor),
                "recency_factor": rounded(hit.recency_factor),
            });
        }
        value
    }
}

/// Category, episode, scope, persistence, status and writers of a hit.
fn about(hit: &Hit) -> String {
    let memory = &hit.memory;
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
    about.extend(memory.told_by());
    about.extend(written_by(&memory.writers()));
    about.join(", ")
}

/// Rounds to three decimals; the scores are not more precise.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}
