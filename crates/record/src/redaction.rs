//! Redacts secrets in a turn and in a proposal, before any of it is written or
//! sent.

use crate::proposal::Proposal;
use crate::turn::Turn;
use memories_llm::redact::redact;

/// Redacts the texts of a turn in place. Returns a warning for each kind of secret, and the notes of the turn, which it
/// takes out of it.
pub(crate) fn redact_turn(turn: &mut Turn) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut hide = |text: &mut String, of: &str| hide(text, of, &mut warnings);
    hide(&mut turn.action, "the action");
    if let Some(id) = &mut turn.id {
        hide(id, "the turn's `id`");
    }
    hide(&mut turn.response, "the game's reply");
    if let Some(reasoning) = &mut turn.reasoning {
        hide(reasoning, "the player's reasoning");
    }
    if let Some(remember) = &mut turn.remember {
        hide(&mut remember.text, "`remember`");
    }
    for note in &mut turn.notes {
        hide(note, "the name of a field");
    }
    let locations = [&mut turn.location_before, &mut turn.location_after].into_iter().flatten();
    for name in locations.filter_map(|location| location.name.as_mut()) {
        hide(name, "a place's name");
    }
    for item in [&mut turn.inventory_before, &mut turn.inventory_after].into_iter().flatten().flatten() {
        hide(item, "the inventory");
    }
    warnings.append(&mut turn.notes);
    warnings
}

/// Redacts the texts of a proposal in place, and adds warnings to it.
pub(crate) fn redact_proposal(proposal: &mut Proposal) {
    let Proposal { memories, wrong, reasoning, warnings, effect: _ } = proposal;
    let mut masked = Vec::new();
    let mut hide = |text: &mut String, of: &str| hide(text, of, &mut masked);
    for proposed in memories {
        hide(&mut proposed.memory.title, "the model's title");
        hide(&mut proposed.memory.text, "the model's text");
        for named in &mut proposed.supersedes {
            hide(&mut named.title, "a title that the model names");
        }
    }
    hide(reasoning, "the model's reasoning");
    for one in wrong {
        hide(&mut one.named.title, "a title that the model names");
        hide(&mut one.reason, "the model's reason");
    }
    for warning in warnings.iter_mut() {
        hide(warning, "a warning");
    }
    warnings.extend(masked);
}

fn hide(text: &mut String, of: &str, warnings: &mut Vec<String>) {
    let Some(masked) = redact(text) else { return };
    let warning = format!("{of} held what looks like a secret, masked: {}", masked.kinds.join(", "));
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
    *text = masked.text;
}
