//! Redacts keys and tokens, which are recognised by the formats that their issuers document.
//!
//! A text enters; it leaves with every recognised secret replaced. A format is a prefix, an alphabet and a length;
//! a long random word without a known prefix is left alone. Precision comes first, because a false positive
//! destroys a memory. Ordinary text costs next to nothing: every format except private keys is at least twenty
//! characters without a space, so only every twentieth character is examined until such a run is found.
//!
//! Unless a rule names another source, its prefix, alphabet and length are those of the same issuer's rule in
//! gitleaks' `config/gitleaks.toml` (v8, MIT).

use std::ops::Range;

use memchr::memmem;

/// Length of the shortest secret below, in bytes.
const SHORTEST: usize = 20;

/// The characters that may follow a prefix.
#[derive(Debug, Clone, Copy)]
enum Alphabet {
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Base64Url,
    /// Digits and `a` to `f`.
    Hex,
    /// Capital letters and digits.
    Upper,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Alphabet::Alphanumeric => byte.is_ascii_alphanumeric(),
            Alphabet::Base64Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Alphabet::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// The format of one kind of secret.
struct Rule {
    prefix: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    /// Minimum number of characters after the prefix.
    min: usize,
    /// Maximum number of characters after the prefix.
    max: usize,
    /// A text that must occur after the prefix; empty for most rules.
    contains: &'static str,
}

const fn rule(prefix: &'static str, kind: &'static str, alphabet: Alphabet, min: usize, max: usize) -> Rule {
    Rule { prefix, kind, alphabet, min, max, contains: "" }
}

use Alphabet::{Alphanumeric, Base64Url, Hex, Upper};

/// The first rule that matches applies.
const RULES: &[Rule] = &[
    rule("sk-ant-api03-", "Anthropic key", Base64Url, 80, 120),
    rule("sk-ant-admin01-", "Anthropic key", Base64Url, 80, 120),
    rule("sk-ant-oat01-", "Anthropic token", Base64Url, 80, 120),
    // openrouter.ai/docs, «Authentication».
    rule("sk-or-v1-", "OpenRouter key", Hex, 64, 64),
    // Also `sk-proj-` and similar prefixes; `T3BlbkFJ` is `OpenAI` in base 64.
    Rule { contains: "T3BlbkFJ", ..rule("sk-", "OpenAI key", Base64Url, 48, 220) },
    rule("ghp_", "GitHub token", Alphanumeric, 36, 36),
    rule("gho_", "GitHub token", Alphanumeric, 36, 36),
    rule("ghu_", "GitHub token", Alphanumeric, 36, 36),
    rule("ghs_", "GitHub token", Alphanumeric, 36, 36),
    rule("ghr_", "GitHub token", Alphanumeric, 36, 76),
    rule("github_pat_", "GitHub token", Base64Url, 82, 82),
    rule("glpat-", "GitLab token", Base64Url, 20, 60),
    rule("gldt-", "GitLab token", Base64Url, 20, 60),
    rule("glrt-", "GitLab token", Base64Url, 20, 60),
    rule("AKIA", "AWS key", Upper, 16, 16),
    rule("ASIA", "AWS key", Upper, 16, 16),
    rule("ABIA", "AWS key", Upper, 16, 16),
    rule("ACCA", "AWS key", Upper, 16, 16),
    rule("AIza", "Google key", Base64Url, 35, 35),
    // developers.google.com/identity, «client secret» of OAuth 2.0.
    rule("GOCSPX-", "Google secret", Base64Url, 28, 28),
    rule("xoxb-", "Slack token", Base64Url, 40, 100),
    rule("xoxp-", "Slack token", Base64Url, 40, 100),
    rule("xoxe-", "Slack token", Base64Url, 40, 200),
    rule("xapp-", "Slack token", Base64Url, 40, 120),
    rule("sk_live_", "Stripe key", Alphanumeric, 16, 120),
    rule("sk_test_", "Stripe key", Alphanumeric, 16, 120),
    rule("rk_live_", "Stripe key", Alphanumeric, 16, 120),
    rule("rk_test_", "Stripe key", Alphanumeric, 16, 120),
    // docs.stripe.com/webhooks, «signing secret».
    rule("whsec_", "Stripe secret", Alphanumeric, 32, 64),
    rule("npm_", "npm token", Alphanumeric, 36, 36),
    rule("pypi-AgEIcHlwaS5vcmc", "PyPI token", Base64Url, 50, 1000),
    rule("hf_", "Hugging Face token", Alphanumeric, 34, 40),
    // console.groq.com/docs, «API keys».
    rule("gsk_", "Groq key", Alphanumeric, 52, 52),
    rule("pplx-", "Perplexity key", Alphanumeric, 48, 48),
    // replicate.com/docs, «API tokens».
    rule("r8_", "Replicate token", Alphanumeric, 37, 37),
    rule("dop_v1_", "DigitalOcean token", Hex, 64, 64),
    rule("doo_v1_", "DigitalOcean token", Hex, 64, 64),
    rule("shpat_", "Shopify token", Hex, 32, 32),
    rule("dapi", "Databricks token", Hex, 32, 32),
    rule("hvs.", "Vault token", Base64Url, 90, 120),
    rule("lin_api_", "Linear key", Alphanumeric, 40, 40),
    // docs.docker.com, «personal access tokens».
    rule("dckr_pat_", "Docker token", Base64Url, 27, 27),
    rule("AGE-SECRET-KEY-1", "age key", Upper, 58, 58),
    rule("tskey-auth-", "Tailscale key", Base64Url, 20, 64),
];

/// A text whose secrets are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redacted {
    /// The text, with `(GitHub token masked)` in place of a GitHub token.
    pub text: String,
    /// The kinds of secrets found, each once.
    pub kinds: Vec<&'static str>,
}

/// A recognised secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Secret {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Its kind, such as `GitHub token`.
    pub kind: &'static str,
}

/// Replaces all secrets in a text; `None` if there are none.
pub(crate) fn redact(text: &str) -> Option<Redacted> {
    let found = find(text);
    if found.is_empty() {
        return None;
    }
    let mut redacted = Redacted { text: String::with_capacity(text.len()), kinds: Vec::new() };
    let mut done = 0;
    for secret in found {
        redacted.text.push_str(&text[done..secret.range.start]);
        redacted.text.push_str(&format!("({} masked)", secret.kind));
        done = secret.range.end;
        if !redacted.kinds.contains(&secret.kind) {
            redacted.kinds.push(secret.kind);
        }
    }
    redacted.text.push_str(&text[done..]);
    Some(redacted)
}

/// A text with all secrets replaced.
pub(crate) fn redacted(text: &str) -> String {
    redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}

/// Finds all secrets, in the order of the text. They do not overlap.
pub(crate) fn find(text: &str) -> Vec<Secret> {
    let mut found = private_keys(text);
    let bytes = text.as_bytes();
    let mut at = SHORTEST - 1;
    while at < bytes.len() {
        if !in_run(bytes[at]) {
            at += SHORTEST;
            continue;
        }
        let start = bytes[..at].iter().rposition(|&byte| !in_run(byte)).map_or(0, |before| before + 1);
        let end =
            bytes[at..].iter().position(|&byte| !in_run(byte)).map_or(bytes.len(), |length| at + length);
        if end - start >= SHORTEST {
            found.extend(in_one_run(bytes, start..end));
        }
        at = end + SHORTEST;
    }
    found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
    let mut end = 0;
    found.retain(|secret| {
        let apart = secret.range.start >= end;
        end = end.max(secret.range.end);
        apart
    });
    found
}

/// The characters that secrets without spaces consist of.
fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Finds secrets in a run of characters without a space. A prefix must be at the beginning of a word.
fn in_one_run(bytes: &[u8], run: Range<usize>) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = run.start;
    while at + SHORTEST <= run.end {
        let begins_word =
            at == run.start || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let rest = &bytes[at..run.end];
        let secret = if begins_word { by_rules(rest).or_else(|| web_token(rest)) } else { None };
        match secret {
            Some((kind, length)) => {
                found.push(Secret { range: at..at + length, kind });
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

fn by_rules(rest: &[u8]) -> Option<(&'static str, usize)> {
    RULES.iter().find_map(|rule| {
        let body = rest.strip_prefix(rule.prefix.as_bytes())?;
        let body = &body[..length_of(rule.alphabet, body)];
        // An emphasis mark or a dash after a key is not part of it.
        let length = if body.len() > rule.max {
            body.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1)
        } else {
            body.len()
        };
        let fits = (rule.min..=rule.max).contains(&length)
            && memmem::find(body, rule.contains.as_bytes()).is_some()
            && is_mixed(rule.alphabet, &body[..length]);
        fits.then(|| (rule.kind, rule.prefix.len() + length))
    })
}

/// Whether a key looks random. A repeated character, or words alone, are an example.
fn is_mixed(alphabet: Alphabet, body: &[u8]) -> bool {
    let mut seen = [false; 128];
    body.iter().for_each(|byte| seen[usize::from(byte & 127)] = true);
    let different = seen.iter().filter(|&&seen| seen).count();
    let both = body.iter().any(u8::is_ascii_digit) && body.iter().any(u8::is_ascii_alphabetic);
    // Of 34 letters and digits, one in 400 random tokens has no digit; of 16, one in 16.
    different >= 6 && (both || matches!(alphabet, Alphabet::Alphanumeric | Alphabet::Upper))
}

fn length_of(alphabet: Alphabet, body: &[u8]) -> usize {
    body.iter().position(|&byte| !alphabet.holds(byte)).unwrap_or(body.len())
}

/// Recognises a signed JSON web token (RFC 7519): three parts, of which the first two are JSON objects in base 64.
fn web_token(rest: &[u8]) -> Option<(&'static str, usize)> {
    if !rest.starts_with(b"eyJ") {
        return None;
    }
    let header = length_of(Base64Url, rest);
    let payload = rest.get(header..)?.strip_prefix(b".ey")?;
    let payload = 3 + length_of(Base64Url, payload);
    let signature = rest.get(header + payload..)?.strip_prefix(b".")?;
    let signature = length_of(Base64Url, signature);
    (header >= 17 && payload >= 17 && signature >= 20)
        .then_some(("JSON web token", header + payload + 1 + signature))
}

/// Finds private keys between `-----BEGIN … PRIVATE KEY-----` and the closing line (RFC 7468). A key without a
/// closing line ends where its lines stop being base 64.
fn private_keys(text: &str) -> Vec<Secret> {
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
        let length = match body.find(&closing) {
            Some(at) => at + closing.len(),
            None => base64_length(body),
        };
        if length >= 40 {
            let end = text.len() - body.len() + length;
            found.push(Secret { range: start..end, kind: "private key" });
        }
    }
    found
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `length` characters of an alphabet that look random.
    fn random(alphabet: Alphabet, length: usize) -> String {
        let mut state = 12_345_u32;
        let mut out = String::new();
        while out.len() < length {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = (state >> 16) as u8 & 127;
            if alphabet.holds(byte) && byte.is_ascii_alphanumeric() {
                out.push(char::from(byte));
            }
        }
        out
    }

    #[test]
    fn every_rule_finds_its_own_format_and_nothing_shorter() {
        for rule in RULES {
            let mut body = rule.contains.to_owned();
            body.push_str(&random(rule.alphabet, rule.min.max(rule.contains.len()) - rule.contains.len()));
            assert!(rule.prefix.len() + rule.min >= SHORTEST, "{}", rule.prefix);
            let key = format!("{}{body}", rule.prefix);
            for text in [key.clone(), format!("The note says: `{key}`."), format!("KEY={key}\nmore")] {
                let redacted = redact(&text).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(redacted.kinds, [rule.kind], "{text}");
                assert!(
                    !redacted.text.contains(&body) && redacted.text.len() < text.len(),
                    "{}",
                    redacted.text
                );
            }
            assert_eq!(redact(&key[..key.len() - 1]), None, "{key}");
            assert_eq!(redact(&format!("x{key}")), None, "{key}");
        }
    }

    #[test]
    fn web_tokens_and_private_keys() {
        let token = format!("eyJ{0}.eyJ{0}.{0}", random(Alphanumeric, 24));
        assert_eq!(
            redact(&format!("Bearer {token}, it says")).expect("found").text,
            "Bearer (JSON web token masked), it says"
        );
        let line = random(Alphanumeric, 64);
        let body = format!("{line}\n{line}\n");
        let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----");
        assert_eq!(redact(&format!("a {key} b")).expect("found").text, "a (private key masked) b");
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}\nThen the troll spoke.");
        assert_eq!(redact(&cut).expect("found").text, "(private key masked)\n\nThen the troll spoke.");
    }

    #[test]
    fn text_that_resembles_a_key_stays() {
        for text in [
            "The scroll reads: -----BEGIN PUBLIC KEY----- and nothing else.",
            "-----BEGIN PRIVATE KEY----- is what it says on the lid.",
            "sk-you-are-not-going-to-believe-how-long-this-hyphenated-word-is-in-a-game",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIAAAAAAAAAAAAAAAAA",
            "hf_thisisnotakeyatall",
            "a_very_long_identifier_that_goes_on_and_on_and_on.and.on",
            "https://example.org/0123456789abcdef0123456789abcdef0123456789abcdef",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
        ] {
            assert_eq!(redact(text), None, "{text}");
        }
    }

    #[test]
    fn no_false_positive_in_real_episodes() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns");
        let mut turns = 0;
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            turns += text.lines().count();
            assert_eq!(find(&text), [], "{}", entry.path().display());
        }
        assert!(turns > 1000);
    }

    proptest! {
        /// Wherever a key stands in a text, it is found.
        #[test]
        fn a_key_is_found_anywhere(before in "[a-z \\n\\PC]{0,60}", after in "[ ,.;!?'\"»\\n][a-z \\n\\PC]{0,60}") {
            let key = format!("ghp_{}", random(Alphanumeric, 36));
            let text = format!("{before} {key}{after}");
            let found = find(&text);
            prop_assert_eq!(found.len(), 1, "{}", text);
            prop_assert_eq!(&text[found[0].range.clone()], key);
        }

        #[test]
        fn any_text_can_be_searched(text in "\\PC{0,200}") {
            for secret in find(&text) {
                prop_assert!(text.is_char_boundary(secret.range.start) && text.is_char_boundary(secret.range.end));
            }
        }
    }
}
