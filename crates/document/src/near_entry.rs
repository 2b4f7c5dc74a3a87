//! Lines that are nearly the first line of an entry, and brackets and fields that are nearly known ones.
//!
//! A line or an entry enters; the nearest right form leaves, and whether it is the only possible reading.

use crate::fields::{are_fields, parse_fields};
use crate::grammar;
use crate::near::{Near, edits, is_space};
use crate::text::{find_unescaped_stars, read_title};
use crate::types::{Memory, Persistence, Provenance, Status};
use crate::visits;

/// True if a line is an item of a list, or a quotation.
pub(crate) fn is_listed(line: &str) -> bool {
    line.starts_with(['-', '+', '>']) || line.starts_with("* ") || behind_number(line).is_some()
}

/// The text of an item of a numbered list.
fn behind_number(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&digits))?;
    rest.strip_prefix(' ')
}

/// A line that was meant as the first line of an entry and is none.
pub(crate) fn entry(line: &str) -> Option<Near> {
    let trimmed = line.trim_matches(is_space);
    let first = trimmed.chars().next()?;
    let listed = trimmed.strip_prefix("* ").or(behind_number(trimmed));
    let may_be_entry = listed.is_some() || "*_[-+>#~<".contains(first);
    let is_reference = ["[Superseded", "[Invalidated"].iter().any(|start| trimmed.starts_with(start));
    // The `(T5)` of a visits line would pass for fields.
    if !may_be_entry || is_reference || visits::looks_like_visits(trimmed) {
        return None;
    }
    if trimmed.len() < line.len() && grammar::parse_entry(trimmed).is_some() {
        return Some(Near::of(trimmed.to_owned(), true));
    }
    match listed {
        None if "*_[".contains(first) => loose_entry(trimmed),
        _ => marked_entry(first, listed.unwrap_or(trimmed)),
    }
}

/// An entry line behind the mark of a list, a quotation, a heading or a strike, or in HTML.
fn marked_entry(first: char, line: &str) -> Option<Near> {
    let inner = line.trim_start_matches(['-', '+', '>', '#', '~']).trim_matches(is_space);
    let inner = match first {
        '~' => inner.trim_end_matches('~'),
        '#' => inner.trim_end_matches('#').trim_end_matches(is_space),
        '<' => ["<b>", "<strong>"].into_iter().find_map(|mark| inner.strip_prefix(mark))?,
        _ => inner,
    };
    if let Some(memory) = grammar::parse_entry(inner) {
        let status = if first == '~' { Status::Superseded } else { memory.status };
        let form = grammar::write_entry(&Memory { status, ..memory });
        return Some(Near::of(form, first == '#'));
    }
    if first == '#' {
        return loose_entry(inner);
    }
    // More stands in the line, such as the text: what of it is the title, a person says.
    let marked = inner.trim_start_matches(['*', '_']);
    let is_escaped = inner.starts_with('\\') || first == '~';
    let bracket = marked.strip_prefix('\\').unwrap_or(marked).strip_prefix('[').filter(|_| !is_escaped)?;
    let bracket = bracket.split_once(']')?.0;
    let is_meant =
        is_known(first_word(bracket.trim_end_matches('\\'))) && (first == '<' || !inner.starts_with('['));
    is_meant.then_some(Near::UNCLEAR)
}

/// An entry line that lacks some of its marks or has other ones.
fn loose_entry(line: &str) -> Option<Near> {
    let begun = grammar::looks_like_entry(line);
    let (body, fields) = split_fields(line);
    let inner = body.trim_start_matches(['*', '_']);
    let opening = body.len() - inner.len();
    let bracketed = inner.strip_prefix('\\').unwrap_or(inner).strip_prefix('[');
    let inner = bracketed.unwrap_or(inner);
    let unclear = begun.then_some(Near::UNCLEAR);
    if !(begun || opening >= 2 || bracketed.is_some()) {
        return None;
    }
    let Some((bracket, rest)) = split_bracket(inner, bracketed.is_some()) else {
        let told = opening >= 2 && bracketed.is_none() && fields.is_some();
        return unclear.or(told.then_some(Near::UNCLEAR));
    };
    let upper = bracket.len() > 1 && !bracket.bytes().any(|byte| byte.is_ascii_lowercase());
    let rest = rest.trim_matches(is_space);
    let closed = rest.strip_suffix("**").or(rest.strip_suffix("__"));
    let title = closed.unwrap_or(rest).trim_matches(is_space);
    let title = title.strip_prefix("**").or(title.strip_prefix("__")).unwrap_or(title).trim_matches(is_space);
    if !begun && !(upper && (fields.is_some() || closed.is_some())) {
        return None;
    }
    if find_unescaped_stars(title).is_some() || read_title(title).is_empty() {
        return unclear;
    }
    let fields_text = fields.map(|fields| format!(" *({fields})*")).unwrap_or_default();
    // Word processors write dashes.
    let bracket_text = bracket.split(DASHES).map(str::trim).collect::<Vec<_>>().join(" - ");
    let form = format!("**[{bracket_text}] {title}**{fields_text}");
    if grammar::parse_entry(&form).is_none() {
        return unclear;
    }
    let marks = title.starts_with(['*', '_', ']', '[']) || title.ends_with(['*', '_']);
    let alone = fields.is_none() && closed.is_none();
    // Prose may begin with brackets: only a known category says that an entry was meant.
    let known = near_categories(first_word(bracket)).next().is_some();
    Some(Near::of(form, known && !marks && !alone && !title.contains("](")))
}

/// Splits a line before its fields, whatever marks stand around them; each must be known, or nearly.
fn split_fields(line: &str) -> (&str, Option<&str>) {
    let fields = line.trim_end_matches(['*', '_']).strip_suffix(')').and_then(|inner| {
        let at =
            inner.find("*(").or(inner.find("_(")).map(|at| at + 1).or(inner.rfind(" (").map(|at| at + 1))?;
        let known = parse_fields(&inner[at + 1..]);
        let all =
            known != Provenance::default() && known.other.iter().all(|field| self::fields(field).is_some());
        let before = &inner[..at];
        let body = before
            .strip_suffix(['*', '_'])
            .filter(|body| body.is_empty() || body.ends_with(is_space))
            .unwrap_or(before);
        all.then_some((body.trim_end_matches(is_space), &inner[at + 1..]))
    });
    fields.map_or((line, None), |(body, fields)| (body, Some(fields)))
}

/// Splits behind the brackets. Where one is lost, the other tells where the category is.
fn split_bracket(inner: &str, opened: bool) -> Option<(&str, &str)> {
    if let Some(at) = inner.find(']') {
        return Some((inner[..at].trim(), &inner[at + 1..]));
    }
    let (word, rest) = inner.split_once(' ').filter(|_| opened)?;
    (is_known(word) && !rest.trim_start().starts_with('-')).then_some((word, rest))
}

/// The dashes of word processors.
const DASHES: [char; 3] = ['–', '—', '−'];

/// The category within brackets.
fn first_word(bracket: &str) -> &str {
    bracket.split(|c| c == ' ' || DASHES.contains(&c)).next().unwrap_or_default()
}

/// True if a line is nothing but the fields of the entry above it.
pub(crate) fn is_wrapped_fields(line: &str) -> bool {
    let (body, fields) = split_fields(line.trim());
    (line.starts_with("*(") || line.starts_with("_(")) && body.is_empty() && fields.is_some()
}

/// The categories that the contract names; others may be anybody's own.
#[rustfmt::skip]
pub const KNOWN_CATEGORIES: [&str; 33] = [
    "SUCCESS", "FAILURE", "DISCOVERY", "DANGER", "NOTE", "PUZZLE", "SPAWN", "PROCEDURE", "OBSERVATION",
    "GOAL", "BEHAVIOR", "OUTCOME", "INSIGHT", "DECISION", "ERROR_LESSON", "FACT", "RELATIONSHIP", "EMOTION",
    "SESSION", "EVENT", "DIALOGUE", "IDENTITY", "BACKGROUND", "COMMUNICATION", "DECISION_STYLE", "TRAITS",
    "SKILLS", "VALUES", "KNOWLEDGE", "LOCATION", "ATMOSPHERE", "TIME", "CONTEXT",
];

/// True for the name of a category that the contract names.
pub(crate) fn is_known(category: &str) -> bool {
    KNOWN_CATEGORIES.contains(&category)
}

/// The categories of the contract that a name may be a slip of.
fn near_categories(name: &str) -> impl Iterator<Item = &'static str> {
    KNOWN_CATEGORIES.into_iter().filter(move |known| strsim::osa_distance(name, known) <= 1)
}

/// The bracket that an entry most likely was meant to have, where its category is unknown: a slip of the
/// hand, or a mark such as CORE that is not set off by ` - `.
pub(crate) fn bracket(memory: &Memory) -> Option<Near> {
    let name = memory.category.as_str();
    if is_known(name) {
        return None;
    }
    let (mut meant, mut head) = (memory.clone(), name);
    let is_plain = meant.persistence == Persistence::default() && meant.status == Status::default();
    let mut stuck = false;
    let parted = name.rsplit_once(|c: char| !c.is_alphanumeric()).filter(|(head, _)| !head.is_empty());
    if let Some((before, word)) = parted.filter(|_| is_plain) {
        let (persistence, status) = (word.parse().ok(), word.parse().ok());
        stuck = persistence.is_some() || status.is_some();
        meant.persistence = persistence.unwrap_or(meant.persistence);
        meant.status = status.unwrap_or(meant.status);
        if stuck {
            head = before.trim_end_matches(|c: char| !c.is_alphanumeric());
        }
    }
    let known: Vec<&str> = near_categories(head).collect();
    let exact = known.contains(&head).then_some(head);
    let category = exact.or(known.first().copied()).or(stuck.then_some(head))?;
    let certain = (stuck || !is_plain) && head.len() > 3 && (exact.is_some() || known.len() == 1);
    meant.category = category.parse().ok()?;
    let line = grammar::write_entry(&meant);
    Some(Near::of(line.get(3..line.find(']')?)?.to_owned(), certain))
}

/// The fields that a field of unknown shape most likely was meant as.
pub(crate) fn fields(field: &str) -> Option<Near> {
    let (word, value) = field.split_at(field.find(|c: char| !c.is_ascii_alphabetic())?);
    let value = value.trim_start_matches([' ', ':', '=']);
    if value.is_empty() || word.len() < 8 || edits(word, "importance") > 1 {
        return None;
    }
    let form = format!("importance {value}");
    let readable = form != field && are_fields(&form);
    Some(if readable { Near::of(form, true) } else { Near::UNCLEAR })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_nearly_ours() {
        let form = "**[DANGER - CORE] Troll** *(Ep1, T2)*";
        for line in [
            "[DANGER - CORE] Troll** *(Ep1, T2)*",
            "**[DANGER - CORE] Troll *(Ep1, T2)*",
            "[DANGER - CORE] Troll *(Ep1, T2)*",
            "**DANGER - CORE] Troll** *(Ep1, T2)*",
            "**[DANGER – CORE] Troll** *(Ep1, T2)*",
            "**[DANGER - CORE] Troll** (Ep1, T2)",
            "**[DANGER - CORE] Troll** _(Ep1, T2)_",
            "__[DANGER - CORE] Troll__ _(Ep1, T2)_",
            "**[DANGER - CORE] Troll** *(Ep1, T2)",
            "**[DANGER - CORE]** Troll *(Ep1, T2)*",
            "\t**[DANGER - CORE] Troll** *(Ep1, T2)*",
            "  **[DANGER - CORE] Troll** *(Ep1, T2)*",
        ] {
            assert_eq!(entry(line), Some(Near::of(form.to_owned(), true)), "{line}");
        }
        let two = "**FAILURE] Take window** _(Ep1 T25, importance 9000)_";
        assert_eq!(
            entry(two),
            Some(Near::of("**[FAILURE] Take window** *(Ep1 T25, importance 9000)*".to_owned(), true))
        );
        let known = Some(Near::of("**[DANGER] Troll** *(Ep1, T2)*".to_owned(), true));
        assert_eq!(entry("**[DANGER Troll** *(Ep1, T2)*"), known);
        assert_eq!(entry("- **[NOTE] x**"), Some(Near::of("**[NOTE] x**".to_owned(), false)));
        assert_eq!(entry("~~**[NOTE] x**~~"), Some(Near::of("**[NOTE - SUPERSEDED] x**".to_owned(), false)));
        for line in ["**[NOTE] x** y", "**The dam opened** *(Ep1, T2)*", "**[NOTE] x** (or so)"] {
            assert_eq!(entry(line), Some(Near::UNCLEAR), "{line}");
        }
        for line in
            ["[DANGER] ahead", "**The dam opened**", "[x] done**", "* a list", "[link](there)", "*x* *(Ep1)*"]
        {
            assert_eq!(entry(line), None, "{line}");
        }
    }

    #[test]
    fn fields_in_a_line_of_their_own() {
        assert!(is_wrapped_fields("*(Ep1, T2)*") && is_wrapped_fields("_(Ep1 T2)_"));
        assert!(
            !is_wrapped_fields("*(so I thought)*")
                && !is_wrapped_fields("* (Ep1)")
                && !is_wrapped_fields("(Ep1)")
        );
    }

    #[test]
    fn brackets_and_fields_that_are_nearly_known() {
        let near = |line: &str| {
            bracket(&grammar::parse_entry(line).expect("an entry"))
                .map(|near| (near.form.expect("a form"), near.certain))
        };
        assert_eq!(near("**[DANGR] x**"), Some(("DANGER".to_owned(), false)));
        assert_eq!(near("**[DANGR - CORE] x**"), Some(("DANGER - CORE".to_owned(), true)));
        assert_eq!(near("**[DANGER CORE] x**"), Some(("DANGER - CORE".to_owned(), true)));
        assert_eq!(near("**[DANGER-CORE] x**"), Some(("DANGER - CORE".to_owned(), true)));
        assert_eq!(near("**[LOOT CORE] x**"), Some(("LOOT - CORE".to_owned(), false)));
        assert_eq!(near("**[LOOT] x**"), None);
        let near = |field: &str| fields(field).map(|near| (near.form.unwrap_or_default(), near.certain));
        assert_eq!(near("importence: 900"), Some(("importance 900".to_owned(), true)));
        assert_eq!(near("Score: -5"), None, "a change or a total");
        assert_eq!(near("importance 9000"), Some((String::new(), false)));
        assert_eq!(near("importance high"), Some((String::new(), false)));
        assert_eq!(near("moved twice"), None);
        assert_eq!(near("maybe"), None);
    }
}
