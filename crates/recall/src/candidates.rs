//! Chooses the memories of a scope that fit into a room of tokens.
//!
//! The live memories enter. Each is rendered at most once, when its rank comes. The pieces that fit leave, in the order of
//! the file. Of two memories that say the same, the one that ranks higher is shown.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;

use crate::budget::{BYTES_PER_TOKEN, cut_at_word, estimate_tokens};
use crate::fit::{Piece, cut};
use crate::format::Format;
use crate::limits::Limits;
use crate::rank::{Rank, Rooms};
use crate::render::{Group, render_memory};
use memories_document::types::{Category, Memory};
use memories_notebook::duplicates::ComparableText;

/// Fewest tokens that a memory is shortened to; with less room it is left out.
const MIN_CUT: usize = 24;

/// A live memory, as it ranks among others and as it would be shown.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    memory: &'a Memory,
    rank: Rank,
    limits: &'a Limits,
    format: Format,
    piece: OnceCell<Piece<Memory>>,
    said: OnceCell<ComparableText>,
}

/// The memories to choose from, in the order of the file. Within a budget, their texts are cut to the limit of characters.
pub(super) fn candidates<'a>(
    live: impl Iterator<Item = &'a Memory>,
    limits: &'a Limits,
    format: Format,
) -> Vec<Candidate<'a>> {
    let candidate = |(at, memory): (usize, &'a Memory)| {
        let (piece, said) = (OnceCell::new(), OnceCell::new());
        Candidate { memory, rank: Rank::of(memory, at), limits, format, piece, said }
    };
    live.enumerate().map(candidate).collect()
}

impl<'a> Candidate<'a> {
    /// The memory as it is shown where it has room.
    pub(super) fn piece(&self) -> &Piece<Memory> {
        self.piece.get_or_init(|| {
            let shown = Memory { text: self.text().into_owned(), ..self.memory.clone() };
            let text = render_memory(&shown, self.format, self.limits.now);
            Piece::new(shown, text)
        })
    }

    /// The text as it is shown where it has room.
    fn text(&self) -> Cow<'a, str> {
        let (text, chars) = (&self.memory.text, self.limits.max_text_chars);
        if self.limits.max_tokens.is_none() || chars == 0 || text.len() <= chars {
            return Cow::Borrowed(text);
        }
        Cow::Owned(cut_at_word(text, chars))
    }

    /// True if no rendering of the memory costs so little. A renderer leaves out at most a text, or the beginning of one,
    /// that its title says, so the letters and digits of the longer of both are printed.
    fn costs_more_than(&self, tokens: usize) -> bool {
        let printed = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count();
        let printed = printed(&self.memory.title).max(printed(&self.text()));
        printed > tokens.saturating_mul(BYTES_PER_TOKEN)
    }

    /// True if both say the same. One text under DANGER and under SUCCESS says different things, as it does in two groups.
    fn says_the_same(&self, other: &Candidate<'_>) -> bool {
        self.memory.category == other.memory.category
            && Group::of(self.memory) == Group::of(other.memory)
            && self.said().says_the_same(other.said())
    }

    fn said(&self) -> &ComparableText {
        let text = || ComparableText::new(&format!("{}\n{}", self.memory.title, self.memory.text));
        self.said.get_or_init(text)
    }

    /// Limit of memories of its category; `None` where their number is not limited.
    fn limit(&self) -> Option<usize> {
        match &self.memory.category {
            _ if self.rank.has_no_limit() => None,
            category if *category == Category::success() => Some(self.limits.max_successes),
            category if *category == Category::failure() => Some(self.limits.max_failures),
            _ => None,
        }
    }

    /// The memory as it fits into what is left: whole, or shortened where it would not even fit alone into the room.
    fn fit(&self, left: usize, room: usize) -> Option<Piece<Memory>> {
        if left < MIN_CUT && self.costs_more_than(left) {
            return None;
        }
        let piece = self.piece();
        if piece.tokens <= left {
            return Some(piece.clone());
        }
        if piece.tokens <= room || left < MIN_CUT {
            return None;
        }
        let whole = &piece.value;
        let with = |text: &str| {
            let memory = Memory { text: text.to_owned(), ..whole.clone() };
            let text = render_memory(&memory, self.format, self.limits.now);
            Piece::new(memory, text)
        };
        cut(&whole.text, left, with).or_else(|| Some(with("…")).filter(|piece| piece.tokens <= left))
    }
}

/// The memories that fit, in the order of the file, and what they cost with the headings of their groups.
pub(super) fn choose_memories(candidates: &[Candidate<'_>], rooms: &Rooms) -> (Vec<Piece<Memory>>, usize) {
    let mut ranked: Vec<&Candidate<'_>> = candidates.iter().collect();
    ranked.sort_unstable_by_key(|candidate| Reverse(candidate.rank));
    let mut chosen: Vec<(&Candidate<'_>, Piece<Memory>)> = Vec::new();
    let mut used = 0;
    // True if a memory of what changed the score or was found did not fit.
    let mut is_find_left_out = false;
    for candidate in ranked {
        let rank = candidate.rank;
        let is_counted = |other: &Candidate<'_>| {
            other.memory.category == candidate.memory.category && !other.rank.has_no_limit()
        };
        let is_full = candidate
            .limit()
            .is_some_and(|limit| chosen.iter().filter(|(other, _)| is_counted(other)).count() >= limit);
        if is_full || is_find_left_out && rank.is_minor() {
            continue;
        }
        // The first memory of a group also needs the group's heading.
        let group = Group::of(candidate.memory);
        let is_begun = chosen.iter().any(|(other, _)| Group::of(other.memory) == group);
        let heading = if is_begun { 0 } else { estimate_tokens(group.heading(candidate.format)) };
        let room = rank.room(rooms);
        let piece = candidate.fit(room.saturating_sub(used + heading), room);
        // One more find that does not fit changes nothing.
        if (piece.is_some() || rank.is_find() && !is_find_left_out)
            && chosen.iter().any(|(other, _)| other.says_the_same(candidate))
        {
            continue;
        }
        match piece {
            Some(piece) => {
                used += heading + piece.tokens;
                chosen.push((candidate, piece));
            }
            None => is_find_left_out |= rank.is_find(),
        }
    }
    chosen.sort_unstable_by_key(|(candidate, _)| candidate.rank.at);
    (chosen.into_iter().map(|(_, piece)| piece).collect(), used)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use memories_document::Document;
    use memories_document::types::{DEFAULT_IMPORTANCE, Scope};

    proptest! {
        /// What is left out without being rendered would not have fitted.
        #[test]
        fn no_rendering_costs_less_than_the_letters_that_it_prints(
            title in "[A-Za-z0-9 .,'é<>&*-]{1,60}", own in "[A-Za-z0-9 .,'é<>&*-]{0,200}",
            says_the_title in any::<bool>(), max_text_chars in 0_usize..300, tokens in 0_usize..60,
        ) {
            let text = if says_the_title { format!("{title}. {own}") } else { own };
            let memory = Memory::new(Category::new("NOTE").expect("a category"), title, text);
            let limits = Limits { max_tokens: Some(300), max_text_chars, ..Limits::default() };
            for format in [Format::Text, Format::Markdown, Format::Xml] {
                let [candidate] = &candidates([&memory].into_iter(), &limits, format)[..] else {
                    panic!("one memory is one candidate")
                };
                prop_assert!(!candidate.costs_more_than(tokens) || candidate.piece().tokens > tokens);
            }
        }
    }

    fn choose(text: &str, limits: &Limits, format: Format) -> Vec<Memory> {
        let section = Document::parse(text.to_owned()).section(&Scope::World).expect("a section");
        let rooms = Rooms { vital: 9000, scored: 9000, found: 9000, other: 9000 };
        let candidates = candidates(section.live(), limits, format);
        let (chosen, _) = choose_memories(&candidates, &rooms);
        chosen.into_iter().map(|piece| piece.value).collect()
    }

    #[test]
    fn what_two_memories_say_is_shown_once() {
        let text = "## World\n\n\
            **[NOTE] The bell rings at noon**\nIt calls the ferry.\n\n\
            **[NOTE] The bell rings at noon** *(importance 700)*\nit calls the  ferry\n\n\
            **[NOTE - TENTATIVE] The bell rings at noon** *(importance 900)*\nIt calls the ferry.\n\n\
            **[DANGER] The bell rings at noon**\nIt calls the ferry.\n\n\
            **[NOTE] The bell rings at dusk**\nIt calls the ferry.\n\n";
        let chosen = choose(text, &Limits::default(), Format::Text);
        let shown = chosen.iter().map(|memory| (memory.importance(), memory.title.as_str()));
        let noon = "The bell rings at noon";
        let expected = [
            (700, noon),
            (900, noon),
            (DEFAULT_IMPORTANCE, noon),
            (DEFAULT_IMPORTANCE, "The bell rings at dusk"),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_limit_of_successes_or_failures_keeps_out_what_matters_most() {
        let mut text = "## World\n\n".to_owned();
        for number in 0..7 {
            for kind in ["SUCCESS - CORE", "SUCCESS", "FAILURE"] {
                let fields = if kind == "SUCCESS" { ", importance 900" } else { "" };
                text.push_str(&format!("**[{kind}] {kind} {number}** *(Ep1, T{number}{fields})*\nx.\n\n"));
            }
            text.push_str(&format!("**[FAILURE] Lost {number}** *(Ep1, T{number}, -5)*\nx.\n\n"));
        }
        let limits = Limits { max_successes: 2, max_failures: 3, ..Limits::default() };
        let chosen = choose(&text, &limits, Format::Text);
        let count = |most: bool, category: &Category| {
            let is_meant =
                |memory: &&Memory| Rank::of(memory, 0).has_no_limit() == most && memory.category == *category;
            chosen.iter().filter(is_meant).count()
        };
        let counts =
            [true, false].map(|most| [Category::success(), Category::failure()].map(|c| count(most, &c)));
        assert_eq!(counts, [[7, 7], [2, 3]]);
    }
}
