//! The settings that an untrusted file cannot set: they start a program, name a host or the model that reads texts
//! there, read recorded answers, say in whose name it writes, write into the instructions of a model, or lead out of the file's folder.

use std::path::{Component, Path};

use serde_json::Value;

use crate::cli::settings::file::Layer;
use crate::cli::values::is_url;
use memories_llm::redact::redacted;

/// Which values of a key are restricted.
enum Rule {
    /// All.
    Any,
    /// All but this one.
    AllBut(&'static str),
    /// Paths that lead out of the folder of the settings file.
    Outside,
    /// These, and files that are not Markdown: what is written there may be run.
    MemoryFile,
}

/// The keys whose value is restricted, in the order of the documentation.
const RULES: [(&str, Rule); 20] = [
    // Forty clones of one file would be one writer, who confirms nothing.
    ("writer", Rule::Any),
    ("memory_file", Rule::MemoryFile),
    ("record.map", Rule::Outside),
    ("record.language", Rule::Any),
    // What the person masks, a repository does not unmask.
    ("record.mask_personal", Rule::AllBut("true")),
    // A model costs money.
    ("consolidate.auto", Rule::AllBut("false")),
    ("consolidate.max_calls", Rule::Any),
    ("llm.provider", Rule::AllBut("offline")),
    ("llm.model", Rule::Any),
    ("llm.base_url", Rule::Any),
    ("llm.command", Rule::Any),
    ("llm.pass_env", Rule::Any),
    ("llm.replay", Rule::Any),
    ("search.embedder", Rule::AllBut("embedded")),
    ("search.embedding_model", Rule::Any),
    ("search.embedding_url", Rule::Any),
    ("sync.url", Rule::Any),
    ("chat.memoryContextPrefix", Rule::Any),
    ("chat.memoryContextSuffix", Rule::Any),
    ("chat.memoryFormat", Rule::Any),
];

/// The keys of a settings file that count only if the file is trusted.
pub(crate) fn restricted_keys(layer: &Layer) -> Vec<&'static str> {
    let is_restricted = |(key, rule): &&(&'static str, Rule)| {
        layer.get(key).is_some_and(|value| match rule {
            Rule::Any => true,
            Rule::AllBut(harmless) => {
                let shown = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
                shown != *harmless
            }
            Rule::Outside => value.as_str().is_some_and(|path| leads_out(layer.folder(), Path::new(path))),
            Rule::MemoryFile => value.as_str().map(Path::new).is_some_and(|path| {
                is_url(&path.to_string_lossy())
                    || leads_out(layer.folder(), path)
                    || !is_markdown(&layer.folder().join(path))
            }),
        })
    };
    RULES.iter().filter(is_restricted).map(|(key, _)| *key).collect()
}

/// True if a path is absolute or climbs, if its links end outside of the folder, or if it enters a `.git`, whose files
/// start programs and are not part of what git clones.
fn leads_out(folder: &Path, path: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_plain) {
        return true;
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(root) = folder.canonicalize() else { return true };
    let target = root.join(path);
    // A dangling link is there, but cannot be resolved.
    let existing = target.ancestors().find(|path| path.symlink_metadata().is_ok());
    let Some(Ok(real)) = existing.map(Path::canonicalize) else { return true };
    let enters_git = |below: &Path| {
        below.components().any(|part| part.as_os_str().as_encoded_bytes().eq_ignore_ascii_case(b".git"))
    };
    enters_git(path) || real.strip_prefix(&root).map_or(true, enters_git)
}

/// True if a path, with its links followed, is named as Markdown.
fn is_markdown(path: &Path) -> bool {
    let real = path.canonicalize();
    memories_store::is_markdown(path) && real.map_or(true, |real| memories_store::is_markdown(&real))
}

/// The value of a key, for a person who decides about it, without what looks like a password in it.
pub(crate) fn shown_setting(layer: &Layer, key: &str) -> Value {
    fn shown(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(redacted(text)),
            Value::Array(values) => values.iter().map(shown).collect(),
            value => value.clone(),
        }
    }
    layer.get(key).map_or(Value::Null, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(folder: &Path, text: &str) -> Layer {
        Layer { path: folder.join("memories.toml"), table: toml::from_str(text).expect("TOML") }
    }

    /// Keys that any file may set. A new key belongs here, or into the rules.
    const FREE: &[&str] = &[
        "chat.maxMemoriesPerConversation",
        "chat.maxMemoriesPerExtraction",
        "chat.maxMemoryContext",
        "chat.maxMemoryTokens",
        "chat.memoryExtractionInterval",
        "chat.memoryExtractionMode",
        "chat.memoryInjectionMode",
        "chat.memorySearchThreshold",
        "chat.useMemory",
        "enabled",
        "flush_on_death",
        "hooks.enabled",
        "hooks.hold",
        "hooks.max_tokens",
        "llm.max_memory_tokens",
        "llm.max_output_tokens",
        "llm.max_retries",
        "llm.structured_output",
        "llm.temperature",
        "llm.timeout",
        "max_failed_actions_shown",
        "max_successful_actions_shown",
        "max_text_chars",
        "max_tokens",
        "record.goals",
        "record.history_window",
        "record.importance_scale",
        "record.provenance",
        "record.replies_blocked",
        "record.replies_no_way",
        "record.replies_refused",
        "search.common_synonyms",
        "search.dimensions",
        "search.embedding_batch",
        "search.embedding_fallback",
        "search.embedding_timeout",
        "search.floor",
        "search.importance",
        "search.question_prefix",
        "search.recency",
        "search.results",
        "search.second_round",
        "search.synonyms",
        "search.text_prefix",
        "search.unrelated_cosine",
        "tried_per_place",
        "triggers.death",
        "triggers.first_visit",
        "triggers.inventory",
        "triggers.location",
        "triggers.response",
        "triggers.response_chars",
        "triggers.score",
        "triggers.world_changed",
    ];

    #[test]
    fn every_key_is_either_restricted_or_known_to_be_harmless() {
        let folder = tempfile::tempdir().unwrap();
        // The template does not show what only tests set.
        let text = crate::cli::settings::uncommented_template();
        let text = text.replacen("[llm]\n", "[llm]\nreplay = \"answers.jsonl\"\n", 1);
        let layer = layer(folder.path(), &text);
        let mut keys = layer.unknown_keys(&[]);
        keys.retain(|key| !RULES.iter().any(|(restricted, _)| restricted == key));
        assert_eq!(keys, FREE);
        let always = RULES.iter().filter(|(_, rule)| matches!(rule, Rule::Any)).map(|(key, _)| *key);
        let restricted = restricted_keys(&layer);
        assert!(always.into_iter().all(|key| restricted.contains(&key)), "{restricted:?}");
    }

    #[test]
    fn the_harmless_choices_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let free = "[llm]\nprovider = \"offline\"\n[search]\nembedder = \"embedded\"";
        assert_eq!(restricted_keys(&layer(folder.path(), free)), [""; 0]);
        for provider in ["auto", "openai", "anthropic", "ollama", "command", "replay", "sk-1"] {
            let text = format!("[llm]\nprovider = \"{provider}\"");
            assert_eq!(restricted_keys(&layer(folder.path(), &text)), ["llm.provider"], "{provider}");
        }
        let wrong = "[llm]\nprovider = [1]";
        assert_eq!(restricted_keys(&layer(folder.path(), wrong)), ["llm.provider"]);
    }

    #[test]
    fn a_memory_file_is_markdown() {
        let folder = tempfile::tempdir().unwrap();
        for (path, restricted) in [
            ("Notes.md", 0),
            ("a/b.Markdown", 0),
            ("venv/bin/activate", 1),
            (".hg/hgrc", 1),
            ("s3://b/Notes.md", 1),
        ] {
            let text = format!("memory_file = \"{path}\"");
            assert_eq!(restricted_keys(&layer(folder.path(), &text)).len(), restricted, "{path}");
        }
    }

    #[test]
    fn paths_below_the_folder_are_free() {
        let folder = tempfile::tempdir().unwrap();
        memories_store::create_folder(&folder.path().join("play")).unwrap();
        for path in ["Notes.md", "./play/Notes.md", "new/folder/Notes.md"] {
            assert!(!leads_out(folder.path(), Path::new(path)), "{path}");
        }
        let above = folder.path().join("Notes.md");
        for path in ["../Notes.md", "play/../../Notes.md", "/etc/passwd", above.to_str().unwrap()] {
            assert!(leads_out(folder.path(), Path::new(path)), "{path}");
        }
        for path in [".git/config", "play/.GIT/hooks/post-checkout"] {
            assert!(leads_out(folder.path(), Path::new(path)), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_count_by_their_ends() {
        use std::os::unix::fs::symlink;
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = |to: &Path, name: &str| symlink(to, inside.path().join(name)).unwrap();
        memories_store::create_folder(&inside.path().join("play/.git")).unwrap();
        link(Path::new("play"), "inner");
        link(outside.path(), "outer");
        link(&outside.path().join("missing"), "dangling");
        link(Path::new("play/.git"), "hidden");
        link(Path::new("/dev/zero"), "zero");
        assert!(!leads_out(inside.path(), Path::new("inner/Notes.md")));
        for path in ["outer/Notes.md", "outer/new/Notes.md", "dangling", "hidden/config", "zero"] {
            assert!(leads_out(inside.path(), Path::new(path)), "{path}");
        }
    }
}
