//! Months: the words by which they are found, and their names as people write them.

/// The words of months. That of May is not the auxiliary verb, which is a stop word.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "maymonth",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Names and abbreviations of months in English, German, French, Spanish, Italian, Portuguese and Dutch.
#[rustfmt::skip]
pub(crate) const NAMES: &[(&str, u8)] = &[
    ("january", 1), ("jan", 1), ("januar", 1), ("janvier", 1), ("enero", 1), ("gennaio", 1), ("janeiro", 1),
    ("januari", 1),
    ("february", 2), ("feb", 2), ("februar", 2), ("février", 2), ("fevrier", 2), ("febrero", 2), ("febbraio", 2),
    ("fevereiro", 2), ("februari", 2),
    ("march", 3), ("mar", 3), ("märz", 3), ("mars", 3), ("marzo", 3), ("março", 3), ("maart", 3),
    ("april", 4), ("apr", 4), ("avril", 4), ("abril", 4), ("aprile", 4),
    ("may", 5), ("mai", 5), ("mayo", 5), ("maggio", 5), ("maio", 5), ("mei", 5),
    ("june", 6), ("jun", 6), ("juni", 6), ("juin", 6), ("junio", 6), ("giugno", 6), ("junho", 6),
    ("july", 7), ("jul", 7), ("juli", 7), ("juillet", 7), ("julio", 7), ("luglio", 7), ("julho", 7),
    ("august", 8), ("aug", 8), ("août", 8), ("agosto", 8), ("augustus", 8),
    ("september", 9), ("sept", 9), ("sep", 9), ("septembre", 9), ("septiembre", 9), ("settembre", 9), ("setembro", 9),
    ("october", 10), ("oct", 10), ("oktober", 10), ("octobre", 10), ("octubre", 10), ("ottobre", 10), ("outubro", 10),
    ("november", 11), ("nov", 11), ("novembre", 11), ("noviembre", 11), ("novembro", 11),
    ("december", 12), ("dec", 12), ("dezember", 12), ("décembre", 12), ("decembre", 12), ("diciembre", 12),
    ("dicembre", 12), ("dezembro", 12),
];

/// True for a name that means something else, too, where no day or year stands beside it. `May` is a month, `may` a
/// verb.
pub(crate) fn is_ambiguous(name: &str) -> bool {
    const NAMES: [&str; 9] = ["mar", "march", "mars", "marzo", "mai", "mei", "maart", "mayo", "augustus"];
    name == "may" || NAMES.iter().any(|other| name.eq_ignore_ascii_case(other))
}
