//! Names that fit into boxes, by an estimate of the width of letters.

use unicode_segmentation::UnicodeSegmentation;

/// A name on at most two lines of a width in pixels; `…` ends what is longer. What is appended to the name, an id,
/// stays whole.
pub(super) fn wrap(name: &str, appended: &str, font: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace().chain(Some(appended).filter(|appended| !appended.is_empty())) {
        match lines.last_mut() {
            Some(last) if estimate(&format!("{last} {word}"), font) <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > 2 {
        let rest = lines.split_off(1).join(" ");
        match rest.strip_suffix(appended).filter(|_| !appended.is_empty()) {
            Some(rest) => lines = vec![format!("{} {rest}", lines[0]), appended.to_owned()],
            None => lines.push(rest),
        }
    }
    lines.iter().map(|line| cut(line, font, width)).collect()
}

/// The beginning of a text that fits into a width in pixels, with `…` where more follows.
pub(super) fn cut(text: &str, font: f64, width: f64) -> String {
    if estimate(text, font) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = estimate("…", font);
    for letter in text.graphemes(true) {
        used += estimate(letter, font);
        if used > width {
            break;
        }
        kept.push_str(letter);
    }
    format!("{}…", kept.trim_end())
}

/// The width of a text in pixels in a usual sans-serif font.
pub(super) fn estimate(text: &str, font: f64) -> f64 {
    text.chars().map(|letter| font * share(letter)).sum()
}

/// The width of a letter as a share of the font's size, rather too wide.
fn share(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.3,
        'f' | 't' | 'r' | '(' | ')' | '-' | '[' | ']' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        'A'..='Z' => 0.7,
        letter if letter.is_ascii() => 0.57,
        letter if (letter as u32) < 0x1100 => 0.65,
        _ => 1.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_two_lines_at_most() {
        assert_eq!(wrap("Attic", "", 12.0, 100.0), ["Attic"]);
        assert_eq!(wrap("  East of  Chasm ", "", 12.0, 60.0), ["East of", "Chasm"]);
        assert_eq!(wrap("", "", 12.0, 60.0), Vec::<String>::new());
        assert_eq!(wrap("Mirror Room", "(id 52)", 12.0, 100.0), ["Mirror Room", "(id 52)"]);
        let long = "twisty little passage ".repeat(9);
        assert_eq!(wrap(&long, "", 12.0, 100.0), ["twisty little", "passage twist…"]);
        assert_eq!(wrap(&long, "(id 7)", 12.0, 100.0), ["twisty little pa…", "(id 7)"]);
        for letter in ["w", "i", "字", "e\u{301}"] {
            for line in wrap(&letter.repeat(50), "", 12.0, 50.0) {
                assert!(line.ends_with('…') && estimate(&line, 12.0) <= 50.0, "{line}");
            }
        }
    }
}
