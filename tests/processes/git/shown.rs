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
    world.play("a", 2);
    let diff = world.git("a", &["diff", "HEAD~1", "HEAD", "--", "Memories.md"]);
    let log = world.git("a", &["log", "-p", "-1", "--", "Memories.md"]);
    for patch in [&diff, &log] {
        let hunks = hunks(patch);
        assert!(hunks.len() > 20, "{}", hunks.len());
        for (place, first, lines) in &hunks {
            // The heading above the first change stands in the hunk, or else in its header.
            let above =
                lines.iter().take_while(|line| *line != first).filter(|line| line.starts_with(" ##")).last();
            let is_heading = first[1..].starts_with("## ");
            assert!(
                is_heading || above.is_none() && place.starts_with("## "),
                "{place}\n{}",
                lines.join("\n")
            );
        }
        let is_evidence = |(place, first, _): &(String, String, Vec<String>)| {
            first[1..].starts_with("## Evidence at ")
                || place.starts_with("## Evidence at ") && !first[1..].starts_with("## ")
        };
        let begins = hunks.iter().position(is_evidence).unwrap();
        assert!(hunks[begins..].iter().all(is_evidence), "evidence is behind all memories");
        let learned = hunks[..begins]
            .iter()
            .flat_map(|(_, _, lines)| lines)
            .filter(|line| line.starts_with("+**["))
            .count();
        assert!(learned > 10, "{learned}");
        let later = hunks[begins..]
            .iter()
            .flat_map(|(_, _, lines)| lines)
            .filter(|line| line.contains("**["))
            .count();
        assert_eq!(later, 0, "no memory among the evidence");
    }
    // The header names the place in the text that is compared.
    let old = world.text_at("a", "HEAD~1");
    fs::write(world.at("old.md"), old).unwrap();
    let old = world.memories(".", &["diff", "--textconv", "old.md"]);
    for line in diff.lines().filter(|line| line.starts_with("@@ ")) {
        let (range, place) = line[3..].split_once(" @@").unwrap();
        let start = range.trim_start_matches('-').split([',', ' ']).next().unwrap();
        let above = place_above(&old, start.parse::<usize>().unwrap().saturating_sub(1));
        assert!(above.starts_with(place.trim()), "{line}: {above}");
    }
}
