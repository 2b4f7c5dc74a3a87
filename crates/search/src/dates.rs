//! Dates within texts: one form for all the ways in which people write them.
//!
//! A text enters; [`dated`] returns it with every date as words, so that `2025-01-25`, `January 25, 2025` and
//! `2025年1月25日` have the same words, and [`undated`] returns it without the dates that name a day, which say
//! nothing of a text's meaning. Texts without dates are returned as they are.

use std::borrow::Cow;
use std::ops::Range;

use crate::cjk::is_cjk;
use crate::months::{MONTHS, NAMES, is_ambiguous};

/// Thirds of a month.
const THIRDS: [&str; 3] = ["early", "mid", "late"];

/// Thirds of a month in Chinese and Japanese.
const THIRD_SIGNS: [(&str, &str); 6] =
    [("上旬", "early"), ("中旬", "mid"), ("下旬", "late"), ("初", "early"), ("底", "late"), ("末", "late")];

/// A date that names at least a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Date<'a> {
    year: Option<&'a str>,
    /// From 1 to 12.
    month: u8,
    day: Option<u8>,
    /// One of [`THIRDS`].
    third: Option<&'static str>,
}

impl Date<'_> {
    /// `2025 january 25 january25 latejanuary`: the words by which a date is found.
    fn write_words(self, out: &mut String) {
        let month = MONTHS[usize::from(self.month) - 1];
        if let Some(year) = self.year {
            out.push_str(&format!(" {year}"));
        }
        out.push_str(&format!(" {month}"));
        match (self.day, self.third) {
            (Some(day @ 1..=31), _) => {
                let third = THIRDS[usize::from((day - 1) / 10).min(2)];
                out.push_str(&format!(" {day} {month}{day} {third}{month}"));
            }
            (None, Some(third)) => out.push_str(&format!(" {third}{month}")),
            _ => {}
        }
        out.push(' ');
    }
}

/// A text with its dates as words.
pub(crate) fn dated(text: &str) -> Cow<'_, str> {
    replace(text, dates(text), |date, out| date.write_words(out))
}

/// A text without the dates that name a day.
pub(crate) fn undated(text: &str) -> Cow<'_, str> {
    let days = dates(text).filter(|(_, date)| date.day.is_some()).map(|(range, _)| range);
    match without(text, days) {
        // A text that is nothing but a date still needs a vector.
        Cow::Owned(out) if !out.chars().any(char::is_alphanumeric) => Cow::Borrowed(text),
        out => out,
    }
}

/// A text without any date.
pub(crate) fn without_dates(text: &str) -> Cow<'_, str> {
    without(text, dates(text).map(|(range, _)| range))
}

/// A text with a space in place of each of some parts, which are in order.
pub(crate) fn without(text: &str, parts: impl Iterator<Item = Range<usize>>) -> Cow<'_, str> {
    replace(text, parts.map(|range| (range, ())), |(), out| out.push(' '))
}

/// The word of a day, as [`dated`] writes it.
pub(crate) fn day_word(month: i8, day: i8) -> String {
    format!("{}{day}", month_word(month))
}

/// The word of a month, from 1 to 12.
pub(crate) fn month_word(month: i8) -> String {
    MONTHS[(month - 1).clamp(0, 11) as usize].to_owned()
}

/// True for a word that [`dated`] makes of a month, a day of a month or a third of a month.
pub(crate) fn is_date_word(word: &str) -> bool {
    let after_month =
        |rest: &str| MONTHS.iter().find_map(|month| rest.strip_prefix(month).map(str::to_owned));
    let third = THIRDS.iter().find_map(|third| word.strip_prefix(third));
    let is_day = |rest: &str| rest.len() <= 2 && rest.bytes().all(|byte| byte.is_ascii_digit());
    third.and_then(after_month).is_some_and(|rest| rest.is_empty())
        || after_month(word).is_some_and(|rest| is_day(&rest))
}

/// A text in which other text is written in place of some parts, which are in order.
fn replace<T>(
    text: &str,
    parts: impl Iterator<Item = (Range<usize>, T)>,
    write: impl Fn(T, &mut String),
) -> Cow<'_, str> {
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut end) = (String::with_capacity(text.len() * 2), 0);
    for (range, part) in parts {
        out.push_str(&text[end..range.start]);
        write(part, &mut out);
        end = range.end;
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// The dates of a text, in order, with their places.
fn dates(text: &str) -> impl Iterator<Item = (Range<usize>, Date<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let start = at;
            at += 1;
            let byte = bytes[start];
            let starts_word = || !text[..start].chars().next_back().is_some_and(is_word);
            let found = if byte.is_ascii_digit() {
                numeric(text, start, starts_word())
            } else if byte.is_ascii_alphabetic() && starts_word() {
                month_first(text, start)
            } else {
                None
            };
            if let Some((end, date)) = found {
                at = end;
                return Some((start..end, date));
            }
        }
        None
    })
}

/// True for a character that continues a word; Chinese, Japanese and Korean have no spaces before dates.
fn is_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_cjk(c)
}

/// A date that begins with a number.
fn numeric(text: &str, start: usize, starts_word: bool) -> Option<(usize, Date<'_>)> {
    let at = Cursor { text, at: start };
    if starts_word && let Some(found) = iso(at) {
        return Some(found);
    }
    let in_letters = || day_first(at).or_else(|| with_dots(at));
    with_ideographs(at).or_else(|| if starts_word { in_letters() } else { None })
}

/// `2025-01-25`, also with `/` or `.`, and with a clock time behind it.
fn iso(at: Cursor<'_>) -> Option<(usize, Date<'_>)> {
    const SEPARATORS: [&str; 3] = ["-", "/", "."];
    let (year, at) = at.digits(4, 4)?;
    let (month, at) = at.any_of(&SEPARATORS)?.digits(1, 2)?;
    let (day, at) = at.any_of(&SEPARATORS)?.digits(1, 2)?;
    if at.is_at_digit() {
        return None;
    }
    let clock = || {
        let (_, at) = at.any_of(&["T", " ", "t"])?.digits(1, 2)?;
        let (_, minutes) = at.any_of(&[":"])?.digits(2, 2)?;
        let seconds = minutes.any_of(&[":"]).and_then(|at| at.digits(2, 2)).map(|(_, at)| at);
        [seconds, Some(minutes)].into_iter().flatten().find(|at| !at.is_at_digit())
    };
    let end = clock().unwrap_or(at).at;
    date(Some(year), month.parse().ok()?, day.parse().ok(), None).map(|date| (end, date))
}

/// `2025年1月25日`, `1月25日`, `1月`, `1月上旬`; also with the signs of Korean.
fn with_ideographs(at: Cursor<'_>) -> Option<(usize, Date<'_>)> {
    let year = || {
        let (year, at) = at.digits(4, 4)?;
        Some((year, at.spaces().any_of(&["年", "년"])?.spaces()))
    };
    let (year, at) = year().map_or((None, at), |(year, at)| (Some(year), at));
    if at.is_after_digit() {
        return None;
    }
    let (month, at) = at.digits(1, 2)?;
    let at = at.spaces().any_of(&["月", "월"])?;
    let month = month.parse().ok()?;
    let day = || {
        let (day, at) = at.spaces().digits(1, 2)?;
        Some((day.parse().ok()?, at.spaces().any_of(&["日", "号", "號", "일"])?))
    };
    if let Some((day, at)) = day() {
        return date(year, month, Some(day), None).map(|date| (at.at, date));
    }
    let at = at.any_of(&["份"]).unwrap_or(at);
    let third = THIRD_SIGNS.iter().find_map(|(sign, third)| Some((*third, at.spaces().any_of(&[sign])?)));
    let end = third.map_or(at, |(_, at)| at).at;
    date(year, month, None, third.map(|(third, _)| third)).map(|date| (end, date))
}

/// `25.1.2025`, `25.01.`.
fn with_dots(at: Cursor<'_>) -> Option<(usize, Date<'_>)> {
    let (day, behind_day) = at.digits(1, 2)?;
    let (month, behind_month) = behind_day.any_of(&["."])?.digits(1, 2)?;
    let end = behind_month.any_of(&["."])?;
    let year = end.digits(4, 4).filter(|(_, end)| !end.is_at_digit());
    // Of a number such as `3.5` a sentence may end.
    if year.is_none() && (end.is_at_digit() || day.len() < 2 || month.len() < 2) {
        return None;
    }
    let (year, end) = year.map_or((None, end), |(year, end)| (Some(year), end));
    let day = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    date(year, month.parse().ok()?, Some(day), None).map(|date| (end.at, date))
}

/// `25 January 2025`, `25th of Jan`, `25. Januar`, `25 de julio`.
fn day_first(at: Cursor<'_>) -> Option<(usize, Date<'_>)> {
    let (day, at) = at.digits(1, 2)?;
    let at = at.ordinal();
    let at = at.any_of_folded(&[" of", " de", "."]).unwrap_or(at).any_of(&[" ", "-"])?;
    let (month, _, at) = at.month_name()?;
    let (year, at) = match at.year() {
        Some((year, end)) if !end.is_at_digit_or_colon() => (Some(year), end),
        _ if at.is_at_digit_or_colon() => (None, at.without_dot()),
        _ => (None, at),
    };
    if at.is_at_digit_or_colon() {
        return None;
    }
    date(year, month, day.parse().ok(), None).map(|date| (at.at, date))
}

/// `January 25, 2025`, `January 2025`, `mid-January`, `January`.
fn month_first(text: &str, start: usize) -> Option<(usize, Date<'_>)> {
    let at = Cursor { text, at: start };
    let third = THIRDS
        .iter()
        .find_map(|third| Some((*third, at.any_of_folded(&[third])?.any_of(&[" ", "-"])?)))
        .and_then(|(third, at)| at.month_name().map(|name| (Some(third), name)));
    let (third, (month, name, at)) = match third {
        Some(third) => third,
        None => (None, at.month_name()?),
    };
    let day = || {
        let (day, at) = at.any_of(&[" ", "-"])?.digits(1, 2)?;
        let at = [at.ordinal(), at].into_iter().find(|at| !at.is_at_digit_or_colon())?;
        Some((day.parse().ok()?, at))
    };
    let (day, at) = day().map_or((None, at), |(day, at)| (Some(day), at));
    let (year, at) = at.year().map_or((None, at), |(year, at)| (Some(year), at));
    let is_alone = day.is_none() && year.is_none() && third.is_none();
    if is_alone && is_ambiguous(name) && !is_behind_preposition(&text[..start]) {
        return None;
    }
    date(year, month, day, third).map(|date| (at.at, date))
}

/// True if a text ends with a word that stands before a time.
fn is_behind_preposition(text: &str) -> bool {
    let word = text.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ["in", "im", "en", "em", "since", "until", "last"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn date<'a>(
    year: Option<&'a str>,
    month: u8,
    day: Option<u8>,
    third: Option<&'static str>,
) -> Option<Date<'a>> {
    (1..=12).contains(&month).then_some(Date { year, month, day, third })
}

/// A place in a text. Each method returns the place behind what it names.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(self) -> &'a str {
        &self.text[self.at..]
    }

    fn forward(self, bytes: usize) -> Cursor<'a> {
        Cursor { at: self.at + bytes, ..self }
    }

    /// The longest run of digits here, if its length lies between two counts.
    fn digits(self, least: usize, most: usize) -> Option<(&'a str, Cursor<'a>)> {
        let count = self.rest().bytes().take(most).take_while(u8::is_ascii_digit).count();
        (count >= least).then(|| (&self.rest()[..count], self.forward(count)))
    }

    fn any_of(self, texts: &[&str]) -> Option<Cursor<'a>> {
        texts.iter().find(|text| self.rest().starts_with(**text)).map(|text| self.forward(text.len()))
    }

    /// The first of some ASCII texts that stands here, without regard to case.
    fn any_of_folded(self, texts: &[&str]) -> Option<Cursor<'a>> {
        let found = |text: &&&str| {
            self.rest()
                .as_bytes()
                .get(..text.len())
                .is_some_and(|own| own.eq_ignore_ascii_case(text.as_bytes()))
        };
        texts.iter().find(found).map(|text| self.forward(text.len()))
    }

    fn spaces(self) -> Cursor<'a> {
        let rest = self.rest();
        self.forward(rest.len() - rest.trim_start().len())
    }

    /// `st`, `nd`, `rd` or `th`, if there is one.
    fn ordinal(self) -> Cursor<'a> {
        self.any_of_folded(&["st", "nd", "rd", "th"]).unwrap_or(self)
    }

    /// The name of a month, with a dot or not: its number and what was written.
    fn month_name(self) -> Option<(u8, &'a str, Cursor<'a>)> {
        let whole = |(name, number): &(&str, u8)| {
            let end = self.any_of_folded(&[name])?;
            let is_end = !end.rest().chars().next().is_some_and(is_word);
            is_end.then(|| (*number, &self.text[self.at..end.at], end.any_of(&["."]).unwrap_or(end)))
        };
        NAMES.iter().find_map(whole)
    }

    /// A year of four digits behind spaces, hyphens or a comma.
    fn year(self) -> Option<(&'a str, Cursor<'a>)> {
        let behind = self.any_of(&[","]).unwrap_or(self);
        let rest = behind.rest();
        let gap = rest.len() - rest.trim_start_matches([' ', '-']).len();
        if gap == 0 { None } else { behind.forward(gap).digits(4, 4) }
    }

    /// Before the dot that ends an abbreviation.
    fn without_dot(self) -> Cursor<'a> {
        if self.text[..self.at].ends_with('.') { Cursor { at: self.at - 1, ..self } } else { self }
    }

    fn is_at_digit(self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_digit())
    }

    fn is_at_digit_or_colon(self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_digit() || c == ':')
    }

    fn is_after_digit(self) -> bool {
        self.text[..self.at].ends_with(|c: char| c.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        dated(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_date_has_the_same_words_however_it_is_written() {
        for date in [
            "2025-01-25",
            "2025-01-25 08:00",
            "2025-01-25T08:00:12",
            "2025/1/25",
            "2025.1.25",
            "January 25, 2025",
            "january 25th 2025",
            "January-25-2025",
            "Jan. 25, 2025",
            "25 Jan 2025",
            "25th of January 2025",
            "2025年1月25日",
            "2025 年 1 月 25 号",
            "2025년 1월 25일",
            "25.1.2025",
            "25. Januar 2025",
            "25 janvier 2025",
        ] {
            assert_eq!(words(date), "2025 january 25 january25 latejanuary", "{date}");
        }
    }

    #[test]
    fn months_and_their_thirds_are_dates() {
        for (text, expected) in [
            ("January 2025", "2025 january"),
            ("in mid-January", "in january midjanuary"),
            ("Early June, it", "june earlyjune , it"),
            ("1月中旬", "january midjanuary"),
            ("12月底", "december latedecember"),
            ("1月份的", "january 的"),
            ("8 May", "maymonth 8 maymonth8 earlymaymonth"),
            ("May 15", "maymonth 15 maymonth15 midmaymonth"),
            ("In May we", "In maymonth we"),
            ("in March or in march", "in march or in march"),
            ("14.07. renewal", "july 14 july14 midjuly renewal"),
            ("le 14 juillet; im Mai", "le july 14 july14 midjuly ; im maymonth"),
            ("Sept. 1", "september 1 september1 earlyseptember"),
            ("时间2025-11-18 09:00，", "时间 2025 november 18 november18 midnovember ，"),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "you may go",
            "Mar the march",
            "march north",
            "2025-13-25",
            "version 1.2.3",
            "costs 3.5. Then",
            "Mars is red",
            "a 25-05",
            "13月",
            "x2025-01-25",
            "12025-01-251",
            "Mayor 5",
            "5 Mayan",
            "marches",
            "3个月",
            "",
            "é 月",
        ] {
            assert_eq!(dated(text), text);
            assert_eq!(undated(text), text);
        }
        assert_eq!(words("Jan 5:30"), "january 5:30");
        assert_eq!(words("25 Jan 2025: x"), "january 25 january25 latejanuary 2025: x");
    }

    #[test]
    fn a_meaning_has_no_days() {
        assert_eq!(undated("On 2025-01-25 08:00 we left"), "On   we left");
        assert_eq!(undated("in January 2025"), "in January 2025");
        assert_eq!(undated("2025-01-25"), "2025-01-25");
        assert!(is_date_word("maymonth") && is_date_word("june3") && is_date_word("latemarch"));
        assert!(!is_date_word("may") && !is_date_word("latemarch3") && !is_date_word("june333"));
    }
}
