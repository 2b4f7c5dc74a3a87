//! A text of a journal line.

use std::borrow::Cow;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A text of a journal line; borrowed from it where nothing in it is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for Text<'a> {
    fn from(text: T) -> Text<'a> {
        Text(text.into())
    }
}
