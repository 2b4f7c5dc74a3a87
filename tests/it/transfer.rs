//! Export and import: an export that is imported again gives the same memory, in one write.
//!
//! Each property runs 64 cases, or as many as `PROPTEST_CASES` says.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::program::{former_states, memories};
use memories::document::text::{stored_line, stored_reply};
use memories::document::{Document, RegionKind, Section, SectionUpdate, stored};
use memories::notebook::files::Files;
use memories::transfer::merge::{MergeOptions, MergeReport, OnConflict, merge};
use memories::transfer::{TransferFormat, read, write};
use memories::types::{
    Attempt, Category, Cause, FolderPath, Memory, Moment, Persistence, Provenance, Reference, Scope, Span,
    Status, TryResult, Way, fold_action, fold_title,
};
use proptest::prelude::*;
use strum::VariantArray;

const FORMATS: &[TransferFormat] = &[
    TransferFormat::Json,
    TransferFormat::Jsonl,
    TransferFormat::Markdown,
    #[cfg(feature = "sqlite")]
    TransferFormat::Sqlite,
];

fn files() -> Files {
    Files::new(Document::parse(String::new()), Document::parse(String::new()))
}

/// All that both files say, by scope.
fn all(files: &Files) -> Vec<(Scope, Section)> {
    let mut sections: BTreeMap<Scope, Section> = files.lasting.sections().into_iter().collect();
    for (scope, section) in files.session.sections() {
        sections.entry(scope).or_default().add_session(section);
    }
    sections.into_iter().collect()
}

fn import(files: &mut Files, bytes: &[u8], format: TransferFormat, on_conflict: OnConflict) -> MergeReport {
    let source = read(bytes, format).unwrap();
    let options = MergeOptions { on_conflict, ..MergeOptions::default() };
    merge(files, &source.items, &options, || {}).unwrap()
}

/// Both files, written and read again.
fn reopened(files: Files) -> Files {
    Files::new(
        Document::parse(files.lasting.into_text().unwrap()),
        Document::parse(files.session.into_text().unwrap()),
    )
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z .,'!?]{0,30}",
        2 => "\\PC{0,20}",
        1 => r#"[ ]{0,4}[\\#=\-*_`~<>\[\]!:"',;{}\t ]{0,8}"#,
        2 => prop::sample::select(vec![
            "# Title", "## Location 15: Elsewhere", "### Memories", "### Tried", "---", "===", "```", "~~~", "<!--", "-->",
            "<!-- x -->", "<script>", "**[NOTE] Forged** *(Ep1, T1)*", "**[broken", "[Superseded at Ep2 T45 by \"x\"]",
            "[Invalidated at T1: \"y\"]", "~~a ~ b~~", "\\# x", "\\", "Context: elsewhere", "See also: [[World › x]]",
            "**Visits:** 7", "- `wait` ×3 *(Ep1, T2)*: no", "> quote", "1. one", "\u{2028}", "\u{202e}rtl", "\u{0}", "a\rb",
            "\u{FEFF}", "'); DROP TABLE memories;--", "{\"text\": \"x\"}", "NULL", "a\\", "` `` ```", "12", "1e5", "x)* y",
        ]).prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::collection::vec(line(), 0..7).prop_map(|lines| lines.join("\n")),
        1 => prop::collection::vec(line(), 0..7).prop_map(|lines| lines.join("\r\n")),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0u64..2000, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        4 => (0u64..4).prop_map(Scope::Location),
        1 => number().prop_map(Scope::Location),
        1 => prop::sample::select(vec![
            Scope::World, Scope::Scene, Scope::Dialogue, Scope::Npc("troll".to_owned()), Scope::Agent("a-1_x".to_owned()),
            Scope::Topic("release".to_owned()), Scope::Folder(FolderPath::root()),
            Scope::Folder(FolderPath::parse("my notes/c#").unwrap()),
        ]),
    ]
}

fn date() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "2026-01-31",
        "2026-01-31T10:40:00Z",
        "2026-01-31T\n## World",
        "soon",
        "2026-01-31T\"x",
    ])
    .prop_map(str::to_owned)
}

fn provenance() -> impl Strategy<Value = Provenance> {
    let span = || prop::option::of((number(), number()).prop_map(|(first, last)| Span { first, last }));
    let numbers = (
        prop::option::of(number()),
        span(),
        span(),
        prop::option::of(any::<i64>()),
        prop::option::of(1u16..=1000),
    );
    let counters = (prop::option::of(any::<i64>()), prop::option::of(any::<i64>()), prop::option::of(date()));
    let texts = || prop::collection::vec(line(), 0..3);
    (numbers, counters, (texts(), texts(), texts(), prop::option::of(line()))).prop_map(
        |(
            (episode, turns, messages, score_change, importance),
            (score, moves, date),
            (sources, tags, other, goal),
        )| {
            Provenance {
                episode,
                turns,
                messages,
                score_change,
                date,
                importance,
                score,
                moves,
                sources,
                tags,
                other,
                goal,
            }
        },
    )
}

fn reference() -> impl Strategy<Value = Reference> {
    let option = || prop::option::of(number());
    (option(), option(), option(), prop::option::of(date()), line(), any::<bool>()).prop_map(
        |(episode, turn, message, date, text, superseded)| Reference {
            at: Moment { episode, turn, message, date },
            cause: if superseded { Cause::SupersededBy(text) } else { Cause::Invalidated(text) },
        },
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    let category =
        prop::sample::select(vec!["SUCCESS", "DANGER", "NOTE", "LOOT & MORE", "DIALOGUE", "EVENT"]);
    let persistence =
        prop::sample::select(vec![Persistence::Permanent, Persistence::Core, Persistence::Ephemeral]);
    let status = prop::sample::select(vec![Status::Active, Status::Tentative, Status::Superseded]);
    let closing = (prop::option::of(line()), prop::option::of(line()), prop::option::of(reference()));
    ((category, persistence, status), (line(), text()), provenance(), closing).prop_map(
        |((category, persistence, status), (title, text), provenance, (context, see_also, reference))| {
            Memory {
                persistence,
                status,
                provenance,
                context,
                see_also,
                reference,
                ..Memory::new(Category::new(category).unwrap(), title, text)
            }
        },
    )
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let times = (number(), prop::option::of(number()), prop::option::of(number()));
    (line(), times, line(), prop::sample::select(TryResult::VARIANTS)).prop_map(
        |(action, (count, episode, turn), reply, result)| Attempt {
            action,
            count,
            episode,
            turn,
            reply,
            result,
            witnesses: Default::default(),
        },
    )
}

/// Additions to the section of one scope.
fn addition() -> impl Strategy<Value = (Scope, Section)> {
    let memories = prop::collection::vec(memory(), 0..6);
    let known = (line(), number(), prop::collection::vec(number(), 0..4));
    (scope(), known, memories, prop::collection::vec(attempt(), 0..4), evidence()).prop_map(
        |(scope, (name, visits, episodes), memories, tried, (worked, ways, seen, first_turn))| {
            let first =
                |turn| Moment { episode: episodes.first().copied(), turn: Some(turn), ..Moment::default() };
            let first_visit = first_turn.filter(|_| !episodes.is_empty()).map(first);
            let notes = Vec::new();
            let added =
                Section { name, visits, episodes, memories, first_visit, tried, worked, ways, seen, notes };
            (scope, added)
        },
    )
}

/// Evidence: actions that worked, ways, actions that looked, and the turn of the first visit.
fn evidence() -> impl Strategy<Value = (Vec<Attempt>, Vec<Way>, Vec<Attempt>, Option<u64>)> {
    let worked = (line(), 1..5u64, number(), number()).prop_map(|(action, count, episode, turn)| Attempt {
        action,
        count,
        episode: Some(episode),
        turn: Some(turn),
        reply: String::new(),
        ..Attempt::default()
    });
    let way = (line(), 0..5u64, line(), 1..9u64, prop::option::of((number(), number())));
    let after = prop::collection::vec(line(), 0..2);
    let way = (way, after).prop_map(|((action, to, name, count, at), after)| Way {
        action: format!("go {action}"),
        to,
        name: stored_line(&format!("A {name}")),
        count,
        episode: at.map(|at| at.0),
        turn: at.map(|at| at.1),
        after,
        witnesses: Default::default(),
    });
    (
        prop::collection::vec(worked, 0..3),
        prop::collection::vec(way, 0..3),
        prop::collection::vec(attempt(), 0..3),
        prop::option::of(number()),
    )
}

fn additions() -> impl Strategy<Value = BTreeMap<Scope, Section>> {
    prop::collection::vec(addition(), 0..4).prop_map(|additions| additions.into_iter().map(lawful).collect())
}

/// Live titles are unique in their section, as in any file that the program wrote.
fn lawful((scope, mut addition): (Scope, Section)) -> (Scope, Section) {
    let mut titles: Vec<String> = Vec::new();
    addition.memories.retain(|memory| {
        let title = fold_title(&stored(memory).title);
        let address = memory.is_live() && !memory.category.only_grows();
        let free = !address || !titles.contains(&title);
        if address && free {
            titles.push(title);
        }
        free
    });
    (scope, addition)
}

fn updates(additions: BTreeMap<Scope, Section>) -> BTreeMap<Scope, SectionUpdate> {
    additions.into_iter().map(|(scope, addition)| (scope, addition.into())).collect()
}

/// A memory with all that the additions hold: ephemeral memories in the session.
fn remembered(additions: &BTreeMap<Scope, Section>) -> Files {
    let mut files = files();
    let of = |ephemeral: bool| {
        let mut additions = additions.clone();
        for addition in additions.values_mut() {
            addition.memories.retain(|memory| (memory.persistence == Persistence::Ephemeral) == ephemeral);
            if ephemeral {
                addition.memories.iter_mut().for_each(|memory| memory.persistence = Persistence::Permanent);
                let (memories, name) = (addition.memories.clone(), addition.name.clone());
                *addition = Section { memories, name, ..Section::default() };
            }
        }
        additions.retain(|_, addition| !ephemeral || !addition.memories.is_empty());
        updates(additions)
    };
    files.lasting.update(&of(false)).unwrap();
    files.session.update(&of(true)).unwrap();
    reopened(files)
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// An export holds all that is in a file, and importing it gives the same back.
    #[test]
    fn out_and_in_again_gives_the_same(additions in additions()) {
        let before = remembered(&additions);
        let sections = all(&before);
        for &format in FORMATS {
            let bytes = write(&sections, format).unwrap();
            let mut after = files();
            let report = import(&mut after, &bytes, format, OnConflict::Refuse);
            prop_assert_eq!(&report.failed, &[], "{:?}", format);
            let after = reopened(after);
            prop_assert_eq!(&all(&after), &sections, "{:?}", format);
            // Once more changes nothing.
            let texts = |files: &Files| (files.lasting.clone().into_text(), files.session.clone().into_text());
            let mut again = after.clone();
            let report = import(&mut again, &bytes, format, OnConflict::Refuse);
            prop_assert_eq!(&report.failed, &[], "{:?}", format);
            prop_assert_eq!((report.stored, report.tried), (0, 0));
            prop_assert_eq!(texts(&again), texts(&after), "{:?}", format);
        }
    }

    /// Many additions in one pass are the same as one after the other.
    #[test]
    fn additions_in_one_pass_say_the_same(additions in additions(), more in additions()) {
        let mut bulk = Document::parse(String::new());
        bulk.update(&updates(additions.clone())).unwrap();
        let mut single = Document::parse(bulk.clone().into_text().unwrap());
        bulk.update(&updates(more.clone())).unwrap();
        for (scope, addition) in &more {
            let before = single.section(scope).unwrap_or_default();
            for memory in &addition.memories {
                single.add(scope, &addition.name, memory).unwrap();
            }
            for attempt in addition.tried.iter().filter(|attempt| !stored_line(&attempt.action).is_empty()) {
                single.put_attempt(scope, &addition.name, RegionKind::Tried, attempt, 99).unwrap();
            }
            let section = single.section(scope).unwrap_or_default();
            let found = bulk.section(scope).unwrap();
            prop_assert_eq!(&found.memories, &section.memories);
            prop_assert_eq!(&found.tried, &section.tried);
            prop_assert_eq!(found.visits, before.visits.max(addition.visits));
            prop_assert!(addition.episodes.iter().all(|episode| found.episodes.contains(episode)));
        }
        let text = bulk.into_text().unwrap();
        prop_assert_eq!(memories::document::check::problems(&text).into_iter().filter(|problem| !matches!(<&str>::from(&problem.kind), "same_title" | "ephemeral_entry" | "lost_reference" | "lost_link" | "circular_reference" | "encoded_twice" | "unseen" | "same_look" | "low_importance" | "broken_field")).collect::<Vec<_>>(), vec![]);
        let locations: Vec<u64> = Document::parse(text).headings().filter_map(|heading| match heading.scope { Scope::Location(id) => Some(id), _ => None }).collect();
        prop_assert!(locations.is_sorted());
    }

    /// Whatever bytes come, a reader answers.
    #[test]
    fn no_bytes_break_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..300), lines in text()) {
        for &format in FORMATS {
            for bytes in [bytes.as_slice(), lines.as_bytes()] {
                let Ok(source) = read(bytes, format) else { continue };
                let mut files = files();
                merge(&mut files, &source.items, &MergeOptions::default(), || {}).unwrap();
                reopened(files);
            }
        }
    }
}

/// A database as another program makes it, with what SQL there is in the list.
#[cfg(feature = "sqlite")]
fn database(statements: &str) -> Vec<u8> {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(statements).unwrap();
    connection.serialize(rusqlite::MAIN_DB).unwrap().to_vec()
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_of_others_is_read_as_far_as_it_goes() {
    let bytes = database(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, turn_number INTEGER, content TEXT, \
         importance REAL, location TEXT, score INTEGER, moves INTEGER, timestamp TEXT, mood TEXT);
         INSERT INTO memories VALUES
         (1, 'ep_002', 7, 'The lamp lights dark places.', 8, 'Attic (ID: 5)', 10, 9, '2026-01-31 10:40:00', 'glad'),
         (2, '0b1c-22', NULL, 'A troll lives here.', 2.5, 'Cellar', NULL, NULL, 1769856000, NULL),
         (3, NULL, NULL, 'Nowhere in particular.', NULL, NULL, NULL, NULL, 'at noon, or so', NULL),
         (4, NULL, -4, 'A turn before time.', 3, '5', NULL, NULL, NULL, NULL),
         (5, NULL, 4, NULL, 3, '5', NULL, NULL, NULL, NULL),
         (6, NULL, 4, 'The lamp lights dark corners of the world, too.', 3, 5, NULL, NULL, NULL, NULL);",
    );
    let source = read(&bytes, TransferFormat::Sqlite).unwrap();
    assert_eq!(source.unknown, ["mood"]);
    let options = MergeOptions { new_places: true, fallback: Some(Scope::World), ..MergeOptions::default() };
    let mut files = files();
    let report = merge(&mut files, &source.items, &options, || {}).unwrap();
    assert_eq!(report.stored, 4);
    let failed: Vec<String> = report.failed.iter().map(|(at, problem)| format!("{at}: {problem}")).collect();
    assert_eq!(failed, ["row 4: `turn_number` is less than 0", "row 5: `content` is NULL"]);
    let text = files.lasting.into_text().unwrap();
    for entry in [
        "## Location 5: Attic\n",
        "## Location 6: Cellar\n",
        "**[NOTE] The lamp lights dark places.** *(Ep2, T7, 2026-01-31T10:40:00, importance 800, score 10, moves 9)*\n",
        "**[NOTE] A troll lives here.** *(2026-01-31T10:40:00Z, importance 250, #session:0b1c-22)*\n",
        "**[NOTE] Nowhere in particular.** *(at noon, or so)*\n",
        "**[NOTE] The lamp lights dark corners of** *(T4, importance 300)*\n",
    ] {
        assert!(text.contains(entry), "{entry} in {text}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn what_was_changed_in_a_column_counts() {
    let mut memory = Memory::new(Category::note(), "Lamp", "It lights.");
    memory.provenance.turns = Some(Span { first: 3, last: 5 });
    let section = Section { memories: vec![memory], ..Section::default() };
    let bytes = write(&[(Scope::Location(5), section)], TransferFormat::Sqlite).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.db");
    fs::write(&path, bytes).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let query = "SELECT session_id IS NULL, turn_number, importance, location FROM memories";
    let row: (bool, i64, i64, String) = connection
        .query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    assert_eq!(row, (true, 5, 500, "5".to_owned()));
    let columns = "SELECT group_concat(name) FROM pragma_index_info('memories_by_session_and_location')";
    assert_eq!(
        connection.query_row(columns, [], |row| row.get::<_, String>(0)).unwrap(),
        "session_id,location"
    );
    // A log beside the file, as a program leaves it that has it open.
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection
        .execute_batch("UPDATE memories SET importance = 900, content = 'It lights dark places.'")
        .unwrap();
    let source = memories::transfer::read_database(&path).unwrap();
    let mut files = files();
    merge(&mut files, &source.items, &MergeOptions::default(), || {}).unwrap();
    let section = files.lasting.section(&Scope::Location(5)).unwrap();
    let [memory] = section.memories.as_slice() else { panic!("{section:?}") };
    assert_eq!((memory.importance(), memory.text.as_str()), (900, "It lights dark places."));
    assert_eq!(memory.provenance.turns, Some(Span { first: 3, last: 5 }));
}

/// Ten thousand memories, a hundred at a place, each with words of its own.
fn ten_thousand() -> String {
    let mut lines = String::new();
    for number in 0..10_000 {
        let (place, mark) = (number % 100, number * 7919);
        lines.push_str(&format!(
            "{{\"scope\": {place}, \"title\": \"Way {number}\", \"text\": \"The {mark}th rope leads up {number} steps.\", \
             \"fields\": {{\"episode\": 1, \"turns\": {number}, \"tags\": [\"way\"]}}}}\n"
        ));
    }
    lines
}

#[test]
fn ten_thousand_memories_are_one_write() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.jsonl"), ten_thousand()).unwrap();
    let start = std::time::Instant::now();
    let output = memories(folder.path(), &["import", "m.jsonl", "--json"]).output().unwrap();
    let took = start.elapsed();
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["stored"], &answer["new_section_count"]), (&10_000.into(), &100.into()));
    // One write: there is nothing before it to go back to, and one line in the journal.
    assert!(former_states(folder.path()).is_empty());
    let journal = fs::read_to_string(folder.path().join(".memories/Memories.md/journal.jsonl")).unwrap();
    assert_eq!(journal.lines().skip(1).count(), 1);
    if !cfg!(debug_assertions) {
        assert!(took.as_secs_f64() < 2.0, "took {took:?}");
    }
    let again = memories(folder.path(), &["import", "m.jsonl", "--json"]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&answer["stored"], &answer["already_there"]), (&0.into(), &10_000.into()));
    assert!(former_states(folder.path()).is_empty());
}

#[test]
fn an_import_that_is_broken_off_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = memories(folder.path(), &["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The pipe stays open: the program is still reading when it is killed.
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(ten_thousand().as_bytes()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_reply_and_an_action_take_their_stored_forms() {
    // The round trip above compares with values that a file gives back.
    let attempt = Attempt {
        action: " take\n`x` ".to_owned(),
        count: 3,
        episode: Some(1),
        turn: None,
        reply: "a\nb".repeat(99),
        result: TryResult::Unknown,
        witnesses: Default::default(),
    };
    let addition = Section { tried: vec![attempt.clone()], ..Section::default() };
    let files = remembered(&BTreeMap::from([(Scope::World, addition)]));
    let [tried] = &files.lasting.section(&Scope::World).unwrap().tried[..] else { panic!("one") };
    assert_eq!(fold_action(&tried.action), fold_action(&attempt.action));
    assert_eq!(tried.reply, stored_reply(&attempt.reply));
}

/// Entries are meant by their numbers as the file was read: one that leaves the session for the lasting
/// file does not shift the others.
#[test]
fn an_entry_that_leaves_the_session_shifts_no_other() {
    let scope = Scope::Location(1);
    let mut files = files();
    for (title, text) in [("Lamp", "It glows."), ("Rug", "It is heavy."), ("Door", "It is shut.")] {
        files.session.add(&scope, "Room", &Memory::new(Category::note(), title, text)).unwrap();
    }
    let lines = [
        r#"{"scope": "location:1", "title": "Lamp", "text": "It glows."}"#,
        r#"{"scope": "location:1", "title": "Rug", "text": "A trap door lies below.", "persistence": "ephemeral"}"#,
    ];
    let report = import(&mut files, lines.join("\n").as_bytes(), TransferFormat::Jsonl, OnConflict::Revise);
    assert_eq!((report.failed, report.revised), (Vec::new(), 2));
    let files = reopened(files);
    let texts = |document: &Document| -> Vec<String> {
        let section = document.section(&scope).unwrap();
        section.memories.iter().map(|memory| format!("{}: {}", memory.title, memory.text)).collect()
    };
    assert_eq!(texts(&files.lasting), ["Lamp: It glows."]);
    assert_eq!(
        texts(&files.session),
        ["Rug: It is heavy.", "Door: It is shut.", "Rug: A trap door lies below."]
    );
}
