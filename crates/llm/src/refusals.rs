//! Parts of a request that servers refuse, as a value that outlives a command.
//!
//! It is handed in with the settings and out by a [`Model`](crate::Model) that was answered. Where it is
//! kept is the caller's business. It may be damaged or of another version: what is not understood counts as not
//! known, and a server that refuses a remembered form is asked afresh.

use serde_json::{Map, Value};

/// Servers that are remembered; beyond this number the oldest are forgotten.
const MAX_SERVERS: usize = 50;

/// Parts of requests that servers refuse, by address and model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refusals(Map<String, Value>);

impl Refusals {
    /// Reads a value as [`Refusals::into_value`] gave it; anything else is empty.
    pub fn from_value(value: Value) -> Refusals {
        match value {
            Value::Object(map) => Refusals(map),
            _ => Refusals::default(),
        }
    }

    /// Parts of a request that the server refuses; `null` where nothing is known.
    pub fn of(&self, server: &str) -> &Value {
        self.0.get(server).unwrap_or(&Value::Null)
    }

    /// Remembers what a server refuses; `null` forgets it.
    pub fn set(&mut self, server: &str, refused: Value) {
        self.0.shift_remove(server);
        if !refused.is_null() {
            self.0.insert(server.to_owned(), refused);
        }
        while self.0.len() > MAX_SERVERS {
            let Some(oldest) = self.0.keys().next().cloned() else { return };
            self.0.shift_remove(&oldest);
        }
    }

    /// The value to keep.
    pub fn into_value(self) -> Value {
        if self.0.is_empty() { Value::Null } else { Value::Object(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn foreign_values_are_empty_and_the_oldest_are_forgotten() {
        for foreign in [json!(null), json!([1]), json!("x"), json!(7)] {
            assert_eq!(Refusals::from_value(foreign), Refusals::default());
        }
        let mut refusals = Refusals::from_value(json!({"a": 1}));
        assert_eq!((refusals.of("a"), refusals.of("b")), (&json!(1), &Value::Null));
        for number in 0..MAX_SERVERS {
            refusals.set(&number.to_string(), json!({"fields": []}));
        }
        assert!(refusals.of("a").is_null() && !refusals.of("0").is_null());
        refusals.set("0", Value::Null);
        assert!(refusals.of("0").is_null());
    }
}
