//! The formats that are masked, with random keys in the places where keys are met.
//!
//! A sample is written as its issuer documents it: `{A36}` stands for 36 letters and digits. No key stands here, not
//! even a made-up one.

use proptest::prelude::*;

use super::*;

mod samples;

use samples::{Dice, SAMPLES, key};

/// Places where keys are met. `@` is the key.
const CONTEXTS: [&str; 13] = [
    "The sign reads @ and nothing else.",
    "The note says: `@`.",
    r#"{"answer": "@", "more": 1}"#,
    r"first line\n@\nsecond line",
    r"name\t@\tmore",
    "callback?state%3D@%26page%3D2",
    r"one\u0020@\u0020two",
    "_@_ is what it says",
    "https://example.org/v1/items?token=@&page=2",
    "Authorization: Bearer @\r\nAccept: */*",
    "SERVICE_KEY=@\nexport MORE=1",
    "-H 'X-Api-Key: @' https://example.org",
    "\u{1b}[31m@\u{1b}[0m",
];

/// True if no random part of a key is left, and the text around it is.
fn is_masked(text: &str, parts: &[String], context: &str) -> bool {
    let redacted = redacted(text);
    let (before, after) = context.split_once('@').expect("a place for the key");
    // A mark of emphasis is also a character of base 64.
    let after = after.trim_start_matches('_');
    !parts.iter().any(|part| part.len() >= 6 && redacted.contains(part.as_str()))
        && redacted.starts_with(before)
        && redacted.ends_with(after)
}

/// One key in a hundred may be missed in each place, and three in a hundred of each format: those that look like
/// words by chance.
#[test]
fn the_documented_formats_are_masked_wherever_they_stand() {
    const KEYS: usize = 6;
    let mut dice = Dice(7);
    let mut by_context = [0; CONTEXTS.len()];
    let mut known_badly = Vec::new();
    for (name, sample) in SAMPLES {
        let mut missed = Vec::new();
        for (number, context) in CONTEXTS.iter().enumerate() {
            for _ in 0..KEYS {
                let (key, parts) = key(sample, &mut dice);
                let text = context.replace('@', &key);
                if !is_masked(&text, &parts, context) {
                    by_context[number] += 1;
                    missed.push(text);
                }
            }
        }
        if missed.len() * 100 > 3 * KEYS * CONTEXTS.len() {
            known_badly.push((name, missed.len(), missed.into_iter().step_by(KEYS).collect::<Vec<_>>()));
        }
    }
    assert!(known_badly.is_empty(), "{known_badly:#?}");
    for (missed, context) in by_context.into_iter().zip(CONTEXTS) {
        assert!(missed * 100 <= KEYS * SAMPLES.len(), "{missed} missed in {context}");
    }
}

#[test]
fn at_least_200_samples_are_tried() {
    let mut names: Vec<&str> = SAMPLES.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SAMPLES.len());
    assert!(names.len() >= 200, "{}", names.len());
}

#[test]
fn an_unmistakable_prefix_counts_within_a_word() {
    let mut dice = Dice(11);
    for sample in ["ghp_{A36}", "glpat-{U20}", "xoxb-{d11}-{d12}-{A24}", "sk-ant-api03-{U93}AA", "npm_{A36}"]
    {
        let (key, parts) = key(sample, &mut dice);
        for context in ["x@ z", "9@ z", "the_@ z", "@x9y8 z"] {
            let text = context.replace('@', &key);
            assert!(!parts.iter().any(|part| redacted(&text).contains(part.as_str())), "{text}");
        }
    }
}

#[test]
fn a_key_that_is_too_short_stays() {
    let mut dice = Dice(13);
    for sample in
        ["ghp_{A35}", "AKIA{X15}", "AKIA{X17}", "AIza{A34}", "sk-{h31}", "SK{h33}", "hf_{A33}", "x{A60}"]
    {
        let (key, _) = key(sample, &mut dice);
        assert_eq!(redact(&format!("see {key} here")), None, "{key}");
    }
}

#[test]
fn the_mask_names_the_kind_and_leaves_the_rest() {
    let mut dice = Dice(17);
    let mut text = |sample: &str| key(sample, &mut dice).0;
    for (context, sample, masked) in [
        ("the key `@`, it says", "ghp_{A36}", "the key `(GitHub token masked)`, it says"),
        ("psql postgres://app:@@db:5432/x", "{A16}", "psql postgres://app:(password masked)@db:5432/x"),
        ("password=@ and go", "{p16}", "password=(password masked) and go"),
        (r#"{"api_key": "@"}"#, "{A32}", r#"{"api_key": "(secret masked)"}"#),
        (r#"{\"apiKey\":\"@\"}"#, "{A32}", r#"{\"apiKey\":\"(secret masked)\"}"#),
        ("Authorization: Bearer @", "{U40}", "Authorization: Bearer (bearer token masked)"),
        ("login --password @ now", "{p16}", "login --password (password masked) now"),
        ("<password>@</password>", "{p16}", "<password>(password masked)</password>"),
        ("https://example.org/?token=@&a=b", "{A32}", "https://example.org/?token=(secret masked)&a=b"),
    ] {
        let at = context.find('@').expect("a place for the key");
        let whole = format!("{}{}{}", &context[..at], text(sample), &context[at + 1..]);
        assert_eq!(redacted(&whole), masked, "{whole}");
        assert_eq!(redact(masked), None, "a masked text has nothing left to mask");
    }
}

#[test]
fn web_tokens_and_private_keys() {
    let mut dice = Dice(19);
    let line = key("{A64}", &mut dice).0;
    let body = format!("{line}\n{line}\n");
    for label in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let pem = format!("-----BEGIN {label}-----\n{body}-----END {label}-----");
        assert_eq!(redacted(&format!("a {pem} b")), "a (private key masked) b");
        let escaped = pem.replace('\n', "\\n");
        assert_eq!(redacted(&format!("a {escaped} b")), "a (private key masked) b");
    }
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}\nThen the troll spoke.");
    assert_eq!(redacted(&cut), "(private key masked)\n\nThen the troll spoke.");
    let mention = "between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- stands the key";
    assert_eq!(redact(mention), None);
}

#[test]
fn text_that_resembles_a_secret_stays() {
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
        "password = read_password_from_terminal()",
        "password: Option<String>,",
        "cat /etc/passwd > m100206x",
        "let token = Token::from_environment_variable(\"API_TOKEN\");",
        "PASSWORD=${DATABASE_PASSWORD}",
        "https://user:password@example.org/",
        "the password: swordfish",
        "The secret: push the third statue from the left.",
        "export OPENAI_API_KEY=your-key-goes-here-please",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        "curl -H 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='",
        "postgres://user:pass@localhost:5432/database",
        "if (token == other_token_of_the_stream) return;",
        "next_page_token=CAUQAA2b7fK3hZq9d8",
    ] {
        assert_eq!(redact(text), None, "{text}");
    }
}

/// What a game says of its own passwords, codes, numbers and names.
#[test]
fn no_clue_of_a_game_is_masked() {
    let clues = include_str!("../../../../fixtures/redact/clues.txt");
    let lines: Vec<&str> = clues.lines().collect();
    assert!(lines.len() >= 300, "{}", lines.len());
    let masked: Vec<&&str> = lines.iter().filter(|line| redact(line).is_some()).collect();
    assert_eq!(masked, [] as [&&str; 0], "{} of {}", masked.len(), lines.len());
    // A page of them is as harmless as each.
    assert_eq!(redact(clues), None);
    assert_eq!(redact(&serde_json::json!(clues).to_string()), None);
}

#[test]
fn a_recovery_phrase_is_masked_and_prose_is_not() {
    // The first test vector of BIP 39 that has all its words apart.
    let phrase = ["legal winner thank year wave sausage", "worth useful legal winner thank yellow"].join(" ");
    assert_eq!(redacted(&format!("It is {phrase}.")), "It is (recovery phrase masked).");
    assert_eq!(redacted(&format!("`{}`", phrase.replace(' ', "\n"))), "`(recovery phrase masked)`");
    assert_eq!(redacted(&format!("x\\n{phrase}\\n")), "x\\n(recovery phrase masked)\\n");
    assert!(!redacted(&phrase.replace(' ', "\\n")).contains("winner"));
    let words = phrase.split(' ').enumerate();
    let numbered = words.map(|(at, word)| format!("{}. {word}\n", at + 1)).collect::<String>();
    assert!(!redacted(&numbered).contains("winner"), "{}", redacted(&numbered));
    let eleven = phrase.rsplit_once(' ').unwrap().0;
    assert_eq!(redact(eleven), None);
    assert_eq!(
        redact("wait until all other people leave, then follow them across that long dark tunnel"),
        None
    );
}

#[test]
fn personal_data_is_found_by_its_check_digits_and_marks() {
    let masked = |text: &str| {
        let mut found = Vec::new();
        personal::find(text, &mut found);
        found.iter().map(|secret| (secret.kind, text[secret.range.clone()].to_owned())).collect::<Vec<_>>()
    };
    for (kind, text) in [
        ("mail address", "jane.doe.77@example.org"),
        ("telephone number", "+49 171 2345678"),
        ("telephone number", "+1 (555) 010-0199"),
        ("telephone number", "0171/2345678"),
        ("telephone number", "(020) 7946 0018"),
        ("payment card", "4111111111111111"),
        ("payment card", "5454 5454 5454 5454"),
        ("payment card", "3782-822463-10005"),
        ("IBAN", "DE89370400440532013000"),
        ("IBAN", "GB29 NWBK 6016 1331 9268 19"),
    ] {
        for context in ["@", "Write to @.", "(@)", "a: \"@\", b", "<@>", "@ and more", "@ OK"] {
            let text_there = context.replace('@', text);
            assert_eq!(masked(&text_there), [(kind, text.to_owned())], "{text_there}");
        }
    }
    for text in [
        "git@example.org:owner/repository.git",
        "4111111111111112",
        "DE89370400440532013001",
        "room 101 at 12:30, 2026-11-27",
        "version 1.2.3+4",
        "0451",
        "user@localhost",
        "turn the dial to 4, 17, 23",
        "0.123456789",
    ] {
        assert_eq!(masked(text), [], "{text}");
    }
}

#[test]
fn no_false_positive_in_real_episodes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/turns");
    let mut turns = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a text");
        turns += text.lines().count();
        assert_eq!(find(&text), [], "{}", entry.path().display());
    }
    assert!(turns > 1000);
}

#[test]
fn the_table_of_formats_is_sound() {
    for format in formats::FORMATS {
        let before = format.before.as_ref().map_or(0, |part| part.min);
        let parts: usize = format.parts.iter().map(|part| part.joint.len() + part.min).sum();
        for prefix in format.prefixes {
            let shortest = before + prefix.len() + parts;
            assert!(shortest >= scan::SHORTEST, "{} {prefix} is too short to be looked for", format.kind);
            assert!(prefix.len() >= 3 || !format.anywhere, "{prefix} is no unmistakable prefix");
        }
    }
}

proptest! {
    /// Wherever a key stands in a text, it is found.
    #[test]
    fn a_key_is_found_anywhere(
        before in "[a-z \\n\\PC]{0,60}", after in "[ ,.;!?'\"»\\n][a-z \\n\\PC]{0,60}", seed in any::<u64>(),
    ) {
        let (key, _) = key("ghp_{A36}", &mut Dice(seed));
        let text = format!("{before} {key}{after}");
        let found = find(&text);
        prop_assert!(found.iter().any(|secret| text[secret.range.clone()].contains(&key)), "{}", text);
    }

    #[test]
    fn any_text_can_be_searched(text in "(\\PC|[=:%@\"'`\\\\ ]|password|Bearer |Basic |://|-----BEGIN ){0,60}") {
        for secret in find(&text) {
            prop_assert!(text.is_char_boundary(secret.range.start) && text.is_char_boundary(secret.range.end));
        }
    }
}
