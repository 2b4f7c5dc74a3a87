//! Changes of a memory file, by the program and by hand, from which bases and sides of a merge are made.
//!
//! All choices come from small sets, so that two sides often change the same.

use std::collections::BTreeMap;

use memories::document::{Document, DocumentError, EntryEdit, RegionKind, Section, SectionUpdate};
use memories::types::{
    Attempt, Category, Cause, FolderPath, Memory, Moment, Persistence, Provenance, Reference, Scope, Span,
    Status, TryResult, Way, fold_action,
};
use proptest::prelude::*;
use strum::VariantArray;

use super::by_hand;

/// Words of every line that a person writes; a number follows.
pub(super) const HAND: &str = "by hand";

/// Files that are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// With LF, and one section for each scope.
    Plain,
    /// Also with CRLF, and second sections of a scope.
    Any,
}

/// A change of one side.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Visit(Scope, u64, Option<u64>),
    Add(Scope, Box<Memory>),
    Text(usize, &'static str),
    Category(usize, &'static str),
    Field(usize, Field),
    Context(usize, &'static str),
    SeeAlso(usize, &'static str),
    Supersede(usize, Option<&'static str>),
    Revive(usize),
    Remove(usize),
    Rename(u64, &'static str),
    Try(Scope, Attempt),
    /// Once more, of all actions and ways that are known.
    Again(usize, u64, u64),
    Work(Scope, &'static str, u64, u64),
    Walk(u64, Box<Way>),
    Look(u64, Box<Attempt>),
    Forget(Scope, &'static str),
    ByHand(by_hand::Edit),
}

/// A change of one field of an entry.
#[derive(Debug, Clone)]
pub(super) enum Field {
    Importance(u16),
    Tag(&'static str),
    Untag,
    Source(&'static str),
    Turn(u64),
    Goal(&'static str),
    Core(bool),
    Tentative(bool),
    Score(i64),
}

/// A scope; most changes are of one place.
pub(super) fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        8 => place().prop_map(Scope::Location),
        1 => Just(Scope::Npc("troll".to_owned())),
        1 => Just(Scope::World),
        1 => Just(Scope::Dialogue),
        1 => Just(Scope::Game),
        1 => Just(Scope::Folder(FolderPath::parse("src/search").expect("a path"))),
        1 => Just(Scope::Topic("release".to_owned())),
    ]
}

fn place() -> impl Strategy<Value = u64> {
    prop_oneof![5 => Just(7u64), 2 => Just(3u64), 1 => Just(12u64), 1 => Just(40u64)]
}

fn title() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "The lamp burns",
        "The door is shut",
        "A *bold* troll",
        "Rug hides door",
        "Cellar \"is\" dark",
    ])
}

fn text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "It is so.",
        "Take the north way, for the south one is barred.",
        "First line.\n\n- one thing\n- another thing",
        "Say this:\n\n```\nopen the *door*\n```\n\nThen go.",
        "",
        "# A hard line\nContext: of its own",
    ])
}

fn action() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["take lamp", "open door", "n", "Push  Rug", "say `hello`", "take sword"])
}

fn provenance() -> impl Strategy<Value = Provenance> {
    let span = (1u64..9, 0u64..2).prop_map(|(first, more)| Span { first, last: first + more });
    let tags = prop::sample::select(vec![vec![], vec!["troll"], vec!["troll", "about:jordan"]]);
    let importance = prop::option::of(prop::sample::select(vec![100u16, 700, 900]));
    let sources = prop::sample::select(vec![vec![], vec!["https://a.example/x"]]);
    let goal = prop::option::weighted(0.2, Just("Get out, fast".to_owned()));
    (
        prop::option::of(1u64..4),
        prop::option::of(span),
        (prop::option::weighted(0.2, -9i64..9), prop::option::weighted(0.1, Just("2026-01-31".to_owned()))),
        (importance, goal),
        (tags, sources),
    )
        .prop_map(|(episode, turns, (score_change, date), (importance, goal), (tags, sources))| {
            Provenance {
                episode,
                turns,
                score_change,
                date,
                importance,
                goal,
                tags: tags.into_iter().map(str::to_owned).collect(),
                sources: sources.into_iter().map(str::to_owned).collect(),
                ..Provenance::default()
            }
        })
}

fn category() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["NOTE", "DANGER", "SUCCESS"])
}

fn memory(title: impl Strategy<Value = &'static str>) -> impl Strategy<Value = Memory> {
    let status = prop_oneof![4 => Just(Status::Active), 1 => Just(Status::Tentative)];
    let persistence = prop_oneof![4 => Just(Persistence::Permanent), 1 => Just(Persistence::Core)];
    let context = prop::option::weighted(0.3, Just("told at the gate".to_owned()));
    let see_also = prop::option::weighted(0.2, Just("[[World › The lamp burns]]".to_owned()));
    (category(), title, text(), provenance(), (status, persistence), (context, see_also)).prop_map(
        |(category, title, text, provenance, (status, persistence), (context, see_also))| Memory {
            status,
            persistence,
            provenance,
            context,
            see_also,
            ..Memory::new(Category::new(category).expect("a category"), title, text)
        },
    )
}

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        prop::sample::select(vec![50u16, 700, 950]).prop_map(Field::Importance),
        prop::sample::select(vec!["troll", "key:lamp", "hard%20one"]).prop_map(Field::Tag),
        Just(Field::Untag),
        prop::sample::select(vec!["https://b.example/y", "file:log.txt"]).prop_map(Field::Source),
        (1u64..30).prop_map(Field::Turn),
        prop::sample::select(vec!["Find the egg", "Light the lamp"]).prop_map(Field::Goal),
        any::<bool>().prop_map(Field::Core),
        any::<bool>().prop_map(Field::Tentative),
        (0i64..3).prop_map(Field::Score),
    ]
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let reply = prop::sample::select(vec![
        "",
        "You can't see that here!",
        "It is shut. <!-- so -->",
        "Nothing happens.",
    ]);
    let mark = (prop::option::weighted(0.9, 1u64..4), prop::option::weighted(0.9, 1u64..40));
    let result = prop_oneof![4 => Just(TryResult::Vain), 1 => prop::sample::select(TryResult::VARIANTS)];
    (action(), reply, mark, result).prop_map(|(action, reply, (episode, turn), result)| Attempt {
        action: action.to_owned(),
        count: 1,
        episode,
        turn,
        reply: reply.to_owned(),
        result,
        witnesses: Default::default(),
    })
}

fn way() -> impl Strategy<Value = Way> {
    let mark = (prop::option::of(1u64..4), prop::option::of(1u64..40));
    let after = prop::collection::vec(action().prop_map(str::to_owned), 0..2);
    (action(), place(), mark, after).prop_map(|(action, to, (episode, turn), after)| Way {
        action: action.to_owned(),
        to,
        name: name_of(to).to_owned(),
        count: 1,
        episode,
        turn,
        after,
        witnesses: Default::default(),
    })
}

fn name_of(id: u64) -> &'static str {
    match id {
        3 => "Cellar",
        7 => "West of House",
        12 => "Round Room",
        _ => "",
    }
}

/// A change as the program makes it. Entries are counted through the whole file.
fn by_program() -> impl Strategy<Value = Change> {
    let at = || prop_oneof![3 => 0usize..3, 2 => 0usize..12];
    let supersede = prop::option::of(title());
    let context = prop::sample::select(vec!["seen twice", "told by \\ a `cook`"]);
    let link = prop::sample::select(vec!["[[World › A *bold* troll]]", "[[The lamp burns]]"]);
    // Titles that no base has: both sides may add them.
    let new_title = || prop::sample::select(vec!["New here", "Also new"]);
    let new = memory(new_title()).prop_map(|memory| Change::Add(Scope::Location(7), Box::new(memory)));
    prop_oneof![
        2 => (scope(), 1u64..5, prop::option::of(1u64..9))
            .prop_map(|(scope, episode, turn)| Change::Visit(scope, episode, turn)),
        5 => new,
        4 => (scope(), memory(title())).prop_map(|(scope, memory)| Change::Add(scope, Box::new(memory))),
        8 => (at(), text()).prop_map(|(at, text)| Change::Text(at, text)),
        2 => (at(), category()).prop_map(|(at, category)| Change::Category(at, category)),
        6 => (at(), field()).prop_map(|(at, field)| Change::Field(at, field)),
        1 => (at(), context).prop_map(|(at, context)| Change::Context(at, context)),
        1 => (at(), link).prop_map(|(at, link)| Change::SeeAlso(at, link)),
        4 => (at(), supersede).prop_map(|(at, by)| Change::Supersede(at, by)),
        1 => at().prop_map(Change::Revive),
        3 => at().prop_map(Change::Remove),
        1 => (place(), prop::sample::select(vec!["Dark Cellar", "Troll Room"]))
            .prop_map(|(id, name)| Change::Rename(id, name)),
        4 => (scope(), attempt()).prop_map(|(scope, attempt)| Change::Try(scope, attempt)),
        5 => (at(), 1u64..5, 1u64..40).prop_map(|(at, episode, turn)| Change::Again(at, episode, turn)),
        3 => (scope(), action(), 1u64..4, 1u64..40)
            .prop_map(|(scope, action, episode, turn)| Change::Work(scope, action, episode, turn)),
        3 => (place(), way()).prop_map(|(id, way)| Change::Walk(id, Box::new(way))),
        2 => (place(), attempt()).prop_map(|(id, seen)| Change::Look(id, Box::new(seen))),
        1 => (scope(), action()).prop_map(|(scope, action)| Change::Forget(scope, action)),
    ]
}

/// A change that adds something.
fn addition(form: Form) -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (scope(), memory(title())).prop_map(|(scope, memory)| Change::Add(scope, Box::new(memory))),
        4 => (scope(), attempt()).prop_map(|(scope, attempt)| Change::Try(scope, attempt)),
        2 => (scope(), action(), 1u64..4, 1u64..40)
            .prop_map(|(scope, action, episode, turn)| Change::Work(scope, action, episode, turn)),
        2 => (place(), way()).prop_map(|(id, way)| Change::Walk(id, Box::new(way))),
        2 => by_hand::edit(form).prop_map(Change::ByHand),
        3 => by_program(),
    ]
}

/// Changes of one side: by the program, and by a person with an editor.
pub(super) fn changes(count: std::ops::Range<usize>, form: Form) -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![4 => by_program(), 1 => by_hand::edit(form).prop_map(Change::ByHand)];
    prop::collection::vec(change, count)
}

/// The file from which both sides grew, in the forms in which editors save it.
pub(super) fn base(form: Form) -> impl Strategy<Value = String> {
    let crlf = if form == Form::Any { 0.3 } else { 0.0 };
    let saved = (prop::bool::weighted(crlf), prop::bool::weighted(0.1), prop::bool::weighted(0.15));
    (prop::collection::vec(addition(form), 2..30), saved).prop_map(|(changes, (crlf, mark, cut))| {
        let mut text = changed("", &changes);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if mark {
            text.insert(0, '\u{FEFF}');
        }
        if cut {
            text.truncate(text.trim_end().len());
        }
        text
    })
}

/// A text after changes. One that the file cannot take is not made, nor are those of the program beside it.
pub(super) fn changed(text: &str, changes: &[Change]) -> String {
    let mut text = text.to_owned();
    for run in changes
        .chunk_by(|one, other| !matches!((one, other), (Change::ByHand(_), _) | (_, Change::ByHand(_))))
    {
        if let [Change::ByHand(edit)] = run {
            text = edit.apply(&text);
            continue;
        }
        let mut document = Document::parse(text.clone());
        run.iter().for_each(|change| change.edit(&mut document));
        text = document.into_text().unwrap_or(text);
    }
    text
}

impl Change {
    fn edit(&self, document: &mut Document) {
        // An edit that the file cannot take is not made.
        let _ = match self {
            Change::Visit(scope, episode, turn) => document.visit(scope, name(scope), *episode, *turn),
            Change::Add(scope, memory) => {
                let known = document.section(scope).unwrap_or_default();
                let folded = memory.title.to_lowercase();
                let is_known = known.live().any(|other| other.title.to_lowercase() == folded);
                if is_known { Ok(()) } else { document.add(scope, name(scope), memory) }
            }
            Change::Rename(id, name) => {
                document.rename(&Scope::Location(*id), name);
                Ok(())
            }
            Change::Try(..) | Change::Work(..) | Change::Walk(..) | Change::Look(..) => self.record(document),
            Change::Again(at, episode, turn) => again(document, *at, (Some(*episode), Some(*turn))),
            Change::Forget(scope, action) => {
                document.remove_attempt(scope, action, &Default::default());
                Ok(())
            }
            _ => self.edit_entry(document),
        };
    }

    fn edit_entry(&self, document: &mut Document) -> Result<(), DocumentError> {
        let (Change::Text(at, _)
        | Change::Category(at, _)
        | Change::Field(at, _)
        | Change::Context(at, _)
        | Change::SeeAlso(at, _)
        | Change::Supersede(at, _)
        | Change::Revive(at)
        | Change::Remove(at)) = self
        else {
            return Ok(());
        };
        let sections = document.sections();
        let all = sections
            .iter()
            .flat_map(|(scope, section)| (0..section.memories.len()).map(move |at| (scope, section, at)));
        let all: Vec<_> = all.collect();
        let Some((scope, section, number)) = at.checked_rem(all.len()).map(|at| all[at]) else {
            return Ok(());
        };
        let live: Vec<String> = section.live().map(|memory| memory.title.to_lowercase()).collect();
        let mut entry = document.entry_mut(scope, number).expect("it was just counted");
        let memory = entry.memory();
        let moment = Moment { episode: Some(2), turn: Some(9), ..Moment::default() };
        let edit = match self {
            Change::Text(_, text) => EntryEdit::Revise(Memory { text: (*text).to_owned(), ..memory }),
            Change::Category(_, name) => {
                EntryEdit::Revise(Memory { category: Category::new(name).expect("a category"), ..memory })
            }
            Change::Context(_, context) => {
                EntryEdit::Revise(Memory { context: Some((*context).to_owned()), ..memory })
            }
            Change::SeeAlso(_, link) => EntryEdit::SetSeeAlso((*link).to_owned()),
            Change::Field(_, field) => EntryEdit::ReviseLine(field.of(memory)),
            Change::Supersede(_, by) if memory.is_live() => {
                let cause = by.map_or_else(
                    || Cause::Invalidated("it was wrong".to_owned()),
                    |by| Cause::SupersededBy(by.to_owned()),
                );
                EntryEdit::Supersede(Some(Reference { at: moment, cause }))
            }
            Change::Revive(..) if !memory.is_live() && !live.contains(&memory.title.to_lowercase()) => {
                EntryEdit::Revive(Status::Active)
            }
            Change::Remove(..) => EntryEdit::Remove,
            _ => return Ok(()),
        };
        entry.edit(edit);
        Ok(())
    }

    /// The changes of one recorded turn.
    fn record(&self, document: &mut Document) -> Result<(), DocumentError> {
        match self {
            Change::Try(scope, attempt) => {
                let known = document.section(scope).unwrap_or_default().tried;
                let count =
                    known.iter().find(|other| is_same(other, &attempt.action)).map_or(0, |other| other.count);
                let attempt = Attempt { count: count + 1, ..attempt.clone() };
                document.put_attempt(scope, name(scope), RegionKind::Tried, &attempt, 400)
            }
            Change::Work(scope, action, episode, turn) => {
                document.remove_attempt(scope, action, &Default::default());
                let known = document.section(scope).unwrap_or_default().worked;
                let count = known.iter().find(|other| is_same(other, action)).map_or(0, |other| other.count);
                let (episode, turn) = (Some(*episode), Some(*turn));
                let worked = Attempt {
                    action: (*action).to_owned(),
                    count: count + 1,
                    episode,
                    turn,
                    ..Attempt::default()
                };
                let added =
                    Section { name: name(scope).to_owned(), worked: vec![worked], ..Section::default() };
                document.update(&BTreeMap::from([(scope.clone(), added.into())]))
            }
            Change::Walk(from, way) => {
                let scope = Scope::Location(*from);
                document.remove_attempt(&scope, &way.action, &Default::default());
                let known = document.section(&scope).unwrap_or_default().ways;
                let same = |other: &&Way| {
                    other.to == way.to && fold_action(&other.action) == fold_action(&way.action)
                };
                let count = known.iter().find(same).map_or(0, |other| other.count);
                document.put_way(&scope, name(&scope), &Way { count: count + 1, ..(**way).clone() })
            }
            Change::Look(at, seen) => {
                let scope = Scope::Location(*at);
                let known = document.section(&scope).unwrap_or_default().seen;
                let same = |other: &&Attempt| fold_action(&other.action) == fold_action(&seen.action);
                let count = known.iter().find(same).map_or(0, |other| other.count);
                let seen = Attempt { count: count + 1, ..(**seen).clone() };
                document.put_attempt(&scope, name(&scope), RegionKind::Seen, &seen, 400)
            }
            _ => Ok(()),
        }
    }
}

/// Does once more what was tried, or worked, or led somewhere.
fn again(
    document: &mut Document,
    at: usize,
    (episode, turn): (Option<u64>, Option<u64>),
) -> Result<(), DocumentError> {
    let once_more = |one: &Attempt| Attempt { count: one.count + 1, episode, turn, ..one.clone() };
    let mut updates: Vec<(Scope, SectionUpdate)> = Vec::new();
    for (scope, section) in document.sections() {
        let mut push = |added: Section| updates.push((scope.clone(), added.into()));
        for tried in &section.tried {
            push(Section { tried: vec![once_more(tried)], ..Section::default() });
        }
        for worked in &section.worked {
            push(Section { worked: vec![once_more(worked)], ..Section::default() });
        }
        for way in &section.ways {
            let way = Way { count: way.count + 1, episode, turn, ..way.clone() };
            push(Section { ways: vec![way], ..Section::default() });
        }
    }
    let Some(at) = at.checked_rem(updates.len()) else { return Ok(()) };
    document.update(&BTreeMap::from([updates.swap_remove(at)]))
}

impl Field {
    fn of(&self, mut memory: Memory) -> Memory {
        let fields = &mut memory.provenance;
        match self {
            Field::Importance(importance) => fields.importance = Some(*importance),
            Field::Tag(tag) if fields.tags.iter().all(|other| other != tag) => {
                fields.tags.push((*tag).to_owned())
            }
            Field::Source(uri) if fields.sources.iter().all(|other| other != uri) => {
                fields.sources.push((*uri).to_owned())
            }
            Field::Tag(_) | Field::Source(_) => {}
            Field::Untag => drop(fields.tags.pop()),
            Field::Turn(turn) => fields.turns = Some(Span::one(*turn)),
            Field::Goal(goal) => fields.goal = Some((*goal).to_owned()),
            Field::Score(score) => fields.score = Some(*score),
            Field::Core(is_core) => {
                memory.persistence = if *is_core { Persistence::Core } else { Persistence::Permanent };
            }
            Field::Tentative(is_tentative) if memory.is_live() => {
                memory.status = if *is_tentative { Status::Tentative } else { Status::Active };
            }
            Field::Tentative(_) => {}
        }
        memory
    }
}

fn is_same(attempt: &Attempt, action: &str) -> bool {
    fold_action(&attempt.action) == fold_action(action)
}

fn name(scope: &Scope) -> &'static str {
    match scope {
        Scope::Location(id) => name_of(*id),
        Scope::Npc(_) => "The Troll",
        Scope::Topic(_) => "The release",
        _ => "",
    }
}
