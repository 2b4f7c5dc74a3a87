//! Finds text that deceives a reader of the file: invisible characters, and titles that look alike.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_security::skeleton;

use crate::problem::{Kind, Problem};
use crate::scan::{BYTE_ORDER_MARK, LineNumbers};
use crate::types::fold_title;
use crate::types::text::plain;
use crate::types::unseen::unseen;

/// The lines with characters that are not seen, each once. A byte order mark may begin the file.
pub(crate) fn unseen_characters(source: &str, numbers: &LineNumbers) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for (at, c) in unseen(source).filter(|&(at, c)| at > 0 || c != BYTE_ORDER_MARK) {
        match problems.last_mut() {
            Some(Problem { line, kind: Kind::Unseen(characters), .. }) if *line == numbers.line(at) => {
                if !characters.contains(&c) {
                    characters.push(c);
                }
            }
            _ => problems.push(Problem::at(source, numbers, at, Kind::Unseen(vec![c]))),
        }
    }
    problems
}

/// The titles of the live entries of a section, to find those that are the same or look so.
#[derive(Default)]
pub(crate) struct Titles {
    /// Title and line of the first entry, by the look of its title.
    by_look: HashMap<String, (String, usize)>,
    /// Titles that look like an earlier one, and are none the less others.
    twins: HashSet<String>,
}

impl Titles {
    /// Adds the title of an entry in a line; the problem with it, if there is one.
    pub(crate) fn add(&mut self, title: &str, line: usize) -> Option<Kind> {
        let look = look(title);
        let Some((other, other_line)) = self.by_look.get(&look) else {
            self.by_look.insert(look, (title.to_owned(), line));
            return None;
        };
        let folded = fold_title(title);
        if fold_title(other) == folded || !self.twins.insert(folded) {
            return Some(Kind::SameTitle(title.to_owned()));
        }
        Some(Kind::SameLook { title: title.to_owned(), other: other.clone(), line: *other_line })
    }
}

/// The look of a title, without case: the skeleton of Unicode's report 39, which also drops what is not seen.
/// A capital `i` looks like a small `l`, so both letters are one here.
fn look(title: &str) -> String {
    static ASCII: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..128u8).map(|byte| skeleton_of(&char::from(byte).to_string())).collect());
    if title.is_ascii() {
        title.trim().bytes().map(|byte| ASCII[usize::from(byte)].as_str()).collect()
    } else {
        skeleton_of(title.trim())
    }
}

/// True if a person takes one name for the other: they differ in case alone, or in characters of other scripts, widths
/// and styles that look the same. Names in ASCII differ otherwise, since `rn` and `m` are no trick there.
pub fn look_alike(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    look(&plain(one)) == look(&plain(other))
}

fn skeleton_of(text: &str) -> String {
    // Capitals look like capitals of other scripts, so these become small in between.
    let small: String = skeleton(&text.to_ascii_lowercase()).collect::<String>().to_lowercase();
    skeleton(&small).collect::<String>().replace('i', "l")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(usize, usize, Vec<char>)> {
        let characters = |problem: Problem| match problem.kind {
            Kind::Unseen(characters) => (problem.line, problem.column, characters),
            kind => panic!("{kind}"),
        };
        unseen_characters(source, &LineNumbers::of(source)).into_iter().map(characters).collect()
    }

    #[test]
    fn a_line_with_unseen_characters_is_named_once() {
        assert_eq!(found("\u{feff}# A\r\nb\t❤\u{fe0f}\r\n"), []);
        assert_eq!(
            found("é\u{202e}a\u{200b}b\u{202e}\n\nx\u{feff}\x1b\n"),
            [(1, 2, vec!['\u{202e}', '\u{200b}']), (3, 2, vec!['\u{feff}', '\x1b'])]
        );
    }

    #[test]
    fn titles_that_look_alike() {
        let mut titles = Titles::default();
        assert_eq!(titles.add("Troll attacks", 1), None);
        for twin in [
            "Tr\u{43e}ll attacks",
            "\u{422}roll attacks",
            "Troll\u{200b} attacks",
            "TroII attacks",
            "Ｔroll attacks",
        ] {
            assert!(matches!(titles.add(twin, 2), Some(Kind::SameLook { line: 1, .. })), "{twin}");
        }
        assert!(matches!(titles.add("troll ATTACKS ", 3), Some(Kind::SameTitle(_))));
        assert!(matches!(titles.add("TROII attacks", 3), Some(Kind::SameTitle(_))));
        for other in ["Trolls attack", "Troll attacks 2", "Tröll attacks", "Inspect mat", "1nspect mud"] {
            assert_eq!(titles.add(other, 4), None, "{other}");
        }
        assert!(titles.add("Inspеct mat", 5).is_some() && titles.add("Мat", 6).is_none());
        assert!(titles.add("Mat", 7).is_some());
    }
}
