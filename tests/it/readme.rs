//! README and the guide are executed: every command in a `console` block must print what the page shows.
//!
//! Each page runs in an empty folder of its own, in which `fixtures` and `examples` are links to the
//! project's. `MEMORIES_GOLDEN=rewrite cargo test --test it readme` writes the real output into the pages. A
//! line `…` stands for any number of lines; output of more than `SHOWN_LINES` lines is cut that way.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::documents::documents;
use crate::root;

/// Lines of output that a rewritten block keeps.
const SHOWN_LINES: usize = 24;

/// Commands that all pages together show at least, so that no page drops out unnoticed.
const COMMANDS: usize = 80;

/// Longest README in lines. It is the way in; everything longer belongs in the guide.
const README_LINES: usize = 120;

/// Pages of the guide that a person is asked to read; the others are to be looked up.
const PAGES_TO_READ: usize = 8;

/// Lines of README that a reader sees at once.
const FIRST_SCREEN: usize = 35;

/// The result of running one page.
struct Run {
    /// The page with the real output in its blocks.
    rewritten: String,
    commands: usize,
    /// Commands that printed something else than the page shows.
    wrong: Vec<String>,
}

/// README and the guide's chapters, relative to the project's folder.
fn pages() -> Vec<PathBuf> {
    let chapters = fs::read_dir(root().join("docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> =
        chapters.map(|entry| Path::new("docs/guide").join(entry.unwrap().file_name())).collect();
    pages.push("README.md".into());
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// Runs one line as a person's shell would, with `memories` on the path.
fn run_line(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_memories"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-c", &format!("{line} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .env("MEMORIES_NOW", "2026-01-31T10:40:00Z")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"…", rest)) => (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..])),
        Some((line, rest)) => {
            actual.first().is_some_and(|actual| is_line(line, actual)) && matches(rest, &actual[1..])
        }
    }
}

/// A word `…` of a line is any word: the number of a state depends on the time that the states before it took.
fn is_line(expected: &str, actual: &str) -> bool {
    match expected.split_once(" … ") {
        Some((start, end)) if expected != actual => {
            let word = actual.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            word.is_some_and(|word| word.split_whitespace().count() == 1)
        }
        _ => expected == actual,
    }
}

/// A block's commands, each with the output shown below it.
fn commands(block: &str) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => found.push((command.to_owned(), Vec::new())),
            None => found.last_mut().expect("a block starts with a command").1.push(line),
        }
    }
    found
}

/// Runs all `console` blocks of a page, in order.
fn run_page(page: &Path) -> Run {
    let folder = tempfile::tempdir().unwrap();
    for shared in ["fixtures", "examples"] {
        symlink(root().join(shared), folder.path().join(shared)).unwrap();
    }
    let text = read(page);
    let mut run = Run { rewritten: String::new(), commands: 0, wrong: Vec::new() };
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (block, after) = after.split_once("```\n").expect("the block is closed");
        run.rewritten.push_str(&format!("{before}```console\n"));
        for (command, expected) in commands(block) {
            let actual = run_line(&command, folder.path());
            let lines: Vec<&str> = actual.lines().collect();
            if !matches(&expected, &lines) {
                let page = page.display();
                let shown = expected.join("\n");
                run.wrong.push(format!("$ {command}\n{page} shows:\n{shown}\nprinted:\n{actual}"));
            }
            run.rewritten.push_str(&format!("$ {command}\n"));
            for line in lines.iter().take(SHOWN_LINES) {
                let shown = expected.iter().find(|expected| is_line(expected, line)).unwrap_or(line);
                run.rewritten.push_str(&format!("{shown}\n"));
            }
            if lines.len() > SHOWN_LINES {
                run.rewritten.push_str("…\n");
            }
            run.commands += 1;
        }
        run.rewritten.push_str("```\n");
        rest = after;
    }
    run.rewritten.push_str(rest);
    run
}

#[test]
fn what_readme_and_the_guide_show_is_what_the_program_prints() {
    let pages = pages();
    let runs: Vec<Run> = thread::scope(|scope| {
        let running: Vec<_> = pages.iter().map(|page| scope.spawn(|| run_page(page))).collect();
        running.into_iter().map(|page| page.join().unwrap()).collect()
    });
    if std::env::var("MEMORIES_GOLDEN").as_deref() == Ok("rewrite") {
        for (page, run) in pages.iter().zip(&runs) {
            fs::write(root().join(page), &run.rewritten).unwrap();
        }
    } else {
        let wrong: Vec<&str> = runs.iter().flat_map(|run| &run.wrong).map(String::as_str).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
    let shown: usize = runs.iter().map(|run| run.commands).sum();
    assert!(shown >= COMMANDS, "README and the guide show {shown} commands");
}

#[test]
fn readme_is_short_and_the_index_leads_to_every_page() {
    let readme = read("README.md".as_ref());
    let lines = readme.lines().count();
    assert!(lines <= README_LINES, "README has {lines} lines: move some to the guide");
    assert!(readme.contains("(docs/guide/README.md)"));
    let index = read("docs/guide/README.md".as_ref());
    let (to_read, _) = index.split_once("## To look up").unwrap();
    let count = to_read.matches("\n| [").count();
    assert!(count <= PAGES_TO_READ, "{count} pages are to be read");
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "the index has no link to {name}"
        );
    }
}

/// A machine with Rust alone sees the program's main job done, and its tests pass. `.ci/run` takes both commands from here.
#[test]
fn the_first_screen_has_a_command_for_the_job_and_one_for_the_tests() {
    let readme = read("README.md".as_ref());
    let first: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    cargo ")).collect();
    assert_eq!(first, ["run -- record --turns fixtures/turns/zork1_ep1.jsonl", "test"]);
    assert!(readme.lines().take(FIRST_SCREEN).any(|line| line == "    cargo test"));
}

/// Texts and targets of a page's Markdown links that lead to files of the project.
fn links(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let links = page.split("](").zip(page.split("](").skip(1));
    let links =
        links.filter_map(|(before, after)| Some((before.rsplit('[').next()?, after.split(')').next()?)));
    links.filter(|(_, target)| !target.contains("://") && !target.starts_with('#'))
}

/// The anchor that a Markdown heading gets.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
        .collect::<String>()
        .replace(' ', "-")
}

/// A link may name a heading behind `#`. Where its text is an item in backticks, a source file must have it.
#[test]
fn links_lead_to_files_headings_and_items() {
    for page in documents() {
        let page = page.strip_prefix(root()).unwrap().to_owned();
        let text = read(&page);
        for (shown, target) in links(&text) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = root().join(&page).parent().unwrap().join(file);
            assert!(path.exists(), "{} links to {file}, which does not exist", page.display());
            // A picture has no headings.
            let source = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            let source = String::from_utf8_lossy(&source);
            let has_heading = heading.is_empty()
                || source.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(has_heading, "{}: {file} has no heading #{heading}", page.display());
            let item = shown.strip_prefix('`').and_then(|item| item.strip_suffix('`'));
            let has_item = !file.ends_with(".rs") || item.is_none_or(|item| source.contains(item));
            assert!(has_item, "{}: {file} has no {shown}", page.display());
        }
    }
}

/// Files of the source that documents for contributors name without a link.
#[test]
fn named_files_exist() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = read(page.as_ref());
        for named in text.split('`').skip(1).step_by(2) {
            let is_path = ["crates/", "src/", "tests/", "fixtures/", "docs/"]
                .iter()
                .any(|root| named.starts_with(root));
            let exists = || root().join(named).exists();
            assert!(!is_path || named.contains("COMMAND") || exists(), "{page}: `{named}` does not exist");
        }
    }
}
