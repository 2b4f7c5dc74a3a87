//! Clones that play different episodes flow together.

use std::collections::BTreeSet;
use std::fs;

use memories::document::run::BEST_RUN;
use memories::document::{Document, Section};
use memories::types::{Memory, Scope};

use super::World;

fn sections(text: &str) -> Vec<(Scope, Section)> {
    Document::parse(text.to_owned()).sections()
}

fn section_of<'a>(sections: &'a [(Scope, Section)], scope: &Scope) -> Option<&'a Section> {
    sections.iter().find(|(other, _)| other == scope).map(|(_, section)| section)
}

/// True if a merged section has the words of an entry, under its title or that with a suffix.
fn has_entry(section: &Section, entry: &Memory) -> bool {
    section.memories.iter().any(|other| {
        let title = other.title.strip_prefix(&entry.title);
        title.is_some_and(|rest| rest.is_empty() || rest.starts_with(" (")) && other.text == entry.text
    })
}

/// Asserts that a merged file has all that each side knew, and that visits add up.
#[track_caller]
fn assert_all_is_there(base: &str, sides: &[String], merged: &str) {
    assert!(!merged.contains("<<<<<<<"), "no markers");
    let (base, merged) = (sections(base), sections(merged));
    let sides: Vec<_> = sides.iter().map(|side| sections(side)).collect();
    let none = Section::default();
    for (scope, side) in sides.iter().flatten() {
        let result = section_of(&merged, scope).unwrap_or_else(|| panic!("{scope} is lost"));
        let old = section_of(&base, scope).unwrap_or(&none);
        // A merge keeps one best run, the better one.
        let is_kept = |entry: &&Memory| !old.memories.contains(entry) && entry.title != BEST_RUN;
        for entry in side.memories.iter().filter(is_kept) {
            assert!(has_entry(result, entry), "{scope}: `{}` is lost: {:?}", entry.title, entry.text);
        }
        let known: BTreeSet<&str> =
            result.tried.iter().chain(&result.worked).map(|one| one.action.as_str()).collect();
        let led: BTreeSet<&str> = result.ways.iter().map(|way| way.action.as_str()).collect();
        for attempt in side.tried.iter().chain(&side.worked) {
            let action = attempt.action.as_str();
            assert!(known.contains(action) || led.contains(action), "{scope}: `{action}` is lost");
        }
        for way in &side.ways {
            let is_there = result.ways.iter().any(|other| (&other.action, other.to) == (&way.action, way.to));
            assert!(is_there, "{scope}: the way `{}` is lost", way.action);
        }
        let episodes = side.episodes.iter().all(|episode| result.episodes.contains(episode));
        assert!(episodes, "{scope}: {:?} of {:?}", result.episodes, side.episodes);
        let visits = |section: Option<&Section>| section.map_or(0, |section| section.visits);
        let added: u64 =
            sides.iter().map(|side| visits(section_of(side, scope)).saturating_sub(old.visits)).sum();
        assert_eq!(result.visits, old.visits + added, "{scope}: visits");
    }
}

#[test]
fn two_clones_that_played_flow_together_by_merge() {
    let world = World::new();
    world.clones(&["a", "b"]);
    let base = world.text("a");
    world.play("a", 2);
    world.play("b", 3);
    let sides = [world.text("a"), world.text("b")];
    world.git("a", &["push", "-q"]);
    world.git("b", &["pull", "-q", "--no-edit"]);
    assert_all_is_there(&base, &sides, &world.text("b"));
    world.git("b", &["push", "-q"]);
    world.git("a", &["pull", "-q"]);
    assert_eq!(world.text("a"), world.text("b"));
    assert_eq!(world.git("a", &["status", "--porcelain"]), "");
    // A title that both gave to other words is told.
    let (code, problems, err) = world.run("memories", "a", &["check", "-q"]);
    let is_same_title =
        |line: &str| line.contains(": warning: the other side of a merge") || line.starts_with("    hint: ");
    assert!(code <= 1 && problems.lines().all(is_same_title), "{problems}{err}");

    // The same without the driver.
    world.git("first", &["fetch", "-q", "../b"]);
    world.git("first", &["config", "--unset", "merge.memories.driver"]);
    world.git("first", &["checkout", "-q", "-B", "plain", "FETCH_HEAD^1"]);
    fs::remove_file(world.at("first/.gitattributes")).unwrap();
    world.git("first", &["commit", "-qam", "no attributes"]);
    let (code, ..) = world.run("git", "first", &["merge", "-q", "FETCH_HEAD^2"]);
    let text = world.text("first");
    let hunks = text.lines().filter(|line| line.starts_with("<<<<<<<")).count();
    println!("plain git, without the driver: {hunks} conflict hunks; with it none");
    assert_eq!(code, 1);
    assert!(hunks >= 40, "{hunks}");
}

#[test]
fn a_pull_by_rebase_and_a_cherry_pick_merge_by_meaning() {
    let world = World::new();
    world.clones(&["a", "b"]);
    let base = world.text("a");
    world.play("a", 2);
    world.play("b", 3);
    let sides = [world.text("a"), world.text("b")];
    world.git("a", &["push", "-q"]);
    world.git("b", &["branch", "played"]);
    world.git("b", &["pull", "-q", "--rebase"]);
    assert_all_is_there(&base, &sides, &world.text("b"));
    assert_eq!(world.git("b", &["log", "--merges", "--oneline"]), "", "a rebase makes no merge");

    world.git("a", &["fetch", "-q", "../b", "played"]);
    world.git("a", &["cherry-pick", "FETCH_HEAD"]);
    assert_all_is_there(&base, &sides, &world.text("a"));
    assert_eq!(world.text("a"), world.text("b"));
}

#[test]
fn an_octopus_without_clashing_lines_adds_up_visits() {
    let world = World::new();
    world.git(".", &["init", "-q", "r"]);
    // Each branch adds a visit, and words an entry of its own: git's own octopus counts one visit for three.
    let entries = ["x", "y", "z"].map(|name| format!("\n**[NOTE] {name}**\nold {name}\n")).concat();
    let text = format!("## Location 1: A\n**Visits:** 2 | **Episodes:** 1\n\n### Memories\n{entries}\n---\n");
    fs::write(world.at("r/Memories.md"), &text).unwrap();
    world.memories("r", &["merge", "--install"]);
    world.git("r", &["add", "-A"]);
    world.git("r", &["commit", "-qm", "base"]);
    for branch in ["x", "y", "z"] {
        world.git("r", &["checkout", "-q", "-b", branch, "main"]);
        let played = text.replace("** 2", "** 3").replace(&format!("old {branch}"), &format!("new {branch}"));
        fs::write(world.at("r/Memories.md"), played).unwrap();
        world.git("r", &["commit", "-qam", branch]);
    }
    world.git("r", &["merge", "-q", "--no-edit", "x", "y"]);
    assert_eq!(world.text("r"), text.replace("** 2", "** 5").replace("old", "new"));
    world.git("r", &["reset", "-q", "--hard", "HEAD^"]);
    world.git("r", &["merge", "-q", "--no-edit", "-s", "octopus", "x", "y"]);
    assert!(world.text("r").contains("** 3"), "git's own: {}", world.text("r"));
}

#[test]
fn an_octopus_of_four_merges_by_meaning() {
    let world = World::new();
    world.clones(&["a"]);
    let base = world.text("a");
    let mut sides = Vec::new();
    for episode in 2..=5 {
        world.git("a", &["checkout", "-q", "-b", &format!("ep{episode}"), "main"]);
        fs::remove_dir_all(world.at("a/.memories")).unwrap_or_default();
        world.play("a", episode);
        sides.push(world.text("a"));
    }
    world.git("a", &["checkout", "-q", "ep2"]);
    world.git("a", &["merge", "-q", "--no-edit", "ep3", "ep4", "ep5"]);
    assert_all_is_there(&base, &sides, &world.text("a"));
    let parents = world.git("a", &["log", "-1", "--format=%P"]);
    assert_eq!(parents.split_whitespace().count(), 4, "one merge of four");
    assert_eq!(world.git("a", &["status", "--porcelain"]), "");

    // A conflict of other files: nothing is changed.
    for branch in ["x", "y", "z"] {
        world.git("a", &["checkout", "-q", "-b", branch, "main"]);
        fs::write(world.at("a/file"), branch).unwrap();
        world.git("a", &["add", "file"]);
        world.git("a", &["commit", "-qm", branch]);
    }
    let (code, out, err) = world.run("git", "a", &["merge", "-q", "x", "y"]);
    assert_ne!(code, 0, "{out}{err}");
    assert!(err.contains("these branches do not merge at once"), "{err}");
    assert_eq!(world.git("a", &["rev-parse", "HEAD", "z"]).lines().collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(fs::read_to_string(world.at("a/file")).unwrap(), "z");
}
