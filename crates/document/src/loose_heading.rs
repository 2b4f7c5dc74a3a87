//! Headings of places in the words of another hand: `Location #24: Kitchen`, `Location 25 – Attic`, `Cellar (Location 26)`.
//!
//! The text of a level-2 heading enters that is not in its canonical form. What leaves can mean only one thing: other
//! headings that are nearly ones of a place are for [`crate::near`], which reports them.

use crate::types::Scope;

/// Scope and name, where the text is the heading of a place.
pub(super) fn split_place(text: &str) -> Option<(Scope, &str)> {
    let (id, name) = split_id_first(text).or_else(|| split_name_first(text))?;
    Some((Scope::Location(id), name))
}

/// `Location` in any case at the start, and the rest.
fn behind_keyword(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked("Location".len())?;
    word.eq_ignore_ascii_case("Location").then_some(rest)
}

/// Reads `Location #24: Kitchen`, `Location (24) – Kitchen`, `**Location 24:** Kitchen`.
fn split_id_first(text: &str) -> Option<(u64, &str)> {
    let bold = ["**", "__"].into_iter().find(|marks| text.starts_with(marks)).unwrap_or_default();
    let rest = behind_keyword(&text[bold.len()..])?;
    let (id, rest) = split_id(rest)?;
    let name = rest.trim_start();
    if name.is_empty() || name == bold {
        return Some((id, ""));
    }
    let name = name.strip_prefix([':', '：', '-', '–', '—', '.', ',', ';', '|'])?.trim();
    let name = match bold {
        "" => name,
        marks => name.strip_suffix(marks).or_else(|| name.strip_prefix(marks)).unwrap_or(name).trim(),
    };
    // `Location 15-16: Maze` and `Location 1.5` name no place.
    let is_plain =
        !name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '–' | '—' | '.' | ','));
    is_plain.then_some((id, name))
}

/// Reads `Cellar (Location 26)` and `Cellar [location #26]`.
fn split_name_first(text: &str) -> Option<(u64, &str)> {
    let (open, inner) = match text.strip_suffix(')') {
        Some(inner) => ('(', inner),
        None => ('[', text.strip_suffix(']')?),
    };
    let (name, inner) = inner.rsplit_once(open)?;
    let (id, rest) = split_id(behind_keyword(inner.trim())?)?;
    rest.trim().is_empty().then_some((id, name.trim()))
}

/// The id behind the keyword, and the rest. Blanks, `#` and a bracket may stand before it. Other white space looks like a
/// blank and is none: who wrote it has to know, so it is reported and not read.
fn split_id(text: &str) -> Option<(u64, &str)> {
    let start = text.trim_start_matches([' ', '\t', '#']);
    let (close, start) = match (start.strip_prefix('('), start.strip_prefix('[')) {
        (Some(inner), _) => (Some(')'), inner),
        (_, Some(inner)) => (Some(']'), inner),
        _ => (None, start),
    };
    let start = start.strip_prefix('#').unwrap_or(start);
    let digit = |c: char| match c {
        '０'..='９' => Some(u32::from(c) - u32::from('０')),
        c => c.to_digit(10),
    };
    let length = start.find(|c| digit(c).is_none()).unwrap_or(start.len());
    let step = |id: u64, c: char| id.checked_mul(10)?.checked_add(u64::from(digit(c)?));
    let id = start[..length].chars().try_fold(0, step).filter(|_| length > 0)?;
    let rest = &start[length..];
    match close {
        Some(close) => Some((id, rest.strip_prefix(close)?)),
        None => Some((id, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_other_hands() {
        for (text, id, name) in [
            ("Location #24: Kitchen", 24, "Kitchen"),
            ("Location 25 – Attic", 25, "Attic"),
            ("Location 25 - Attic", 25, "Attic"),
            ("Location 25—Attic", 25, "Attic"),
            ("Location 25. Attic", 25, "Attic"),
            ("location 25: Attic", 25, "Attic"),
            ("LOCATION 25 | Attic", 25, "Attic"),
            ("Location (25): Attic", 25, "Attic"),
            ("Location [25] Attic", 0, ""),
            ("Location ２５：Attic", 25, "Attic"),
            ("**Location 25: Attic**", 25, "Attic"),
            ("**Location 25:** Attic", 25, "Attic"),
            ("**Location 25**", 25, ""),
            ("Location\u{a0}25: Attic", 0, ""),
            ("Cellar (Location 26)", 26, "Cellar"),
            ("Cellar (old) (location #26)", 26, "Cellar (old)"),
            ("Cellar [Location 26]", 26, "Cellar"),
            ("Location 15 West of House", 0, ""),
            ("Location 15-16: Maze", 0, ""),
            ("Location 1.5: Maze", 0, ""),
            ("Location: Attic", 0, ""),
            ("Locations 15 and 16", 0, ""),
            ("Location of the treasure", 0, ""),
            ("Notes on (Location 26) and more", 0, ""),
            ("Cellar (26)", 0, ""),
            ("Cellar (Locations 26)", 0, ""),
            ("Location 99999999999999999999: Far", 0, ""),
        ] {
            let expected = (id > 0).then_some((Scope::Location(id), name));
            assert_eq!(split_place(text), expected, "{text}");
        }
    }
}
