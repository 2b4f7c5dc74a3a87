//! The last state of each of the last ten episodes can be restored, and each state says which write came after it.

use memories::store::{Backup, Occasion};

use super::*;

/// Writes a text in an episode.
fn write_in(store: &Store, episode: u64, text: &str) {
    let occasion = Occasion { command: "record".to_owned(), episode, text: format!("to {}", text.len()) };
    let update = store
        .update(|_, _| Ok::<_, StoreError>(Change::to(text.to_owned(), ()).with_occasion(occasion.clone())))
        .unwrap();
    assert!(update.written && update.warnings.is_empty(), "{:?}", update.warnings);
}

/// The end of an episode.
fn end_of(states: &[Backup], episode: u64) -> Option<&Backup> {
    states.iter().find(|state| state.ends == Some(episode))
}

#[test]
fn the_end_of_each_of_the_last_ten_episodes_is_kept() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    let text = |episode: u64, turn: u64| format!("{episode}: {}\n", "turn ".repeat(turn as usize));
    for episode in 1..=15 {
        for turn in 1..=20 {
            write_in(&store, episode, &text(episode, turn));
        }
    }
    let states = store.backups().unwrap();
    assert_eq!(states.len(), 20, "{states:#?}");
    for episode in 5..=14 {
        let end = end_of(&states, episode).unwrap();
        assert_eq!(store.read_backup(end.number).unwrap(), text(episode, 20));
        let before = end.before.as_ref().unwrap();
        assert_eq!((before.episode, before.command.as_str()), (episode + 1, "record"));
    }
    assert!(end_of(&states, 4).is_none() && end_of(&states, 15).is_none());
    for (state, turn) in states.iter().zip((1..20).rev()) {
        assert_eq!(state.before.as_ref().unwrap().text, format!("to {}", text(15, turn + 1).len()));
        if states[9].number == state.number {
            break;
        }
    }
}

#[test]
fn the_first_write_belongs_to_an_episode_too_and_one_that_comes_back_ends_last() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    for (episode, text) in [(1, "first"), (2, "second"), (1, "third"), (2, "fourth")] {
        write_in(&store, episode, text);
    }
    let states = store.backups().unwrap();
    let ends: Vec<_> = states.iter().map(|state| (state.number, state.ends)).collect();
    assert_eq!(ends, [(3, Some(1)), (2, Some(2)), (1, Some(1))]);
    for number in 0..12 {
        write_in(&store, 2, &format!("on {number}"));
    }
    let states = store.backups().unwrap();
    let old: Vec<u64> = states[10..].iter().map(|state| state.number).collect();
    assert_eq!(old, [3, 2], "of two ends of an episode the later one stays");
}

#[test]
fn lines_that_are_damaged_or_gone_cost_no_state() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    write_in(&store, 1, "one");
    write_in(&store, 2, "two");
    let lines = store.folder().join("backups/states.jsonl");
    let whole = fs::read_to_string(&lines).unwrap();
    // A power cut may tear the last line.
    fs::write(&lines, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(store.backups().unwrap()[0].before, None);
    write_in(&store, 2, "three");
    write_in(&store, 3, "four");
    let states = store.backups().unwrap();
    assert_eq!(states.iter().map(|state| state.ends).collect::<Vec<_>>(), [Some(2), Some(1), None]);
    assert!(
        fs::read_to_string(&lines).unwrap().lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    fs::write(&lines, [0xff; 90]).unwrap();
    write_in(&store, 3, "five");
    fs::remove_file(&lines).unwrap();
    assert_eq!(store.backups().unwrap().len(), 4);
    fs::create_dir(&lines).unwrap();
    write_in(&store, 4, "six");
    assert_eq!(store.backups().unwrap().len(), 5);
    assert_eq!(store.backups().unwrap()[0].before, None);
}

#[test]
fn the_lines_stay_few_however_long_a_game_is() {
    let (_folder, path) = empty_folder();
    let store = open(&path);
    for number in 0..450 {
        write_in(&store, 1 + number / 100, &number.to_string());
    }
    let lines = fs::read_to_string(store.folder().join("backups/states.jsonl")).unwrap();
    assert!(lines.lines().count() <= 200, "{}", lines.lines().count());
    let states = store.backups().unwrap();
    for episode in 1..=4 {
        let end = end_of(&states, episode).unwrap();
        assert_eq!(store.read_backup(end.number).unwrap(), (episode * 100 - 1).to_string());
    }
    assert!(states.iter().all(|state| state.before.is_some()));
}
