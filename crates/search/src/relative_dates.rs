//! Dates that a question says in relation to a day: `yesterday`, `3 days ago`, `last week`, 上周, 先月.
//!
//! A question enters with the day that counts as today; the spans of time that it names leave, each with its place and
//! the words by which texts of this time are found ([`mod@crate::dates`]): the days of up to a week, else the months,
//! or the years of whole years.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::cjk::is_cjk;
use crate::dates::{day_word, month_word};

/// Longest span that is said by its days.
const DAYS: i64 = 7;

/// A span of time that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedSpan {
    /// Its place in the text, without the name of a day of the week: texts have that name, too.
    pub(crate) range: Range<usize>,
    /// The words of its days, months or years; each stands for the whole.
    pub(crate) words: Vec<String>,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
    On(Weekday),
}

/// A time in relation to today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// So many units ago.
    Ago(i64, Unit),
    /// The unit before this one.
    Last(Unit),
    /// This unit.
    This(Unit),
    /// The last so many units, up to today.
    Within(i64, Unit),
    /// That day of last week.
    OfLastWeek(Weekday),
}

/// True if a question names a time in relation to a day.
pub(crate) fn has_relative(text: &str) -> bool {
    !spans(text, Date::constant(2000, 1, 1)).is_empty()
}

/// The spans that a question names, in order.
pub(crate) fn spans(text: &str, today: Date) -> Vec<NamedSpan> {
    let words = words_of(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let spoken = spoken(&words[at..]);
        if let Some((count, relation)) = spoken
            && let Some(words_of_span) = words_of_span(relation, today)
        {
            let (last, place) = &words[at + count - 1];
            let end = if weekday(last).is_some() { place.start } else { place.end };
            found.push(NamedSpan { range: words[at].1.start..end, words: words_of_span });
            at += count;
        } else {
            at += 1;
        }
    }
    let mut at = 0;
    let may_begin = |c: char| is_cjk(c) || c.is_ascii_digit();
    while let Some(start) = text[at..].find(may_begin).map(|next| at + next) {
        let written = written(&text[start..]);
        if let Some((length, relation)) = written
            && let Some(words) = words_of_span(relation, today)
        {
            found.push(NamedSpan { range: start..start + length, words });
            at = start + length;
        } else {
            at = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
    }
    found.sort_by_key(|span| span.range.start);
    found.dedup_by(|next, span| next.range.start < span.range.end);
    found
}

/// The words of a text in letters and digits, in lower case, with their places.
fn words_of(text: &str) -> Vec<(String, Range<usize>)> {
    let mut at = 0;
    let is_between = |c: char| !c.is_alphanumeric() || is_cjk(c);
    let words = text.split_inclusive(is_between).map(|part| {
        let word = part.trim_end_matches(is_between);
        let range = at..at + word.len();
        at += part.len();
        (word.to_lowercase(), range)
    });
    words.filter(|(word, _)| !word.is_empty()).collect()
}

/// The time that words of English or German begin with, and the number of these words.
fn spoken(words: &[(String, Range<usize>)]) -> Option<(usize, Relation)> {
    let word = |at: usize| words.get(at).map_or("", |(word, _)| word.as_str());
    let ago = |count: Option<i64>, unit: Option<Unit>| Some(Relation::Ago(count?, unit?));
    let (first, second, third) = (word(0), word(1), word(2));
    if (first, second, third) == ("day", "before", "yesterday") {
        return Some((3, Relation::Ago(2, Unit::Day)));
    }
    if let Some(relation) = ago(number(first), unit(second)).filter(|_| third == "ago") {
        return Some((3, relation));
    }
    match first {
        "today" | "tonight" | "heute" => return Some((1, Relation::Ago(0, Unit::Day))),
        "yesterday" | "gestern" => return Some((1, Relation::Ago(1, Unit::Day))),
        "vorgestern" => return Some((1, Relation::Ago(2, Unit::Day))),
        "vor" => return Some((3, ago(number(second), unit(third))?)),
        "on" | "am" => return Some((2, Relation::This(weekday(second).map(Unit::On)?))),
        _ => {}
    }
    let is_last = ["last", "past", "previous"].contains(&first)
        || ["letzt", "vergangen", "vorig"].iter().any(|stem| first.strip_prefix(stem).is_some_and(is_ending));
    let is_this = first == "this" || first.strip_prefix("dies").is_some_and(is_ending);
    let named = weekday(second).map(Unit::On).or_else(|| unit(second).filter(|unit| *unit != Unit::Day));
    if is_last && second == "night" {
        return Some((2, Relation::Ago(1, Unit::Day)));
    }
    if is_last && let Some(count) = number(second) {
        return Some((3, Relation::Within(count, unit(third)?)));
    }
    match named {
        Some(unit) if is_last => Some((2, Relation::Last(unit))),
        Some(unit) if is_this => Some((2, Relation::This(unit))),
        _ => None,
    }
}

/// An ending of a German adjective.
fn is_ending(text: &str) -> bool {
    ["e", "en", "er", "es", "em"].contains(&text)
}

fn number(word: &str) -> Option<i64> {
    let number = match word {
        "a" | "an" | "one" | "ein" | "einem" | "einer" | "eins" => 1,
        "two" | "zwei" => 2,
        "three" | "drei" | "few" => 3,
        "four" | "vier" => 4,
        "five" | "fünf" => 5,
        "six" | "sechs" => 6,
        "seven" | "sieben" => 7,
        "eight" | "acht" => 8,
        "nine" | "neun" => 9,
        "ten" | "zehn" => 10,
        "eleven" | "elf" => 11,
        "twelve" | "zwölf" => 12,
        digits => return digits.parse().ok().filter(|_| digits.len() < 5),
    };
    Some(number)
}

fn unit(word: &str) -> Option<Unit> {
    match word {
        "day" | "days" | "tag" | "tage" | "tagen" => Some(Unit::Day),
        "week" | "weeks" | "woche" | "wochen" => Some(Unit::Week),
        "month" | "months" | "monat" | "monate" | "monaten" => Some(Unit::Month),
        "year" | "years" | "jahr" | "jahre" | "jahren" => Some(Unit::Year),
        _ => None,
    }
}

/// The day of the week with that name.
pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    match word {
        "monday" | "montag" => Some(Weekday::Monday),
        "tuesday" | "dienstag" => Some(Weekday::Tuesday),
        "wednesday" | "mittwoch" => Some(Weekday::Wednesday),
        "thursday" | "donnerstag" => Some(Weekday::Thursday),
        "friday" | "freitag" => Some(Weekday::Friday),
        "saturday" | "samstag" | "sonnabend" => Some(Weekday::Saturday),
        "sunday" | "sonntag" => Some(Weekday::Sunday),
        _ => None,
    }
}

/// The time that a text in Chinese, Japanese or Korean begins with, and its length.
fn written(text: &str) -> Option<(usize, Relation)> {
    use Relation::{Ago, Last, This};
    use Unit::{Day, Month, Week, Year};
    // A longer sign stands before one that it begins with.
    const SIGNS: [(&[&str], Relation); 13] = [
        (&["大前天"], Ago(3, Day)),
        (&["前天", "一昨日", "그저께"], Ago(2, Day)),
        (&["昨天", "昨日", "昨晚", "昨夜", "어제"], Ago(1, Day)),
        (&["今天", "今日", "今晚", "今朝", "오늘"], Ago(0, Day)),
        (&["上上周", "上上週", "先々週"], Ago(2, Week)),
        (
            &["上周", "上週", "上个星期", "上個星期", "上星期", "上个礼拜", "上礼拜", "先週", "지난주"],
            Last(Week),
        ),
        (&["本周", "本週", "这个星期", "這個星期", "这周", "這週", "这星期", "今週", "이번 주"], This(Week)),
        (&["上上个月", "上上個月", "先々月"], Ago(2, Month)),
        (&["上个月", "上個月", "上月", "先月", "지난달"], Last(Month)),
        (&["这个月", "這個月", "本月", "今月", "이번 달"], This(Month)),
        (&["前年", "一昨年"], Ago(2, Year)),
        (&["去年", "昨年", "작년"], Last(Year)),
        (&["今年", "올해"], This(Year)),
    ];
    let mut signs =
        SIGNS.iter().flat_map(|(signs, relation)| signs.iter().map(move |sign| (*sign, *relation)));
    let Some((sign, relation)) = signs.find(|(sign, _)| text.starts_with(sign)) else {
        return counted(text);
    };
    if relation == Last(Week)
        && let Some((length, day)) = day_of_week(&text[sign.len()..])
    {
        return Some((sign.len() + length, Relation::OfLastWeek(day)));
    }
    Some((sign.len(), relation))
}

/// `三` of 上周三, `の火曜日` of 先週の火曜日.
fn day_of_week(text: &str) -> Option<(usize, Weekday)> {
    const CHINESE: &str = "一二三四五六日";
    const JAPANESE: &str = "月火水木金土日";
    let day = |signs: &str, sign: char| {
        let sign = if sign == '天' { '日' } else { sign };
        let number = signs.chars().position(|other| other == sign)?;
        Weekday::from_monday_zero_offset(i8::try_from(number).ok()?).ok()
    };
    let behind = text.strip_prefix('の').unwrap_or(text);
    let sign = behind.chars().next()?;
    let length = text.len() - behind.len() + sign.len_utf8();
    match behind[sign.len_utf8()..].strip_prefix("曜日").or(behind[sign.len_utf8()..].strip_prefix("曜")) {
        Some(rest) => Some((text.len() - rest.len(), day(JAPANESE, sign)?)),
        None => Some((length, day(CHINESE, sign)?)),
    }
}

/// `三天前`, `2週間前`, `3か月前`.
fn counted(text: &str) -> Option<(usize, Relation)> {
    const NUMBERS: &str = "一二三四五六七八九十";
    const UNITS: [(&[&str], Unit); 4] = [
        (&["天前", "日前", "일 전"], Unit::Day),
        (&["周前", "週前", "週間前", "个星期前", "個星期前", "주 전"], Unit::Week),
        (&["个月前", "個月前", "か月前", "ヶ月前", "カ月前", "달 전", "개월 전"], Unit::Month),
        (&["年前", "년 전"], Unit::Year),
    ];
    let digits = text.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let (number, rest) = if digits > 0 {
        (text[..digits].parse().ok()?, text[digits..].trim_start())
    } else {
        let sign = text.chars().next()?;
        let at = NUMBERS.chars().position(|other| other == if sign == '两' { '二' } else { sign })?;
        (i64::try_from(at).ok()? + 1, &text[sign.len_utf8()..])
    };
    let (length, unit) = UNITS.iter().find_map(|(signs, unit)| {
        signs.iter().find(|sign| rest.starts_with(**sign)).map(|sign| (sign.len(), *unit))
    })?;
    Some((text.len() - rest.len() + length, Relation::Ago(number, unit)))
}

/// The words of a span; `None` where it is beyond all years.
fn words_of_span(relation: Relation, today: Date) -> Option<Vec<String>> {
    let back = |span: Span| today.checked_sub(span).ok();
    let days_to_monday = i64::from(today.weekday().to_monday_zero_offset());
    let week = |weeks: i64| {
        let monday = today.checked_sub((days_to_monday + 7 * weeks).days()).ok()?;
        Some(days(monday, 7))
    };
    match relation {
        Relation::Ago(count, Unit::Day) => Some(days(back(count.days())?, 1)),
        Relation::Ago(count, Unit::Week) => week(count),
        Relation::Ago(count, Unit::Month) => Some(vec![month_word(back(count.months())?.month())]),
        Relation::Ago(count, Unit::Year) => Some(vec![back(count.years())?.year().to_string()]),
        Relation::Last(Unit::On(day)) => Some(days(back(days_back(today, day).max(1).days())?, 1)),
        Relation::This(Unit::On(day)) => Some(days(back((days_back(today, day) % 7).days())?, 1)),
        Relation::Ago(_, Unit::On(_)) | Relation::Within(_, Unit::On(_)) => None,
        Relation::Last(unit) => words_of_span(Relation::Ago(1, unit), today),
        Relation::This(unit) => words_of_span(Relation::Ago(0, unit), today),
        Relation::OfLastWeek(day) => {
            let ago = days_to_monday + 7 - i64::from(day.to_monday_zero_offset());
            Some(days(back(ago.days())?, 1))
        }
        Relation::Within(count, unit) => {
            let length = count.checked_mul(match unit {
                Unit::Week => 7,
                Unit::Month => 31,
                Unit::Year => 366,
                Unit::Day | Unit::On(_) => 1,
            })?;
            Some(days(back((length - 1).max(0).days())?, length))
        }
    }
}

/// Days from the latest such day of the week to today: from 1 to 7.
fn days_back(today: Date, day: Weekday) -> i64 {
    let offset = |day: Weekday| i64::from(day.to_monday_zero_offset());
    (offset(today.weekday()) - offset(day) + 6).rem_euclid(7) + 1
}

/// The words of so many days from the first one on: of the days, of the months if these are many, or of years.
fn days(first: Date, length: i64) -> Vec<String> {
    let all = (0..length).filter_map(|day| first.checked_add(day.days()).ok());
    let word = |day: Date| match length {
        ..=DAYS => day_word(day.month(), day.day()),
        8..366 => month_word(day.month()),
        _ => day.year().to_string(),
    };
    let mut words: Vec<String> = all.map(word).collect();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of what a text says on a Friday.
    fn said(text: &str) -> Vec<String> {
        let today = Date::constant(2026, 11, 27);
        spans(text, today).into_iter().map(|span| span.words.join(" ")).collect()
    }

    #[test]
    fn times_are_said_in_relation_to_today() {
        let last_week = "november16 november17 november18 november19 november20 november21 november22";
        for (text, expected) in [
            ("what happened today?", "november27"),
            ("Yesterday", "november26"),
            ("the day before yesterday", "november25"),
            ("3 days ago", "november24"),
            ("a week ago", last_week),
            ("two months ago", "september"),
            ("3 years ago", "2023"),
            ("what happened last Tuesday", "november24"),
            ("last Friday", "november20"),
            ("on Friday", "november27"),
            ("on Sunday", "november22"),
            ("what happened last week", last_week),
            ("last month", "october"),
            ("last year", "2025"),
            ("this month", "november"),
            ("in the last 3 days", "november25 november26 november27"),
            ("in the past 2 months", "september october november"),
            ("last night", "november26"),
            ("was geschah gestern", "november26"),
            ("in der letzten Woche", last_week),
            ("vor zwei Tagen", "november25"),
            ("letzten Dienstag", "november24"),
            ("am Dienstag", "november24"),
            ("im letzten Monat", "october"),
            ("昨天发生了什么", "november26"),
            ("上周做了什么", last_week),
            ("上周二", "november17"),
            ("上个月", "october"),
            ("三天前", "november24"),
            ("12天前", "november15"),
            ("2か月前", "september"),
            ("昨日は何をした", "november26"),
            ("先週の火曜日", "november17"),
            ("先月", "october"),
            ("去年", "2025"),
        ] {
            assert_eq!(said(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_texts_name_no_time() {
        for text in [
            "",
            "never on Fridays",
            "on the way",
            "the last lamp",
            "a day",
            "am See",
            "vor dem Tor",
            "last",
            "三天",
        ] {
            assert_eq!(said(text), [""; 0], "{text}");
        }
    }
}
