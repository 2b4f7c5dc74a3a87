//! The memory that a model names: by the number that it was shown, or by nearly its title.
//!
//! Numbers are written `m1`, `m2` … in every prompt. A title that no memory has means the nearest one, if that is nearest
//! by far: words in another form or order, a slip of the pen, a title that was cut. It is never taken for one that says
//! something else, such as another number, another direction or the contrary.

use crate::words::{is_stop_word, stem, words};
use memories_document::shared_characters;
use memories_document::types::direction::Direction;
use memories_document::types::same_title;

/// Least share of words in common of a title that is taken for another.
const LEAST: f64 = 0.7;

/// Lead of the nearest title over the next one.
const MARGIN: f64 = 0.15;

/// Shortest beginning that stands for a title that was cut, in characters.
const SHORTEST_CUT: usize = 12;

/// Words that turn a sentence into its contrary.
const NEGATIONS: [&str; 10] =
    ["not", "no", "never", "cannot", "can't", "don't", "doesn't", "isn't", "nor", "without"];

/// The number of a memory as prompts show it: `m3`.
pub fn number_mark(number: usize) -> String {
    format!("m{number}")
}

/// The number of a memory that a model names: `m3`, `[m3]`, `#m3`, `m3: its title`.
pub fn number_of(said: &str) -> Option<usize> {
    let said = said.trim().trim_start_matches(['[', '#', '"', '(']);
    let digits = said.strip_prefix(['m', 'M'])?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let is_end = digits[end..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '\'');
    digits[..end].parse().ok().filter(|_| is_end)
}

/// The title that a model means by one that no memory has, if one is nearest by far.
pub fn nearest_title<'a>(said: &str, titles: &[&'a str]) -> Option<&'a str> {
    let mut ranked: Vec<(f64, &'a str)> = Vec::new();
    for &title in titles {
        if !ranked.iter().any(|(_, other)| same_title(other, title)) {
            ranked.push((nearness(said, title), title));
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, title) = *ranked.first()?;
    let next = ranked.get(1).map_or(0.0, |next| next.0);
    (best >= LEAST && best - next >= MARGIN).then_some(title)
}

/// How near a title is to another one, from 0 to 1; 0 for one that says something else.
fn nearness(said: &str, title: &str) -> f64 {
    let folded = |text: &str| words(text).join(" ");
    let (one, other) = (folded(said), folded(title));
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    if one.chars().count() >= SHORTEST_CUT && other.starts_with(&one) {
        return 1.0;
    }
    let matters = |word: &&str| !is_stop_word(word) || NEGATIONS.contains(word);
    let content = |text: &'_ str| text.split(' ').filter(matters).map(str::to_owned).collect::<Vec<String>>();
    let (mut left, mut right) = (content(&one), content(&other));
    let all = left.len().max(right.len()).max(1) as f64;
    let mut common = take_pairs(&mut left, &mut right, |a, b| stem(a) == stem(b)) as f64;
    common += 0.5 * take_pairs(&mut left, &mut right, is_slip) as f64;
    if left.is_empty() && right.is_empty() { common / all } else { 0.0 }
}

/// Takes pairs of words out of two lists; their number.
fn take_pairs(left: &mut Vec<String>, right: &mut Vec<String>, are_same: fn(&str, &str) -> bool) -> usize {
    let before = left.len();
    left.retain(|word| match right.iter().position(|other| are_same(word, other)) {
        Some(at) => {
            right.remove(at);
            false
        }
        None => true,
    });
    before - left.len()
}

/// True if one word may be a slip for another: both are long, begin alike, and name neither a number nor a direction.
fn is_slip(a: &str, b: &str) -> bool {
    let is_fixed = |word: &str| word.chars().any(|c| c.is_ascii_digit()) || Direction::of(word).is_some();
    let lengths = [a, b].map(|word| word.chars().count());
    let is_long = lengths.iter().all(|length| *length >= 4) && lengths[0].abs_diff(lengths[1]) <= 2;
    let differs = shared_characters(a, b) < 0.4;
    is_long && !is_fixed(a) && !is_fixed(b) && a.chars().next() == b.chars().next() && !differs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_forms_that_models_use() {
        for (said, number) in [
            ("m3", Some(3)),
            ("[m12]", Some(12)),
            ("#M1", Some(1)),
            ("m3: Lamp", Some(3)),
            ("m3rd floor", None),
            ("map", None),
            ("3", None),
        ] {
            assert_eq!(number_of(said), number, "{said}");
        }
    }

    #[test]
    fn only_a_title_that_is_near_by_far_is_taken() {
        let titles =
            ["Lamp can be taken", "Troll is friendly", "Button 1 opens the gate", "Way north is shut"];
        for (said, meant) in [
            ("Lamp can be took", Some("Lamp can be taken")),
            ("The lamp can be taken", Some("Lamp can be taken")),
            ("taken lamp", Some("Lamp can be taken")),
            ("Trol is friendly", Some("Troll is friendly")),
            ("Friendly troll", Some("Troll is friendly")),
            ("Button 1 opens the g", Some("Button 1 opens the gate")),
            ("Troll is unfriendly", None),
            ("Troll is not friendly", None),
            ("Troll is hungry", None),
            ("Button 2 opens the gate", None),
            ("Way northeast is shut", None),
            ("Way south is shut", None),
            ("Way north is open", None),
            ("Troll", None),
            ("Lamp", None),
            ("", None),
        ] {
            assert_eq!(nearest_title(said, &titles), meant, "{said}");
        }
        assert_eq!(nearest_title("The door is shut", &["Door is shut", "Doors are shut"]), None);
        let twice = nearest_title("Lamp can be took", &["Lamp can be taken", "lamp can be taken"]);
        assert_eq!(twice, Some("Lamp can be taken"));
    }
}
