//! Views as text: for an agent's prompt, as Markdown, or as XML.
//!
//! No text can look like a part of this text that says something of another memory: texts are indented below their
//! headers, XML is escaped.

use std::fmt::Write;

use crate::format::Format;
use crate::view::{Linked, View};
use memories_document::Note;
use memories_document::fields::write_fields;
use memories_document::grammar::write_key;
use memories_document::text::write_title;
use memories_document::types::frame::{
    INDENT, NOTICE, STALE, indented, lines, one_line, text_below, title_before_origin,
};
use memories_document::types::instant::{Instant, age_in_words, day};
use memories_document::types::model_text::ModelText;
use memories_document::types::text::escape_xml;
use memories_document::types::{Memory, Persistence, Provenance, Scope, Status, written_by};

/// All views, ended by a line break.
pub fn render(views: &[View]) -> ModelText {
    let several = views.len() > 1;
    let parts: Vec<String> = views.iter().map(|view| render_view(view, several)).collect();
    let notice = views.iter().find(|view| shows_something(view)).map(|view| notice(view.format));
    let text = notice.unwrap_or_default() + &parts.join("\n");
    views.first().map_or_else(ModelText::default, |view| view.format.fit_for_model(&text))
}

/// The line before everything that is remembered.
pub(super) fn notice(format: Format) -> String {
    match format {
        Format::Text => format!("{NOTICE}\n"),
        Format::Markdown => format!("{NOTICE}\n\n"),
        Format::Xml => format!("<!-- {} -->\n", NOTICE.trim_end_matches(':')),
    }
}

fn shows_something(view: &View) -> bool {
    view.memories.len() + view.linked.len() + view.notes.len() + view.actions.len() > 0
        || !view.actions.not_understood.is_empty()
}

/// One view, ended by a line break. A first visit has no header where it stands alone.
pub(super) fn render_view(view: &View, several: bool) -> String {
    let format = view.format;
    let shown = view.memories.len() + view.actions.len() + view.notes.len();
    let actions_left_out =
        view.ways_left_out + view.worked_left_out + view.seen_left_out + view.tried_left_out;
    let known = shown + view.memories_left_out + actions_left_out + view.notes_left_out > 0;
    let first_visit =
        matches!(view.scope, Scope::Location(_)) && view.visits <= 1 && !known && view.misread_line.is_none();
    if first_visit && !several && format == Format::Text {
        return "First visit - no prior experiences\n".to_owned();
    }
    if view.is_parent && !shows_something(view) {
        return render_nothing_fits(view);
    }
    let mut out = render_header(view);
    if first_visit {
        out.push_str("First visit - no prior experiences\n");
    } else if let Some(visits) = render_visits(view) {
        out.push_str(&visits);
    } else if format != Format::Xml && shown > 0 {
        // Memories, notes and tried actions begin with a blank line of their own.
        out.pop();
    }
    let has_memories = view.memories.len() + view.memories_left_out > 0;
    if let Some(line) = view.misread_line {
        let _ =
            writeln!(out, "Its memories cannot be read: line {line} of the file is no heading of a section");
    } else if !first_visit && !has_memories && view.notes.is_empty() {
        let gap = if out.ends_with("\n\n") || format == Format::Xml { "" } else { "\n" };
        let _ = writeln!(out, "{gap}No memories yet");
    }
    for group in Group::ALL {
        let mut members = view.memories.iter().filter(|piece| Group::of(&piece.value) == group).peekable();
        if members.peek().is_some() {
            out.push_str(group.heading(format));
        }
        out.extend(members.map(|piece| &*piece.text));
    }
    if !view.linked.is_empty() {
        out.push_str(linked_heading(format));
        out.extend(view.linked.iter().map(|piece| &*piece.text));
    }
    if !view.notes.is_empty() {
        out.push_str(notes_heading(format));
        out.extend(view.notes.iter().map(|piece| &*piece.text));
    }
    if !first_visit {
        out.push_str(&view.actions.render(format));
    }
    if let Some(note) = left_out(view) {
        let _ = match format {
            Format::Xml => writeln!(out, "<note>{note}</note>"),
            Format::Text | Format::Markdown => writeln!(out, "({note})"),
        };
    }
    if format == Format::Xml {
        out.push_str("</memory>\n");
    }
    out
}

/// The line about a folder above of which nothing fits into the budget.
fn render_nothing_fits(view: &View) -> String {
    let counts = left_out(view).unwrap_or_else(|| "nothing shown".to_owned()).replace(" more ", " ");
    let note = format!("{}: {counts}", write_key(&view.scope));
    match view.format {
        Format::Xml => format!("<note>{}</note>\n", escape_xml(&note)),
        Format::Text | Format::Markdown => format!("({note})\n"),
    }
}

fn render_header(view: &View) -> String {
    let kind = match &view.scope {
        Scope::Location(_) => "Location Memory",
        Scope::Npc(_) => "Character Memory",
        Scope::Agent(_) => "Agent Memory",
        Scope::Folder(_) | Scope::Topic(_) => "Work Memory",
        Scope::World | Scope::Scene | Scope::Dialogue | Scope::Game => "Memory",
    };
    let key = write_key(&view.scope);
    let called = if view.name.is_empty() { key.clone() } else { format!("{} ({key})", one_line(&view.name)) };
    match view.format {
        Format::Text => format!("{kind} for {called}:\n\n"),
        Format::Markdown => format!("## {called}\n\n"),
        Format::Xml => {
            format!(
                "<memory scope=\"{}\" name=\"{}\">\n",
                escape_xml(&view.scope.to_string()),
                escape_xml(&view.name)
            )
        }
    }
}

fn render_visits(view: &View) -> Option<String> {
    if view.visits == 0 {
        return None;
    }
    let times = if view.visits == 1 { "time" } else { "times" };
    let episodes = match view.episodes.len() {
        0 => String::new(),
        1 => " across 1 episode".to_owned(),
        count => format!(" across {count} episodes"),
    };
    Some(format!("You've been here {} {times}{episodes}.\n", view.visits))
}

/// Groups of memories in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// Lasting and confirmed.
    Firm,
    /// Lasting but not yet confirmed.
    Tentative,
    /// Memories that live in this episode only.
    Ephemeral,
}

impl Group {
    /// All groups, in the order of the output.
    pub(super) const ALL: [Group; 3] = [Group::Firm, Group::Tentative, Group::Ephemeral];

    /// The group of a memory.
    pub(super) fn of(memory: &Memory) -> Group {
        match (memory.persistence, memory.status) {
            (Persistence::Ephemeral, _) => Group::Ephemeral,
            (_, Status::Tentative) => Group::Tentative,
            _ => Group::Firm,
        }
    }

    /// The heading of the group.
    pub(super) fn heading(self, format: Format) -> &'static str {
        match (self, format) {
            (Group::Firm, _) => "",
            (Group::Tentative, Format::Xml) => "<!-- tentative: unconfirmed, may be invalidated -->\n",
            (Group::Tentative, _) => "\nTentative (unconfirmed, may be invalidated):\n",
            (Group::Ephemeral, Format::Xml) => "<!-- this episode only -->\n",
            (Group::Ephemeral, _) => "\nThis episode only:\n",
        }
    }
}

/// One memory with the blank line before it, if any.
pub(super) fn render_memory(memory: &Memory, format: Format, now: Option<Instant>) -> ModelText {
    let gap = match (format, Group::of(memory)) {
        (Format::Text, Group::Firm) | (Format::Markdown, _) => "\n",
        _ => "",
    };
    format.fit_for_model(&format!("{gap}{}", render_entry(memory, "", &render_origin(memory, now), format)))
}

/// The heading of linked memories.
pub(super) fn linked_heading(format: Format) -> &'static str {
    if format == Format::Xml { "<!-- see also -->\n" } else { "\nSee also:\n" }
}

/// A memory of another section, with the name of that section.
pub(super) fn render_linked(linked: &Linked, format: Format, now: Option<Instant>) -> ModelText {
    let Linked { scope, name, memory } = linked;
    let origin = render_origin(memory, now);
    if format == Format::Xml {
        let place = format!(" scope=\"{}\" name=\"{}\"", escape_xml(&scope.to_string()), escape_xml(name));
        return format.fit_for_model(&render_entry(memory, &place, &origin, format));
    }
    let key = write_key(scope);
    let place = if name.is_empty() { key } else { format!("{}, {key}", one_line(name)) };
    let origin = if origin.is_empty() { place } else { format!("{place}, {origin}") };
    let gap = if format == Format::Markdown { "\n" } else { "" };
    format.fit_for_model(&format!("{gap}{}", render_entry(memory, "", &origin, format)))
}

/// The heading of notes.
pub(super) fn notes_heading(format: Format) -> &'static str {
    if format == Format::Xml { "<!-- notes by hand -->\n" } else { "\nNotes by hand:\n" }
}

/// A note that a person wrote, with its heading.
pub(super) fn render_note(note: &Note, format: Format) -> ModelText {
    let Note { heading, text } = note;
    if format == Format::Xml {
        let heading =
            if heading.is_empty() { String::new() } else { format!(" heading=\"{}\"", escape_xml(heading)) };
        return format.fit_for_model(&format!("<by_hand{heading}>{}</by_hand>\n", escape_xml(text)));
    }
    let is_line = lines(text).nth(1).is_none() && !text.starts_with(['-', '*', '+', '>']);
    let written = match (heading.is_empty(), is_line) {
        (true, _) => text.clone(),
        (false, true) => format!("{}: {text}", one_line(heading)),
        (false, false) => format!("{}:\n{text}", one_line(heading)),
    };
    format.fit_for_model(&indented(&written, INDENT))
}

/// An entry's lines; `attributes` are those of an XML element.
fn render_entry(memory: &Memory, attributes: &str, origin: &str, format: Format) -> String {
    let Memory { category, title, text, status, .. } = memory;
    let text = &*text_below(title, text);
    match format {
        Format::Text => {
            let origin = if origin.is_empty() { String::new() } else { format!(" ({origin})") };
            format!("[{category}] {}{origin}\n{}", title_before_origin(title), indented(text, INDENT))
        }
        Format::Markdown => {
            let origin = if origin.is_empty() { String::new() } else { format!(" *({origin})*") };
            let title = write_title(&one_line(title));
            format!("**[{category}] {title}**{origin}\n{}", indented(text, INDENT))
        }
        Format::Xml => {
            let status = if *status == Status::Tentative { " status=\"tentative\"" } else { "" };
            let origin =
                if origin.is_empty() { String::new() } else { format!(" origin=\"{}\"", escape_xml(origin)) };
            let (category, title, text) =
                (escape_xml(category.as_str()), escape_xml(title), escape_xml(text));
            format!(
                "<entry category=\"{category}\" title=\"{title}\"{attributes}{status}{origin}>{text}</entry>\n"
            )
        }
    }
}

/// The files of a memory that changed since, in words; `None` where nothing is known of any.
pub fn render_stale(memory: &Memory) -> Option<String> {
    (!memory.stale.is_empty()).then(|| format!("{STALE} {}", one_line(&memory.stale.join("; "))))
}

/// Episode, turns, score change, of a memory of no episode its day with its age, who told it, and writers.
pub(super) fn render_origin(memory: &Memory, now: Option<Instant>) -> String {
    let Provenance { episode, turns, score_change, ref date, .. } = memory.provenance;
    let fields = write_fields(&Provenance { episode, turns, score_change, ..Provenance::default() });
    let date = date.as_deref().filter(|_| episode.is_none());
    let age = date.and_then(Instant::of).zip(now).map(|(date, now)| age_in_words(now.days_since(date)));
    let stale = render_stale(memory);
    let fields = Some(fields).filter(|fields| !fields.is_empty());
    let parts = [fields, date.map(day), age, memory.told_by(), written_by(&memory.writers()), stale];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn left_out(view: &View) -> Option<String> {
    let more = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 more {one}")),
        count => Some(format!("{count} more {several}")),
    };
    let memories = more(view.memories_left_out, "memory", "memories");
    let notes = more(view.notes_left_out, "note", "notes");
    let ways = more(view.ways_left_out, "way", "ways");
    let worked = more(view.worked_left_out, "action that worked", "actions that worked");
    let seen = more(view.seen_left_out, "look", "looks");
    let tries = more(view.tried_left_out, "try", "tries");
    let parts: Vec<String> = [memories, notes, ways, worked, seen, tries].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{} not shown", parts.join(", ")))
}
