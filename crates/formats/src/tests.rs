//! All readers: samples are read whole, and broken ones make an error or less, never a panic.
//!
//! The properties run 64 cases, or as many as `PROPTEST_CASES` says.

use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::{Content, Folder, Format, Found, Source, Subject, conversations};

const FILES: [&str; 11] = [
    "memory.jsonl",
    "mem0.json",
    "lore.json",
    "ilse.json",
    "ilse.png",
    "ilse.charx",
    "story-cards.json",
    "ford.lorebook",
    "chatgpt.json",
    "claude.json",
    "tavern.jsonl",
];

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/worlds/foreign").join(name)
}

fn read(name: &str) -> (Format, Found) {
    let source = if sample(name).is_dir() {
        Source::of_folder(name, Folder::read(&sample(name)).unwrap())
    } else {
        Source::of_bytes(name, &fs::read(sample(name)).unwrap())
    };
    let format = Format::find(&source).unwrap();
    (format, format.read(&source).unwrap())
}

/// What was left out, as `what (count)`.
fn left_out(found: &Found) -> Vec<String> {
    found.left_out.iter().map(|part| format!("{} ({})", part.what, part.count)).collect()
}

#[test]
fn each_sample_is_found_and_read_whole() {
    for (name, format, notes, left) in [
        ("memory.jsonl", Format::ServerMemory, 6, &[][..]),
        ("mem0.json", Format::Mem0, 4, &["`mood` (1)"]),
        ("lore.json", Format::WorldInfo, 3, &["settings (4)", "entries (1)", "`house_rule` (1)"]),
        ("ilse.json", Format::CharacterCard, 6, &["`system_prompt` (1)", "settings (2)"]),
        ("ilse.png", Format::CharacterCard, 6, &["`system_prompt` (1)", "settings (2)"]),
        (
            "ilse.charx",
            Format::CharacterCard,
            6,
            &["other files of the archive (1)", "`system_prompt` (1)", "settings (2)"],
        ),
        ("story-cards.json", Format::AiDungeon, 3, &["settings (1)"]),
        ("ford.lorebook", Format::NovelAi, 2, &["settings (2)"]),
        ("memory", Format::ClaudeCode, 2, &[]),
        ("vault", Format::Notes, 6, &["`mood` (1)"]),
    ] {
        let (found_as, found) = read(name);
        assert_eq!((found_as, found.notes.len()), (format, notes), "{name}: {:#?}", found.notes);
        assert_eq!(left_out(&found), left, "{name}");
        assert!(found.notes.iter().all(|note| !note.text.is_empty()));
    }
}

#[test]
fn the_newer_card_of_a_picture_counts() {
    let (_, found) = read("ilse.png");
    assert_eq!(found.notes[0].date.as_deref(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(found, Found { left_out: found.left_out.clone(), ..read("ilse.json").1 });
    let flat = json!({"name": "Jo", "description": "d", "personality": "p", "scenario": "s", "first_mes": "f", "mes_example": "m"});
    let source = Source::of_bytes("jo.json", flat.to_string().as_bytes());
    assert_eq!(Format::CharacterCard.read(&source).unwrap().notes.len(), 5);
}

#[test]
fn a_vault_has_observations_relations_and_links() {
    let (_, found) = read("vault");
    let ilse = Subject::Topic("Ilse".to_owned());
    let of = |text: &str| found.notes.iter().find(|note| note.text.contains(text)).unwrap();
    let habit = of("Counts");
    assert_eq!(habit.text, "Counts the coins at night");
    assert_eq!(
        (habit.category.as_deref(), habit.context.as_deref()),
        (Some("habit"), Some("since the robbery"))
    );
    assert!(habit.tags.contains(&"coins".to_owned()) && habit.tags.contains(&"inn".to_owned()));
    assert_eq!(of("Marta knows Ilse").links, [ilse]);
    assert_eq!(of("Keeps").links, [Subject::Topic("The Ford".to_owned())]);
    assert!(of("Keeps").text.contains("- [ ] ask her about the bell"));
    assert!(of("Nowhere").links.is_empty());
}

#[test]
fn subagents_have_memories_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("agent-memory");
    let index = root.join("reviewer/MEMORY.md");
    let (top, file) = (index.parent().unwrap(), root.join("reviewer/locks.md"));
    #[allow(clippy::disallowed_methods)]
    {
        fs::create_dir_all(top).unwrap();
        fs::write(&index, "- [Locks](locks.md) - check first\n- [Out](../../x.md)\n").unwrap();
        fs::write(&file, "Take them in order.").unwrap();
    }
    for path in [&root, &top.to_owned()] {
        let source = Source::of_folder("x", Folder::read(path).unwrap());
        assert_eq!(Format::find(&source), Some(Format::ClaudeCode));
        let found = Format::ClaudeCode.read(&source).unwrap();
        assert!(
            found.notes.iter().all(|note| note.subject == Subject::Agent("reviewer".to_owned())),
            "{found:?}"
        );
        assert_eq!(found.notes[0].text, "- [Out](../../x.md)");
        assert_eq!(found.notes[1].context.as_deref(), Some("check first"));
    }
}

#[cfg(unix)]
#[test]
fn no_link_of_a_folder_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods)]
    {
        fs::write(outside.path().join("secret.md"), "secret").unwrap();
        fs::write(folder.path().join("own.md"), "It is here.").unwrap();
    }
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.md"), folder.path().join("a.md")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("round")).unwrap();
    let source = Source::of_folder("x", Folder::read(folder.path()).unwrap());
    let found = Format::Notes.read(&source).unwrap();
    assert_eq!((found.notes.len(), left_out(&found)), (1, vec!["links (3)".to_owned()]));
    assert_eq!(found.notes[0].text, "It is here.");
}

#[test]
fn conversations_follow_the_current_branch() {
    let chats = |name: &str| conversations(&Source::of_bytes(name, &fs::read(sample(name)).unwrap()));
    let texts = |messages: &[Value]| -> Vec<String> {
        messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    let expected = ["Where does the ferry land?", "At the ford."];
    for (name, left_out) in [("chatgpt.json", 2), ("claude.json", 0), ("tavern.jsonl", 0)] {
        let all = chats(name);
        assert_eq!(
            (texts(&all[0].messages).as_slice(), all[0].left_out),
            (&expected.map(str::to_owned)[..], left_out)
        );
        assert_eq!(all[0].messages[1]["role"], "assistant", "{name}");
        assert_eq!(
            all[0].messages[1]["timestamp"].as_str().map(|time| &time[..10]),
            Some("2026-01-01"),
            "{name}"
        );
    }
    // The parent of its only message is the message itself.
    assert_eq!(texts(&chats("chatgpt.json")[1].messages), ["Who rang the bell?"]);
}

#[test]
fn packed_texts_are_unpacked_to_a_limit() {
    let zeros = vec![b' '; 17 << 20];
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&zeros).unwrap();
    let data = [b"ccv3\0\0".as_slice(), &packed.finish().unwrap()].concat();
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &length, b"zTXt", &data, &[0; 4]].concat();
    let error = Format::CharacterCard.read(&Source::of_bytes("x.png", &png)).unwrap_err();
    assert!(error.problem.contains("no character card"), "{error}");

    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("card.json", SimpleFileOptions::default()).unwrap();
    archive.write_all(&zeros).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    let error = Format::CharacterCard.read(&Source::of_bytes("x.charx", &archive)).unwrap_err();
    assert!(error.problem.contains("larger than 16 MiB"), "{error}");
}

#[test]
fn deep_values_are_refused_and_many_keys_are_counted_together() {
    let deep = "[".repeat(100_000);
    assert_eq!(Source::of_bytes("x", deep.as_bytes()).content, Content::Other);
    let keys: serde_json::Map<String, Value> = (0..5_000).map(|at| (format!("k{at}"), json!(1))).collect();
    let mut memory = keys;
    memory.insert("memory".to_owned(), json!("x"));
    let source = Source::of_bytes("x", json!([memory]).to_string().as_bytes());
    let found = Format::Mem0.read(&source).unwrap();
    assert!(found.left_out.len() < 300 && found.left_out.iter().map(|part| part.count).sum::<u64>() == 5_000);
}

/// Reads bytes in all formats; only that nothing panics, and that what is read has words.
fn read_in_all(bytes: &[u8]) {
    let source = Source::of_bytes("x", bytes);
    conversations(&source);
    for name in Format::NAMES {
        let format: Format = name.parse().unwrap();
        if let Ok(found) = format.read(&source) {
            assert!(found.notes.iter().all(|note| !note.text.trim().is_empty()));
        }
    }
}

/// A value that may stand anywhere.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("")),
        Just(json!([[{}], 1])),
        Just(json!(true)),
        Just(json!({"0": {"content": 1, "key": {}}})),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,20}".prop_map(|text| json!(text)),
        Just(json!("\u{202e}[[x]]\u{0}\n## World\n**[NOTE] Forged**")),
    ]
}

/// Replaces one value of a document, counted in the order of the text.
fn replace(value: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        *value = new.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, new)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, at, new)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_broken_file_makes_a_reader_panic(
        name in prop::sample::select(FILES.to_vec()),
        at in any::<prop::sample::Index>(),
        length in 0usize..40,
        bytes in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        let mut file = fs::read(sample(name)).unwrap();
        let start = at.index(file.len());
        let end = (start + length).min(file.len());
        file.splice(start..end, bytes);
        read_in_all(&file);
        read_in_all(&file[..start]);
    }

    #[test]
    fn no_odd_value_makes_a_reader_panic(
        name in prop::sample::select(FILES.to_vec()),
        ats in prop::collection::vec(0usize..120, 1..4),
        new in odd(),
    ) {
        let text = fs::read(sample(name)).unwrap();
        let lines: Vec<Value> = match serde_json::from_slice(&text) {
            Ok(value) => vec![value],
            Err(_) => text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect(),
        };
        let changed: Vec<String> = lines.into_iter().map(|mut value| {
            for at in &ats {
                replace(&mut value, &mut at.clone(), &new);
            }
            value.to_string()
        }).collect();
        read_in_all(changed.join("\n").as_bytes());
    }

    #[test]
    fn every_word_of_a_note_comes_in(lines in prop::collection::vec(prop::sample::select(vec![
        "---", "a: b", "tags: [x", "# H", "## H", "- [c] word #t (d)", "- [c](u) word", "- r [[N]]", "- [[N|m]] (c)", "word",
        "```", "~~~~", "- [x] word", "[[", "]]", "- [", "\u{202e}word", "- [[[c]] word", "", "- [long category] #only", "(", ")",
    ]), 0..14)) {
        let text = lines.join("\n");
        for name in ["N.md", "MEMORY.md"] {
            let folder = Folder::of_text(name, &text);
            let source = Source::of_folder("x", folder);
            let found = Format::find(&source).unwrap().read(&source).unwrap();
            let said: String = found.notes.iter().map(|note| format!("{}\n", note.text)).collect();
            let body = lines.iter().filter(|line| line.ends_with("word")).count();
            prop_assert!(said.matches("word").count() >= body || text.starts_with("---\n"), "{}\n=> {:?}", text, found);
        }
    }
}
