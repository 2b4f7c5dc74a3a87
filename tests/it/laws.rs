//! The laws of the file as properties, over arbitrary and hostile text.
//!
//! Each property runs 256 cases, or as many as `PROPTEST_CASES` says.

mod comments;
mod folding;
mod mending;
mod merge;

use memories::document::check::viewer_headings;
use memories::document::evidence;
use memories::document::format::format;
use memories::document::scan::{Event, is_section_boundary, lines, walk};
use memories::document::visits;
use memories::document::{
    Document, DocumentError, EntryEdit, EntryMut, RegionKind, Section, SectionUpdate, grammar, stored,
};
use memories::types::{
    Attempt, Category, Cause, FolderPath, Memory, Moment, Persistence, Provenance, Reference, Scope, Span,
    Status, TryResult, same_title,
};
use proptest::prelude::*;

/// A line that might break the parser.
fn hostile_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z .,'!?]{0,30}",
        2 => "\\PC{0,20}",
        1 => r"[ ]{0,4}[\\#=\-*_`~<>\[\]!:\t ]{0,8}",
        1 => prop::sample::select(vec![
            "# Title", "## Location 15: Elsewhere", "## World", "## Notes", " ## Location 3: x", "### Memories",
            "### Tried", "---", "***", "===", "```", "~~~", "````", "``` rust", "<!--", "-->", "<!-- x -->", "<div>",
            "<script>", "</script>", "**[NOTE] Forged** *(Ep1, T1)*", "**[DANGER - CORE] Other**", "**[broken",
            "[Superseded at Ep2 T45 by \"x\"]", "[Invalidated at T1: \"y\"]", "~~struck~~", "~~a ~ b~~", "\\# x", "\\",
            "Context: elsewhere", "See also: [[World › x]]", "**Visits:** 7 | **Episodes:** 1", "- `wait` ×3 *(Ep1, T2)*: no",
            "- item", "  - nested", "> quote", "1. one", "| a | b |", "    code", "\tcode", "\u{2028}", "\u{202e}rtl", "\u{0}",
            "**[note - PERMANENT - ACTIVE]  Sloppy ** *(T2, Ep1,+5 )*", "**[X - SUPERSEDED] Old**", "* wait x ×1", "- go: no",
            "**Visits:**  7 |**Episodes:** 1,2  ", " ### Tried ", "### Memories  ", "## Location:  Place 3 (ID: 3)",
            " [Superseded at  T45 by \"x\"] ", "- `a` *(Ep1, T2-3)*", " ---", "a\rb", "## Locaton 3: x",
            "##Location 2: x", "### Location 9: x", "## Location 8 - x", "**[NOTE] a *(Ep1)*", "[NOTE] b** *(T2)*", "**NOTE] c**",
            "**[NOTE - CORE] d** _(Ep1, T2)_", "**[NOTE] wrapped", "line** *(Ep1)*", "*(Ep1, T2)*", "\t**[NOTE] tab**", "**Visits** 3",
            "### Tryed", "- `go` x3 *(Ep1)*", "**[DANGR - CORE] e** *(Ep1 T2)*", "## Memories", "__[NOTE] f__", "- **[NOTE] g**", "\u{FEFF}", "[a]: b", "a\\", "*", "` `` ```",
            "## Folder src", "## Folder c#: C", "## folder: src/search/", "## Topic release: The release", "## Topic of the day",
            "a --> b", "--\\>", "x --\\\\> y",
        ]).prop_map(str::to_owned),
    ]
}

fn hostile_text() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::collection::vec(hostile_line(), 0..10).prop_map(|lines| lines.join("\n")),
        1 => prop::collection::vec(hostile_line(), 0..10).prop_map(|lines| lines.join("\r\n")),
        1 => "[ -~]{1,9}".prop_map(|text| text.repeat(10_000 / text.len())),
    ]
}

/// A file as people, other programs and crashes leave it.
fn file() -> impl Strategy<Value = String> {
    let section = (0u64..4, hostile_text())
        .prop_map(|(id, text)| format!("## Location {id}: Place {id}\n{text}\n\n---\n\n"));
    let canonical = (0u64..4).prop_map(|id| {
        format!("## Location {id}: Place {id}\n**Visits:** 2 | **Episodes:** 1\n\n### Memories\n\n**[NOTE] Kept {id}** *(Ep1, T2)*\nA text.\n\n### Tried\n\n- `wait` *(Ep1, T3)*: Time passes.\n\n---\n\n")
    });
    let blocks = prop::collection::vec(prop_oneof![2 => section, 2 => canonical, 1 => hostile_text()], 0..5);
    (blocks, prop::bool::weighted(0.2), prop::bool::weighted(0.1), prop::bool::weighted(0.3)).prop_map(
        |(blocks, crlf, bom, cut)| {
            let mut text = blocks.concat();
            if crlf {
                text = text.replace("\r\n", "\n").replace('\n', "\r\n");
            }
            if bom {
                text.insert(0, '\u{FEFF}');
            }
            if cut {
                text.truncate(text.trim_end().len());
            }
            text
        },
    )
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        6 => (0u64..6).prop_map(Scope::Location),
        1 => Just(Scope::World),
        1 => Just(Scope::Npc("troll".to_owned())),
        1 => Just(Scope::Agent("alex".to_owned())),
        1 => Just(Scope::Scene),
        2 => prop_oneof![Just("/"), Just("src"), Just("src/search"), Just("my notes/c#/日本"), Just("ab: c")]
            .prop_map(|path| Scope::Folder(FolderPath::parse(path).expect("a path"))),
        1 => prop_oneof![Just("release"), Just("ci")].prop_map(|id| Scope::Topic(id.to_owned())),
    ]
}

fn provenance() -> impl Strategy<Value = Provenance> {
    let span = (0u64..99, 0u64..9).prop_map(|(first, more)| Span { first, last: first + more });
    (
        (
            prop::option::of(0u64..99),
            prop::option::of(span.clone()),
            prop::option::of(span),
            prop::option::of(-99i64..99),
        ),
        (
            prop::option::of(1u16..=1000),
            prop::collection::vec("[a-z:,) %é]{1,8}", 0..3),
            prop::option::of("\\PC{0,20}"),
        ),
    )
        .prop_map(|((episode, turns, messages, score_change), (importance, tags, goal))| Provenance {
            episode,
            turns,
            messages,
            score_change,
            importance,
            tags,
            goal,
            ..Provenance::default()
        })
}

fn memory() -> impl Strategy<Value = Memory> {
    let category = prop::sample::select(vec!["SUCCESS", "FAILURE", "DANGER", "NOTE", "LOOT"]);
    let status = prop::sample::select(vec![Status::Active, Status::Tentative]);
    let persistence = prop::sample::select(vec![Persistence::Permanent, Persistence::Core]);
    let line = || prop::option::of(hostile_line());
    (category, status, persistence, hostile_text(), hostile_text(), provenance(), (line(), line())).prop_map(
        |(category, status, persistence, title, text, provenance, (context, see_also))| Memory {
            status,
            persistence,
            provenance,
            context,
            see_also,
            ..Memory::new(Category::new(category).expect("a category"), title, text)
        },
    )
}

/// One edit, as a caller would make it.
#[derive(Debug, Clone)]
enum Edit {
    Visit(Scope, u64),
    Add(Scope, Box<Memory>),
    AddAll(Scope, Vec<Memory>, Option<Box<Memory>>),
    Supersede(Scope, usize, String),
    Revise(Scope, usize, String),
    Importance(Scope, usize, u16),
    Revive(Scope, usize),
    Remove(Scope, usize),
    Rename(Scope, String),
    Attempt(Scope, String, String),
    Forget(Scope, String),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        1 => (scope(), 1u64..5).prop_map(|(scope, episode)| Edit::Visit(scope, episode)),
        3 => (scope(), memory()).prop_map(|(scope, memory)| Edit::Add(scope, Box::new(memory))),
        1 => (scope(), prop::collection::vec(memory(), 0..3), prop::option::of(memory()))
            .prop_map(|(scope, new, first)| Edit::AddAll(scope, new, first.map(Box::new))),
        1 => (scope(), 0usize..5, hostile_line()).prop_map(|(scope, at, reason)| Edit::Supersede(scope, at, reason)),
        1 => (scope(), 0usize..5, hostile_text()).prop_map(|(scope, at, text)| Edit::Revise(scope, at, text)),
        1 => (scope(), 0usize..5, 1u16..1000).prop_map(|(scope, at, importance)| Edit::Importance(scope, at, importance)),
        1 => (scope(), 0usize..5).prop_map(|(scope, at)| Edit::Revive(scope, at)),
        1 => (scope(), 0usize..5).prop_map(|(scope, at)| Edit::Remove(scope, at)),
        1 => (scope(), hostile_text()).prop_map(|(scope, name)| Edit::Rename(scope, name)),
        2 => (scope(), hostile_line(), hostile_text()).prop_map(|(scope, action, reply)| Edit::Attempt(scope, action, reply)),
        1 => (scope(), prop_oneof![Just("wait".to_owned()), hostile_line()]).prop_map(|(scope, action)| Edit::Forget(scope, action)),
    ]
}

impl Edit {
    fn scope(&self) -> &Scope {
        match self {
            Edit::Visit(scope, _)
            | Edit::Add(scope, _)
            | Edit::AddAll(scope, ..)
            | Edit::Supersede(scope, ..)
            | Edit::Revise(scope, ..)
            | Edit::Importance(scope, ..)
            | Edit::Revive(scope, _)
            | Edit::Remove(scope, _)
            | Edit::Rename(scope, _)
            | Edit::Attempt(scope, ..)
            | Edit::Forget(scope, _) => scope,
        }
    }

    /// Makes the edit in the document and in the plain model of its section.
    fn apply(&self, document: &mut Document, model: &mut Section) -> Result<(), DocumentError> {
        match self {
            Edit::Visit(scope, episode) => {
                document.visit(scope, "New", *episode, None)?;
                model.visits += 1;
                if !model.episodes.contains(episode) {
                    model.episodes.push(*episode);
                }
            }
            Edit::Add(scope, memory) => {
                document.add(scope, "New", memory)?;
                model.memories.push(stored(memory));
            }
            Edit::AddAll(scope, new, first) => {
                // Where two sections have one id, the file's order is not that of the model.
                let there = document.section(scope).unwrap_or_default().memories;
                let oldest = model.memories.first();
                let number = oldest.and_then(|oldest| there.iter().position(|memory| memory == oldest));
                let revision = number.and_then(|at| Some((at, (**first.as_ref()?).clone())));
                if let Some((_, memory)) = &revision {
                    model.memories[0] = stored(memory);
                }
                let entries = revision.into_iter().map(|(at, memory)| (at, EntryEdit::Revise(memory)));
                let entries = entries.collect();
                let added = Section { memories: new.clone(), ..Section::default() };
                let update = SectionUpdate { added, entries };
                document.update(&[(scope.clone(), update)].into())?;
                model.memories.extend(new.iter().map(stored));
            }
            Edit::Supersede(scope, at, reason) => {
                let Some((mut entry, slot)) = pick(document, model, scope, *at) else { return Ok(()) };
                let moment = Moment { episode: Some(2), ..Moment::default() };
                let reason =
                    reason.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{0}', "\u{FFFD}");
                let reference = Reference { at: moment, cause: Cause::Invalidated(reason) };
                entry.edit(EntryEdit::Supersede(Some(reference.clone())));
                slot.status = Status::Superseded;
                slot.reference = Some(reference);
            }
            Edit::Revise(scope, at, text) => {
                let Some((mut entry, slot)) = pick(document, model, scope, *at) else { return Ok(()) };
                let revised = Memory { text: text.clone(), ..slot.clone() };
                entry.edit(EntryEdit::Revise(revised.clone()));
                *slot = stored(&revised);
            }
            Edit::Importance(scope, at, importance) => {
                let Some((mut entry, slot)) = pick(document, model, scope, *at) else { return Ok(()) };
                slot.provenance.importance = Some(*importance);
                entry.revise_line(slot);
            }
            Edit::Revive(scope, at) => {
                let struck = model.memories.iter_mut().filter(|memory| !memory.is_live()).nth(*at);
                let Some(slot) = struck else { return Ok(()) };
                let titled = numbers(document, scope, &slot.title, |_| true);
                let [number] = titled.as_slice() else { return Ok(()) };
                let mut entry = document.entry_mut(scope, *number).expect("it was just found");
                entry.edit(EntryEdit::Revive(Status::Tentative));
                slot.status = Status::Tentative;
                slot.reference = None;
            }
            Edit::Remove(scope, at) => {
                let Some((entry, slot)) = pick(document, model, scope, *at) else { return Ok(()) };
                let removed = slot.clone();
                entry.remove();
                let at = model.memories.iter().position(|memory| *memory == removed).expect("just picked");
                model.memories.remove(at);
            }
            Edit::Rename(scope, name) => {
                document.rename(scope, name);
            }
            Edit::Attempt(scope, action, reply) => {
                let action =
                    action.replace(['\r', '\u{0}'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
                if action.is_empty() {
                    return Ok(());
                }
                let attempt = Attempt {
                    action,
                    count: 2,
                    episode: Some(1),
                    turn: Some(4),
                    reply: reply.clone(),
                    result: TryResult::Unknown,
                    witnesses: Default::default(),
                };
                document.put_attempt(scope, "New", RegionKind::Tried, &attempt, usize::MAX)?;
                let reply = memories::document::text::stored_reply(reply);
                let attempt = Attempt { reply, ..attempt };
                let same = |other: &&mut Attempt| {
                    memories::types::fold_action(&other.action)
                        == memories::types::fold_action(&attempt.action)
                };
                match model.tried.iter_mut().find(same) {
                    Some(slot) => *slot = attempt,
                    None => model.tried.push(attempt),
                }
            }
            Edit::Forget(scope, action) => {
                document.remove_attempt(scope, action, &Default::default());
                let action = memories::types::fold_action(&memories::document::text::stored_line(action));
                model.tried.retain(|attempt| memories::types::fold_action(&attempt.action) != action);
            }
        }
        Ok(())
    }
}

/// The entry that an edit changes, in the document and in the model.
fn pick<'a>(
    document: &'a mut Document,
    model: &'a mut Section,
    scope: &Scope,
    at: usize,
) -> Option<(EntryMut<'a>, &'a mut Memory)> {
    let slot = model.memories.get(at).filter(|memory| memory.is_live())?;
    let found = numbers(document, scope, &slot.title, Memory::is_live);
    let [number] = found.as_slice() else { return None };
    let entry = document.entry_mut(scope, *number)?;
    let slot = model.memories.iter_mut().find(|slot| **slot == entry.memory())?;
    Some((entry, slot))
}

/// Numbers of the entries of a scope that bear a title.
fn numbers(document: &Document, scope: &Scope, title: &str, wanted: fn(&Memory) -> bool) -> Vec<usize> {
    let entries = document.entries(scope).map(|entry| entry.memory()).enumerate();
    let titled = entries.filter(|(_, memory)| same_title(&memory.title, title) && wanted(memory));
    titled.map(|(number, _)| number).collect()
}

fn boundaries(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    walk(text.as_bytes(), |event| {
        let Event::Visible(offset, line) = event else { return };
        if is_section_boundary(line) {
            found.push(offset as usize);
        }
    });
    found
}

fn by_scope(document: &Document) -> Vec<(Scope, Section)> {
    let mut scopes: Vec<Scope> = document.headings().map(|heading| heading.scope.clone()).collect();
    scopes.sort();
    scopes.dedup();
    scopes.into_iter().map(|scope| (scope.clone(), document.section(&scope).expect("a section"))).collect()
}

/// Order is the file's; where an entry or try goes among others is checked elsewhere.
fn contents(section: &Section) -> (u64, Vec<u64>, Vec<String>, Vec<String>) {
    let mut memories: Vec<String> = section.memories.iter().map(|memory| format!("{memory:?}")).collect();
    let mut tried: Vec<String> = section.tried.iter().map(|attempt| format!("{attempt:?}")).collect();
    memories.sort();
    tried.sort();
    let mut episodes = section.episodes.clone();
    episodes.sort();
    (section.visits, episodes, memories, tried)
}

/// Found by the soak: the try went into the entry's text, too.
#[test]
fn an_entry_among_the_tries_keeps_its_text() {
    let scope = Scope::Location(3);
    let list = "**[NOTE] Sloppy**\n- a list\n- of its own\n";
    let mut document = Document::parse(format!("## Location 3: Cell\n### Tried\n{list}\n---\n"));
    let before = document.section(&scope).expect("a section");
    assert_eq!((before.memories[0].text.as_str(), before.tried.len()), ("- a list\n- of its own", 0));
    let wait = Attempt {
        action: "wait".to_owned(),
        count: 2,
        episode: None,
        turn: None,
        reply: String::new(),
        ..Attempt::default()
    };
    document.put_attempt(&scope, "", RegionKind::Tried, &wait, 9).expect("nothing is open");
    let text = document.into_text().expect("read as meant");
    assert_eq!(text, format!("## Location 3: Cell\n### Tried\n\n- `wait` ×2\n\n{list}\n---\n"));
    let after = Document::parse(text).section(&scope).expect("a section");
    assert_eq!((after.memories, after.tried), (before.memories, vec![wait]));
}

proptest! {
    #![proptest_config(crate::cases(256))]

    /// Law 1.
    #[test]
    fn printing_what_was_parsed_gives_the_same_bytes(text in prop_oneof![file(), "\\PC{0,200}", any::<String>()]) {
        prop_assert_eq!(Document::parse(text.clone()).into_text(), Ok(text));
    }

    /// Laws 1 and 4: any edits of any file, against a plain map.
    #[test]
    fn edits_change_what_they_are_about_and_nothing_else(
        text in file(),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let mut document = Document::parse(text.clone());
        let mut expected = by_scope(&document);
        let mut touched: Vec<Scope> = Vec::new();
        for edit in &edits {
            let scope = edit.scope().clone();
            if !expected.iter().any(|(other, _)| *other == scope) {
                expected.push((scope.clone(), Section::default()));
            }
            let slot = expected.iter().position(|(other, _)| *other == scope).expect("just made");
            let before = document.clone();
            match edit.apply(&mut document, &mut expected[slot].1) {
                Ok(()) => touched.push(scope),
                Err(DocumentError::MisreadSection { .. }) => {
                    document = before;
                }
                Err(error) => prop_assert!(false, "{error} after {edit:?}"),
            }
        }
        let edited = by_scope(&document);
        let printed = document.into_text();
        prop_assert!(printed.is_ok(), "{printed:?}");
        let printed = printed.expect("checked");
        let after = Document::parse(printed.clone());
        prop_assert_eq!(edited, by_scope(&after), "{}", printed);
        for (scope, section) in &expected {
            let found = after.section(scope).unwrap_or_default();
            prop_assert_eq!(contents(&found), contents(section), "{} in {:?}", scope, printed);
        }
        let before = Document::parse(text);
        for heading in before.headings() {
            if !touched.contains(&heading.scope) {
                let texts = |document: &Document| {
                    let texts = document.section_texts(&heading.scope);
                    texts.map(|text| text.trim_end().to_owned()).collect::<Vec<_>>()
                };
                prop_assert_eq!(texts(&before), texts(&after));
            }
        }
    }

    /// A Markdown viewer cuts what we write into the same sections.
    #[test]
    fn the_scan_and_a_markdown_viewer_agree_on_what_we_write(edits in prop::collection::vec(edit(), 1..8)) {
        let mut document = Document::parse(String::new());
        let mut models: Vec<(Scope, Section)> = Vec::new();
        for edit in &edits {
            let scope = edit.scope().clone();
            let slot = models.iter().position(|(other, _)| *other == scope).unwrap_or_else(|| {
                models.push((scope, Section::default()));
                models.len() - 1
            });
            edit.apply(&mut document, &mut models[slot].1).expect("nothing is open in a file of ours");
        }
        let text = document.into_text().expect("read as meant");
        prop_assert_eq!(viewer_headings(&text), boundaries(&text), "{}", text);
    }

    /// Laws 1 and 3: the canonical form says the same, and only lines of the grammar differ.
    #[test]
    fn the_canonical_form_says_the_same(text in file()) {
        canonical_form_says_the_same(&text)?;
    }
}

fn canonical_form_says_the_same(text: &str) -> Result<(), TestCaseError> {
    let formatted = format(text);
    prop_assert_eq!(&format(&formatted.text).text, &formatted.text);
    let (before, after) = (Document::parse(text.to_owned()), Document::parse(formatted.text.clone()));
    prop_assert_eq!(by_scope(&before), by_scope(&after), "{}", formatted.text);
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut new = formatted.text.split_inclusive('\n');
    let mut changes = formatted.changes.iter().peekable();
    let hidden: Vec<bool> = lines(text).iter().map(|line| line.hidden).collect();
    for (at, old) in old.iter().enumerate() {
        if changes.next_if(|change| change.line == at + 1 && change.before.is_none()).is_some() {
            prop_assert_eq!(new.next().map(str::trim), Some(""));
        }
        // A line of evidence that another one takes in.
        if let Some(change) = changes.next_if(|change| change.line == at + 1 && change.after.is_none()) {
            prop_assert_eq!(change.before.as_deref(), Some(old.trim_end_matches(['\r', '\n'])));
            prop_assert!(old.trim_start().starts_with(['-', '*', '+']), "{old}");
            continue;
        }
        let line = new.next().expect("no other line goes");
        let Some(change) = changes.next_if(|change| change.line == at + 1) else {
            prop_assert_eq!(line, *old);
            continue;
        };
        // A byte order mark is no part of the first line.
        let bare =
            |line: &'_ str| line.trim_start_matches('\u{FEFF}').trim_end_matches(['\r', '\n']).to_owned();
        let ending = |line: &str| line[line.trim_end_matches(['\r', '\n']).len()..].to_owned();
        prop_assert_eq!((change.before.clone(), ending(line)), (Some(bare(old)), ending(old)));
        prop_assert!(!hidden[at] && is_grammar(old.trim_end_matches(['\r', '\n'])), "{:?}", old);
    }
    prop_assert_eq!((new.next(), changes.next()), (None, None));
    Ok(())
}

#[test]
fn two_lines_about_one_action_become_one() {
    canonical_form_says_the_same(
        "## Location 0: Place 0\n ### Tried \n- **[NOTE] g**\n- **[NOTE] g**\n\n---\n\n",
    )
    .unwrap();
}

#[test]
fn a_byte_order_mark_before_a_heading_is_no_part_of_it() {
    canonical_form_says_the_same("\u{FEFF}## Location:  Place 3 (ID: 3)").unwrap();
}

/// True for lines of a kind that `fmt` may touch.
fn is_grammar(line: &str) -> bool {
    grammar::parse_heading(line.trim_start_matches('\u{FEFF}')).is_some()
        || visits::parse_visits(line).is_some()
        || grammar::parse_entry(line).is_some()
        || grammar::parse_reference(line).is_some()
        || evidence::parse_attempts(line).is_some()
        || matches!(line.trim(), "### Memories" | "### Tried" | "---")
}

#[test]
fn a_heading_of_nothing_but_its_mark_keeps_nobody_from_writing() {
    for text in ["#", "##\n", "#\r\n\r\n##\r\ntext", "# T\n##\n"] {
        let mut document = Document::parse(text.to_owned());
        document.visit(&Scope::Location(1), "", 1, None).expect("can be edited");
        document.into_text().expect("is read back as it was meant");
    }
}
