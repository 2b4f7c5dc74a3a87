//! Generates memory files of a given size: 8 memories, about 5 KB, for each place; ids are ascending.

use std::fmt::Write;

/// The id of the first place; each further id is [`ID_STEP`] higher.
pub const FIRST_ID: u64 = 10;

/// Difference between ids; ids in games have gaps.
pub const ID_STEP: u64 = 3;

const SENTENCES: [&str; 7] = [
    "The brass lantern gives light in dark places and burns for about three hundred turns before it fails.",
    "Opening the trap door needs the rug moved first; closing it from below cannot be undone at once.",
    "The troll blocks every way out until it is fought with the sword, and giving it food only delays it.",
    "Climbing down here without a rope is fatal, whatever the narrow ledge looks like from above.",
    "Putting a treasure into the case raises the score, taking it out again does not lower it.",
    "The thief may come at any time and take what lies about, so carry what is worth most.",
    "Nothing more happens after the second try, so leave by the eastern way and come back with the key.",
];

const CATEGORIES: [&str; 5] = ["SUCCESS", "FAILURE", "DISCOVERY", "DANGER", "NOTE"];

/// A file of about `size` bytes with at least one place, and the ids of its places in order.
pub fn memories_file(size: usize) -> (String, Vec<u64>) {
    let mut text = String::with_capacity(size + 8 * 1024);
    let mut ids = Vec::new();
    text.push_str("# Location Memories\n\n");
    while ids.is_empty() || text.len() < size {
        let id = FIRST_ID + ID_STEP * ids.len() as u64;
        push_place(&mut text, id);
        ids.push(id);
    }
    (text, ids)
}

fn push_place(text: &mut String, id: u64) {
    let written =
        write!(text, "## Location {id}: Room {id}\n**Visits:** 3 | **Episodes:** 1, 2, 3\n\n### Memories\n");
    written.expect("a string takes all");
    for number in 0..8 {
        let seed = id as usize * 8 + number;
        let category = CATEGORIES[seed % CATEGORIES.len()];
        let written =
            write!(text, "\n**[{category}] Thing {number} of room {id}** *(Ep1, T{}, +0)*\n", seed % 300);
        written.expect("a string takes all");
        for sentence in 0..5 {
            text.push_str(SENTENCES[(seed + sentence * 3) % SENTENCES.len()]);
            text.push(if sentence == 4 { '\n' } else { ' ' });
        }
    }
    text.push_str("\n### Tried\n\n");
    text.push_str("- `take window` ×3 *(Ep2, T31)*: You can't be serious.\n");
    text.push_str(
        "- `eat mailbox` *(Ep1, T12)*: I don't think that the small mailbox would agree with you.\n",
    );
    text.push_str("\n---\n\n");
}
