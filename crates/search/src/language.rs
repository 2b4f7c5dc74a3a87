//! The language of a short text, as far as it is told by its script and by common words.
//!
//! A text enters; a [`Language`] leaves, or `None` where nothing tells it. It need not be exact: it decides whether the
//! words of two texts can be compared at all.

use crate::words::words;

/// A language, or a script that stands for its languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// A language in Latin letters or in Cyrillic, by its code.
    Named(&'static str),
    /// Latin letters with marks that English does not have, in no language known here.
    OtherLatin,
    Cyrillic,
    Chinese,
    Japanese,
    Korean,
    /// Any other script, by the first code point of its block.
    Script(u32),
}

/// Common words of languages, folded as [`words`] folds them; verbs of players' commands are among them, because a turn
/// may have no other words.
const COMMON: [(&str, &str); 16] = [
    (
        "en",
        "the a an and or of to in on at is are was be been it its this that you your with without not cannot can't \
         for from here there when if by but no nothing as into out up down take get look open close go read drop put \
         examine push pull attack kill give wait north south east west taken dropped",
    ),
    (
        "de",
        "wie wer wo wann warum wieso welche welcher welches der die das den dem des ein eine einen einem einer und oder \
         nicht ist sind war mit ohne von zu zum zur im am \
         auf aus bei nach hier dort wenn als auch kein keine keinen man sich es er sie du wird werden kann fur durch \
         nimm gehe geh offne schliesse schließe lies schau untersuche norden suden osten westen",
    ),
    (
        "fr",
        "le la les un une des du de et ou est sont ne pas avec sans dans sur pour par ce cette ces il elle vous votre \
         au aux que qui ici se son sa ses plus rien prendre prends regarder regarde ouvrir ouvre aller lire nord sud \
         ouest",
    ),
    (
        "es",
        "el la los las un una unos de del y o es son no con sin en por para que se su sus lo al aqui esta este hay mas \
         muy nada puede coger coge mirar mira abrir abre tomar toma norte sur oeste",
    ),
    (
        "it",
        "il lo la gli le un una di del della dei e o non con senza in nel nella per che si qui questo questa sono \
         prendi guarda apri vai nord sud ovest",
    ),
    (
        "pt",
        "o a os as um uma de do da dos das e ou nao com sem em no na para por que se aqui este esta sao mais pegar \
         olhar abrir norte sul oeste",
    ),
    (
        "nl",
        "de het een en of niet is zijn was met zonder van naar in op te dat deze dit hier er je jij wordt kan voor \
         neem kijk ga noord zuid oost",
    ),
    (
        "sv",
        "och eller inte ar med utan av till i pa det den ett en som har kan du for ta titta ga norr soder oster",
    ),
    (
        "da",
        "og eller ikke er med uden af til i pa det den et en som her kan du for tag kig nord syd ost vest",
    ),
    (
        "pl",
        "i lub nie jest sa z bez w na do od to ten ta te sie tu jak dla po co wez idz otworz polnoc poludnie",
    ),
    (
        "cs",
        "a nebo neni je jsou s bez v na do od to ten ta se zde tady jak pro po co vezmi jdi otevri sever jih",
    ),
    ("fi", "ja tai ei on ovat se tama tassa kun kuin mutta ilman ota katso avaa mene pohjoinen etela"),
    ("tr", "ve veya degil bir bu su ile icin var yok da de ne al bak ac git kuzey guney"),
    (
        "id",
        "dan atau tidak adalah di ke dari yang ini itu dengan tanpa untuk ada ambil lihat buka pergi utara selatan",
    ),
    (
        "ru",
        "и или не в на с без из к до по это этот эта здесь там как что для от за у он она оно вы ты нет взять возьми \
         осмотреть открыть идти север юг восток запад",
    ),
    (
        "uk",
        "і або не в на з без із до по це цей ця тут там як що для від за у він вона ви ти немає взяти відкрити",
    ),
];

impl Language {
    /// True unless one language is not the other. Few words do not tell languages in Cyrillic apart.
    pub(super) fn may_be(self, other: Language) -> bool {
        let is_cyrillic = |one: Language| matches!(one, Language::Cyrillic | Language::Named("ru" | "uk"));
        self == other
            || is_cyrillic(self) && is_cyrillic(other) && [self, other].contains(&Language::Cyrillic)
    }
}

/// True for a common word of a language that is not English; the stop words of English are those of search.
pub(super) fn is_common(language: Option<Language>, word: &str) -> bool {
    let Some(Language::Named(code)) = language else { return false };
    let of_language = COMMON.iter().find(|(other, _)| *other == code && code != "en");
    of_language.is_some_and(|(_, common)| common.split(' ').any(|other| other == word))
}

/// The language of a text.
pub(crate) fn language_of(text: &str) -> Option<Language> {
    let (mut counts, mut marked) = ([0usize; 6], false);
    let mut other = None;
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        let code = u32::from(c);
        let at = match code {
            0x41..=0x24F | 0x1E00..=0x1EFF => 0,
            0x400..=0x52F => 1,
            0x3040..=0x30FF | 0x31F0..=0x31FF => 2,
            0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => 3,
            0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7AF => 4,
            _ => {
                other = Some(Language::Script(code & !0x7F));
                5
            }
        };
        marked |= at == 0 && code > 0x7F;
        // A character of these scripts is a syllable or a word.
        counts[at] += if matches!(at, 2..=4) { 3 } else { 1 };
    }
    let [latin, cyrillic, kana, han, hangul, others] = counts;
    let most = latin.max(cyrillic).max(kana + han).max(hangul).max(others);
    if most == 0 {
        None
    } else if most == latin {
        named(text).or(marked.then_some(Language::OtherLatin))
    } else if most == cyrillic {
        named(text).or(Some(Language::Cyrillic))
    } else if most == kana + han {
        Some(if kana > 0 { Language::Japanese } else { Language::Chinese })
    } else if most == hangul {
        Some(Language::Korean)
    } else {
        other
    }
}

/// The language with the most common words in a text, if it is one.
fn named(text: &str) -> Option<Language> {
    let words = words(text);
    let mut best = (0, None);
    for (code, common) in COMMON {
        let hits = words.iter().filter(|word| common.split(' ').any(|other| other == *word)).count();
        best = match hits.cmp(&best.0) {
            std::cmp::Ordering::Greater => (hits, Some(Language::Named(code))),
            std::cmp::Ordering::Equal => (hits, None),
            std::cmp::Ordering::Less => best,
        };
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_tell_their_language_or_none() {
        for (text, code) in [
            ("take window", "en"),
            ("The lamp is lit.", "en"),
            ("Das Fenster lässt sich nicht öffnen.", "de"),
            ("La fenêtre ne peut pas être prise.", "fr"),
            ("La ventana es parte de la casa y no se puede coger.", "es"),
            ("Окно нельзя взять, оно часть дома.", "ru"),
            ("Finestra della casa: non si prende.", "it"),
        ] {
            assert_eq!(language_of(text), Some(Language::Named(code)), "{text}");
        }
        assert_eq!(language_of("窗户不能拿走。"), Some(Language::Chinese));
        assert_eq!(language_of("窓は取れません。"), Some(Language::Japanese));
        assert_eq!(language_of("창문은 집의 일부다."), Some(Language::Korean));
        assert_eq!(language_of("Το παράθυρο"), language_of("δεν ανοίγει"));
        assert_eq!(language_of("Immovable fixture."), None);
        assert_eq!(language_of("42 …"), None);
    }
}
