//! The card in a picture: the text chunk `ccv3`, else `chara`, in base64.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;

use memories_document::types::hint::Refused;
use memories_document::types::json;

/// Largest text of a card in bytes.
pub(crate) const LARGEST: u64 = 16 << 20;

const HINT: &str = "export the character again, as PNG or JSON";

/// The card of a picture.
///
/// # Errors
///
/// If no chunk holds one, or what it holds is broken.
pub(crate) fn card(bytes: &[u8]) -> Result<Value, Refused> {
    let mut card: Option<(bool, Vec<u8>)> = None;
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((kind, data, behind)) = chunk(rest) {
        rest = behind;
        if let Some((name, text)) = text_of(kind, data)
            && (name == b"ccv3" || name == b"chara" && !card.as_ref().is_some_and(|(is_new, _)| *is_new))
        {
            card = Some((name == b"ccv3", text));
        }
    }
    let Some((_, text)) = card else {
        return Err(Refused::fix(
            "the picture holds no character card: no text chunk `chara` or `ccv3`",
            HINT,
        ));
    };
    let text: Vec<u8> = text.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let broken =
        |problem: String| Refused::fix(format!("the card in the picture is broken: {problem}"), HINT);
    let text = STANDARD.decode(text).map_err(|error| broken(format!("it is not base64: {error}")))?;
    json::read(&text).map_err(|error| broken(format!("it is not JSON: {error}")))
}

/// The first chunk: its kind, its data and what stands behind it. None where its length is false.
fn chunk(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_at_checked(4)?;
    let (data, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some((kind, data, rest.get(4..).unwrap_or_default()))
}

/// The keyword and the text of a text chunk.
fn text_of<'a>(kind: &[u8], data: &'a [u8]) -> Option<(&'a [u8], Vec<u8>)> {
    let at = data.iter().position(|&byte| byte == 0)?;
    let (name, rest) = (&data[..at], &data[at + 1..]);
    match kind {
        b"tEXt" => Some((name, rest.to_vec())),
        b"zTXt" => Some((name, inflated(rest.get(1..)?)?)),
        b"iTXt" => {
            let (flags, rest) = rest.split_at_checked(2)?;
            let mut parts = rest.splitn(3, |&byte| byte == 0);
            let text = parts.nth(2)?;
            Some((name, if flags[0] == 1 { inflated(text)? } else { text.to_vec() }))
        }
        _ => None,
    }
}

/// An unpacked text, unless it is too large.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    ZlibDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LARGEST).then_some(text)
}
