//! Search through a store: the same answers with an index, without one, and with a damaged one.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use memories::document::Document;
use memories::notebook::SharedSnapshot;
use memories::search::embedded::StaticModel;
use memories::search::embedder::{EmbedError, Embedder};
use memories::search::filter::Filter;
use memories::search::{Hit, Question, SearchError, SearchResults, SearchSettings, Searcher};
use memories::store::Store;
use memories::types::{Category, Memory, Scope, Span};
use proptest::prelude::*;
use tempfile::TempDir;

const NOUNS: [&str; 8] = ["key", "lamp", "troll", "rug", "window", "sword", "leaflet", "boat"];
const VERBS: [&str; 6] = ["opens", "hides", "burns near", "guards", "lies under", "breaks"];
const PLACES: [&str; 5] = ["attic", "cellar", "forest", "dam", "chapel"];

/// A memory file of many entries in a folder of its own.
struct World {
    _folder: TempDir,
    store: Store,
}

impl World {
    fn new(entries: usize) -> World {
        let mut document = Document::parse(String::new());
        for at in 0..entries {
            let scope = if at % 7 == 0 { Scope::Dialogue } else { Scope::Location(at as u64 / 8) };
            document.add(&scope, "Somewhere", &memory(at)).unwrap();
        }
        World::of(&document.into_text().unwrap())
    }

    fn of(text: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        fs::write(&path, text).unwrap();
        let store = Store::open(&path, Duration::from_secs(5)).unwrap();
        World { _folder: folder, store }
    }

    /// A searcher that has read nothing yet.
    fn searcher(&self, embedder: impl Embedder + 'static) -> Searcher {
        Searcher::new(SharedSnapshot::new(self.store.clone()), settings(), Box::new(embedder))
    }

    fn index(&self) -> PathBuf {
        self.store.folder().join("index")
    }

    fn ask(&self, question: &str, filter: &Filter, most: usize) -> SearchResults {
        self.searcher(StaticModel::new()).query(question, filter, most).unwrap()
    }

    fn titles(&self, question: &str) -> Vec<(String, f32)> {
        let hits = self.ask(question, &Filter::default(), 8).hits;
        hits.into_iter().map(|hit| (hit.memory.title, hit.relevance)).collect()
    }
}

fn settings() -> SearchSettings {
    SearchSettings { floor: 0.0, ..SearchSettings::default() }
}

fn memory(at: usize) -> Memory {
    let noun = |step: usize| NOUNS[(at * 5 + step * 3 + at / 8) % NOUNS.len()];
    let verb = VERBS[(at * 7 + at / 5) % VERBS.len()];
    let text = format!("The {} {verb} the {} of the {}.", noun(0), noun(1), PLACES[at % PLACES.len()]);
    let category = if at.is_multiple_of(7) { "DIALOGUE" } else { "NOTE" };
    let mut memory = Memory::new(Category::new(category).unwrap(), format!("Thing {at}"), text);
    memory.provenance.episode = Some(at as u64 % 4);
    memory.provenance.turns = Some(Span::one(at as u64));
    memory.provenance.importance = Some((at * 37 % 1000) as u16 + 1);
    memory
}

const QUESTIONS: [&str; 3] = ["where is the rusty key?", "what guards the boat in the cellar", "lamp"];

#[test]
fn a_searcher_answers_as_a_fresh_search_whatever_happens_to_the_file() {
    let world = World::new(40);
    let searcher = world.searcher(StaticModel::new());
    let filter = Filter { max_turn: Some(30), ..Filter::default() };
    let ask_both = |what: &str| {
        for question in QUESTIONS.iter().chain(&QUESTIONS) {
            let answer = searcher.query(question, &filter, 5).unwrap();
            assert_eq!(answer, world.ask(question, &filter, 5), "{what}: {question}");
        }
    };
    ask_both("at first");
    let path = world.store.real_path();
    let text = fs::read_to_string(path).unwrap();
    // In place and without a change of size, as some editors write: only the time differs.
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, text.replace("key", "oar")).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time + Duration::from_secs(1)).unwrap();
    ask_both("edited in place");
    fs::write(path.with_extension("new"), &text).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
    ask_both("renamed over");
    fs::create_dir_all(world.store.folder()).unwrap();
    fs::write(world.store.folder().join("session.md"), "## World\n\n**[NOTE] Lamp** *(T3)*\nA lamp.\n")
        .unwrap();
    ask_both("with a session");
    fs::remove_file(path).unwrap();
    ask_both("gone");
    fs::write(path, World::new(300).store.read().unwrap().unwrap()).unwrap();
    ask_both("another one, large enough for an index");
    assert!(matches!(searcher.query(" ?", &filter, 5), Err(SearchError::EmptyQuestion)));
}

#[test]
fn an_index_changes_no_answer_whatever_its_state() {
    let world = World::new(260);
    let expected = QUESTIONS.map(|question| world.titles(question));
    assert!(world.index().is_file(), "so many entries are worth an index");
    let whole = fs::read(world.index()).unwrap();
    assert_eq!(QUESTIONS.map(|question| world.titles(question)), expected, "read from the index");
    assert_eq!(fs::read(world.index()).unwrap(), whole, "a good index is left alone");
    let step = whole.len() / 20;
    let places =
        (0..80).step_by(7).chain((80..whole.len()).step_by(step)).chain([whole.len() - 8, whole.len() - 1]);
    for at in places {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(world.index(), &damaged).unwrap();
        assert_eq!(world.titles(QUESTIONS[0]), expected[0], "byte {at}");
        assert_eq!(fs::read(world.index()).unwrap(), whole, "byte {at}: made again");
    }
    for length in [0, 1, 40, whole.len() / 2, whole.len() - 1] {
        fs::write(world.index(), &whole[..length]).unwrap();
        assert_eq!(world.titles(QUESTIONS[0]), expected[0], "cut at {length}");
    }
}

#[test]
fn an_index_of_another_version_is_made_again() {
    let world = World::new(260);
    let expected = QUESTIONS.map(|question| world.titles(question));
    let whole = fs::read(world.index()).unwrap();
    let version = u32::from_ne_bytes(whole[4..8].try_into().unwrap());
    for other in [version - 1, version + 1, version.swap_bytes()] {
        let mut old = whole.clone();
        old[4..8].copy_from_slice(&other.to_ne_bytes());
        fs::write(world.index(), with_sum(old)).unwrap();
        assert_eq!(QUESTIONS.map(|question| world.titles(question)), expected, "version {other}");
        assert_eq!(fs::read(world.index()).unwrap(), whole, "version {other}");
    }
}

/// An index with the checksum of its bytes.
fn with_sum(mut index: Vec<u8>) -> Vec<u8> {
    let end = index.len() - 8;
    let sum = xxhash_rust::xxh3::xxh3_64(&index[..end]);
    index[end..].copy_from_slice(&sum.to_ne_bytes());
    index
}

#[test]
fn an_index_with_wrong_contents_and_the_right_checksum_does_no_harm() {
    let world = World::new(260);
    let count = world.titles(QUESTIONS[0]).len();
    let whole = fs::read(world.index()).unwrap();
    let columns = (48..whole.len() - 8).step_by(whole.len() / 50);
    for (at, byte) in (16..48).step_by(3).chain(columns).flat_map(|at| [(at, 0), (at, 0xFF)]) {
        let mut wrong = whole.clone();
        wrong[at..at + 5].fill(byte);
        fs::write(world.index(), with_sum(wrong)).unwrap();
        let found = world.titles(QUESTIONS[0]);
        let is_plausible = found.iter().all(|(_, relevance)| (0.0..=1.0).contains(relevance));
        assert!(found.len() <= count && is_plausible, "bytes {at}..: {found:?}");
    }
}

#[test]
fn dates_are_found_however_they_are_written() {
    let mut document = Document::parse(String::new());
    for (title, text) in [
        ("Flight", "The flight left on 2025-01-25 08:00 from the north gate."),
        ("Dinner", "We had dinner with Omar on January 3, 2025."),
        ("Concert", "The concert was on 14 February 2025."),
        ("Exam", "2025年5月9日有考试。"),
        ("Permit", "You may enter the garden when the gate is open."),
    ] {
        document.add(&Scope::World, "", &Memory::new(Category::note(), title, text)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    fs::write(&path, document.into_text().unwrap()).unwrap();
    let store = Store::open(&path, Duration::from_secs(5)).unwrap();
    let searcher = Searcher::new(SharedSnapshot::new(store), settings(), Box::new(StaticModel::new()));
    for (question, title) in [
        ("what happened on January 25?", "Flight"),
        ("1月25日发生了什么？", "Flight"),
        ("where was I on 2025/1/3?", "Dinner"),
        ("what did we do in early January?", "Dinner"),
        ("which events were in mid-February?", "Concert"),
        ("what was on the 9th of May?", "Exam"),
    ] {
        let hits = searcher.query(question, &Filter::default(), 5).unwrap().hits;
        assert_eq!(hits[0].memory.title, title, "{question}");
    }
}

#[test]
fn the_second_round_finds_what_belongs_to_the_best_memories() {
    let mut document = Document::parse(String::new());
    let mut add = |title: &str, text: &str| {
        document.add(&Scope::World, "", &Memory::new(Category::note(), title, text)).unwrap();
    };
    add("Oath", "Brother Anselm swore an oath about the crypt and the obsidian chalice.");
    add("Shelf", "The obsidian chalice stands on a shelf.");
    add("Barrel", "The wooden barrel stands on a shelf.");
    (0..12).for_each(|at| add(&format!("Sheep {at}"), "A sheep grazes on the hill by the mill."));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    fs::write(&path, document.into_text().unwrap()).unwrap();
    let store = Store::open(&path, Duration::from_secs(5)).unwrap();
    let [first, second] = [false, true].map(|second_round| {
        let settings = SearchSettings { second_round, ..settings() };
        let files = SharedSnapshot::new(store.clone());
        let searcher = Searcher::new(files, settings, Box::new(StaticModel::new()));
        let hits =
            searcher.query("which oath did Brother Anselm swear?", &Filter::default(), 30).unwrap().hits;
        let of =
            |title: &str| hits.iter().find(|hit| hit.memory.title == title).map_or(0.0, |hit| hit.similarity);
        assert_eq!(hits[0].memory.title, "Oath");
        (of("Shelf"), of("Barrel"))
    });
    assert!(second.0 > first.0 + 0.05, "{first:?} {second:?}");
    assert!(second.1 < second.0 && second.1 <= first.1 + 0.03, "{first:?} {second:?}");
}

#[test]
fn a_stale_index_is_mended_and_never_believed() {
    let world = World::new(640);
    world.titles(QUESTIONS[0]);
    let path = world.store.real_path().to_owned();
    let text = fs::read_to_string(&path).unwrap();
    // One entry changed: the others are still known, and the index is worth keeping.
    let kept = fs::read(world.index()).unwrap();
    let text = text.replacen("**[NOTE] Thing 8**", "**[NOTE] Rusty spoon**", 1);
    fs::write(&path, &text).unwrap();
    assert_eq!(world.titles("rusty spoon")[0].0, "Rusty spoon");
    assert_eq!(fs::read(world.index()).unwrap(), kept);
    // A new name of a place is a new text; when most entries are gone, the index is made anew.
    let half: String =
        text.split_inclusive("---\n").take(45).collect::<String>().replace("Somewhere", "Crypt");
    fs::write(&path, half).unwrap();
    let found = world.titles("what is in the crypt");
    assert!(found[0].1 > 0.3, "{found:?}");
    assert!(fs::read(world.index()).unwrap().len() < kept.len());
    fs::remove_file(world.index()).unwrap();
    assert_eq!(world.titles("what is in the crypt"), found);
}

/// An embedder with other vectors, and fewer of them.
struct Letters;

impl Embedder for Letters {
    fn stamp(&self) -> String {
        "letters".to_owned()
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let one = |text: &&str| {
            let mut vector = vec![0.0; 26];
            text.bytes()
                .filter(u8::is_ascii_lowercase)
                .for_each(|byte| vector[usize::from(byte - b'a')] += 1.0);
            vector
        };
        Ok(texts.iter().map(one).collect())
    }
}

#[test]
fn weak_hits_are_few_the_last_and_only_where_they_are_wanted() {
    let mut document = Document::parse(String::new());
    for town in ["Arden", "Belmont", "Corby", "Dunmore", "Elsham"] {
        let text = format!("The library of {town} is closed on Mondays.");
        document.add(&Scope::World, "", &Memory::new(Category::note(), town, text)).unwrap();
    }
    let world = World::of(&document.into_text().unwrap());
    let files = SharedSnapshot::new(world.store.clone());
    let searcher = Searcher::new(files, SearchSettings::default(), Box::new(StaticModel::new()));
    let ask = |question: Question<'_>, most| searcher.query(question, &Filter::default(), most).unwrap().hits;
    let question = Question::new(
        "which spaceship with telescopes, engines, zeppelins, quarks, nebulae, robots and lasers has a library?",
    );
    let sure = ask(question, 9);
    assert!(sure.iter().all(|hit| hit.relevance >= 0.15), "{sure:?}");
    let all = ask(question.with_weak(), 9);
    assert_eq!((&all[..sure.len()], all.len()), (&sure[..], sure.len() + 3));
    assert!(all[sure.len()..].iter().all(|hit| hit.is_weak && hit.relevance < 0.15), "{all:?}");
    assert_eq!(ask(question.with_weak(), sure.len() + 1).len(), sure.len() + 1);
    // No word of this question is in a memory.
    assert_eq!(ask(Question::new("zyxw").with_weak(), 9), []);
}

#[test]
fn few_long_texts_have_an_index_too() {
    for (words, has_index) in [(10, false), (100, true)] {
        let mut document = Document::parse(String::new());
        for at in 0..20 {
            let memory =
                Memory::new(Category::note(), format!("Thing {at}"), "wood and stone ".repeat(words));
            document.add(&Scope::World, "", &memory).unwrap();
        }
        let world = World::of(&document.into_text().unwrap());
        let first = world.titles("what is of wood?");
        assert_eq!((world.index().exists(), world.titles("what is of wood?")), (has_index, first));
    }
}

#[test]
fn vectors_of_two_embedders_never_meet() {
    let world = World::new(260);
    let ask = |searcher: Searcher| searcher.query(QUESTIONS[1], &Filter::default(), 5).unwrap().hits;
    let letters = || ask(world.searcher(Letters));
    let static_model = || ask(world.searcher(StaticModel::new()));
    let fresh = letters();
    let embedded = static_model();
    assert_ne!(fresh[0].parts, embedded[0].parts);
    assert_eq!(letters(), fresh);
    assert_eq!(static_model(), embedded);
}

/// An embedder of a server that takes its time, and fails where it is told to.
#[derive(Clone, Default)]
struct Slow {
    texts: Arc<AtomicUsize>,
    queries: Arc<AtomicUsize>,
    /// How many calls with texts fail first.
    failures: Arc<AtomicUsize>,
}

const DELAY: Duration = Duration::from_millis(300);

impl Embedder for Slow {
    fn stamp(&self) -> String {
        "slow".to_owned()
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        std::thread::sleep(DELAY);
        let fail = |count: usize| count.checked_sub(1);
        if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fail).is_ok() {
            let (problem, hint) = ("it is gone".to_owned(), String::new());
            return Err(EmbedError { problem, hint, passing: true });
        }
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Letters.embed(texts)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        std::thread::sleep(DELAY);
        self.queries.fetch_add(1, Ordering::SeqCst);
        Ok(Letters.embed(&[query])?.remove(0))
    }

    fn is_served(&self) -> bool {
        true
    }
}

/// Asks from many threads at once; their results, and how long all of them took.
fn ask_at_once(searcher: &Searcher) -> (Vec<Result<SearchResults, SearchError>>, Duration) {
    const THREADS: usize = 16;
    let start = Barrier::new(THREADS + 1);
    std::thread::scope(|scope| {
        let ask = |number: usize| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                searcher.query(&format!("where is the lamp of {number}?"), &Filter::default(), 5)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(ask).collect();
        start.wait();
        let begun = Instant::now();
        let results = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        (results, begun.elapsed())
    })
}

#[test]
fn searches_run_side_by_side_and_missing_vectors_are_computed_once() {
    let world = World::new(40);
    let embedder = Slow::default();
    let searcher = world.searcher(embedder.clone());
    let (results, took) = ask_at_once(&searcher);
    assert!(results.iter().all(|result| result.as_ref().unwrap().hits.len() == 5));
    // Each question has its own vector; the memories are embedded for all of them, in one batch.
    assert!(took < DELAY * 4, "{took:?}");
    let embedded = embedder.texts.load(Ordering::SeqCst);
    assert_eq!(embedder.queries.load(Ordering::SeqCst), 16);
    assert!(embedded >= 40, "{embedded}");
    let (_, took) = ask_at_once(&searcher);
    assert!(took < DELAY, "known questions need no vector: {took:?}");
    // One memory more: only that one is missing, and again only one search computes it.
    let path = world.store.real_path();
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{text}\n## World\n\n**[NOTE] Lamp**\nIt hangs here.\n")).unwrap();
    let (results, took) = ask_at_once(&searcher);
    assert!(results.iter().all(|result| result.as_ref().unwrap().entries == 41));
    assert!(took < DELAY * 4, "{took:?}");
    assert!((embedded + 1..embedded + 4).contains(&embedder.texts.load(Ordering::SeqCst)));
}

#[test]
fn a_failure_is_shared_by_those_who_wait_and_forgotten_afterwards() {
    let world = World::new(40);
    let embedder = Slow { failures: Arc::new(AtomicUsize::new(1)), ..Slow::default() };
    let searcher = world.searcher(embedder.clone());
    let (results, took) = ask_at_once(&searcher);
    let failed = results.iter().filter(|result| matches!(result, Err(SearchError::Embed(_)))).count();
    assert!(failed > 0 && took < DELAY * 6, "{failed} failed, {took:?}");
    let (results, _) = ask_at_once(&searcher);
    assert!(results.iter().all(Result::is_ok));
}

#[test]
fn where_nothing_can_be_written_there_is_an_answer_and_no_index() {
    let world = World::new(260);
    // A folder in the lock's place: nobody can write here.
    fs::create_dir_all(world.store.folder().join("lock")).unwrap();
    assert_eq!(world.titles(QUESTIONS[0]).len(), 8);
    assert!(!world.index().exists());
}

#[test]
fn few_entries_need_no_index() {
    let world = World::new(100);
    world.titles(QUESTIONS[0]);
    assert!(!world.store.folder().exists());
}

#[test]
fn an_index_takes_no_more_than_300_bytes_an_entry() {
    let world = World::new(500);
    world.titles(QUESTIONS[0]);
    let size = fs::metadata(world.index()).unwrap().len();
    assert!(size < 300 * 500, "{size}");
}

fn filters() -> impl Strategy<Value = Filter> {
    let scopes = prop::collection::vec((0_u64..8).prop_map(Scope::Location), 0..3);
    let turns = (prop::option::of(0_u64..60), prop::option::of(0_u64..60));
    let categories = prop::sample::subsequence(vec!["NOTE", "DIALOGUE"], 0..2);
    (scopes, turns, prop::option::of(1_u16..1000), prop::collection::vec(0_u64..4, 0..3), categories)
        .prop_map(|(scopes, (min_turn, max_turn), min_importance, episodes, categories)| Filter {
            scopes,
            min_turn,
            max_turn,
            min_importance,
            episodes,
            categories: categories.into_iter().filter_map(Category::new).collect(),
            ..Filter::default()
        })
}

fn key(hit: &Hit) -> (String, String) {
    (hit.memory.title.clone(), format!("{:.6}", hit.relevance))
}

/// A memory file whose entries were removed, doubled, exchanged or changed.
fn edited(text: &str, edits: &[(usize, usize, u8)]) -> String {
    let mut parts: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    for &(at, other, edit) in edits {
        let entries: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].starts_with("**[")).collect();
        let (at, other) = (entries[at % entries.len()], entries[other % entries.len()]);
        match edit {
            0 => drop(parts.remove(at)),
            1 => parts.insert(other, parts[at].clone()),
            2 => parts.swap(at, other),
            _ => parts[at].push_str(&format!(" The boat x{other}z is new.")),
        }
    }
    parts.join("\n\n")
}

proptest! {
    #![proptest_config(crate::cases(24))]

    /// An index that lacks some texts and has others too many changes no answer, before it is written again and after.
    #[test]
    fn a_stale_index_changes_no_answer(
        edits in prop::collection::vec((0_usize..260, 0_usize..260, 0_u8..4), 0..8),
        question in prop::sample::select(QUESTIONS.to_vec()),
    ) {
        let world = World::new(260);
        world.titles(question);
        let text = edited(&world.store.read().unwrap().unwrap(), &edits);
        let expected = World::of(&text).titles(question);
        let server = world.searcher(StaticModel::new());
        let ask = || server.query(question, &Filter::default(), 8).unwrap().hits;
        ask();
        fs::write(world.store.real_path(), &text).unwrap();
        prop_assert_eq!(world.titles(question), expected.clone());
        prop_assert_eq!(world.titles(question), expected.clone());
        let found: Vec<_> = ask().into_iter().map(|hit| (hit.memory.title, hit.relevance)).collect();
        prop_assert_eq!(found, expected);
    }

    /// A filter only leaves out hits; a smaller limit gives the first hits of a larger one.
    #[test]
    fn filters_only_leave_out(filter in filters(), question in prop::sample::select(QUESTIONS.to_vec()), most in 1_usize..10) {
        let world = World::new(60);
        let all = world.ask(question, &Filter::default(), 60).hits;
        let relevant = all.iter().filter(|hit| filter.wants(&hit.scope, &hit.memory));
        let expected: Vec<_> = relevant.map(key).take(most).collect();
        let found = world.ask(question, &filter, most).hits;
        prop_assert!(found.windows(2).all(|two| two[0].relevance >= two[1].relevance));
        prop_assert!(found.iter().all(|hit| (0.0..=1.0).contains(&hit.relevance)));
        let relevances = |keys: &[(String, String)]| keys.iter().map(|(_, relevance)| relevance.clone()).collect::<Vec<_>>();
        let found: Vec<_> = found.iter().map(key).collect();
        prop_assert_eq!(relevances(&found), relevances(&expected));
    }
}
