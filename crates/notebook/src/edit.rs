//! A section that a person edited by itself, put back into its file.
//!
//! The text of the file, the section as it was and as it is now enter; the new text leaves. Only that section changes:
//! an edit that would make part of another section its own, or lose one, is refused.

use memories_document::check::problems;
use memories_document::compare::changed_lines;
use memories_document::problem::Problem;
use memories_document::types::Scope;
use memories_document::types::hint::Refused;
use memories_document::{Document, DocumentError};

/// A file with an edited section.
pub(super) struct Edited {
    pub text: String,
    /// Lines that were added or removed.
    pub lines: usize,
    /// Problems of the section as it is now.
    pub problems: Vec<Problem>,
}

/// The text of the file cannot be rendered.
pub(super) fn unreadable(error: DocumentError) -> Refused {
    Refused::fix(error.to_string(), "`memories check` shows what is wrong with the file")
}

/// The text with one section replaced.
pub(super) fn edited(text: &str, scope: &Scope, old: &str, new: &str) -> Result<Edited, Refused> {
    let document = Document::parse(text.to_owned());
    let mut sections = document.placed_texts();
    let number = sections.position(|(heading, section)| heading.scope == *scope && section == old);
    let number = number.ok_or_else(|| {
        Refused::fix(
            "the section was changed by another program meanwhile",
            "edit the section again, and take your words over from the copy",
        )
    })?;
    let at = document.heading_offsets().nth(number).expect("each section begins with its heading");
    let first = new.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if Document::parse(first.to_owned()).headings().next().is_none() {
        return Err(Refused::fix(
            "the text no longer begins with the heading of a section",
            "keep the line that begins with `##`; `memories forget` removes single memories",
        ));
    }
    let behind = &text[at + old.len()..];
    let end = if new.ends_with('\n') || behind.is_empty() { "" } else { "\n" };
    let whole = format!("{}{new}{end}{behind}", &text[..at]);
    let (own, changed) = (Document::parse(new.to_owned()), Document::parse(whole.clone()));
    let (before, after) = (document.headings().take(number), document.headings().skip(number + 1));
    if !changed.headings().eq(before.chain(own.headings()).chain(after)) {
        return Err(Refused::fix(
            "with this text, other sections would no longer be read: a code fence or a comment is not closed",
            "close each ``` and each `<!--`",
        ));
    }
    let (begin, end) = (at, at + new.len());
    let line_of = |offset: usize| whole[..offset].matches('\n').count() + 1;
    let lines = line_of(begin)..=line_of(end);
    let problems = problems(&whole).into_iter().filter(|problem| lines.contains(&problem.line)).collect();
    Ok(Edited { text: whole, lines: changed_lines(old, new), problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Ours\n\n## Location 1: A\n\none\n\n---\n\n## Location 2: B\n\ntwo\n";
    const ONE: &str = "## Location 1: A\n\none\n\n---\n\n";

    fn of_one(new: &str) -> Result<String, Refused> {
        edited(TEXT, &Scope::Location(1), ONE, new).map(|edited| edited.text)
    }

    #[test]
    fn one_section_changes_and_no_byte_of_another() {
        assert_eq!(of_one("## Location 1: A\nnew").unwrap(), TEXT.replace(ONE, "## Location 1: A\nnew\n"));
        let two = "## Location 1: A\none\n## Location 3: C\nthree\n";
        assert_eq!(of_one(two).unwrap(), TEXT.replace(ONE, two), "a person may make two of one");
        let renumbered = "## Location 7: A\n";
        assert_eq!(of_one(renumbered).unwrap(), TEXT.replace(ONE, renumbered));
        let last =
            edited(TEXT, &Scope::Location(2), "## Location 2: B\n\ntwo\n", "## Location 2: B").unwrap();
        assert_eq!(last.text, TEXT.replace("\n\ntwo\n", ""));
        assert_eq!(last.lines, 4);
    }

    #[test]
    fn a_copy_of_the_section_in_a_code_fence_before_it_stays() {
        let copy = format!("# Ours\n\n```\n{ONE}```\n\n");
        let text = TEXT.replace("# Ours\n\n", &copy);
        let new = "## Location 1: A\n\nnew\n\n";
        let edited = edited(&text, &Scope::Location(1), ONE, new).unwrap();
        assert_eq!(edited.text, format!("{copy}{new}## Location 2: B\n\ntwo\n"));
    }

    #[test]
    fn what_would_change_other_sections_is_refused() {
        for text in ["", "one\n", "text\n## Location 1: A\n"] {
            assert!(of_one(text).is_err_and(|error| error.problem.contains("heading")), "{text}");
        }
        // A fence that another section's fence would close.
        let fenced = format!("{TEXT}\n```\ncode\n```\n");
        let open = edited(&fenced, &Scope::Location(1), ONE, "## Location 1: A\n```\nunclosed\n");
        assert!(open.is_err_and(|error| error.problem.contains("not closed")));
        let meanwhile = TEXT.replace("one", "another");
        let changed = edited(&meanwhile, &Scope::Location(1), ONE, "## Location 1: A\n");
        assert!(changed.is_err_and(|error| error.problem.contains("meanwhile")));
    }

    #[test]
    fn problems_of_the_section_are_told_with_their_lines_in_the_file() {
        let new = "## Location 1: A\n\n**[NOTE x**\nlost\n";
        let edited = edited(TEXT, &Scope::Location(1), ONE, new).unwrap();
        let lines: Vec<usize> = edited.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [5]);
    }
}
