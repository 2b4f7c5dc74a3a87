//! The number of tokens of a text, estimated without a tokenizer.
//!
//! Loading a tokenizer would take fifty times as long as the program's own start. The estimate is an upper
//! bound for what `recall` prints, but for one text in a thousand: `tests/it/tokens.rs` compares it with
//! real tokenizers. Long runs of random letters, which no game prints, may have more tokens.

/// Bytes of English text per token, at least.
pub(super) const BYTES_PER_TOKEN: usize = 4;

/// Letters of one word per token, at least.
const LETTERS_PER_TOKEN: usize = 6;

/// Digits per token.
const DIGITS_PER_TOKEN: usize = 3;

/// An upper bound of the tokens of a text: a quarter of its bytes, or the sum over its words, numbers,
/// marks and line breaks, whichever is more. The estimate of two texts together is never more than the
/// sum of both.
pub fn estimate_tokens(text: &str) -> usize {
    count_tokens(text).max(text.len().div_ceil(BYTES_PER_TOKEN))
}

/// The first items that fit into a budget of tokens, if there is one; always at least one.
pub fn within<T>(items: Vec<T>, tokens: Option<usize>, text: impl Fn(&T) -> String) -> Vec<T> {
    let Some(mut left) = tokens else { return items };
    let mut kept = Vec::new();
    for item in items {
        let cost = estimate_tokens(&text(&item));
        if cost > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        kept.push(item);
    }
    kept
}

/// The sum over the words, numbers, marks and line breaks of a text, which is a part of the estimate.
fn count_tokens(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut sum = 0;
    let mut before = CharClass::End;
    while let Some(class) = class_at_start(rest) {
        let length = rest.iter().take_while(|&&byte| CLASSES[usize::from(byte)] == class).count();
        let (run, behind) = rest.split_at(length);
        sum += class.cost(run, before, class_at_start(behind).unwrap_or(CharClass::End));
        before = class;
        rest = behind;
    }
    sum
}

fn class_at_start(text: &[u8]) -> Option<CharClass> {
    text.first().map(|&byte| CLASSES[usize::from(byte)])
}

/// Character classes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// The start or end of the text.
    End,
    Space,
    Break,
    Letter,
    Digit,
    Mark(u8),
    Foreign,
}

/// The class of each byte. A table, because a recall estimates several times as much text as it prints.
static CLASSES: [CharClass; 256] = {
    let mut classes = [CharClass::Foreign; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'\n' => CharClass::Break,
            b' ' | b'\t'..=b'\r' => CharClass::Space,
            b'a'..=b'z' | b'A'..=b'Z' => CharClass::Letter,
            b'0'..=b'9' => CharClass::Digit,
            _ => CharClass::Mark(byte),
        };
        byte += 1;
    }
    classes
};

impl CharClass {
    /// Tokens of a run of this class between two others.
    fn cost(self, run: &[u8], before: CharClass, after: CharClass) -> usize {
        match self {
            CharClass::End => 0,
            // A space belongs to the word after it, but not to a number, which may follow the end of
            // the text.
            CharClass::Space => {
                usize::from(run.len() > 1 || matches!(after, CharClass::Digit | CharClass::End))
            }
            CharClass::Letter => run.len().div_ceil(LETTERS_PER_TOKEN),
            CharClass::Digit => run.len().div_ceil(DIGITS_PER_TOKEN),
            // A line break belongs to the mark before it.
            CharClass::Break if matches!(before, CharClass::Mark(_)) => 0,
            CharClass::Break | CharClass::Mark(_) => run.len().div_ceil(2),
            CharClass::Foreign => run.iter().map(|&byte| half_tokens(byte)).sum::<usize>().div_ceil(2),
        }
    }
}

/// Half tokens of a character beyond ASCII, by its first byte: rare scripts have more bytes.
fn half_tokens(byte: u8) -> usize {
    match byte {
        ..0xC0 => 0,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 6,
    }
}

/// The longest beginning of a text that ends a sentence and that `fits` with ` …` appended; else the
/// longest that ends a word; `None` where not even one word fits.
pub fn cut_at_sentence(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let candidate = |end: usize| format!("{} …", text[..end].trim_end());
    let ends_sentence = |end: &usize| {
        text[..*end].ends_with(['.', '!', '?', '"']) && text[*end..].starts_with(char::is_whitespace)
    };
    let ends: Vec<usize> = text
        .char_indices()
        .filter(|(_, c)| c.is_whitespace())
        .map(|(at, _)| at)
        .filter(|&at| at > 0)
        .collect();
    // A longer beginning costs more, so the longest that fits is found by halves.
    let fitting = ends.partition_point(|&end| fits(&candidate(end)));
    let sentence = ends[..fitting].iter().rev().find(|end| ends_sentence(end));
    sentence.or(ends[..fitting].last()).map(|&end| candidate(end))
}

/// A text of at most that many characters; a longer one is cut after a word and gets `…`.
pub fn cut_at_word(text: &str, chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text.to_owned() };
    let head = &text[..end];
    let whole = head.rfind(char::is_whitespace).filter(|&at| at >= end / 2).unwrap_or(end);
    format!("{}…", head[..whole].trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn estimates() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("n; s; e; w"), 7);
        assert_eq!(estimate_tokens("abcd efgh"), 3);
        assert_eq!(estimate_tokens("go 12.\n"), 4);
    }

    #[test]
    fn cuts() {
        let text = "One two. Three four. Five six.";
        assert_eq!(cut_at_sentence(text, |text| text.len() < 26).as_deref(), Some("One two. Three four. …"));
        assert_eq!(cut_at_sentence(text, |text| text.len() < 9).as_deref(), Some("One …"));
        assert_eq!(cut_at_sentence("Onetwo", |_| true), None);
        assert_eq!(cut_at_sentence(" Onetwo three", |text| text.len() < 6), None, "no mark alone");
        assert_eq!(cut_at_word("You can't be serious.", 12), "You can't…");
        assert_eq!(cut_at_word("short", 12), "short");
    }

    #[test]
    fn a_cut_examines_few_beginnings_of_a_long_text() {
        // The bytes that are examined to cut a text of `length` bytes down to some that fit.
        let examined = |length: usize, room: usize| {
            let text = "It is dark here. ".repeat(length / 17);
            let bytes = std::cell::Cell::new(0);
            let fits = |text: &str| {
                bytes.set(bytes.get() + text.len());
                estimate_tokens(text) <= room
            };
            cut_at_sentence(&text, fits).expect("it fits");
            bytes.get()
        };
        for room in [10, 300, 100_000] {
            let (half, whole) = (examined(500_000, room), examined(1_000_000, room));
            assert!(whole < 3 * half && whole < 20_000_000, "{half} {whole}");
        }
    }

    proptest! {
        #[test]
        fn the_whole_is_never_more_than_its_parts(a in "[a-z0-9 .;()\né道]{0,40}", b in "[a-z0-9 .;()\né道]{0,40}") {
            let whole = format!("{a}{b}");
            prop_assert!(estimate_tokens(&whole) <= estimate_tokens(&a) + estimate_tokens(&b));
        }
    }
}
