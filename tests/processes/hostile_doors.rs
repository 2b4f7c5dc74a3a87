//! Hostile texts through every door, with an export compared before and after.
//!
//! Each payload must come out as one text in its stored form: no entry, heading, status or line beside it. All that was
//! there before must be there as it was, in its order. `MEMORIES_PAYLOADS` says how many payloads are sent:
//!
//! ```sh
//! MEMORIES_PAYLOADS=100000 cargo test --test processes -- --nocapture hostile_doors
//! ```
#![cfg(all(feature = "mcp", feature = "sqlite"))]

mod doors;
mod export;
mod payloads;
#[cfg(all(feature = "full", unix))]
mod readers;

use crate::mcp::client::World;
use doors::DOORS;
use export::Export;
use payloads::Payloads;

/// Payloads of an ordinary run.
const FEW: usize = 360;

/// Files of people, each with something that a text could break out of or into.
fn bases() -> [(&'static str, String); 6] {
    let entry = |title: &str| format!("**[NOTE] {title}** *(Ep1, T1)*\n{title} stays as it is.\n\n");
    let plain = format!(
        "# Location Memories\n\n## Location 23: Kitchen\n**Visits:** 2 | **Episodes:** 1\n\n### Memories\n\n{}{}{}---\n\n\
         ## Location 24: Hall\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n{}---\n\n\
         ## World\n\n### Memories\n\n{}---\n",
        entry("Base one"),
        entry("Base two"),
        entry("Base three"),
        entry("Base hall"),
        entry("Base world"),
    );
    [
        ("plain", plain.clone()),
        ("CRLF", plain.replace('\n', "\r\n")),
        ("a byte order mark", format!("\u{feff}{plain}")),
        ("no final line break", plain.trim_end_matches(['\n', '-']).trim_end().to_owned()),
        ("an open fence", format!("{plain}\nA person's note.\n\n```\nnever closed\n")),
        (OPEN_COMMENT, format!("{plain}\n<!-- my draft\n\n## Location 30: Draft\n")),
    ]
}

/// In this file a text that would end the comment may be refused.
const OPEN_COMMENT: &str = "an open comment";

#[test]
fn hostile_texts_stay_texts_whatever_door_they_take() {
    let wanted = std::env::var("MEMORIES_PAYLOADS").map_or(FEW, |count| count.parse().expect("a number"));
    // A large file takes longer to compare, a small one is compared more often for the same number.
    let mut payloads = Payloads::new(14, if wanted > 10 * FEW { 15 } else { 1 });
    let (mut stored, mut refused, mut alarms) = (0, 0, Vec::new());
    let mut round = 0;
    while payloads.made < wanted {
        let (shape, text) = &bases()[round % bases().len()];
        let world = World::new(text);
        let mut before = Export::of(&world);
        for (name, door) in DOORS {
            let expected = door(&world, &mut payloads, &before);
            let after = Export::of(&world);
            let judged = after.judge(&before, &expected, *shape == OPEN_COMMENT);
            stored += judged.stored;
            refused += judged.missing.len();
            let lost = judged.missing.iter().map(|word| format!("{word} is not there"));
            let lost = lost.filter(|_| *shape != OPEN_COMMENT);
            alarms.extend(
                judged
                    .forged
                    .into_iter()
                    .chain(lost)
                    .map(|alarm| format!("{name}, into a file with {shape}, round {round}: {alarm}")),
            );
            before = after;
        }
        assert!(
            alarms.len() < 10,
            "{} alarms in {} payloads:\n{}",
            alarms.len(),
            payloads.made,
            alarms.join("\n")
        );
        round += 1;
    }
    println!(
        "hostile payloads: {} sent, {stored} stored, {refused} refused, {} alarms",
        payloads.made,
        alarms.len()
    );
    assert!(alarms.is_empty(), "{} alarms:\n{}", alarms.len(), alarms.join("\n"));
}
