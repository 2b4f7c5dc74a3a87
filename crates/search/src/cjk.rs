//! Words of Chinese, Japanese and Korean, which are written without spaces or with endings that vary.
//!
//! A run of their characters enters; its characters and its pairs of neighbours leave, each as a word: `隧道在` gives
//! 隧, 隧道, 道, 道在, 在. In this order the words of a phrase follow each other wherever the phrase occurs.

/// Characters that say little of a text's subject: particles, pronouns, question words. Hiragana is among them.
const SMALL: &str = "\
的了在是哪里什么谁怎吗呢吧啊我你他她它们这那和与及或有没不都也就把被从到对为以于个之其某而则还又再很最更请过着样几\
裡裏麼誰嗎們這與沒從對為於個則還請過著樣幾何";

/// True for Han, kana and Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
        && c.is_alphanumeric()
}

/// True for a character or pair that [`each_part`] makes.
pub(crate) fn is_cjk_word(word: &str) -> bool {
    word.starts_with(is_cjk)
}

/// True for a character or pair with a character that says little.
pub(crate) fn is_small(word: &str) -> bool {
    !word.is_ascii() && word.chars().any(|c| matches!(c, '\u{3040}'..='\u{309F}') || SMALL.contains(c))
}

/// Calls `visit` with the characters and pairs of a run.
pub(crate) fn each_part(run: &str, mut visit: impl FnMut(&str)) {
    let mut before: Option<usize> = None;
    for (at, c) in run.char_indices() {
        let end = at + c.len_utf8();
        if let Some(before) = before {
            visit(&run[before..end]);
        }
        visit(&run[at..end]);
        before = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_characters_and_pairs() {
        let parts = |run: &str| {
            let mut parts = Vec::new();
            each_part(run, |part| parts.push(part.to_owned()));
            parts.join(" ")
        };
        assert_eq!(parts("隧道在"), "隧 隧道 道 道在 在");
        assert_eq!(parts("鍵"), "鍵");
        assert!(
            is_cjk_word("隧道")
                && is_cjk_word("열")
                && !is_cjk_word("é")
                && !is_cjk("・".chars().next().unwrap())
        );
        assert!(is_small("道在") && is_small("の鍵") && !is_small("隧道") && !is_small("カギ"));
    }
}
