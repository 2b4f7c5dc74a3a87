//! The names behind which secrets stand, as tables.

use std::ops::Range;

/// Endings of names whose values are passwords, without `_`, `-` and `.`, in lower case.
const PASSWORDS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "dbpass",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "senha",
    "wachtwoord",
    "losenord",
    "passord",
    "adgangskode",
    "salasana",
    "heslo",
];

/// The word for a password in other languages, where it has a space or other letters than ASCII's, in lower case.
const FOREIGN: [&str; 23] = [
    "mot de passe",
    "kata sandi",
    "parola d'ordine",
    "contraseña",
    "lösenord",
    "hasło",
    "jelszó",
    "şifre",
    "mật khẩu",
    "пароль",
    "κωδικός",
    "κωδικός πρόσβασης",
    "סיסמה",
    "كلمة المرور",
    "كلمة السر",
    "पासवर्ड",
    "รหัสผ่าน",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "암호",
];

/// Endings of names whose values are keys.
const KEYS: [&str; 28] = [
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "accountkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "licensekey",
    "appkey",
    "clientkey",
    "secret",
    "token",
    "credential",
    "credentials",
    "authorization",
    "presharedkey",
    // Presigned addresses of S3 and Google's storage.
    "amzsignature",
    "googsignature",
    // Numbers of sessions, as servers call their cookies, and what protects forms.
    "phpsessid",
    "jsessionid",
    "aspnetsessionid",
    "aspxauth",
    "connectsid",
    "csrf",
    "xsrf",
    "oauthverifier",
];

/// Endings of names that hold no secret although they end like one.
const HARMLESS: [&str; 7] = [
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "cancellationtoken",
    "publictoken",
    "synctoken",
    "devicetoken",
];

/// Parameters of addresses whose values are secret: signatures of presigned ones, and what a login hands over.
const PARAMETERS: [&[u8]; 9] = [
    b"sig",
    b"signature",
    b"code",
    b"ticket",
    b"assertion",
    b"samlresponse",
    b"hmac",
    b"session_state",
    b"code_verifier",
];

/// Names that are words of a language as well. A game says them of its own passwords, too.
const WORDS: [&str; 6] = ["password", "passphrase", "secret", "token", "credential", "credentials"];

/// What a name announces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    /// The kind of the secret behind it.
    pub kind: &'static str,
    /// True if the name is a word of a language, as a sentence has it.
    pub is_word: bool,
}

/// What a name announces.
pub(super) fn named(name: &[u8]) -> Option<Name> {
    let mut folded = [0; 64];
    let mut length = 0;
    for &byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *folded.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = &folded[..length];
    let ends = |with: &[&str]| with.iter().any(|ending| folded.ends_with(ending.as_bytes()));
    let has_lower = name.iter().any(u8::is_ascii_lowercase);
    let shouted = || name.ends_with(b"_KEY") && !has_lower;
    // The first five are of programs.
    let is_foreign = || PASSWORDS[5..].iter().any(|word| folded == word.as_bytes());
    let is_word = name.len() == length
        && (WORDS.iter().any(|word| folded == word.as_bytes()) || is_foreign())
        && !name.iter().skip(1).any(u8::is_ascii_uppercase)
        || !has_lower && WORDS.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()));
    if ends(&PASSWORDS) {
        Some(Name { kind: "password", is_word })
    } else if (ends(&KEYS) || shouted()) && !ends(&HARMLESS) {
        Some(Name { kind: "secret", is_word })
    } else {
        None
    }
}

/// What the end of a text announces in another language.
pub(super) fn foreign(before: &[u8]) -> Option<Name> {
    let before = before.trim_ascii_end();
    // Ordinary text costs next to nothing.
    let last = &before[before.len().saturating_sub(16)..];
    let ends =
        |word: &[u8]| last.len() > word.len() && last[last.len() - word.len()..].eq_ignore_ascii_case(word);
    if last.is_ascii() && ![&b" passe"[..], b" sandi", b"'ordine"].iter().any(|word| ends(word)) {
        return None;
    }
    let near = String::from_utf8_lossy(&before[before.len().saturating_sub(48)..]).to_lowercase();
    // French has a no-break space before its colon.
    let near = near.trim_end();
    FOREIGN.iter().any(|word| near.ends_with(word)).then_some(Name { kind: "password", is_word: true })
}

/// What a parameter of an address announces, whose name stands in this range.
pub(super) fn parameter(bytes: &[u8], range: Range<usize>) -> Option<Name> {
    let (before, name) = (&bytes[..range.start], &bytes[range]);
    let starts = |mark: &[u8]| name.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    let name = if before.ends_with(b"?") || before.ends_with(b"&") || before.ends_with(b"&amp;") {
        name
    } else if before.ends_with(b"%") && (starts(b"26") || starts(b"3f")) {
        &name[2..]
    } else if before.ends_with(b"\\u0026") {
        name
    } else {
        return None;
    };
    let is_known = PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known));
    is_known.then_some(Name { kind: "secret", is_word: false })
}

/// True for the name of cookies.
pub(super) fn is_cookie(name: &[u8]) -> bool {
    let start = name.len().saturating_sub(7);
    let end = name[start..].to_ascii_lowercase();
    end.ends_with(b"cookie") || end.ends_with(b"cookies")
}
