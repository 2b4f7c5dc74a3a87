//! Figures as text: short, aligned, and only of the latest episodes.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::stats::figures::{
    ContestedMemory, EpisodeFigures, ModelFigures, QueueFigures, Stats, TokenFigures,
};

/// Episodes shown; the JSON has all of them.
const MAX_EPISODES: usize = 10;

/// Scores shown; the JSON has all of them.
const MAX_MILESTONES: usize = 20;

/// The figures as text; figures of which there are none are left out.
pub fn render(stats: &Stats) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: String| out.push_str(&format!("{label:<12}{text}\n"));
    let average = stats.avg_importance.map(|mean| format!(", average importance {mean:.0}"));
    line("memories", format!("{}{}", stats.total_memories, average.unwrap_or_default()));
    if stats.total_memories > 0 {
        line("category", list(&stats.by_category));
        line("status", list(&stats.by_status));
        line("persistence", list(&stats.by_persistence));
    }
    for (at, one) in stats.contested.iter().enumerate() {
        let ContestedMemory { scope, title, by } = one;
        line(if at == 0 { "contested" } else { "" }, format!("\"{title}\" in {scope}, by \"{by}\""));
    }
    if let Some(top) = &stats.top_location {
        let place = top.scope.label(&top.name);
        line(
            "places",
            format!("{} with memories, most in {place}: {}", stats.locations_covered, top.memories),
        );
    }
    if stats.places.visited > 0 {
        let (with, visited) = (stats.places.with_memories, stats.places.visited);
        line("visited", format!("{visited}, {with} of them with memories ({})", percent(stats.places.share)));
    }
    if let Some(tokens) = &stats.recall_tokens {
        let TokenFigures { places, p50, max } = tokens;
        line("recall", format!("{p50} tokens in the middle, {max} at most, over {places} places"));
    }
    let turns = &stats.turns;
    if turns.recorded > 0 {
        line("turns", format!("{}: {}", turns.recorded, list(&turns.outcomes)));
        let share = percent(turns.repeated_share);
        line(
            "no effect",
            format!("{}, repeated {} ({share} of all turns)", turns.no_effect, turns.repeated_no_effect),
        );
    }
    for (at, model) in stats.models.iter().enumerate() {
        line(if at == 0 { "models" } else { "" }, model_line(model));
    }
    if let Some(waiting) = queue_line(&stats.queue) {
        line("queue", waiting);
    }
    if let Some(damage) = &stats.journal.text {
        line("journal", format!("damaged: {damage}"));
    }
    out.push_str(&episode_table(&stats.episodes));
    out.push_str(&milestone_table(&stats.episodes));
    out
}

/// `SUCCESS 12, NOTE 3`: the most frequent first.
fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let mut counts: Vec<(&K, &u64)> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1));
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

fn model_line(model: &ModelFigures) -> String {
    let ModelFigures { name, questions, failed, calls, input_tokens, output_tokens, cost } = model;
    let counted = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut line = format!("{name}: asked {}", counted(*questions, "time"));
    if *failed > 0 {
        line.push_str(&format!(", {failed} failed"));
    }
    if *calls > 0 {
        line.push_str(&format!(", {}", counted(*calls, "request")));
    }
    if input_tokens + output_tokens > 0 {
        line.push_str(&format!(", {input_tokens} tokens in, {output_tokens} out"));
    }
    if *cost > 0.0 {
        line.push_str(&format!(", ${cost:.4}"));
    }
    line
}

fn queue_line(queue: &QueueFigures) -> Option<String> {
    let age = queue.oldest_seconds.map(duration).unwrap_or_else(|| "unknown time".to_owned());
    match queue.turns {
        0 => None,
        1 => Some(format!("1 turn waits for a model ({age})")),
        turns => Some(format!("{turns} turns wait for a model (the oldest {age})")),
    }
}

/// The largest unit that fits: `5 min`, `3 h`, `2 d`.
fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn episode_table(episodes: &[EpisodeFigures]) -> String {
    if episodes.is_empty() {
        return String::new();
    }
    let first = episodes.len().saturating_sub(MAX_EPISODES);
    let header = [
        "episode", "turns", "repeated", "stored", "revised", "in file", "places", "known", "deaths", "score",
    ];
    let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
    for one in &episodes[first..] {
        // An episode that rotated out of the journal has only the figures of the file.
        let of_journal = |count: u64| if one.turns > 0 { count.to_string() } else { "-".to_owned() };
        rows.push(vec![
            one.episode.to_string(),
            of_journal(one.turns),
            percent(one.repeated_share),
            of_journal(one.stored),
            of_journal(one.revised),
            one.memories.to_string(),
            one.places.visited.to_string(),
            percent(one.places.share),
            of_journal(one.deaths),
            one.best_score.map_or_else(|| "-".to_owned(), |score| score.to_string()),
        ]);
    }
    format!("\n{}{}", table(&rows), not_shown(first, "earlier episodes"))
}

/// The turns that each episode took to each score.
fn milestone_table(episodes: &[EpisodeFigures]) -> String {
    let episodes = &episodes[episodes.len().saturating_sub(MAX_EPISODES)..];
    let mut scores: Vec<i64> =
        episodes.iter().flat_map(|one| &one.milestones).map(|milestone| milestone.score).collect();
    scores.sort_unstable();
    scores.dedup();
    if scores.is_empty() {
        return String::new();
    }
    let played: Vec<&EpisodeFigures> = episodes.iter().filter(|one| one.turns > 0).collect();
    let mut rows = vec![vec!["turns to".to_owned()]];
    rows[0].extend(played.iter().map(|one| format!("Ep{}", one.episode)));
    for &score in scores.iter().take(MAX_MILESTONES) {
        let mut row = vec![score.to_string()];
        row.extend(played.iter().map(|one| {
            let reached = one.milestones.iter().find(|milestone| milestone.score >= score);
            reached.map_or_else(|| "-".to_owned(), |milestone| milestone.turns.to_string())
        }));
        rows.push(row);
    }
    format!("\n{}{}", table(&rows), not_shown(scores.len().saturating_sub(MAX_MILESTONES), "higher scores"))
}

fn not_shown(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("({count} {what} not shown)\n") }
}

/// Columns aligned to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        out.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join("  ")));
    }
    out
}
