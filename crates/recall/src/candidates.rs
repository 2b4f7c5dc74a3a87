//! Chooses the memories of a scope that fit into a room of tokens.
//!
//! Entries that are not read yet enter; the memories that fit leave, in the order of the file. A first line says how an
//! entry ranks, and the length of its lines often that it cannot fit any more: so of a hundred thousand entries few are
//! read. Of two memories that say the same, the one that ranks higher is shown. A property below holds that the choice
//! is that among memories which were all read.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::budget::{BYTES_PER_TOKEN, DIGITS_PER_TOKEN, count_tokens, cut_at_word, estimate_tokens};
use crate::fit::{MIN_CUT, fit_memory};
use crate::format::Format;
use crate::limits::Limits;
use crate::rank::{Rank, Rooms};
use crate::render::Group;
use crate::said::Said;
use memories_document::EntryText;
use memories_document::entry_text::{Head, HeadReader};
use memories_document::types::frame::{INDENT, begins_alike, lines};
use memories_document::types::{Category, Memory, Span};

/// More bytes, and so tokens, than the marks and the age of a memory take, which it does not have in the file.
const MARKS: usize = 32;

/// A live entry, as it ranks among others.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    entry: EntryText<'a>,
    rank: Rank,
    /// The category, where the number of its entries is limited.
    limited: Option<Limited>,
    /// Tokens of the category and of the origin as they are shown.
    marks: usize,
    /// True if a blank line stands before it in every format but XML.
    is_set_off: bool,
}

/// Categories of which a recall shows so many entries, beside those that matter most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limited {
    Success,
    Failure,
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Candidate<'_> {}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// The entries to choose from, in the order of the file.
pub(super) fn candidates<'a>(live: impl Iterator<Item = EntryText<'a>>) -> Vec<Candidate<'a>> {
    let mut heads = HeadReader::default();
    let (success, failure) = (Category::success(), Category::failure());
    let candidate = |(at, entry): (usize, EntryText<'a>)| {
        let head = heads.read(&entry);
        let rank = Rank::of(&head, at);
        let limited = match &head.kind.category {
            _ if rank.has_no_limit() => None,
            category if *category == success => Some(Limited::Success),
            category if *category == failure => Some(Limited::Failure),
            _ => None,
        };
        let marks = count_tokens(head.kind.category.as_str()) + origin_tokens(&head);
        let is_set_off = Group::of_kind(head.kind.persistence, head.kind.status) == Group::Firm;
        Candidate { entry, rank, limited, marks, is_set_off }
    };
    live.enumerate().map(candidate).collect()
}

impl Candidate<'_> {
    /// Reads the memory.
    pub(super) fn read(&self) -> Memory {
        self.entry.read()
    }

    /// False if the memory costs more than that for certain, by its lines alone.
    fn may_cost(&self, tokens: usize, format: Format) -> bool {
        if self.entry.may_hide_lines() {
            return true;
        }
        let (title, body) = (self.entry.parts().title, self.entry.body());
        if begins_alike(title, body) {
            return true;
        }
        let shown = title.bytes().chain(body.bytes()).filter(u8::is_ascii_graphic).count();
        let escapes = memchr::memchr_iter(b'\\', self.entry.text().as_bytes()).count();
        // Counting tokens takes longer.
        if shown.saturating_sub(escapes) > tokens * BYTES_PER_TOKEN {
            return false;
        }
        let is_outer = |c: char| c.is_whitespace() || c.is_control();
        let of_line = |line: &str| match (line.trim_matches(is_outer), format) {
            ("", _) => 0,
            (line, Format::Xml) => count_tokens(line),
            // The indentation, and the line break behind a word.
            (line, _) => {
                count_tokens(line) + 1 + usize::from(line.ends_with(|c: char| c.is_ascii_alphanumeric()))
            }
        };
        let of_body = body.split('\n').map(of_line).sum::<usize>();
        let set_off = usize::from(self.is_set_off && format != Format::Xml);
        // The category stands in brackets.
        let least = set_off + 2 + self.marks + count_tokens(title.trim()) + of_body;
        // Without an escape, the marks beside it may be one token.
        least.saturating_sub(2 * escapes) <= tokens
    }

    /// False if the memory may cost more than that.
    fn costs_at_most(&self, tokens: usize, format: Format) -> bool {
        let (parts, body) = (self.entry.parts(), self.entry.body());
        // Escapes and an upper case category may take more bytes than what is written.
        if format != Format::Text || !parts.bracket.is_ascii() {
            return false;
        }
        let first_line = parts.bracket.len() + parts.fields.len() + MARKS;
        let bytes = first_line + parts.title.len() + body.len();
        if bytes + lines(body).count() * (INDENT.len() + 1) <= tokens {
            return true;
        }
        let of_lines = lines(body).map(|line| estimate_tokens(line) + 2).sum::<usize>();
        first_line + estimate_tokens(parts.title) + of_lines <= tokens
    }
}

/// Tokens of the origin with its parentheses, see [`crate::render::render_origin`].
fn origin_tokens(head: &Head) -> usize {
    let number = |number: u64| (number.checked_ilog10().unwrap_or(0) as usize + 1).div_ceil(DIGITS_PER_TOKEN);
    let digits = |Span { first, last }| {
        if first == last { 1 + number(first) } else { 2 + number(first) + number(last) }
    };
    let turns = head.turns.map(digits);
    let change = head.score_change.map(|change| 1 + number(change.unsigned_abs()));
    let parts = [head.episode.map(|episode| 1 + number(episode)), turns, change];
    match parts.into_iter().flatten().map(|tokens| tokens + 1).sum::<usize>() {
        0 => 0,
        // A comma between two, and the parentheses.
        tokens => tokens + 1,
    }
}

/// The choice as far as it is made.
struct Chosen<'a> {
    limits: &'a Limits,
    format: Format,
    rooms: &'a Rooms,
    memories: Vec<(usize, Memory)>,
    groups: Vec<Group>,
    said: Vec<Said>,
    successes: usize,
    failures: usize,
    used: usize,
    /// True if a memory of what changed the score or was found did not fit.
    is_find_left_out: bool,
}

/// The memories that fit, in the order of the file.
pub(super) fn choose_memories(
    candidates: &[Candidate<'_>],
    limits: &Limits,
    rooms: &Rooms,
    format: Format,
) -> Vec<Memory> {
    let (memories, groups, said) = (Vec::new(), Vec::new(), Vec::new());
    let (successes, failures, used, is_find_left_out) = (0, 0, 0, false);
    let mut chosen =
        Chosen { limits, format, rooms, memories, groups, said, successes, failures, used, is_find_left_out };
    let mut ranked: BinaryHeap<&Candidate<'_>> = candidates.iter().collect();
    let mut is_sifted = false;
    while let Some(candidate) = ranked.pop() {
        let is_taken = chosen.take(candidate);
        // Nothing that did not fit before fits into less room.
        if !is_taken && !is_sifted {
            ranked.retain(|candidate| {
                let may_be_taken = chosen.may_take(candidate);
                chosen.is_find_left_out |=
                    !may_be_taken && candidate.rank.is_find() && !chosen.is_full(candidate);
                may_be_taken
            });
        }
        is_sifted = !is_taken;
    }
    chosen.memories.sort_by_key(|(at, _)| *at);
    chosen.memories.into_iter().map(|(_, memory)| memory).collect()
}

impl Chosen<'_> {
    /// Takes a memory if it fits, whole or shortened, and if none that is taken says the same.
    fn take(&mut self, candidate: &Candidate<'_>) -> bool {
        if self.is_full(candidate) {
            return false;
        }
        let mut memory = candidate.read();
        let said = Said::by(&memory);
        if self.said.iter().any(|other| other.is_the_same_as(&said)) {
            return false;
        }
        if self.limits.max_text_chars > 0 {
            memory.text = cut_at_word(&memory.text, self.limits.max_text_chars);
        }
        // The first memory of a group also needs the group's heading.
        let group = Group::of(&memory);
        let heading =
            if self.groups.contains(&group) { 0 } else { estimate_tokens(group.heading(self.format)) };
        let (room, left) = self.room_for(candidate);
        let Some((memory, cost)) =
            fit_memory(memory, left.saturating_sub(heading), room, self.format, self.limits.now)
        else {
            self.is_find_left_out |= candidate.rank.is_find();
            return false;
        };
        match candidate.limited {
            Some(Limited::Success) => self.successes += 1,
            Some(Limited::Failure) => self.failures += 1,
            None => {}
        }
        self.used += heading + cost;
        self.groups.push(group);
        self.said.push(said);
        self.memories.push((candidate.rank.at, memory));
        true
    }

    /// False for a memory that does not fit now, nor when less room is left.
    fn may_take(&self, candidate: &Candidate<'_>) -> bool {
        let (room, left) = self.room_for(candidate);
        if self.is_full(candidate) {
            return false;
        }
        if self.limits.max_text_chars > 0 {
            return true;
        }
        candidate.may_cost(left, self.format)
            || left >= MIN_CUT && !candidate.costs_at_most(room, self.format)
    }

    /// The whole room of a memory, and how much of it is left.
    fn room_for(&self, candidate: &Candidate<'_>) -> (usize, usize) {
        let room = candidate.rank.room(self.rooms);
        (room, room.saturating_sub(self.used))
    }

    fn is_full(&self, candidate: &Candidate<'_>) -> bool {
        if self.is_find_left_out && candidate.rank.is_minor() {
            return true;
        }
        match candidate.limited {
            Some(Limited::Success) => self.successes >= self.limits.max_successes,
            Some(Limited::Failure) => self.failures >= self.limits.max_failures,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;
    use crate::rank::FINDS;
    use memories_document::Document;
    use memories_document::entry_text::ENTRIES_READ;
    use memories_document::types::instant::Instant;
    use memories_document::types::{CONTESTED_TAG, DEFAULT_IMPORTANCE, Persistence, Scope, Status};
    use memories_notebook::duplicates::ComparableText;

    fn contests(memory: &Memory) -> bool {
        memory.status == Status::Tentative && memory.has_tag(CONTESTED_TAG)
    }

    fn is_core_or_danger(memory: &Memory) -> bool {
        memory.persistence == Persistence::Core || memory.category.is_danger()
    }

    fn is_scored(memory: &Memory) -> bool {
        memory.provenance.score_change.is_some_and(|change| change != 0)
    }

    fn is_found(memory: &Memory) -> bool {
        FINDS.contains(&memory.category.as_str()) && memory.importance() >= DEFAULT_IMPORTANCE
    }

    fn has_no_limit(memory: &Memory) -> bool {
        !contests(memory) && (is_core_or_danger(memory) || is_scored(memory))
    }

    fn rank(memory: &Memory, at: usize) -> impl Ord + use<> {
        let turn = memory.provenance.turns.map(|turns| turns.last);
        let first = (!contests(memory), is_core_or_danger(memory), is_scored(memory), is_found(memory));
        (first, memory.importance(), memory.provenance.episode, turn, at)
    }

    /// The slow way: all memories are read, and each is tried in its turn.
    fn choose_among_all(live: &[Memory], limits: &Limits, rooms: &Rooms, format: Format) -> Vec<Memory> {
        let mut ranked: Vec<usize> = (0..live.len()).collect();
        ranked.sort_by_key(|&at| Reverse(rank(&live[at], at)));
        let (mut chosen, mut used, mut groups) = (Vec::<(usize, Memory)>::new(), 0, Vec::new());
        let mut is_find_left_out = false;
        let is_minor = |memory: &Memory| {
            memory.importance() < DEFAULT_IMPORTANCE && !is_core_or_danger(memory) && !is_scored(memory)
        };
        let limited =
            [(Category::success(), limits.max_successes), (Category::failure(), limits.max_failures)];
        for at in ranked {
            let is_counted =
                |memory: &Memory, category: &Category| memory.category == *category && !has_no_limit(memory);
            let is_full = |(category, limit): &(Category, usize)| {
                is_counted(&live[at], category)
                    && chosen.iter().filter(|(_, shown)| is_counted(shown, category)).count() >= *limit
            };
            if limited.iter().any(is_full) {
                continue;
            }
            let says_the_same = |(shown, _): &(usize, Memory)| {
                let of = |at: usize| (&live[at].category, Group::of(&live[at]));
                let text = |at: usize| ComparableText::new(&format!("{} {}", live[at].title, live[at].text));
                of(*shown) == of(at) && text(*shown).says_the_same(&text(at))
            };
            if chosen.iter().any(says_the_same) || is_find_left_out && is_minor(&live[at]) {
                continue;
            }
            let mut memory = live[at].clone();
            if limits.max_text_chars > 0 {
                memory.text = cut_at_word(&memory.text, limits.max_text_chars);
            }
            let group = Group::of(&memory);
            let heading = if groups.contains(&group) { 0 } else { estimate_tokens(group.heading(format)) };
            let room = match () {
                () if !contests(&memory) && is_core_or_danger(&memory) => rooms.vital,
                () if !contests(&memory) && is_scored(&memory) => rooms.scored,
                () if !contests(&memory) && is_found(&memory) => rooms.found,
                () => rooms.other,
            };
            if let Some((memory, cost)) =
                fit_memory(memory, room.saturating_sub(used + heading), room, format, limits.now)
            {
                used += heading + cost;
                groups.push(group);
                chosen.push((at, memory));
            } else {
                is_find_left_out |= !contests(&live[at]) && (is_scored(&live[at]) || is_found(&live[at]));
            }
        }
        chosen.sort_by_key(|(at, _)| *at);
        chosen.into_iter().map(|(_, memory)| memory).collect()
    }

    /// The choice, and how many entries were read for it.
    fn choose(text: &str, limits: &Limits, rooms: [usize; 4], format: Format) -> (Vec<Memory>, usize) {
        let document = Document::parse(text.to_owned());
        let Some(unread) = document.unread(&Scope::World) else { return (Vec::new(), 0) };
        let before = ENTRIES_READ.get();
        let [vital, scored, found, other] = rooms;
        let rooms = Rooms { vital, scored, found, other };
        let chosen = choose_memories(&candidates(unread.live()), limits, &rooms, format);
        (chosen, ENTRIES_READ.get() - before)
    }

    fn entry() -> impl Strategy<Value = String> {
        let bracket = prop::sample::select(vec![
            "NOTE",
            "NOTE",
            "NOTE",
            "SUCCESS",
            "DISCOVERY",
            "FAILURE",
            "DANGER",
            "NOTE - CORE",
            "NOTE - TENTATIVE",
            "NOTE - SUPERSEDED",
            "ﬁsh - TENTATIVE",
        ]);
        let title = r"[A-Za-z*\\()é森]{0,12}x";
        let fields = prop::sample::select(vec![
            "",
            " *(Ep1, T2)*",
            " *(Ep2,T3-4,-5)*",
            " *(Ep1, T9, importance 900)*",
            " *(Ep1, T1, importance 100, #contested)*",
            " *(T8, +0)*",
        ]);
        let words = "([a-zA-Z]{1,9}[ ,.!]{1,2}){0,40}";
        let line = prop_oneof![
            8 => words,
            1 => "[0-9<>&;#\\\\*'\"-]{0,30}",
            1 => "[森の道は暗い。]{0,40}",
            1 => Just("<!-- a comment of a person -->".to_owned()),
            1 => Just("See also: [[World › a]]".to_owned()),
            1 => Just("\\# no heading".to_owned()),
            1 => Just("a\u{2028}b\u{85}c\u{b}d\u{1c}".to_owned()),
            1 => Just("  森 12 \\ --\\>  ".to_owned()),
            1 => Just(String::new()),
        ];
        (bracket, title, fields, prop::collection::vec(line, 0..4)).prop_map(
            |(bracket, title, fields, lines)| {
                format!("**[{bracket}] {title}**{fields}\n{}\n\n", lines.join("\n"))
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_choice_is_that_among_memories_which_were_all_read(
            entries in prop::collection::vec(entry(), 0..40),
            mut rooms in prop::array::uniform4(0_usize..300),
            (successes, failures) in (0_usize..4, 0_usize..4),
            max_text_chars in prop::sample::select(vec![0, 0, 0, 30]),
            format in prop::sample::select(vec![Format::Text, Format::Text, Format::Markdown, Format::Xml]),
        ) {
            let text = format!("## World\n\n{}", entries.concat());
            let limits = Limits {
                max_tokens: None, max_successes: successes, max_failures: failures, max_text_chars,
                confirmed_by: 0,
                now: Instant::of("2026-01-31T10:40:00Z"),
            };
            rooms.sort_by_key(|room| Reverse(*room));
            let [vital, scored, found, other] = rooms;
            let section = Document::parse(text.clone()).section(&Scope::World).expect("a section");
            let live: Vec<Memory> = section.live().cloned().collect();
            let expected = choose_among_all(&live, &limits, &Rooms { vital, scored, found, other }, format);
            prop_assert_eq!(choose(&text, &limits, rooms, format).0, expected);
        }
    }

    #[test]
    fn few_of_many_entries_are_read() {
        let text = |count: usize| {
            let text = "It has a text of several words, such as these here, and says no more than that.";
            let entry = |n| format!("**[NOTE] Memory {n}** *(Ep1, T{n})*\n{text} {text}\n\n");
            format!("## World\n\n{}", (0..count).map(entry).collect::<String>())
        };
        for rooms in [[280, 280, 280, 280], [280, 150, 100, 70], [100, 60, 50, 40], [20, 10, 10, 10]] {
            for count in [100, 3000] {
                let (_, read) = choose(&text(count), &Limits::default(), rooms, Format::Text);
                assert!(read < 20, "{read} of {count} entries were read for {rooms:?}");
            }
        }
    }

    #[test]
    fn what_two_memories_say_is_shown_once() {
        let text = "## World\n\n\
            **[NOTE] The bell rings at noon**\nIt calls the ferry.\n\n\
            **[NOTE] The bell rings at noon** *(importance 700)*\nit calls the  ferry\n\n\
            **[NOTE - TENTATIVE] The bell rings at noon** *(importance 900)*\nIt calls the ferry.\n\n\
            **[DANGER] The bell rings at noon**\nIt calls the ferry.\n\n\
            **[NOTE] The bell rings at dusk**\nIt calls the ferry.\n\n";
        let (chosen, _) = choose(text, &Limits::default(), [9000; 4], Format::Text);
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
        let (chosen, _) = choose(&text, &limits, [9000; 4], Format::Text);
        let count = |most: bool, category: &Category| {
            let is_meant = |memory: &&Memory| has_no_limit(memory) == most && memory.category == *category;
            chosen.iter().filter(is_meant).count()
        };
        let counts =
            [true, false].map(|most| [Category::success(), Category::failure()].map(|c| count(most, &c)));
        assert_eq!(counts, [[7, 7], [2, 3]]);
    }
}
