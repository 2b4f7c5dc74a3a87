//! The estimate of tokens against the tokenizers in use, on what `recall` prints and on hostile text.
//!
//! `cargo test --features checks --test it tokens:: -- --nocapture` prints how much the estimate exceeds the count.

use std::collections::BTreeSet;

use memories::document::Document;
use memories::recall::budget::estimate_tokens;
use memories::recall::{Format, Limits, render};
use memories::store::Store;
use memories::types::{Scope, ScopeName};

use super::folder;
use crate::episodes;

/// Formats with the options that their users get.
const FORMATS: [Format; 3] = [Format::Text, Format::Markdown, Format::Xml];

/// The larger count of the two tokenizers in use.
pub(super) fn count_tokens(text: &str) -> usize {
    bpe_openai::cl100k_base().count(text).max(bpe_openai::o200k_base().count(text))
}

/// What `recall` prints in five episodes: for the place of every fifth turn and, after each episode, for
/// all places, within several budgets and without one.
fn recall_texts() -> BTreeSet<String> {
    let played = episodes::one_by_one();
    let mut texts: BTreeSet<String> = played.replay.recalled.iter().step_by(5).cloned().collect();
    for turns in played.ends() {
        let text = played.text_after(turns);
        let folder = folder();
        std::fs::write(folder.path().join("Memories.md"), text).expect("written");
        let store = episodes::open(&folder);
        for heading in Document::parse(text.to_owned()).headings() {
            for format in FORMATS {
                for budget in [Some(100), Some(300), Some(500), None] {
                    texts.insert(recall(&store, &heading.scope, budget, format));
                }
            }
        }
    }
    texts
}

fn recall(store: &Store, scope: &Scope, max_tokens: Option<usize>, format: Format) -> String {
    let names = [ScopeName::Scope(scope.clone())];
    let limits = Limits { max_tokens, ..Limits::default() };
    let snapshot = memories::notebook::Snapshot::read(store).expect("readable");
    render(&memories::recall::recall(&snapshot, &names, &limits, format).expect("known")).into()
}

#[test]
fn no_recall_exceeds_its_budget() {
    let budget = Limits::default().max_tokens.expect("there is one");
    let recalled: BTreeSet<&String> = episodes::one_by_one().replay.recalled.iter().collect();
    let most = recalled.into_iter().map(|text| count_tokens(text)).max();
    assert!(most.is_some_and(|most| most <= budget), "{most:?} tokens");
}

#[test]
fn the_estimate_is_hardly_ever_below_the_true_count_of_what_recall_prints() {
    let mut ratios: Vec<f64> = Vec::new();
    let mut below: Vec<(usize, usize, String)> = Vec::new();
    for text in recall_texts() {
        let (estimate, tokens) = (estimate_tokens(&text), count_tokens(&text));
        ratios.push(estimate as f64 / tokens as f64);
        if estimate < tokens {
            below.push((estimate, tokens, text));
        }
    }
    ratios.sort_by(f64::total_cmp);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let at = |part: f64| ratios[((ratios.len() - 1) as f64 * part) as usize];
    println!(
        "estimate / true count of {} texts: least {:.2}, median {:.2}, mean {mean:.2}, 95 % within {:.2}, most {:.2}",
        ratios.len(),
        at(0.0),
        at(0.5),
        at(0.95),
        at(1.0),
    );
    assert!(ratios.len() > 500, "{} texts", ratios.len());
    // A short list of invented words may be above it by a token or two.
    let few = below.len() * 1000 <= ratios.len() && at(0.0) >= 0.97;
    assert!(few, "{} of {}: {:?}", below.len(), ratios.len(), below.first());
}

/// Texts that no English game prints, with the least ratio of the estimate to the true count.
#[test]
fn hostile_texts_are_not_far_from_their_estimate() {
    let texts = [
        ("commands", "n; s; e; w; ne; sw; u; d; l; i; x me; z; g; in; out".to_owned(), 1.0),
        ("numbers", "1 2 3 10 200 3000 12,345.67 -9 +10 0x7f".to_owned(), 1.0),
        (
            "Cyrillic",
            "Вы стоите в открытом поле к западу от белого дома с заколоченной дверью.".to_owned(),
            1.0,
        ),
        ("Greek", "Βρίσκεσαι σε ένα ανοιχτό χωράφι δυτικά από ένα λευκό σπίτι.".to_owned(), 0.9),
        ("Chinese", "你站在一座白色房子西边的空地上，前门用木板封着。这里有一个小邮箱。".to_owned(), 1.0),
        (
            "Japanese",
            "あなたは白い家の西の野原に立っています。玄関のドアには板が打ち付けてあります。".to_owned(),
            1.0,
        ),
        ("emoji", "🗝️🚪🐉🧙‍♂️⚔️💎🕯️👻🪙🏰".to_owned(), 1.0),
        ("punctuation", "…—–“”‘’«»·×•→←".to_owned(), 1.0),
        ("marks", "!@#$%^&*()_+{}|:<>?~`-=[]\\;',./".repeat(4), 1.0),
        ("capitals", "YOU ARE STANDING IN AN OPEN FIELD WEST OF A WHITE HOUSE.".to_owned(), 1.0),
        ("hexadecimal", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(), 0.95),
        ("random letters", "xqzvkjwpbfmgthdlrnscyxoqzuvkjiwpebafmgthdlrnscy".to_owned(), 0.4),
        ("spaces", " \t  a   b    c     d\n\n \n\t\tx".to_owned(), 1.0),
        ("line breaks", "a\nb\n\nc.\n\n\nd;\n".repeat(8), 1.0),
    ];
    for (name, text, least) in texts {
        let ratio = estimate_tokens(&text) as f64 / count_tokens(&text) as f64;
        println!("{name}: estimate / true count {ratio:.2}");
        assert!(ratio >= least, "{name}: {ratio:.2}");
    }
}
