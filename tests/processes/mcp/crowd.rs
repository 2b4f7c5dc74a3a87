//! Fifty servers on one file, each with a client of its own, writers among them.

use std::time::Instant;

use serde_json::json;

use super::client::World;

const SERVERS: usize = 50;

/// Writers among ten servers.
const WRITERS_OF_TEN: usize = 4;

const ROUNDS: usize = 3;

#[test]
fn nothing_is_lost_and_nobody_waits_for_long() {
    let world = World::new(include_str!("story.md"));
    let slowest = std::thread::scope(|scope| {
        let world = &world;
        let sessions: Vec<_> = (0..SERVERS)
            .map(|number| {
                scope.spawn(move || {
                    let mut client = world.serve(&["--lock-timeout", "50s"]);
                    let mut slowest = std::time::Duration::ZERO;
                    for round in 0..ROUNDS {
                        let began = Instant::now();
                        if number % 10 < WRITERS_OF_TEN {
                            let word = word(number * ROUNDS + round);
                            let title = format!("By {number} in {round}");
                            let memory = json!({"content": word, "scope": "24", "title": title});
                            assert_eq!(client.values("form_memory", memory)["outcome"], "stored");
                        } else {
                            let here = client.says("get_location_memories", json!({"location": "23"}));
                            assert!(here.contains("Acquire brass lantern"));
                            assert!(
                                !client.titles("query_memories", json!({"question": "light"})).is_empty()
                            );
                        }
                        slowest = slowest.max(began.elapsed());
                    }
                    assert_eq!(client.leave().0, Some(0));
                    slowest
                })
            })
            .collect();
        sessions.into_iter().map(|session| session.join().unwrap()).max()
    });
    let text = world.text();
    let mut lost = Vec::new();
    for number in (0..SERVERS).filter(|number| number % 10 < WRITERS_OF_TEN) {
        lost.extend(
            (0..ROUNDS).map(|round| format!("By {number} in {round}")).filter(|title| !text.contains(title)),
        );
    }
    assert_eq!(lost, Vec::<String>::new());
    assert!(text.starts_with("# Location Memories\n\n## Location 23: Living Room\n"));
    assert_eq!(world.program().arg("check").output().unwrap().status.code(), Some(0));
    println!("{SERVERS} servers, {ROUNDS} calls each: the slowest took {:?}", slowest.unwrap());
}

/// A text unlike all others.
pub(super) fn word(number: usize) -> String {
    let letters = "bcdfghjklmnpqrstvwxz".as_bytes();
    let mut seed = number as u64 + 1;
    let mut letter = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(seed >> 33) as usize % letters.len()] as char
    };
    (0..5).map(|_| (0..9).map(|_| letter()).collect::<String>()).collect::<Vec<_>>().join(" ")
}
