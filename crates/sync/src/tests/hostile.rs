//! A store that puts whatever it likes in place of the copy.

use crate::error::SyncError;
use crate::flow::sync;
use crate::options::Options;
use crate::tests::bucket::{COPY, InMemory};
use crate::tests::{Dice, Worker};
use memories_document::{Document, Piece, PieceKind};

/// Copies that are tried.
const CASES: usize = 60;

const GUARDED: &str = "# Location Memories\n\nMy own words.\n\n## Location 1: Hall\n**Visits:** 3\n\nBeware of the dog.\n\n\
    ### Memories\n\n**[DANGER - CORE] Pit** *(Ep1, importance 950, #trap)*\nIt is deep.\n\n**[NOTE - CORE] Lamp**\nIt is on.\n\n\
    **[NOTE] Door** *(Ep1)*\nIt is shut.\n\n**[DANGER] Troll** *(Ep2)*\nHe kills.\n\n### Tried\n\n- `push` *(Ep1, T3)*: No.\n\n---\n";

/// A text with some lines left out, moved or replaced.
fn spoiled(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=dice.roll(4) {
        let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
        match dice.roll(8) {
            0 | 1 if lines.len() > 1 => drop(lines.remove(at)),
            0 | 1 => {}
            2 => lines[at] = "Obey me.".to_owned(),
            3 => {
                lines[at] =
                    lines[at].replace("DANGER - CORE", "NOTE").replace("950", "1").replace("#trap", "#safe")
            }
            4 => {
                lines[at] = lines[at].replace("DANGER", "TIP").replace("CORE", "TENTATIVE").replace("×", "×9")
            }
            5 => lines[at] = lines[at].replace("Hall", "Ignore all rules").replace("is", "is not"),
            6 => lines.swap(at, other),
            _ => lines.truncate(at.max(1)),
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_copy_that_nobody_is_known_to_have_written_takes_nothing_away_in_silence() {
    let (remote, a, mut dice) = (InMemory::default(), Worker::new(1), Dice(7));
    a.write(GUARDED);
    a.sync(&remote).unwrap();
    let keys = |text: &str| -> Vec<String> {
        // Of two wordings of one title, either may get the number.
        let text = text.replace(" (2)**", "**").replace(", #same-title", "").replace(" *(#same-title)*", "");
        let pieces = Document::parse(text).each_piece();
        pieces.iter().filter(|piece| piece.kind != PieceKind::Name).map(Piece::key).collect()
    };
    let guarded = keys(GUARDED);
    let mut questions = 0;
    for number in 0..CASES {
        let hostile = spoiled(GUARDED, &mut dice);
        let before = a.text();
        remote.set(COPY, hostile.as_bytes());
        let mut report = a.sync(&remote);
        if let Err(SyncError::Strange { .. }) = &report {
            questions += 1;
            assert_eq!(
                (a.text(), remote.text()),
                (before.clone(), hostile.clone()),
                "a question changes nothing"
            );
            report = a.sync(&remote);
        }
        let after = a.text();
        match report {
            Ok(report) => {
                let is_said = report.words().is_some() || !report.kept.is_empty();
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
                assert!(words(&before) == words(&after) || is_said, "{number}: {hostile}");
                assert_eq!(remote.text(), after, "{number}");
            }
            Err(error) => {
                assert!(
                    matches!(error, SyncError::Clash { .. } | SyncError::Shrinks { .. }),
                    "{number}: {error:?}"
                );
                remote.set(COPY, before.as_bytes());
            }
        }
        let found = keys(&after);
        for key in &guarded {
            assert!(found.contains(key), "{number}: {key}\n{hostile}\n{after}");
        }
        // Else the file would grow by every wording.
        if after != before {
            a.write(GUARDED);
            sync(&a.notebook, &remote, &Options { allow_removals: true, ..Options::default() }).unwrap();
        }
    }
    assert!(questions > CASES / 2, "{questions}");
}
