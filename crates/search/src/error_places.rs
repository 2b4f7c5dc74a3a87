//! Places of errors in a question: `src/app.py:283:`, as compilers and linters print them before a message.
//!
//! A question enters; the words leave that say where in a file rather than what: the file's ending and the numbers of
//! line and column. The names in the path stay words as others.

/// Longest ending of a file's name.
const MAX_ENDING: usize = 5;

/// The words that say where in a file, folded, of all places in a text.
pub(crate) fn words_of_places(text: &str) -> Vec<String> {
    text.split_whitespace().filter_map(words_of_place).flatten().collect()
}

/// The words of a text without white space that is a place. An address such as `db.example.com:5433` is none: a place
/// has a folder or a column.
fn words_of_place(text: &str) -> Option<Vec<String>> {
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let colon = text.match_indices(':').map(|(at, _)| at).find(|at| is_number(&&text[at + 1..]))?;
    let (path, numbers) = (&text[..colon], &text[colon + 1..]);
    let (name, ending) = path.rsplit_once('.')?;
    let is_ending = ending.len() <= MAX_ENDING
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let numbers: Vec<String> = numbers.split(':').take(2).take_while(is_number).map(leading_digits).collect();
    let is_place = !path.contains("//") && (path.contains(['/', '\\']) || numbers.len() > 1);
    let is_file = name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let words = numbers.into_iter().chain([ending.to_ascii_lowercase()]).collect();
    (is_ending && is_file && is_place).then_some(words)
}

fn leading_digits(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_an_ending_and_numbers() {
        for (text, expected) in [
            ("src/app.py:283: Missing docstring", "283 py"),
            ("  --> src/main.rs:40:17", "40 17 rs"),
            (r"at C:\work\Door.java:12)", "12 java"),
            ("panicked at worker.rs:40:17:", "40 17 rs"),
            ("at db.example.com:5433", ""),
            ("http://example.com/a.html:80", ""),
            ("src/net/http_parser.rs", ""),
            ("at 02:30", ""),
            ("what: 3", ""),
        ] {
            assert_eq!(words_of_places(text).join(" "), expected, "{text}");
        }
    }
}
