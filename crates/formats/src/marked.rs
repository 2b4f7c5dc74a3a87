//! A marked section in a file that people write.

use memories_document::types::hint::Refused;

const BEGIN: &str = "<!-- memories: begin -->";
const END: &str = "<!-- memories: end -->";

/// The text with this body between the marks; where it has none, they come at its end. Every other byte stays.
///
/// # Errors
///
/// If the marks are not one pair in this order.
pub fn with_section(existing: Option<&str>, body: &str) -> Result<String, Refused> {
    let text = existing.unwrap_or_default();
    let section = |ending: &str| {
        let body = body.trim_end().replace('\n', ending);
        format!("{BEGIN}{ending}{body}{ending}{END}")
    };
    match (marks(text, BEGIN).as_slice(), marks(text, END).as_slice()) {
        ([], []) => {
            let ending = line_end(text);
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => ending,
                _ => &format!("{ending}{ending}"),
            };
            Ok(format!("{text}{gap}{}{ending}", section(ending)))
        }
        ([begin], [end]) if begin < end => {
            let section = section(line_end(&text[*begin..]));
            Ok(format!("{}{section}{}", &text[..*begin], &text[end + END.len()..]))
        }
        (begins, ends) => {
            let problem = format!(
                "the marks are damaged: `{BEGIN}` stands there {} and `{END}` {}",
                times(begins.len()),
                times(ends.len())
            );
            let hint =
                format!("leave one `{BEGIN}` before one `{END}`, each on a line of its own, or remove all");
            Err(Refused::fix(problem, hint))
        }
    }
}

/// The end of the first line.
fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Offsets of the lines that are this mark, without the spaces before it.
fn marks(text: &str, mark: &str) -> Vec<usize> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches(['\u{FEFF}', ' ', '\t']);
        if bare.trim_end() == mark {
            found.push(start + line.len() - bare.len());
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_outside_of_the_marks_stays(
            before in "[a-z#\n\r\u{FEFF}]{0,12}", after in "[a-z#\n\r]{0,12}", body in "[a-z\n]{1,12}",
        ) {
            let fresh = with_section(Some(&before), &body).unwrap();
            prop_assert!(fresh.starts_with(&before));
            let whole = format!("{before}\n  {BEGIN}\nold\n{END}\n{after}");
            let first = with_section(Some(&whole), &body).unwrap();
            let old = format!("{before}\n  ");
            let behind = format!("{END}\n{after}");
            prop_assert!(first.starts_with(&old) && first.ends_with(&behind), "{first:?}");
            prop_assert_eq!(with_section(Some(&first), &body).unwrap(), first);
            prop_assert_eq!(with_section(Some(&fresh), &body).unwrap(), fresh);
        }
    }

    #[test]
    fn damaged_marks_are_an_error() {
        for text in [
            BEGIN.to_owned(),
            END.to_owned(),
            format!("{END}\n{BEGIN}\n"),
            format!("{BEGIN}\n{BEGIN}\n{END}\n"),
            format!("{BEGIN}\n{END}\n{END}\n"),
        ] {
            let error = with_section(Some(&text), "x").unwrap_err();
            assert!(error.problem.contains("damaged") && error.advice.hints[0].contains(BEGIN), "{text}");
        }
    }
}
