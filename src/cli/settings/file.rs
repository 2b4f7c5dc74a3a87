//! The settings file: values by key, converted, with errors that name key and file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::cli::failure::{Failure, unreadable};
use crate::cli::values::parse_duration;
use crate::document::nearest;
use crate::llm;
use crate::types::fields::{Expected, count, number, text};

/// A parsed settings file. It notes which keys were read, so that unknown keys can be reported.
#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    table: Map<String, Value>,
    known: Vec<String>,
}

impl SettingsFile {
    /// Parses a text, for tests.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> SettingsFile {
        SettingsFile { table: toml::from_str(text).expect("TOML"), ..SettingsFile::default() }
    }

    /// Reads a settings file.
    pub(crate) fn open(path: &Path) -> Result<SettingsFile, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => "`memories init` with the same `--config` writes one",
                _ => "the settings are a text file in UTF-8; `memories init` writes one if there is none",
            };
            unreadable(path, error).hint(hint)
        })?;
        let table = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| crate::document::line_number(&text, span.start));
            let problem = format!("`{}` line {line} is not TOML: {}", path.display(), error.message());
            Failure::user(problem).hint("correct the line, such as `max_tokens = 300`")
        })?;
        Ok(SettingsFile { path: path.to_owned(), table, known: Vec::new() })
    }

    /// The value of a key such as `llm.model`. The key counts as known from then on.
    pub(crate) fn get(&mut self, key: &str) -> Option<Value> {
        self.known.push(key.to_owned());
        match key.split_once('.') {
            Some((table, key)) => self.table.get(table)?.as_object()?.get(key).cloned(),
            None => self.table.get(key).cloned(),
        }
    }

    /// The converted value of a key, `None` where it is missing.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        conversion(&value).map(Some).map_err(|expected| {
            let problem = format!("`{key}` in `{}` is {value}, expected {expected}", self.path.display());
            Failure::user(problem).hint("correct the value, or remove the line for the default")
        })
    }

    /// Sets a setting to the converted value of a key; without the key, it keeps its default.
    pub(crate) fn set<T>(
        &mut self,
        key: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
        setting: &mut T,
    ) -> Result<(), Failure> {
        if let Some(value) = self.read(key, conversion)? {
            *setting = value;
        }
        Ok(())
    }

    /// Sets a setting to the value that a name stands for. The name comes from an environment variable,
    /// given with its value, or else from a key. The error suggests the nearest name.
    pub(crate) fn choose<T: FromStr<Err = llm::ModelError>>(
        &mut self,
        variable: Option<(&str, &str)>,
        key: &str,
        setting: &mut T,
    ) -> Result<(), Failure> {
        let from_file = self.read(key, text)?;
        let (source, name) = match (variable, from_file) {
            (Some((variable, name)), _) => (format!("`{variable}`"), name.to_owned()),
            (None, Some(name)) => (format!("`{key}` in `{}`", self.path.display()), name),
            (None, None) => return Ok(()),
        };
        *setting = name.trim().parse().map_err(|error| {
            let failure = Failure::from(error);
            Failure { cause: anyhow::anyhow!("{source}: {}", failure.cause), ..failure }
        })?;
        Ok(())
    }

    /// A warning for each key that was never read.
    pub(crate) fn unknown_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for (key, value) in &self.table {
            match value.as_object() {
                Some(table) => keys.extend(table.keys().map(|inner| format!("{key}.{inner}"))),
                None => keys.push(key.clone()),
            }
        }
        keys.retain(|key| !self.known.contains(key));
        let warning = |key: &String| {
            if key.contains("api_key") {
                let path = self.path.display();
                return format!("`{key}` in `{path}` is ignored: API keys come from the environment only");
            }
            let table = format!("{key}.");
            if self.known.iter().any(|known| known.starts_with(&table)) {
                return format!(
                    "`{key}` in `{}` is not a table and is ignored: write `[{key}]`",
                    self.path.display()
                );
            }
            let like = nearest(key, self.known.iter().map(String::as_str), 1);
            let like = like.first().map(|key| format!("; the nearest is `{key}`")).unwrap_or_default();
            format!("unknown key `{key}` in `{}`{like}", self.path.display())
        };
        keys.iter().map(warning).collect()
    }
}

/// A whole number from 0 up.
pub(crate) fn size(value: &Value) -> Result<usize, Expected> {
    count(value).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

/// A whole number from 0 up; larger than the largest `u32` counts as that.
pub(crate) fn small(value: &Value) -> Result<u32, Expected> {
    count(value).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// A duration.
pub(crate) fn duration(value: &Value) -> Result<Duration, Expected> {
    let duration = value.as_str().and_then(|text| parse_duration(text).ok());
    duration.ok_or("a time such as \"60s\"".into())
}

/// A number from 0 to 1.
pub(crate) fn fraction(value: &Value) -> Result<f32, Expected> {
    let fraction = number(value).ok().filter(|number| (0.0..=1.0).contains(number));
    fraction.map(|number| number as f32).ok_or("a number from 0 to 1".into())
}

fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Lists of words.
pub(crate) fn word_lists(value: &Value) -> Result<Vec<Vec<String>>, Expected> {
    let lists = value.as_array().and_then(|lists| lists.iter().map(words).collect());
    lists.ok_or("lists of words such as [[\"grue\", \"monster\"]]".into())
}

/// A program with its arguments as a list, or one line for the shell.
pub(crate) fn command(value: &Value) -> Result<Vec<String>, Expected> {
    let command = value.as_str().map(llm::config::shell).or_else(|| words(value));
    command.ok_or("a list of words or one line".into())
}
