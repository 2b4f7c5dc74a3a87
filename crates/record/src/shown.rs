//! The part of a turn's prompt that a model's answer may refer to: the grounds of the answer, and the memories that it may
//! name.

use crate::changes::{Changes, inventory_change};
use crate::context::TurnContext;
use crate::effect::Effect;
use crate::proposal::{Named, Side};
use memories_document::types::direction::Direction;
use memories_document::types::{Memory, Span, means_title};
use memories_search::grounding::{Grounding, Sources};
use memories_search::named::{nearest_title, number_of};

/// Words by which a death is told.
const DEATH: &str = "die dies died dying dead death deaths deadly kill kills killed killing fatal lethal mortal perish \
                     perished danger dangerous tod tot tödlich stirbt sterben gestorben tötet lebensgefahr gefährlich \
                     gefahr mort mortel mortelle meurt mourir mourez tue danger dangereux muerte muere morir mortal \
                     mata peligro peligroso смерть смертельно умер умереть умирает гибель опасно опасность 死 死亡 致命 \
                     危险 危險 危険";

/// Words by which points are told.
const SCORE: &str = "score scores scored scoring point points reward rewards punkte punkt pts points puntos punto \
                     puntuación очки очков счёт 分 分数 得分 点 得点";

/// Words by which things that were taken or put down are told.
const CARRIED: &str = "take takes taken taking took carry carried carries get acquire acquired obtain hold pick picked \
                       drop dropped drops lose loses lost inventory nehmen genommen mitnehmen verloren prendre pris \
                       coger tomar tomado взять взят 拿 取 捡";

/// Words by which ways are told.
const WAYS: &str = "way ways path paths passage exit exits lead leads leading go goes route connection connects \
                    connected entrance enter weg wege ausgang führt chemin sortie mène camino salida lleva путь выход \
                    ведёт 路 出口 通 道";

/// The texts that can bear out an answer.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The words of the turn and of its facts.
    turn: Sources,
    /// These, and those of earlier turns, ways and memories shown.
    sources: Sources,
    /// From the earliest turn that the model was shown to the turn itself.
    pub(super) turns: Span,
    /// The memories in the order of their numbers, then the other live ones of both places.
    titles: Vec<Named>,
    /// How many of them have a number.
    numbered: usize,
}

impl Shown {
    /// Everything that the model is told of a turn.
    /// `shown` are the memories in the order of their numbers.
    pub(super) fn of(context: &TurnContext, shown: &[(Side, &Memory)]) -> Shown {
        let TurnContext { turn, before, after, memories, history, number, .. } = context;
        let mut sources = Sources::of([&*turn.action, &turn.response, &before.name, &after.name]);
        let own =
            turn.reasoning.iter().chain(turn.inventory_before.iter().chain(&turn.inventory_after).flatten());
        own.for_each(|text| sources.add(text));
        facts(context).into_iter().for_each(|words| sources.add(words));
        let of_turn = sources.clone();
        for earlier in history {
            [&earlier.action, &earlier.response]
                .into_iter()
                .chain(&earlier.reasoning)
                .for_each(|text| sources.add(text));
        }
        for memory in memories.before.iter().chain(&memories.after) {
            [&memory.title, &memory.text].into_iter().for_each(|text| sources.add(text));
        }
        let ways = context.surroundings.ways.iter();
        ways.for_each(|(action, to)| [action, &to.name].into_iter().for_each(|text| sources.add(text)));
        let earliest = history.iter().filter_map(|earlier| earlier.turn).filter(|shown| shown < number).min();
        let all = [(Side::Before, &memories.before), (Side::After, &memories.after)];
        let all = all.into_iter().flat_map(|(side, list)| list.iter().map(move |memory| (side, memory)));
        let titles = shown.iter().copied().chain(all);
        let titles = titles.map(|(side, memory)| Named {
            title: memory.title.clone(),
            side: Some(side),
            is_guess: false,
        });
        Shown {
            turn: of_turn,
            sources,
            turns: Span { first: earliest.unwrap_or(*number), last: *number },
            titles: titles.collect(),
            numbered: shown.len(),
        }
    }

    /// Texts of a turn, and titles of memories that have the numbers from 1.
    pub fn of_texts(texts: &[&str], titles: &[&str], turns: Span) -> Shown {
        let named =
            |title: &&str| Named { title: (*title).to_owned(), side: Some(Side::Before), is_guess: false };
        let turn = Sources::of(texts.iter().copied());
        let mut sources = turn.clone();
        titles.iter().for_each(|title| sources.add(title));
        Shown { turn, sources, turns, titles: titles.iter().map(named).collect(), numbered: titles.len() }
    }

    /// The verdict on a memory. A title that a memory has already bears out nothing but by the turn itself: its words are
    /// those of what it would replace.
    pub(super) fn judge_memory(&self, title: &str, text: &str, reasoning: &str) -> Grounding {
        let is_in_use = self.titles.iter().any(|named| means_title(title, &named.title));
        if is_in_use && self.turn.judge(title) != Grounding::BorneOut {
            self.judge(text, reasoning)
        } else {
            self.judge(&format!("{title}\n{text}"), reasoning)
        }
    }

    /// The verdict on a text. The answer's own reasoning helps to bear it out, where that rests on the turn itself.
    pub(super) fn judge(&self, text: &str, reasoning: &str) -> Grounding {
        let verdict = self.sources.judge(text);
        if verdict != Grounding::Unsupported || self.turn.judge(reasoning) != Grounding::BorneOut {
            return verdict;
        }
        let mut sources = self.sources.clone();
        sources.add(reasoning);
        sources.judge(text)
    }

    /// The memory that an answer names: `m3`, a title, or nearly a title; a warning where it is not exactly one that was
    /// shown.
    pub(super) fn find(&self, said: &str, warnings: &mut Vec<String>) -> Option<Named> {
        if let Some(number) = number_of(said) {
            let at = number.checked_sub(1).filter(|at| *at < self.numbered);
            if at.is_none() {
                warnings.push(format!("no memory with the number `{said}` was shown: left alone"));
            }
            return at.map(|at| self.titles[at].clone());
        }
        // Both places may have the title, and so may an entry that was not shown. What strikes it reports a title that no
        // entry has.
        let as_said = Named { title: said.to_owned(), side: None, is_guess: false };
        if self.titles.iter().any(|named| means_title(said, &named.title)) {
            return Some(as_said);
        }
        let titles: Vec<&str> = self.titles.iter().map(|named| named.title.as_str()).collect();
        let Some(title) = nearest_title(said, &titles) else { return Some(as_said) };
        warnings.push(format!("no memory is called `{said}`: `{title}` is taken for it"));
        let nearest = self.titles.iter().find(|named| named.title == title);
        nearest.map(|named| Named { is_guess: true, ..named.clone() })
    }
}

/// Words that tell the facts of a turn.
fn facts(context: &TurnContext) -> Vec<&'static str> {
    let TurnContext { turn, changes, effect, .. } = context;
    let Changes { score, location, death, .. } = *changes;
    let (gained, lost) = inventory_change(turn);
    let names_ways = turn.response.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.len() > 2 && Direction::of(word).is_some()
    });
    let facts = [
        (death || *effect == Effect::Died, DEATH),
        (score, SCORE),
        (!gained.is_empty() || !lost.is_empty() || *effect == Effect::Gained, CARRIED),
        (location || names_ways, WAYS),
    ];
    facts.into_iter().filter_map(|(is_so, words)| is_so.then_some(words)).collect()
}
