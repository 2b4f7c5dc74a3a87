//! `git diff` and `git log -p` of a recorded episode.

use std::fs;

use super::World;

/// The hunks of a patch: the place in each header, and the first line that changes.
fn hunks(patch: &str) -> Vec<(String, String, Vec<String>)> {
    let mut hunks: Vec<(String, String, Vec<String>)> = Vec::new();
    for line in patch.lines() {
        if let Some(rest) = line.strip_prefix("@@ ") {
            let place = rest.split_once(" @@").map_or("", |(_, place)| place.trim());
            hunks.push((place.to_owned(), String::new(), Vec::new()));
        } else if let Some((_, first, lines)) = hunks.last_mut() {
            if first.is_empty() && line.starts_with(['+', '-']) {
                *first = line.to_owned();
            }
            lines.push(line.to_owned());
        }
    }
    hunks
}

/// The heading above a line of a text, found by a change of it: the place of line `number`, from 1.
fn place_above(text: &str, number: usize) -> &str {
    text.lines()
        .take(number)
        .filter(|line| line.starts_with("## ") || line.starts_with("# "))
        .last()
        .unwrap_or("")
}

#[test]
fn a_diff_names_places_and_shows_memories_before_evidence() {
    let world = World::new();
    world.clones(&["a"]);
    for episode in 2..=5 {
        world.play("a", episode);
        let diff = world.git("a", &["diff", "HEAD~1", "HEAD", "--", "Memories.md"]);
        let log = world.git("a", &["log", "-p", "-1", "--", "Memories.md"]);
        assert_reads_well(&diff);
        assert_reads_well(&log);
        assert_headers_name_places(&world, &diff);
    }
}

/// Asserts that each hunk names a place, and that all memories stand before the evidence.
fn assert_reads_well(patch: &str) {
    let hunks = hunks(patch);
    assert!(hunks.len() > 20, "{}", hunks.len());
    for (place, first, lines) in &hunks {
        // No heading stands between the header and the first change, unless that is one.
        let above = lines.iter().take_while(|line| *line != first).any(|line| line.starts_with(" ##"));
        let is_heading = first[1..].starts_with("## ");
        assert!(is_heading || !above && place.starts_with("## "), "{place}\n{}", lines.join("\n"));
    }
    let is_evidence = |(place, first, _): &(String, String, Vec<String>)| {
        let heading = if first[1..].starts_with("## ") { &first[1..] } else { place };
        heading.starts_with("## Evidence at ")
    };
    let begins = hunks.iter().position(is_evidence).unwrap();
    assert!(hunks[begins..].iter().all(is_evidence), "evidence is behind all memories");
    let (learned, later) = hunks.split_at(begins);
    let lines = |hunks: &[(String, String, Vec<String>)], mark: &str| {
        hunks.iter().flat_map(|(_, _, lines)| lines).filter(|line| line.starts_with(mark)).count()
    };
    assert!(lines(learned, "+**[") > 0);
    assert_eq!(lines(later, "+**[") + lines(later, "-**["), 0, "no memory among the evidence");
}

/// Asserts that the headers name the places above the changes, in the text that is compared.
fn assert_headers_name_places(world: &World, diff: &str) {
    fs::write(world.at("old.md"), world.text_at("a", "HEAD~1")).unwrap();
    let old = world.memories(".", &["diff", "--textconv", "old.md"]);
    for line in diff.lines().filter(|line| line.starts_with("@@ ")) {
        let (range, place) = line[3..].split_once(" @@").unwrap();
        let start = range.trim_start_matches('-').split([',', ' ']).next().unwrap();
        let above = place_above(&old, start.parse::<usize>().unwrap().saturating_sub(1));
        assert!(above.starts_with(place.trim()), "{line}: {above}");
    }
}
