//! `fmt` as a property of lists of evidence: no action stands twice, and none loses its count, mark, reply or result.

use std::collections::BTreeMap;

use memories::document::Document;
use memories::document::check::problems;
use memories::document::evidence::{parse_attempts, write_attempts};
use memories::document::format::format;
use memories::document::twins::fix;
use memories::document::ways::{parse_way, write_way};
use memories::types::{Attempt, Scope, TryResult, Way, fold_action};
use proptest::prelude::*;

/// A line of a list, and whether a person wrote in it.
#[derive(Debug, Clone)]
struct Line {
    attempts: Vec<Attempt>,
    is_persons: bool,
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let action =
        prop::sample::select(vec!["push", "press", "pull", "n", "north", "take the rug", "sing `x`"]);
    let moment = (prop::option::of(1..4u64), prop::option::of(1..30u64));
    let result =
        prop::sample::select(vec![TryResult::Vain, TryResult::Vain, TryResult::Blocked, TryResult::Deadly]);
    (action, 1..4u64, moment, prop::sample::select(vec!["", "No.", "It is stuck."]), result).prop_map(
        |(action, count, (episode, turn), reply, result)| Attempt {
            action: action.to_owned(),
            count,
            episode,
            turn,
            reply: reply.to_owned(),
            result,
            witnesses: Default::default(),
        },
    )
}

/// Lines as programs write them, and some in which a person wrote.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = (prop::collection::vec(attempt(), 1..4), prop::bool::weighted(0.1));
    prop::collection::vec(line, 0..8).prop_map(|lines| {
        let written = lines.into_iter().flat_map(|(attempts, is_persons)| {
            let lines = write_attempts(&attempts, |_| true);
            lines.into_iter().map(move |line| {
                let attempts = parse_attempts(&line).expect("a line of a program").attempts;
                Line { attempts, is_persons }
            })
        });
        written.collect()
    })
}

fn text_of(line: &Line) -> String {
    let written = write_attempts(&line.attempts, |_| true).remove(0);
    if line.is_persons { format!("{written} <!-- mine -->\n") } else { format!("{written}\n") }
}

/// What counts of each action: the latest, of two of one moment the one that stands later.
fn latest(lines: &[Line]) -> BTreeMap<String, Attempt> {
    let mut latest: BTreeMap<String, Attempt> = BTreeMap::new();
    for attempt in lines.iter().flat_map(|line| &line.attempts) {
        let key = fold_action(&attempt.action);
        let moment = |attempt: &Attempt| (attempt.episode, attempt.turn);
        if latest.get(&key).is_none_or(|other| moment(attempt) >= moment(other)) {
            latest.insert(key, attempt.clone());
        }
    }
    latest
}

/// The same as readers see it.
fn read(text: &str) -> BTreeMap<String, Attempt> {
    let section = Document::parse(text.to_owned()).section(&Scope::Location(1)).expect("a section");
    section.tried.into_iter().map(|attempt| (fold_action(&attempt.action), attempt)).collect()
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn every_action_stands_once_with_what_counts(lines in lines()) {
        let list: String = lines.iter().map(text_of).collect();
        let text = format!("## Location 1: Hall\n\n### Tried\n\n{list}\n---\n");
        let formatted = format(&text).text;
        prop_assert_eq!(&format(&formatted).text, &formatted);
        let meant = latest(&lines);
        prop_assert_eq!(read(&text), meant.clone(), "{}", text);
        prop_assert_eq!(read(&formatted), meant, "{}\n{}", text, formatted);
        let persons: Vec<String> = lines.iter().filter(|line| line.is_persons)
            .flat_map(|line| &line.attempts).map(|attempt| fold_action(&attempt.action)).collect();
        let written: Vec<String> = formatted.lines().filter_map(parse_attempts)
            .flat_map(|line| line.attempts).map(|attempt| fold_action(&attempt.action)).collect();
        let twins = |key: &String| written.iter().filter(|other| *other == key).count() > 1;
        prop_assert!(written.iter().filter(|key| !persons.contains(key)).all(|key| !twins(key)), "{}", formatted);
        let told = problems(&formatted).iter().filter(|problem| <&str>::from(&problem.kind) == "second_line").count();
        let mut doubled: Vec<&String> = written.iter().filter(|key| twins(key)).collect();
        doubled.sort();
        doubled.dedup();
        prop_assert_eq!(told, doubled.len(), "{}", formatted);
        prop_assert_eq!(fix(&text).text, formatted);
    }

    #[test]
    fn every_way_stands_once_with_what_counts(
        ways in prop::collection::vec((prop::sample::select(vec!["n", "north", "up"]), 1..4u64, 1..4u64, prop::option::of(1..9u64)), 0..8),
    ) {
        let way = |(action, to, count, episode): &(&str, u64, u64, Option<u64>)| Way {
            action: (*action).to_owned(), to: *to, name: String::new(), count: *count, episode: *episode, turn: None, after: Vec::new(),
            witnesses: Default::default(),
        };
        let list: String = ways.iter().map(|one| format!("{}\n", write_way(&way(one)))).collect();
        let text = format!("## Location 1: Hall\n\n### Ways\n\n{list}\n---\n");
        let formatted = format(&text).text;
        prop_assert_eq!(&format(&formatted).text, &formatted);
        let read = |text: &str| {
            let mut ways = Document::parse(text.to_owned()).section(&Scope::Location(1)).expect("a section").ways;
            ways.sort_by_key(|way| (fold_action(&way.action), way.to));
            ways
        };
        prop_assert_eq!(read(&formatted), read(&text));
        let mut keys: Vec<_> = formatted.lines().filter_map(parse_way).map(|line| (fold_action(&line.way.action), line.way.to)).collect();
        let count = keys.len();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(keys.len(), count, "{}", formatted);
    }
}

/// Two lines on one action, as a union merge leaves them.
#[test]
fn marks_of_a_doubled_action_stay() {
    let text = "## Location 1: A\n\n### Tried\n\n- `push` ×2, `pull` *(Ep1, T1)*: No.\n- `push` *(Ep1, T9)*: No.\n\
                - `pull` *(Ep2, T3)*: No.\n\n---\n";
    let folded = "## Location 1: A\n\n### Tried\n\n- `push` *(Ep1, T9)*, `pull` *(Ep2, T3)*: No.\n\n---\n";
    assert_eq!(format(text).text, folded);
}
