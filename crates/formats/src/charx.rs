//! CHARX: an archive whose `card.json` is the card.

use std::io::{Cursor, Read};

use serde_json::Value;
use zip::ZipArchive;

use crate::found::Found;
use crate::png::LARGEST;
use memories_document::types::hint::Refused;
use memories_document::types::json;

const HINT: &str = "export the character again, as CHARX or JSON";

/// The card of an archive. Its other files are counted.
///
/// # Errors
///
/// If the archive is broken, has no card, or the card is too large.
pub(crate) fn card(found: &mut Found, bytes: &[u8]) -> Result<Value, Refused> {
    let broken = |problem: String| Refused::fix(format!("the archive cannot be read: {problem}"), HINT);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(error.to_string()))?;
    found.leave_out(
        "other files of the archive",
        archive.len().saturating_sub(1),
        "they are no texts of the card",
    );
    let file = archive
        .by_name("card.json")
        .map_err(|_| Refused::fix("the archive holds no `card.json`, so it is no character card", HINT))?;
    let mut text = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(|error| broken(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(broken(format!("its card is larger than {} MiB", LARGEST >> 20)));
    }
    json::read(&text).map_err(|error| broken(format!("its card is not JSON: {error}")))
}
