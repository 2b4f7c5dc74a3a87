//! How many tokens a text costs, estimated without a tokenizer.
//!
//! An exact count would cost fifty times the program's own start. The estimate errs on the safe
//! side for what `recall` prints, bare lists of short commands included: `tests/it/tokens.rs` measures
//! it against real tokenizers. Long runs of random letters, which no game prints, may cost more.

/// Bytes of English text per token, at least.
const BYTES_PER_TOKEN: usize = 4;

/// Letters of one word per token, at least.
const LETTERS_PER_TOKEN: usize = 6;

/// Digits per token.
const DIGITS_PER_TOKEN: usize = 3;

/// An upper estimate of the tokens of a text: a quarter of its bytes, or what its words, numbers,
/// marks and line breaks come to, whichever is more. The estimate of two texts together is never
/// more than the sum of both.
pub fn estimate_tokens(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut pieces = 0;
    let mut before = Kind::End;
    while let Some(kind) = kind_at_start(rest) {
        let length = rest.iter().take_while(|&&byte| KINDS[usize::from(byte)] == kind).count();
        let (run, behind) = rest.split_at(length);
        pieces += kind.cost(run, before, kind_at_start(behind).unwrap_or(Kind::End));
        before = kind;
        rest = behind;
    }
    pieces.max(text.len().div_ceil(BYTES_PER_TOKEN))
}

fn kind_at_start(text: &[u8]) -> Option<Kind> {
    text.first().map(|&byte| KINDS[usize::from(byte)])
}

/// What a byte is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Where the text begins or ends.
    End,
    Space,
    Break,
    Letter,
    Digit,
    Mark(u8),
    Foreign,
}

/// The kinds of all bytes: looked up, for a recall estimates several times what it prints.
static KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Foreign; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'\n' => Kind::Break,
            b' ' | b'\t'..=b'\r' => Kind::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
            b'0'..=b'9' => Kind::Digit,
            _ => Kind::Mark(byte),
        };
        byte += 1;
    }
    kinds
};

impl Kind {
    /// The cost of a run between two others.
    fn cost(self, run: &[u8], before: Kind, after: Kind) -> usize {
        match self {
            Kind::End => 0,
            // A space belongs to the word behind it, but not to a number. What comes behind the end
            // may be one.
            Kind::Space => usize::from(run.len() > 1 || matches!(after, Kind::Digit | Kind::End)),
            Kind::Letter => run.len().div_ceil(LETTERS_PER_TOKEN),
            Kind::Digit => run.len().div_ceil(DIGITS_PER_TOKEN),
            // A line break belongs to the mark before it.
            Kind::Break if matches!(before, Kind::Mark(_)) => 0,
            Kind::Break | Kind::Mark(_) => run.len().div_ceil(2),
            Kind::Foreign => run.iter().map(|&byte| half_tokens(byte)).sum::<usize>().div_ceil(2),
        }
    }
}

/// What a character beyond ASCII costs, by its first byte: the rarer its script, the more bytes it has.
fn half_tokens(byte: u8) -> usize {
    match byte {
        ..0xC0 => 0,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 6,
    }
}

/// The longest beginning of a text that ends a sentence and that `fits`, with `…` behind it; else
/// the longest that ends a word; `None` where not even one word fits.
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
    let sentence =
        ends.iter().rev().filter(|end| ends_sentence(end)).map(|&end| candidate(end)).find(|t| fits(t));
    sentence.or_else(|| ends.iter().rev().map(|&end| candidate(end)).find(|text| fits(text)))
}

/// A text of at most so many characters, cut at a word with `…` where it is longer.
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
        assert_eq!(cut_at_word("You can't be serious.", 12), "You can't…");
        assert_eq!(cut_at_word("short", 12), "short");
    }

    proptest! {
        #[test]
        fn the_whole_is_never_more_than_its_parts(a in "[a-z0-9 .;()\né道]{0,40}", b in "[a-z0-9 .;()\né道]{0,40}") {
            let whole = format!("{a}{b}");
            prop_assert!(estimate_tokens(&whole) <= estimate_tokens(&a) + estimate_tokens(&b));
        }
    }
}
