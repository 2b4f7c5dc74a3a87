//! What a file or an event costs grows as it does: twice the text takes about twice the time of the processor.
//!
//! A quadratic part takes four times as long. The time of the processor is measured, so other programs do not count.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::program::memories;

/// Times as much time as for half of a text: more is more than noise.
const TOO_MUCH: f64 = 3.0;

/// Time that says too little: the start of the program takes a part of it.
const LITTLE: Duration = Duration::from_millis(150);

/// Measurements before a text counts as too slow; the quickest counts.
const TRIES: usize = 3;

const HEAD: &str = "# Location Memories\n\n## Location 5: A\n\n### Memories\n\n**[NOTE] t**\nx\n";

/// A text of a size.
type Shape = fn(usize) -> String;

fn rows(count: usize, row: impl Fn(usize) -> String) -> String {
    HEAD.to_owned() + &(0..count).map(row).collect::<String>()
}

fn list(heading: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    format!("\n### {heading}\n\n") + &(0..count).map(row).collect::<String>()
}

fn tries(heading: &str, count: usize) -> String {
    list(heading, count, |i| format!("- `open door {i}` ×2 *(Ep1, T{i})*\n"))
}

fn ways(count: usize) -> String {
    list("Ways", count, |i| format!("- `go {i}` → [P{i}](#location-{}-p{i}) *(Ep1, T{i})*\n", i + 10))
}

const SHAPES: [(&str, Shape); 27] = [
    ("ways of one place", |n| HEAD.to_owned() + &ways(n)),
    ("ways to one place", |n| {
        HEAD.to_owned() + &list("Ways", n, |i| format!("- `go {i}` → [Hall](#location-9-hall)\n"))
    }),
    ("one action to many places", |n| {
        HEAD.to_owned() + &list("Ways", n, |i| format!("- `go` → [P{i}](#location-{}-p{i})\n", i + 10))
    }),
    ("ways and tries", |n| HEAD.to_owned() + &ways(n) + &tries("Tried", n)),
    ("ways with openers", |n| {
        let way = |i| format!("- `go {i}` → [P](#location-9-p) *(Ep1, T{i}, after open door {i})*\n");
        HEAD.to_owned() + &list("Ways", n, way) + &tries("Worked", n)
    }),
    ("a chain of places", |n| {
        rows(n, |i| {
            let (here, next) = (i + 10, i + 11);
            format!(
                "\n## Location {here}: P{here}\n\n### Ways\n\n- `e` → [P{next}](#location-{next}-p{next})\n"
            )
        })
    }),
    ("a place in the middle", |n| {
        let hub = list("Ways", n, |i| format!("- `go {i}` → [P{i}](#location-{}-p{i})\n", i + 10));
        let leaf =
            |i| format!("\n## Location {}: P{i}\n\n### Ways\n\n- `out` → [A](#location-5-a)\n", i + 10);
        HEAD.to_owned() + &hub + &(0..n).map(leaf).collect::<String>()
    }),
    ("tries that were blocked", |n| {
        let blocked = |i| format!("- `open chest {i}` ×2 *(Ep1, T{i}, blocked)*: The chest is locked.\n");
        HEAD.to_owned() + &list("Tried", n, blocked) + &tries("Worked", n)
    }),
    ("looks", |n| HEAD.to_owned() + &tries("Seen", n) + &tries("Worked", n)),
    ("one list again and again", |n| rows(n, |i| format!("\n### Tried\n\n- `open door {i}` *(Ep1)*: No.\n"))),
    ("entries", |n| rows(n, |i| format!("\n**[NOTE] t{i}**\nx\n"))),
    ("entries of one title", |n| rows(n, |i| format!("\n**[NOTE] t**\nx{i}\n"))),
    ("titles that look alike", |n| {
        rows(n, |i| format!("\n**[NOTE] p{}ge{}**\nx\n", ['a', 'а'][i % 2], i / 2))
    }),
    ("struck entries", |n| {
        rows(n, |i| format!("\n**[NOTE] c{i}**\nx\n[Superseded at Ep1 by \"c{}\"]\n", i + 1))
    }),
    ("links in a chain", |n| {
        rows(n, |i| format!("\n**[NOTE] c{i}**\nx\nSee also: [[Location 5 › c{}]]\n", i + 1))
    }),
    ("links to another place", |n| {
        let link = |to, i| format!("\n**[NOTE] c{i}**\nx\nSee also: [[Location {to} › c{}]]\n", i + 1);
        rows(n, |i| link(6, i)) + "\n## Location 6: B\n" + &(0..n).map(|i| link(5, i)).collect::<String>()
    }),
    ("links of one entry", |n| {
        HEAD.to_owned()
            + "See also: "
            + &(0..n).map(|i| format!("[[Location 5 › t{i}]] ")).collect::<String>()
            + "\n"
    }),
    ("fields of one entry", |n| {
        let fields: Vec<String> = (0..n).map(|i| format!("importance {i}")).collect();
        HEAD.replace("t**", &format!("t** *({})*", fields.join(", ")))
    }),
    ("writers of one entry", |n| {
        let writers: Vec<String> = (0..n).map(|i| format!("#by:w{i}")).collect();
        HEAD.replace("t**", &format!("t** *({})*", writers.join(", ")))
    }),
    ("headings", |n| rows(n, |i| format!("\n## Location {}: P\n", i + 10))),
    ("headings of one place", |n| {
        rows(n, |i| format!("\n## Location 7: P\n**Visits:** 1 | **Episodes:** {i}\n"))
    }),
    ("headings of nothing", |n| rows(n, |_| "\n### X\n".to_owned())),
    ("misread headings", |n| rows(n, |i| format!("\n## Lokation {i}: x\n\ny\n"))),
    ("brackets", |n| format!("{HEAD}{}\n", "[".repeat(20 * n))),
    ("emphasis", |n| format!("{HEAD}{}\n", "_a*b".repeat(10 * n))),
    ("code", |n| format!("{HEAD}{}\n", "`a".repeat(10 * n))),
    ("one long line", |n| format!("{HEAD}{}\n", "ab ".repeat(30 * n))),
];

/// The time of the processor that a command takes in a folder.
fn time_of(folder: &Path, arguments: &[&str]) -> Duration {
    let _ = fs::remove_dir_all(folder.join(".memories"));
    let mut command = memories(folder, arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let of_process = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    // Until it is waited for, an ended process says how long it ran.
    while !of_process("stat").rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let nanoseconds = of_process("schedstat").split(' ').next().unwrap().parse().unwrap();
    child.wait().unwrap();
    Duration::from_nanos(nanoseconds)
}

/// How much more time the larger of two texts takes, and that time.
fn growth(folder: &Path, arguments: &[&str], texts: &[String; 2]) -> (f64, Duration) {
    let [mut small, mut large] = [Duration::MAX; 2];
    for _ in 0..TRIES {
        for (text, time) in texts.iter().zip([&mut small, &mut large]) {
            fs::write(folder.join("Memories.md"), text).unwrap();
            *time = time_of(folder, arguments).min(*time);
        }
        if large < LITTLE || large.as_secs_f64() < TOO_MUCH * small.as_secs_f64() {
            break;
        }
    }
    (large.as_secs_f64() / small.as_secs_f64(), large)
}

/// Fails for each shape of which twice the text takes this command much more than twice the time.
#[track_caller]
fn grows_as_the_text_does(arguments: &[&str]) {
    let scratch = tempfile::tempdir().unwrap();
    let mut slow = Vec::new();
    for (name, shape) in SHAPES {
        let (times, took) = growth(scratch.path(), arguments, &[shape(1000), shape(2000)]);
        if times >= TOO_MUCH && took >= LITTLE {
            slow.push(format!("{name}: {times:.1} times, {took:?}"));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn recall_of_twice_the_text_takes_twice_the_time() {
    grows_as_the_text_does(&["recall", "5"]);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn check_of_twice_the_text_takes_twice_the_time() {
    grows_as_the_text_does(&["check"]);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn query_of_twice_the_text_takes_twice_the_time() {
    grows_as_the_text_does(&["query", "what is x"]);
}

#[cfg(feature = "page")]
#[test]
fn report_of_twice_the_text_takes_twice_the_time() {
    grows_as_the_text_does(&["report", "-o", "-"]);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn map_of_twice_the_text_takes_twice_the_time() {
    grows_as_the_text_does(&["map"]);
}
