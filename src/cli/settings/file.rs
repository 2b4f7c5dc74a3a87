//! The settings files: values by key, converted, with errors that name key and file.
//!
//! Several files may have a key; the first of them counts, as the caller orders them.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::cli::failure::{Failure, unreadable};
use crate::cli::values::parse_duration;
use memories_document::nearest;
use memories_document::types::fields::{Expected, count, number, text};
use memories_llm::redact::redacted;
use memories_store::read_bounded;

/// Largest settings file that is read, in bytes.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// One parsed settings file.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub path: PathBuf,
    pub table: Map<String, Value>,
}

impl Layer {
    /// Reads a settings file, and gives its bytes as well.
    pub(crate) fn open(path: &Path) -> Result<(Layer, Vec<u8>), Failure> {
        // The usual name for no settings.
        if path == Path::new("/dev/null") {
            return Ok((Layer { path: path.to_owned(), table: Map::new() }, Vec::new()));
        }
        let bytes = read_bounded(path, MAX_BYTES).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => "`memories init` with the same `--config` writes one",
                _ => NOT_SETTINGS,
            };
            unreadable(path, error).hint(hint)
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            let problem = format!("cannot read `{}`: stream did not contain valid UTF-8", path.display());
            Failure::user(problem).hint(NOT_SETTINGS)
        })?;
        let table = toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| memories_document::line_number(text, span.start));
            let problem = format!("`{}` line {line} is not TOML: {}", path.display(), error.message());
            Failure::user(problem).hint("correct the line, such as `max_tokens = 300`")
        })?;
        Ok((Layer { path: path.to_owned(), table }, bytes))
    }

    /// The folder of the file; relative paths in it start there.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The value of a key such as `llm.model`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match key.split_once('.') {
            Some((table, key)) => self.table.get(table)?.as_object()?.get(key),
            None => self.table.get(key),
        }
    }

    /// Takes a key away.
    pub(crate) fn remove(&mut self, key: &str) {
        match key.split_once('.') {
            Some((table, key)) => {
                self.table.get_mut(table).and_then(Value::as_object_mut).and_then(|table| table.remove(key))
            }
            None => self.table.remove(key),
        };
    }

    /// The keys that are not known, in their order.
    pub(crate) fn unknown_keys(&self, known: &[String]) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for (key, value) in &self.table {
            match value.as_object() {
                Some(table) => keys.extend(table.keys().map(|inner| format!("{key}.{inner}"))),
                None => keys.push(key.clone()),
            }
        }
        keys.retain(|key| !known.contains(key));
        keys
    }
}

const NOT_SETTINGS: &str =
    "the settings are a text file in UTF-8; `memories init` writes one if there is none";

/// The settings files of a run, the strongest first. They note which keys were read, so that unknown keys can be
/// reported.
#[derive(Debug, Default)]
pub(crate) struct SettingsFiles {
    layers: Vec<Layer>,
    known: Vec<String>,
}

impl SettingsFiles {
    /// Parses a text, for tests.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> SettingsFiles {
        let layer = Layer { table: toml::from_str(text).expect("TOML"), ..Layer::default() };
        SettingsFiles { layers: vec![layer], known: Vec::new() }
    }

    /// The files, in the order in which they count.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.layers.iter().map(|layer| layer.path.clone()).collect()
    }

    /// Adds a file that counts where those before it say nothing.
    pub(crate) fn push(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// The converted value of a key in the strongest file that has it, and that file. The key counts as known from
    /// then on.
    fn find<T>(
        &mut self,
        key: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<(T, &Layer)>, Failure> {
        self.known.push(key.to_owned());
        let found = self.layers.iter().find_map(|layer| Some((layer, layer.get(key)?)));
        let Some((layer, value)) = found else { return Ok(None) };
        let converted = conversion(value).map_err(|expected| {
            let problem = format!("`{key}` in `{}` is {value}, expected {expected}", layer.path.display());
            Failure::user(redacted(&problem)).hint("correct the value, or remove the line for the default")
        })?;
        Ok(Some((converted, layer)))
    }

    /// The converted value of a key, `None` where it is missing.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Failure> {
        Ok(self.find(key, conversion)?.map(|(value, _)| value))
    }

    /// The path that a key names, relative to the file that has the key.
    pub(crate) fn read_path(&mut self, key: &str) -> Result<Option<PathBuf>, Failure> {
        Ok(self.find(key, text)?.map(|(path, layer)| layer.folder().join(path)))
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
    pub(crate) fn choose<T: FromStr<Err = memories_llm::ModelError>>(
        &mut self,
        variable: Option<(&str, &str)>,
        key: &str,
        setting: &mut T,
    ) -> Result<(), Failure> {
        let from_file = self.find(key, text)?;
        let (source, name) = match (variable, from_file) {
            (Some((variable, name)), _) => (format!("`{variable}`"), name.to_owned()),
            (None, Some((name, layer))) => (format!("`{key}` in `{}`", layer.path.display()), name),
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
        let warning = |layer: &Layer, key: &String| {
            let path = layer.path.display();
            if key.contains("api_key") {
                return format!("`{key}` in `{path}` is ignored: API keys come from the environment only");
            }
            let table = format!("{key}.");
            if self.known.iter().any(|known| known.starts_with(&table)) {
                return format!("`{key}` in `{path}` is not a table and is ignored: write `[{key}]`");
            }
            let like = nearest(key, self.known.iter().map(String::as_str), 1);
            let like = like.first().map(|key| format!("; the nearest is `{key}`")).unwrap_or_default();
            format!("unknown key `{key}` in `{path}`{like}")
        };
        let of_layer = |layer: &Layer| -> Vec<String> {
            layer.unknown_keys(&self.known).iter().map(|key| warning(layer, key)).collect()
        };
        self.layers.iter().flat_map(of_layer).collect()
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
    let command = value.as_str().map(memories_llm::config::shell).or_else(|| words(value));
    command.ok_or("a list of words or one line".into())
}
