//! `merge --resolve`: conflicts that git leaves where no driver is installed, and what `check --fix` joins.

use std::fs;

use memories::document::Document;
use memories::types::Scope;
use serde_json::Value;

use super::World;
use crate::dice::Dice;

/// A repository without the driver, with this file on a branch `base`.
fn repository(world: &World, folder: &str, base: &str) {
    world.git(".", &["init", "-q", folder]);
    fs::write(world.at(folder).join("other.txt"), "x\n").unwrap();
    commit(world, folder, "base", base);
}

/// Commits a text of the memory file.
fn commit(world: &World, folder: &str, message: &str, text: &str) {
    fs::write(world.at(folder).join("Memories.md"), text).unwrap();
    world.git(folder, &["add", "-A"]);
    world.git(folder, &["commit", "-qm", message, "--allow-empty"]);
}

/// Two branches that grew from a text, with `ours` checked out.
fn branches(world: &World, folder: &str, [base, ours, theirs]: [&str; 3]) {
    repository(world, folder, base);
    world.git(folder, &["checkout", "-qb", "theirs"]);
    commit(world, folder, "theirs", theirs);
    world.git(folder, &["checkout", "-qb", "ours", "main"]);
    commit(world, folder, "ours", ours);
}

fn resolve(world: &World, folder: &str, arguments: &[&str]) -> (i32, String, String) {
    world.run("memories", folder, &[&["merge", "--resolve"], arguments].concat())
}

fn unmerged(world: &World, folder: &str) -> String {
    world.git(folder, &["ls-files", "--unmerged"])
}

const HALL: &str =
    "# Location Memories\n\n## Location 1: Hall\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n";

/// A place with an entry, and visits.
fn hall(visits: &str, entries: &str) -> String {
    format!("{}{entries}\n---\n", HALL.replace("1 | **Episodes:** 1", visits))
}

const RUG: &str = "**[NOTE] Rug**\nIt is heavy.\n";

/// The three versions of a file that conflicts by lines and not by meaning.
fn versions() -> [String; 3] {
    [
        hall("1 | **Episodes:** 1", RUG),
        hall("2 | **Episodes:** 1, 2", &format!("{RUG}\n**[NOTE] Axe**\nAn axe.\n")),
        hall("3 | **Episodes:** 1, 3", &format!("{RUG}\n**[NOTE] Rope**\nA rope.\n")),
    ]
}

#[test]
fn a_conflict_by_lines_alone_is_resolved_and_marked() {
    let world = World::new();
    branches(&world, "r", versions().each_ref().map(String::as_str));
    assert_eq!(world.run("git", "r", &["merge", "-q", "theirs"]).0, 1);
    let before = world.text("r");
    let (code, out, err) = world.run("memories", "r", &["add", "1", "--title", "x", "--text", "y"]);
    assert!(code == 4 && err.contains("hint: `memories merge --resolve`"), "{out}{err}");
    let (code, out, _) = resolve(&world, "r", &["--dry-run", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["changed"], &answer["resolved"]), (0, &true.into(), &false.into()), "{out}");
    assert_eq!((world.text("r"), unmerged(&world, "r").is_empty()), (before, false));
    let (code, out, err) = resolve(&world, "r", &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let said = "Memories.md: ours (HEAD) and theirs (theirs) merged by what they mean, and marked as resolved (`git add`)\n";
    assert_eq!(out, said);
    let section = Document::parse(world.text("r")).section(&Scope::Location(1)).unwrap();
    assert_eq!((section.visits, section.episodes, section.memories.len()), (4, vec![1, 2, 3], 3));
    assert_eq!(unmerged(&world, "r"), "");
    world.git("r", &["commit", "-qm", "merged"]);
    let (code, _, err) = resolve(&world, "r", &[]);
    assert!(code == 4 && err.contains("is in no conflict of git\nhint: `git status`"), "{err}");
}

#[test]
fn what_stays_to_decide_is_told_and_not_marked() {
    let world = World::new();
    let reworded = |words: &str| hall("1 | **Episodes:** 1", &RUG.replace("It is heavy.", words));
    branches(&world, "r", [&reworded("It is heavy."), &reworded("It is red."), &reworded("It is old.")]);
    world.run("git", "r", &["merge", "-q", "theirs"]);
    let (code, out, err) = resolve(&world, "r", &[]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("and not marked as resolved"), "{out}");
    assert!(err.contains("both sides worded `Rug` of location:1 differently"), "{err}");
    assert!(err.contains("then `git add Memories.md`"), "{err}");
    let text = world.text("r");
    assert!(text.contains("<<<<<<< HEAD\n**[NOTE] Rug**\nIt is red.\n=======\n"), "{text}");
    assert!(!unmerged(&world, "r").is_empty());
    // Again changes nothing; what somebody wrote since is not overwritten.
    let (code, out, _) = resolve(&world, "r", &["--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &answer["changed"], &answer["conflicts"][0]["title"]),
        (1, &false.into(), &"Rug".into())
    );
    for words in [text.replace("It is old.", "It is old, and mine."), reworded("Mine.")] {
        fs::write(world.at("r/Memories.md"), &words).unwrap();
        let (code, _, err) = resolve(&world, "r", &[]);
        assert!(code == 4 && err.contains("somebody") && err.contains("git checkout --merge"), "{err}");
        assert_eq!(world.text("r"), words);
    }
}

#[test]
fn a_rebase_a_pick_a_worktree_and_a_rename_are_resolved_too() {
    let world = World::new();
    let [base, ours, theirs] = versions();
    branches(&world, "r", [&base, &ours, &theirs]);
    world.git("r", &["branch", "copy"]);
    assert_eq!(world.run("git", "r", &["rebase", "-q", "theirs"]).0, 1);
    let (code, out, err) = resolve(&world, "r", &[]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        out.contains("ours (HEAD) and theirs (") && err.contains("in a rebase, ours is the branch onto"),
        "{out}{err}"
    );
    world.git("r", &["-c", "core.editor=true", "rebase", "--continue"]);
    let rebased = world.text("r");
    // In another work tree, from a subfolder, by a pick.
    world.git("r", &["worktree", "add", "-q", "../w", "theirs"]);
    fs::create_dir(world.at("w/deep")).unwrap();
    assert_eq!(world.run("git", "w", &["cherry-pick", "copy"]).0, 1);
    let (code, out, err) = resolve(&world, "w/deep", &["../Memories.md", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &answer["operation"], &answer["resolved"]),
        (0, &"cherry_pick".into(), &true.into()),
        "{err}"
    );
    assert_eq!(world.text("w"), rebased);
    world.git("w", &["cherry-pick", "--abort"]);
    // One side moved the file.
    world.git("w", &["checkout", "-q", "--detach", "theirs"]);
    world.git("w", &["mv", "Memories.md", "deep/Notes.md"]);
    world.git("w", &["commit", "-qm", "moved"]);
    assert_eq!(world.run("git", "w", &["merge", "-q", "copy"]).0, 1);
    let (code, _, err) = resolve(&world, "w", &["Memories.md"]);
    assert!(code == 4 && err.contains("in conflict are, from the root: deep/Notes.md"), "{err}");
    assert_eq!(resolve(&world, "w", &["deep/Notes.md"]).0, 0);
    assert_eq!(unmerged(&world, "w"), "");
}

#[test]
fn what_has_no_two_sides_is_refused_with_the_next_step() {
    let world = World::new();
    let [base, ours, theirs] = versions();
    branches(&world, "r", [&base, &ours, &theirs]);
    fs::create_dir(world.at("outside")).unwrap();
    fs::write(world.at("outside/Memories.md"), &base).unwrap();
    let (code, _, err) = resolve(&world, "outside", &[]);
    assert!(
        code == 4 && err.contains("not in the work tree") && err.contains("merge BASE OURS THEIRS"),
        "{err}"
    );
    let mut without = world.command(world.at("bin/memories").to_str().unwrap(), "r", &["merge", "--resolve"]);
    let out = without.env("PATH", world.at("bin")).output().unwrap();
    let err = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        out.status.code() == Some(4) && err.contains("cannot run `git`") && err.contains("install git"),
        "{err}"
    );
    // A side removed it.
    world.git("r", &["checkout", "-q", "-b", "gone", "main"]);
    world.git("r", &["rm", "-q", "Memories.md"]);
    world.git("r", &["commit", "-qm", "gone"]);
    world.run("git", "r", &["merge", "-q", "theirs"]);
    let (code, _, err) = resolve(&world, "r", &[]);
    assert!(code == 4 && err.contains("one side removed") && err.contains("git rm Memories.md"), "{err}");
    world.git("r", &["merge", "--abort"]);
    // Markers that were committed, and both sides without a base.
    world.git("r", &["checkout", "-q", "--orphan", "new"]);
    commit(&world, "r", "anew", &ours);
    world.run("git", "r", &["merge", "-q", "--allow-unrelated-histories", "theirs"]);
    let marked = world.text("r");
    assert_eq!(resolve(&world, "r", &[]).0, 0);
    let section = Document::parse(world.text("r")).section(&Scope::Location(1)).unwrap();
    assert_eq!((section.visits, section.memories.len()), (5, 3));
    commit(&world, "r", "markers", &marked);
    let (code, _, err) = resolve(&world, "r", &[]);
    assert!(code == 4 && err.contains("its markers were committed"), "{err}");
}

#[test]
fn line_endings_of_the_work_tree_stay() {
    let world = World::new();
    branches(&world, "r", versions().each_ref().map(String::as_str));
    world.git("r", &["config", "core.autocrlf", "true"]);
    fs::remove_file(world.at("r/Memories.md")).unwrap();
    world.git("r", &["checkout", "-q", "--", "Memories.md"]);
    assert_eq!(world.run("git", "r", &["merge", "-q", "theirs"]).0, 1);
    assert_eq!(resolve(&world, "r", &[]).0, 0);
    let text = world.text("r");
    assert!(
        text.contains("Rope**\r\n") && text.matches('\n').count() == text.matches("\r\n").count(),
        "{text:?}"
    );
    assert!(!world.git("r", &["show", ":Memories.md"]).contains('\r'));
}

/// A side: some entries and counts of the base changed, at random.
fn side(dice: &mut Dice, name: &str) -> String {
    let mut entries = String::new();
    for at in 0..4 {
        match dice.below(5) {
            0 => {}
            1 => entries.push_str(&format!(
                "**[NOTE] e{at}** *(Ep1, importance {})*\nText {at}.\n\n",
                500 + dice.below(3)
            )),
            2 => entries.push_str(&format!("**[NOTE] e{at}**\nText {at} of {name}.\n\n")),
            _ => entries.push_str(&format!("**[NOTE] e{at}**\nText {at}.\n\n")),
        }
    }
    let tried: String = (0..3)
        .map(|at| {
            format!("- `try {at}` ×{} *(Ep{}, T{at})*: No {at}.\n", 2 + dice.below(4), 1 + dice.below(3))
        })
        .collect();
    hall(&format!("{} | **Episodes:** 1", 1 + dice.below(5)), &format!("{entries}### Tried\n\n{tried}"))
}

/// With and without the driver, the same text and the same decisions are left.
#[test]
fn the_result_is_that_of_the_driver() {
    let world = World::new();
    let mut dice = Dice::of(42);
    let mut resolved = 0;
    for case in 0..12 {
        let texts = [side(&mut dice, "base"), side(&mut dice, "ours"), side(&mut dice, "theirs")];
        let (plain, driven) = (format!("plain{case}"), format!("driven{case}"));
        for folder in [&plain, &driven] {
            branches(&world, folder, texts.each_ref().map(String::as_str));
        }
        world.memories(&driven, &["merge", "--install"]);
        let (code, ..) = world.run("git", &plain, &["merge", "-q", "--no-edit", "theirs"]);
        let (with_driver, ..) = world.run("git", &driven, &["merge", "-q", "--no-edit", "theirs"]);
        if code == 0 {
            continue;
        }
        let (code, out, err) = resolve(&world, &plain, &[]);
        assert_eq!(code, with_driver, "{out}{err}");
        assert_eq!(world.text(&plain), world.text(&driven), "case {case}");
        assert_eq!(unmerged(&world, &plain).is_empty(), code == 0);
        resolved += 1;
    }
    assert!(resolved >= 6, "{resolved} conflicts");
}

#[test]
fn what_a_union_merge_leaves_twice_is_joined() {
    let world = World::new();
    let empty = "# Location Memories\n\n## Location 1: Hall\n\n---\n".to_owned();
    let place = |visits: &str, entry: &str, action: &str| {
        format!(
            "# Location Memories\n\n## Location 1: Hall\n{visits}\n\n### Memories\n\n{entry}\n### Tried\n\n{action}\n---\n\n\
             ## Location 7: Cave\n{visits}\n\n### Tried\n\n{action}\n---\n"
        )
    };
    let ours = place(
        "**Visits:** 1 | **Episodes:** 1 (T4)",
        "**[NOTE] Axe**\nAn axe.\n",
        "- `sing` *(Ep1, T4)*: No.\n",
    );
    let theirs = place(
        "**Visits:** 2 | **Episodes:** 1 (T9)",
        "**[NOTE] Rope**\nA rope.\n",
        "- `dance` ×2 *(Ep1, T9)*: No.\n",
    );
    branches(&world, "r", [&empty, &ours, &theirs]);
    fs::write(world.at("r/.git/info/attributes"), "Memories.md merge=union\n").unwrap();
    world.git("r", &["merge", "-q", "--no-edit", "theirs"]);
    let joined = world.text("r");
    let (code, found, _) = world.run("memories", "r", &["check"]);
    assert_eq!(code, 1, "{joined}");
    assert!(found.contains("hint: `memories check --fix` joins the two"), "{found}");
    world.memories("r", &["check", "--fix"]);
    let text = world.text("r");
    let document = Document::parse(text.clone());
    for scope in [Scope::Location(1), Scope::Location(7)] {
        let section = document.section(&scope).unwrap();
        assert_eq!((section.visits, section.episodes, section.tried.len()), (3, vec![1], 2), "{text}");
        assert_eq!(document.section_texts(&scope).count(), 1, "{text}");
    }
    assert_eq!(document.section(&Scope::Location(1)).unwrap().memories.len(), 2);
    assert_eq!(world.run("memories", "r", &["fmt", "--check"]).0, 0, "{text}");
}
