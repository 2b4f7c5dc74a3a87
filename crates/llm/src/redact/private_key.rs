//! Finds private keys by the lines around them.

use memchr::memmem;

use super::secret::Secret;

/// Longest private key that is looked for, in bytes.
const LONGEST: usize = 64 * 1024;

/// Finds private keys between `-----BEGIN … PRIVATE KEY-----` and the closing line (RFC 7468). A key without a
/// closing line ends where its lines stop being base 64.
pub(super) fn find(text: &str) -> Vec<Secret> {
    const BEGIN: &str = "-----BEGIN ";
    let mut found: Vec<Secret> = Vec::new();
    for start in memmem::find_iter(text.as_bytes(), BEGIN) {
        if found.last().is_some_and(|last| start < last.range.end) {
            continue;
        }
        let label = &text[start + BEGIN.len()..];
        let Some(length) = label.find("-----") else { return found };
        let (label, body) = (&label[..length], &label[length + 5..]);
        let private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
        if !private || label.len() > 60 {
            continue;
        }
        let closing = format!("-----END {label}-----");
        let near = &body[..body.floor_char_boundary(LONGEST)];
        let near = near.split(BEGIN).next().unwrap_or_default();
        let length = match near.find(&closing) {
            Some(at) if has_base64(&body[..at]) => at + closing.len(),
            _ => base64_length(body),
        };
        if length >= 40 {
            let end = text.len() - body.len() + length;
            found.push(Secret { range: start..end, kind: "private key" });
        }
    }
    found.extend(putty(text));
    found
}

/// Finds the private part of PuTTY's files: the lines behind `Private-Lines:`, and their checksum.
fn putty(text: &str) -> impl Iterator<Item = Secret> {
    const BEGIN: &str = "Private-Lines:";
    memmem::find_iter(text.as_bytes(), BEGIN).filter_map(|at| {
        let start = at + BEGIN.len();
        let number = text[start..].find(|char: char| !char.is_ascii_digit() && char != ' ')?;
        let start = start + number;
        let length = base64_length(&text[start..]);
        let rest = &text[start + length..];
        let line = rest.trim_start_matches(['\\', 'n', 'r', '\r', '\n']);
        let hash = ["Private-MAC: ", "Private-Hash: "].iter().find_map(|name| line.strip_prefix(name));
        let hash = hash.map_or(0, |hash| {
            let digits = hash.find(|char: char| !char.is_ascii_hexdigit()).unwrap_or(hash.len());
            rest.len() - hash.len() + digits
        });
        (length >= 40).then_some(Secret { range: start..start + length + hash, kind: "private key" })
    })
}

/// True if a text has a line of base 64, which a mere mention of both lines has not.
fn has_base64(text: &str) -> bool {
    let mut runs =
        text.split(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '+' | '/' | '=')));
    runs.any(|run| run.len() >= 32)
}

/// Length of the base 64 at the start of a text. Its lines may be separated by line breaks or by a written `\n`.
fn base64_length(text: &str) -> usize {
    let mut end = 0;
    for word in text.split_inclusive([' ', '\n', '\\']) {
        let bare = word.trim_end_matches([' ', '\n', '\r', '\\']);
        let bare = bare.strip_prefix('n').unwrap_or(bare);
        let base64 =
            bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        if !base64 || (!bare.is_empty() && bare.len() < 16) {
            break;
        }
        end += word.len();
    }
    text[..end].trim_end().len()
}
