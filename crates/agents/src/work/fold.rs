//! Words without parts that differ from run to run: names of temporary files, hashes, and numbers of lines.
//!
//! A word enters, as it is written; a word leaves in which `#` stands for each generated part.

/// Hexadecimal digits from which on a word may be a hash, as git shortens it.
const HASH_DIGITS: usize = 7;

/// Folders of temporary files.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/"];

/// A word without what is another each time.
pub(super) fn folded(word: &str) -> String {
    let word = without_line(word);
    let is_temporary = TEMPORARY.iter().any(|folder| word.contains(folder));
    let mut out = String::with_capacity(word.len());
    for part in word.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
        let name = part.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        let random = is_hash(name) || is_temporary && is_made_up(name);
        out.push_str(if random { "#" } else { name });
        out.push_str(&part[name.len()..]);
    }
    out
}

/// A word without the line, and the column, that it ends with: `src/lib.rs:12:5`.
fn without_line(word: &str) -> &str {
    let mut word = word;
    for _ in 0..2 {
        word = match word.rsplit_once(':') {
            Some((file, line))
                if file.contains(['.', '/'])
                    && !file.ends_with(':')
                    && !file.contains("//")
                    && !line.is_empty()
                    && line.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                file
            }
            _ => return word,
        };
    }
    word
}

/// True for a hash in hexadecimal digits, and for a UUID.
fn is_hash(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_hexdigit).count();
    let has = |wanted: fn(&u8) -> bool| name.bytes().any(|byte| wanted(&byte));
    let is_uuid = name.len() == 36 && digits == 32 && name.bytes().filter(|byte| *byte == b'-').count() == 4;
    is_uuid
        || digits == name.len()
            && name.len() >= HASH_DIGITS
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
}

/// True for a name that a program made up for a temporary file: `tmpab12cd`, `build.X7f9Qz`.
fn is_made_up(name: &str) -> bool {
    let turns =
        name.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    let cases = name
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    name.len() >= 6 && turns.count() + cases.count() >= 2 || name.starts_with("tmp") && name.len() >= 8
}
