//! The documents keep to their form: option lists are those of the program, paragraphs are short, each law names
//! tests that exist.
//!
//! `MEMORIES_GOLDEN=rewrite cargo test --test it documents` writes the options into the pages of `docs/reference`.

use std::fs;
use std::path::PathBuf;

use crate::program::memories;
use crate::root;
use crate::schemas::commands;

/// Words of the longest paragraph or list item.
const PARAGRAPH_WORDS: usize = 120;

/// Characters of a line outside of tables and code.
const LINE_CHARS: usize = 120;

/// Words of `docs/DESIGN.md`, which introduces the pages beside it.
const DESIGN_WORDS: usize = 3000;

/// Begins the options of a command; they end at `END`.
const BEGIN: &str = "<!-- help: ";
const END: &str = "```\n<!-- end of help -->";

/// Heading of the options that every command has; `docs/reference/README.md` shows them once.
const GLOBAL: &str = "Global options:\n";

fn markdown_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// All documents for readers.
pub fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/guide", "docs/reference", "docs/protocols", "docs/schema"];
    folders.iter().flat_map(|folder| markdown_in(folder)).collect()
}

fn help(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let output = memories(root(), &words).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The options of a command without those of all commands, or these alone for `global`.
fn options(command: &str) -> String {
    let global_of = |help: &str| {
        let (_, rest) = help.split_once(GLOBAL).unwrap();
        rest.split("\n\n").next().unwrap().trim_end().to_owned()
    };
    if command == "global" {
        return format!("{}\n", global_of(&help("tried")));
    }
    let help = help(command);
    let global = format!("{GLOBAL}{}", global_of(&help));
    format!("{}\n", help.replace(&format!("\n{global}\n"), "").trim_end())
}

/// The page with the program's own options, and the commands that it shows.
fn with_options(page: &str) -> (String, Vec<String>) {
    let (mut written, mut commands, mut rest) = (String::new(), Vec::new(), page);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (command, after) = after.split_once(" -->").expect("the mark is closed");
        let (_, after) = after.split_once(END).expect("the options end");
        written.push_str(&format!("{before}{BEGIN}{command} -->\n```text\n{}{END}", options(command)));
        commands.push(command.to_owned());
        rest = after;
    }
    written.push_str(rest);
    (written, commands)
}

#[test]
fn the_reference_shows_the_options_of_every_command_once() {
    let rewrite = std::env::var("MEMORIES_GOLDEN").as_deref() == Ok("rewrite");
    let mut shown = Vec::new();
    for path in markdown_in("docs/reference") {
        let page = fs::read_to_string(&path).unwrap();
        let (written, commands) = with_options(&page);
        if rewrite {
            fs::write(&path, &written).unwrap();
        } else {
            assert_eq!(page, written, "{}: MEMORIES_GOLDEN=rewrite writes the options", path.display());
        }
        shown.extend(commands);
    }
    shown.sort();
    let mut expected: Vec<String> = commands().into_iter().chain(["global".to_owned()]).collect();
    expected.sort();
    assert_eq!(shown, expected);
}

/// Paragraphs and list items of a page with the lines at which they begin; tables, code and comments are left out.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (number, line) in page.lines().enumerate() {
        let text = line.trim_start();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.is_empty() || text.starts_with(['|', '#', '<']) {
            is_open = false;
            continue;
        }
        let is_item = text.split_once(' ').is_some_and(|(mark, _)| {
            ["*", "-"].contains(&mark) || mark.strip_suffix('.').is_some_and(|n| n.parse::<u32>().is_ok())
        });
        match found.last_mut() {
            Some((_, paragraph)) if is_open && !is_item => paragraph.push_str(&format!("\n{line}")),
            _ => found.push((number + 1, line.to_owned())),
        }
        is_open = true;
    }
    found
}

#[test]
fn paragraphs_and_lines_of_documents_are_short() {
    let mut long = Vec::new();
    for path in documents() {
        let page = fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(root()).unwrap().display().to_string();
        for (line, paragraph) in paragraphs(&page) {
            let words = paragraph.split_whitespace().count();
            let is_prose = !paragraph.starts_with("    ");
            let is_wide = is_prose && paragraph.lines().any(|line| line.chars().count() > LINE_CHARS);
            if is_prose && words > PARAGRAPH_WORDS || is_wide {
                long.push(format!("{file}:{line}: {words} words, or a line of more than {LINE_CHARS}"));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn the_design_is_an_introduction() {
    let words = fs::read_to_string(root().join("docs/DESIGN.md")).unwrap().split_whitespace().count();
    assert!(words <= DESIGN_WORDS, "docs/DESIGN.md has {words} words: move some to the pages beside it");
}

/// The number of tests that a text names; each stands in the file that it names before them.
fn named_tests(text: &str) -> usize {
    let (mut source, mut count) = (String::new(), 0);
    for named in text.split('`').skip(1).step_by(2) {
        let path = root().join(named);
        if named.contains('/') {
            source = if path.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
            assert!(path.exists(), "{named} does not exist");
        } else {
            assert!(source.contains(&format!("fn {named}(")), "no test {named}");
            count += 1;
        }
    }
    count
}

#[test]
fn each_law_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("docs/format.md")).unwrap();
    let laws = page.split("\n### Law ").skip(1);
    let mut count = 0;
    for law in laws {
        let (_, tests) = law.split_once("\nTest").unwrap_or_else(|| panic!("no tests: {law}"));
        named_tests(tests);
        count += 1;
    }
    assert_eq!(count, 11);
}

#[test]
fn what_a_party_that_is_not_trusted_can_cause_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && line.contains(" | no | ")).collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let tests = row.trim_end_matches('|').rsplit('|').next().unwrap();
        assert!(named_tests(tests) > 0, "no tests: {row}");
    }
}

/// The commands that the table of tasks names are understood, in a world of one recorded episode.
#[test]
#[cfg(feature = "full")]
fn every_task_has_a_command_that_does_it() {
    let folder = tempfile::tempdir().unwrap();
    let turns = root().join("fixtures/turns/zork1_ep1.jsonl");
    let recorded = memories(folder.path(), &["record", "--turns", turns.to_str().unwrap()]).output().unwrap();
    assert!(recorded.status.success());
    let overview = memories(folder.path(), &[]).output().unwrap();
    let overview = String::from_utf8(overview.stdout).unwrap();
    let page = fs::read_to_string(root().join("docs/tasks.md")).unwrap();
    let commands: Vec<&str> =
        page.split("`memories ").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert_eq!(commands.len(), 20, "{commands:?}");
    for command in commands {
        let words = crate::golden::split(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = memories(folder.path(), &words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // 1 is an answer: `diff` shows differences.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {said}");
        let is_named = overview.lines().any(|line| line.starts_with("  ") && line.contains(words[0]));
        assert!(is_named, "the overview does not name {}", words[0]);
    }
}
