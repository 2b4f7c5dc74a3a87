//! Tells random characters from words, names and examples.

/// Pairs of letters that make up four fifths of English prose and of names in programs, but a fifth of random pairs.
const COMMON_PAIRS: &str = "\
    ab ac ad ag ai al am an ap ar as at be bi bl bu ca ce ch ci ck cl co ct da de di do ea ec ed ee ef el em en ep er \
    es et ev ex fe fi fo ge ha he hi ho ia ib ic id ie if ig il im in io ir is it iv ke la le li ll lo ly ma me mi mo \
    mp na nc nd ne ng ni no ns nt oc od ol om on op or os ot ou ow pa pe pl po pr pt pu ra re ri rm ro rr rs rt ry se \
    sh si so ss st su ta te th ti to tr ts tt tu ty ub ul un ur us ut ve vi wa wi";

/// For each first letter, a bit for each second one.
static COMMON: [u32; 26] = {
    let pairs = COMMON_PAIRS.as_bytes();
    let mut common = [0; 26];
    let mut at = 0;
    while at + 1 < pairs.len() {
        if pairs[at] != b' ' {
            common[(pairs[at] - b'a') as usize] |= 1 << (pairs[at + 1] - b'a');
            at += 1;
        }
        at += 1;
    }
    common
};

/// Texts that stand in examples in place of a secret.
const EXAMPLES: [&str; 9] =
    ["example", "xxxx", "0000", "12345", "abcdef", "placeholder", "changeme", "password", "redacted"];

/// True if at least `percent` per cent of the neighbouring characters in a text are common pairs of letters. Words
/// have about 70, random letters and digits 15. `_`, `-`, `.` and `/` may join words.
pub(super) fn is_wordy(text: &[u8], percent: usize) -> bool {
    let (mut pairs, mut common) = (0, 0);
    for pair in text.windows(2).filter(|pair| !pair.iter().any(|byte| b"_-./".contains(byte))) {
        let [first, second] = [pair[0] | 0x20, pair[1] | 0x20];
        let letters = pair[0].is_ascii_alphabetic() && pair[1].is_ascii_alphabetic();
        pairs += 1;
        common += usize::from(letters && COMMON[usize::from(first - b'a')] & 1 << (second - b'a') != 0);
    }
    common * 100 >= percent * pairs
}

/// True for a text that stands in an example in place of a secret.
pub(super) fn is_example(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    EXAMPLES.iter().any(|example| memchr::memmem::find(&lower, example.as_bytes()).is_some())
}

/// True if a value may be a password that a game tells: shorter than ten characters, of two kinds of characters where
/// it is no long one, or of words and numbers in a row.
pub(super) fn is_said(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let long = value.len() >= 24 && !value.contains(&b'-');
    value.len() < 10 || !mixed && !long || is_spoken(value)
}

/// True for a short value without small letters, such as `GATE-77-B`.
pub(super) fn is_shouted(value: &[u8]) -> bool {
    value.len() < 20 && !value.iter().any(u8::is_ascii_lowercase)
}

/// True for words and numbers such as `Delta-7734-Omega`: letters and digits change seldom, and a capital begins a word
/// or all of it are capitals.
fn is_spoken(value: &[u8]) -> bool {
    let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
    let runs = value.chunk_by(|&a, &b| kind(a) == kind(b)).filter(|run| run[0].is_ascii_alphanumeric());
    let is_word = |run: &[u8]| {
        let small = |run: &[u8]| run.iter().all(|byte| !byte.is_ascii_uppercase());
        small(&run[1..]) || run.iter().all(|byte| !byte.is_ascii_lowercase())
    };
    let (mut count, mut length) = (0, 0);
    for run in runs {
        if !is_word(run) {
            return false;
        }
        count += 1;
        length += run.len();
    }
    length * 2 >= count * 5
}

/// The number of different bytes of a value.
pub(super) fn different_bytes(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().for_each(|&byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|&&seen| seen).count()
}

/// True if a value looks as if a generator of passwords or keys had made it: fewer than `percent` per cent of its
/// neighbouring characters are common pairs.
pub(super) fn is_random(value: &[u8], percent: usize) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let mixed = has(u8::is_ascii_alphabetic) && (has(u8::is_ascii_digit) || cases);
    mixed
        && different_bytes(value) >= value.len().min(14) / 2
        && !is_example(value)
        && !is_wordy(value, percent)
}
