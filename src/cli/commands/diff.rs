//! `diff`: shows the changes of each place since the last write or a git revision.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::commands::common::read_existing;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::git::GitError;
use crate::cli::git_file::GitFile;
use crate::cli::paint;
use memories_document::compare::{
    Change, Comparison, Difference, LineDifference, Presence, SectionDifference, Visits, Words, compare,
    compare_lines, compare_words,
};
use memories_document::evidence::write_attempt;
use memories_document::fields::write_fields;
use memories_document::grammar::write_entry;
use memories_document::review::review;
use memories_document::types::{Attempt, Cause, Memory, MemoryObject, Provenance};
use memories_notebook::Authors;
use memories_store::Store;

/// Show what was added, removed and changed, place by place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit code 0: no differences; 1: some.

A line begins with `+` if the entry was added, `-` if it was removed, `~` if it
was changed and `x` if it was superseded; [-removed words-] and {+added words+}.

Examples:
  memories diff              the file against its state before the last write
  memories diff HEAD         the file against a git revision
  memories diff v1 v2        one git revision against another

With --textconv FILE it prints the file as `git diff` and `git log -p` compare
it after `memories merge --install`: all memories and people's lines first, then
the evidence, one action a line.

With --json: {version, file, before, after, form_only, sections: [{scope, name,
name_before, presence, visits, memories: [{change, before, after, words}],
tried: [{change, before, after}], evidence: [{presence, line}], other:
[{presence, line}]}], other: [{presence, line}]}. `evidence` holds ways, what
worked and what was carried.")]
pub(crate) struct DiffArgs {
    /// The older state: a git revision [default: the state before the last write]
    #[arg(value_name = "REV")]
    before: Option<String>,
    /// The newer state: a git revision [default: the file as it is]
    #[arg(value_name = "REV")]
    after: Option<String>,
    /// Print this file in the form that git compares, and compare nothing
    #[arg(long, value_name = "FILE", conflicts_with = "before")]
    textconv: Option<PathBuf>,
}

impl DiffArgs {
    /// The file that git names, whatever the settings of its repository.
    pub(crate) fn own_file(&self) -> Option<&Path> {
        self.textconv.as_deref()
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { pages: true, ..Facts::of(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: DiffArgs) -> Result<u8, Failure> {
    let DiffArgs { before, after, textconv } = args;
    if let Some(file) = textconv {
        return print_for_git(&mut cli, &file);
    }
    let store = cli.store()?;
    let old = match &before {
        Some(revision) => read_revision(&store, revision)?,
        None => read_former(&store)?,
    };
    let new = match &after {
        Some(revision) => read_revision(&store, revision)?,
        None => read_existing(&store)?,
    };
    let comparison = compare(&old, &new);
    let path = store.path().display().to_string();
    let before = before.unwrap_or_else(|| "the state before the last write".to_owned());
    if cli.ui.json {
        let authors = Authors::read(store.sidecar());
        let sections = comparison.sections.iter().map(|section| section_json(&authors, section));
        cli.ui.json_answer(&json!({
            "file": path, "before": before, "after": after.as_deref().unwrap_or("the file"),
            "form_only": comparison.form_only,
            "sections": sections.collect::<Value>(),
            "other": comparison.other,
        }))?;
    } else {
        cli.ui.painted(&render(&comparison), paint::difference)?;
        if comparison.is_empty() {
            let after = after.unwrap_or(path);
            cli.ui.notice(&format!("{after} does not differ from {before}"));
        }
    }
    Ok(u8::from(!comparison.is_empty()))
}

/// Prints a file in the form that git compares.
fn print_for_git(cli: &mut Cli<'_>, file: &Path) -> Result<u8, Failure> {
    if cli.ui.json {
        return Err(Failure::usage("`--textconv` prints a text for git and has no JSON")
            .hint("leave out `--json`; `memories diff --json` compares"));
    }
    let bytes = cli.read_file(file, "name the file that git gives")?;
    cli.ui.bytes(&review(&bytes))?;
    Ok(0)
}

/// The text before the last write.
fn read_former(store: &Store) -> Result<String, Failure> {
    let path = store.path().display().to_string();
    let newest = store.backups()?.into_iter().next().ok_or_else(|| {
        let failure = Failure::user(format!("there is no former state of `{path}`"));
        failure.hint(
            "every write but the first keeps the former state; or name a git revision: `memories diff HEAD`",
        )
    })?;
    Ok(store.read_backup(newest.number)?)
}

/// The text of the file at a git revision.
fn read_revision(store: &Store, revision: &str) -> Result<String, Failure> {
    let shown = store.path().display();
    let output = GitFile::of(store).bytes(revision).map_err(|error| match &error {
        GitError::Missing(error) => Failure::user(format!("cannot run `git`: {error}"))
            .hint("install git, or compare with the state before the last write: `memories diff`"),
        GitError::Refused { .. } if error.is_outside() => {
            Failure::user(format!("`{shown}` is not in a git repository"))
                .hint("compare with the state before the last write: `memories diff`")
        }
        GitError::Refused { message, .. } => {
            Failure::user(format!("cannot read `{shown}` at revision `{revision}`: {message}"))
                .hint("`git log -- FILE` shows the revisions that have it; `memories diff` needs no git")
        }
    })?;
    String::from_utf8(output).map_err(|_| {
        Failure::user(format!("`{shown}` at revision `{revision}` is not UTF-8"))
            .hint("name another revision")
    })
}

fn render(comparison: &Comparison) -> String {
    let mut out = String::new();
    for section in &comparison.sections {
        out.push_str(&render_section(section));
    }
    if !comparison.other.is_empty() {
        out.push_str("outside of all sections\n");
        out.extend(comparison.other.iter().map(render_line));
    }
    if comparison.form_only {
        out.push_str("only form, order or comments differ\n");
    }
    out
}

fn render_section(section: &SectionDifference) -> String {
    let presence = match section.presence {
        Presence::Added => "+ ",
        Presence::Removed => "- ",
        Presence::Kept => "",
    };
    let mut out = format!("{presence}{}\n", section.scope.label(&section.name));
    if let Some(name) = &section.name_before {
        out.push_str(&format!("  ~ was called `{name}`\n"));
    }
    if let Some([before, after]) = &section.visits {
        out.push_str(&format!("  ~ {} -> {}\n", visits(before), visits(after)));
    }
    for Difference { change, before, after } in &section.memories {
        match (before, after) {
            (Some(before), Some(after)) => out.push_str(&changed_memory(*change, before, after)),
            _ => out.extend(before.iter().chain(after).map(|memory| whole_memory(mark(*change), memory))),
        }
    }
    for Difference { change, before, after } in &section.tried {
        let line = |attempt: &Attempt| write_attempt(attempt)[2..].to_owned();
        let said = match (before, after) {
            (Some(before), Some(after)) => words(&line(before), &line(after)),
            _ => before.iter().chain(after).map(line).collect(),
        };
        out.push_str(&format!("  {} tried {said}\n", mark(*change)));
    }
    out.extend(section.evidence.iter().chain(&section.other).map(render_line));
    out
}

fn visits(visits: &Visits) -> String {
    let episodes: Vec<String> = visits.episodes.iter().map(u64::to_string).collect();
    match episodes.as_slice() {
        [] => format!("visits {}", visits.visits),
        _ => format!("visits {} in episodes {}", visits.visits, episodes.join(", ")),
    }
}

/// The mark of a line about a difference.
fn mark(change: Change) -> char {
    match change {
        Change::Added => '+',
        Change::Removed => '-',
        Change::Changed => '~',
        Change::Superseded => 'x',
    }
}

fn whole_memory(mark: char, memory: &Memory) -> String {
    let mut out = format!("  {mark} {}\n", entry_line(memory));
    for line in memory.text.lines() {
        out.push_str(&format!("      {line}\n"));
    }
    out
}

fn changed_memory(change: Change, before: &Memory, after: &Memory) -> String {
    let is_struck = change == Change::Superseded;
    let line = if is_struck { entry_line(after) } else { changed_line(before, after) };
    let mut out = format!("  {} {line}\n", mark(change));
    match after.reference.as_ref().map(|reference| &reference.cause) {
        Some(Cause::SupersededBy(title)) if is_struck => out.push_str(&format!("      by \"{title}\"\n")),
        Some(Cause::Invalidated(reason)) if is_struck => {
            out.push_str(&format!("      proven wrong: \"{reason}\"\n"));
        }
        _ => {}
    }
    let extra = |memory: &Memory| -> String {
        let closing = [("See also: ", &memory.see_also), ("Context: ", &memory.context)];
        let lines = closing.iter().filter_map(|(mark, value)| Some(format!("\n{mark}{}", value.as_deref()?)));
        format!("{}{}", memory.text, lines.collect::<String>())
    };
    if extra(before) != extra(after) {
        for line in words(&extra(before), &extra(after)).lines() {
            out.push_str(&format!("      {line}\n"));
        }
    }
    out
}

/// The first line of an entry without the asterisks of Markdown.
fn entry_line(memory: &Memory) -> String {
    let (title, fields) = title_and_fields(memory);
    if fields.is_empty() { title } else { format!("{title} ({fields})") }
}

/// The first line of a changed entry: the title compared by words, the fields one by one.
fn changed_line(before: &Memory, after: &Memory) -> String {
    let (old, new) = (title_and_fields(before), title_and_fields(after));
    let fields = |fields: &str| fields.replace(", ", "\n") + "\n";
    let field = |Words { presence, text }: Words| {
        text.lines().map(|field| marked(presence, field)).collect::<Vec<String>>().join(", ")
    };
    let runs = compare_lines(&fields(&old.1), &fields(&new.1));
    let fields: Vec<String> = runs.into_iter().map(field).filter(|field| !field.is_empty()).collect();
    let title = words(&old.0, &new.0);
    if fields.is_empty() { title } else { format!("{title} ({})", fields.join(", ")) }
}

/// The category and title of an entry, and its fields.
fn title_and_fields(memory: &Memory) -> (String, String) {
    let bare = Memory { provenance: Provenance::default(), ..memory.clone() };
    let title = write_entry(&bare);
    let title = title.trim_start_matches("**").strip_suffix("**").unwrap_or(&title).to_owned();
    (title, write_fields(&memory.provenance))
}

fn marked(presence: Presence, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    match presence {
        Presence::Kept => text.to_owned(),
        Presence::Added => format!("{{+{text}+}}"),
        Presence::Removed => format!("[-{text}-]"),
    }
}

fn words(before: &str, after: &str) -> String {
    compare_words(before, after).into_iter().map(|Words { presence, text }| marked(presence, &text)).collect()
}

fn render_line(difference: &LineDifference) -> String {
    let mark = if difference.presence == Presence::Added { '+' } else { '-' };
    format!("  {mark} {}\n", difference.line)
}

fn section_json(authors: &Authors, section: &SectionDifference) -> Value {
    let object = |memory: &Memory| {
        MemoryObject::of(&section.scope, &section.name, memory, authors.of(&section.scope, memory))
    };
    let memories = section.memories.iter().map(|Difference { change, before, after }| {
        let [old, new] = [before, after].map(|memory| memory.as_ref().map(object));
        let mut value = json!({"change": change, "before": old, "after": new});
        if let (Some(before), Some(after)) = (before, after) {
            value["words"] = json!(compare_words(&before.text, &after.text));
        }
        value
    });
    json!({
        "scope": section.scope, "name": section.name, "name_before": section.name_before,
        "presence": section.presence, "visits": section.visits, "memories": memories.collect::<Value>(),
        "tried": section.tried, "evidence": section.evidence, "other": section.other,
    })
}
