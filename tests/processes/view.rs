//! The world as a page: `report` as a file, `serve` as a server that other programs write beside.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::blocking::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::program::{Killed, memories, names, succeed, text_of};

/// A turn as `record` reads it, as the file stands after it.
fn record(folder: &Path, number: u64, action: &str, to: u64) {
    let episode = 1 + number / 3;
    let turn = json!({"episode": episode, "turn": number, "action": action, "response": "Done.",
        "location_before": {"id": 1, "name": "House"}, "location_after": {"id": to, "name": "Place"},
        "score_before": 0, "score_after": number});
    let path = folder.join(format!("turn{number}.json"));
    fs::write(&path, turn.to_string()).unwrap();
    let mut command = memories(folder, &["record", "--provider", "offline", "-q"]);
    let output = command.stdin(fs::File::open(path).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The data block of a page.
fn data_of(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_is_one_file_that_no_text_can_break_out_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    (1..=5).for_each(|number| record(folder, number, "north", number + 1));
    let hostile = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)>";
    succeed(folder, &["add", "1", "--title", hostile, "--text", hostile, "-q"]);
    let said: Value =
        serde_json::from_str(&succeed(folder, &["report", "--json", "--title", hostile])).unwrap();
    let page = fs::read_to_string(folder.join("Memories.html")).unwrap();
    assert_eq!(said["bytes"], page.len());
    assert_eq!((&said["step_count"], &said["has_gaps"]), (&json!(7), &json!(false)));
    assert_eq!(page.matches("</script>").count(), 2, "those of the data and of the script");
    assert!(!page.contains("<img") && !page.contains("<!--"), "texts are escaped");
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    let data = data_of(&page);
    assert_eq!(
        (&data["title"], &data["file"], &data["mode"]),
        (&json!(hostile), &json!("Memories.md"), &json!("report"))
    );
    assert!(data["parts"].as_array().unwrap().iter().any(|part| part["text"] == hostile));
    let stats: Value = serde_json::from_str(&succeed(folder, &["stats", "--json"])).unwrap();
    let (mut shown, mut printed) = (data["stats"].clone(), stats);
    (shown["file"], printed["file"]) = (Value::Null, Value::Null);
    assert_eq!(shown, printed);
    let recall: Value = serde_json::from_str(&succeed(folder, &["recall", "1", "--json"])).unwrap();
    assert_eq!(data["recalls"]["location:1"]["text"], recall["text"]);
    // No path of this machine is in it: it may be mailed.
    assert!(!page.contains(&folder.display().to_string()));
    // A page is replaced by a page.
    let steps = |arguments: &[&str]| -> u64 {
        let answer: Value =
            serde_json::from_str(&succeed(folder, &[&["report", "--json"], arguments].concat())).unwrap();
        answer["step_count"].as_u64().unwrap()
    };
    assert_eq!(steps(&["--episode", "1"]), 3, "the start and two turns");
    assert_eq!(steps(&["--since", "2.4"]), 4);
    assert_eq!(steps(&["--since", "2027-01-01"]), 1);
    assert_eq!(succeed(folder, &["report", "-o", "-"]).matches("</html>").count(), 1);
    assert_eq!(names(folder).iter().filter(|name| name.ends_with(".html")).count(), 1);
}

#[test]
fn a_report_of_a_file_without_history_says_what_is_there_now() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    (1..=4).for_each(|number| record(folder, number, "north", 2));
    fs::remove_dir_all(folder.join(".memories")).unwrap();
    succeed(folder, &["report", "-q"]);
    let data = data_of(&fs::read_to_string(folder.join("Memories.html")).unwrap());
    assert_eq!(data["steps"], json!([["s"]]));
    assert_eq!(data["sections"].as_array().unwrap().len(), 3, "two places, and the game with its best run");
    assert!(!folder.join(".memories").exists(), "a reader makes nothing");
}

#[cfg(unix)]
#[test]
fn a_page_is_opened_by_the_program_of_the_desktop() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, 1, "north", 2);
    let opener = folder.join("xdg-open");
    fs::write(
        &opener,
        "#!/bin/sh\nprintf '%s' \"$1\" > \"$HOME/opened.new\"\nmv \"$HOME/opened.new\" \"$HOME/opened\"\n",
    )
    .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let status =
        memories(folder, &["report", "-q", "--open", "-o", "world.html"]).env("PATH", path).status().unwrap();
    assert!(status.success());
    let opened = folder.join("opened");
    for _ in 0..500 {
        if opened.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(fs::read_to_string(opened).unwrap().ends_with("world.html"));
}

/// A running `serve`.
struct Served {
    _child: Killed,
    address: String,
    opened: String,
    client: Client,
}

impl Served {
    fn start(folder: &Path, flags: &[&str]) -> Served {
        let arguments = [&["serve", "--json", "--listen", "127.0.0.1:0"], flags].concat();
        let mut child =
            memories(folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let [address, opened] = ["listening", "address"].map(|name| said[name].as_str().unwrap().to_owned());
        let _ = rustls::crypto::ring::default_provider().install_default();
        let redirects = reqwest::redirect::Policy::none();
        let client = Client::builder().redirect(redirects).timeout(Duration::from_secs(20)).build().unwrap();
        Served { _child: Killed(child), address, opened, client }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.address))
    }

    fn json(&self, path: &str) -> Value {
        self.get(path).send().unwrap().json().unwrap()
    }

    /// The token in the address that is to be opened.
    fn token(&self) -> &str {
        self.opened.split_once("?token=").unwrap().1
    }

    fn edit(&self, change: &Value) -> Response {
        let request =
            self.client.post(format!("{}edit", self.address)).header("X-Memories-Token", self.token());
        request.json(change).send().unwrap()
    }

    /// The message of a change that is made.
    fn edited(&self, change: &Value) -> String {
        let answer = self.edit(change);
        let status = answer.status();
        let said: Value = answer.json().unwrap();
        assert!(status.is_success(), "{said}");
        said["message"].as_str().unwrap().to_owned()
    }

    /// Error and hint of a change that is refused.
    fn refused(&self, change: &Value) -> (String, String) {
        let answer = self.edit(change);
        assert!(answer.status().is_client_error());
        let said: Value = answer.json().unwrap();
        let [error, hint] = ["error", "hint"].map(|name| said[name].as_str().unwrap_or_default().to_owned());
        (error, hint)
    }
}

/// The events of a server: name and data.
struct Events(BufReader<Response>);

impl Events {
    fn of(request: RequestBuilder) -> Events {
        Events(BufReader::new(request.send().unwrap()))
    }

    fn next(&mut self) -> (String, Value) {
        let (mut name, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", value)) => value.clone_into(&mut data),
                _ if !name.is_empty() && line == "\n" => return (name, serde_json::from_str(&data).unwrap()),
                _ => {}
            }
        }
    }

    /// The next change that has steps.
    fn next_step(&mut self) -> Value {
        loop {
            let (name, change) = self.next();
            assert_eq!(name, "change", "{change}");
            if change["steps"].as_array().is_some_and(|steps| !steps.is_empty()) {
                return change;
            }
        }
    }
}

#[test]
fn a_page_follows_commands_and_editors() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The game has not begun.
    let served = Served::start(folder, &[]);
    assert_eq!(served.json("data")["steps"], json!([["s"]]));
    let mut events = Events::of(served.get("events"));
    let (name, hello) = events.next();
    assert_eq!((name.as_str(), &hello["steps"], &hello["revision"]), ("hello", &json!(1), &json!(0)));
    assert_eq!(hello["server"], served.json("data")["server"]);
    assert!(hello["server"].is_string(), "a page knows another server by it");
    record(folder, 1, "north", 2);
    let change = events.next_step();
    assert_eq!(change["steps"][0][0], "t");
    let scopes: Vec<&str> = change["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["scope"].as_str().unwrap())
        .collect();
    assert_eq!(scopes, ["location:1", "location:2", "game"]);
    assert_eq!(change["map"]["places"].as_array().unwrap().len(), 2);
    let recall: Value = serde_json::from_str(&succeed(folder, &["recall", "1", "--json"])).unwrap();
    assert_eq!(change["recalls"]["location:1"]["text"], recall["text"]);
    // What is counted over everything follows.
    let (_, counted) = events.next();
    assert_eq!((&counted["steps"], &counted["stats"]["play"]["recorded"]), (&json!([]), &json!(1)));
    // A person edits the file.
    fs::write(folder.join("Memories.md"), text_of(folder) + "\n## World\n\n**[NOTE] War**\nIt began.\n")
        .unwrap();
    let change = events.next_step();
    assert_eq!((&change["steps"], &change["sections"][0]["scope"]), (&json!([["o"]]), &json!("world")));
    record(folder, 2, "wait", 1);
    assert_eq!(events.next_step()["steps"].as_array().unwrap().len(), 1);
    let data = served.json("data");
    assert_eq!(data["steps"].as_array().unwrap().len(), 4);
    let found = served.json("search?q=when+did+the+%77ar%20begin");
    assert_eq!(found["memories"][0]["title"], "War", "{found}");
    assert_eq!(served.json("search?q=")["code"], 2);
    // The history is gone, and the page goes on.
    fs::remove_dir_all(folder.join(".memories")).unwrap();
    record(folder, 3, "north", 2);
    assert_eq!(events.next_step()["steps"].as_array().unwrap().len(), 1);
    assert_eq!(served.json("data")["steps"].as_array().unwrap().len(), 5);
}

#[test]
fn nobody_else_is_answered_and_nothing_is_changed_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, 1, "north", 2);
    let before = text_of(folder);
    let served = Served::start(folder, &[]);
    let page = served.get("").send().unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
    assert_eq!(
        (header("x-content-type-options"), header("cache-control")),
        ("nosniff".to_owned(), "no-store".to_owned())
    );
    assert!(page.text().unwrap().contains("connect-src 'self'"));
    let status = |request: RequestBuilder| request.send().unwrap().status().as_u16();
    for path in ["", "data", "events", "search?q=war"] {
        assert_eq!(status(served.get(path).header("Host", "attacker.example")), 403, "{path}");
        assert_eq!(status(served.get(path).header("Origin", "http://attacker.example")), 403, "{path}");
        assert_eq!(status(served.get(path).header("Sec-Fetch-Site", "cross-site")), 403, "{path}");
    }
    assert_eq!(status(served.get("../Memories.md")), 404);
    let add = json!({"do": "add", "scope": "1", "category": "NOTE", "title": "a", "text": "b"});
    let post = |served: &Served| served.client.post(format!("{}edit", served.address)).json(&add);
    assert_eq!(status(post(&served)), 403, "it only reads");
    assert_eq!(status(served.get("edit")), 405);
    assert_eq!(text_of(folder), before);
    // With a token nobody without it gets an answer, and a cookie alone changes nothing.
    let served = Served::start(folder, &["--edit"]);
    for path in ["", "data", "events", "search?q=war", "?token=0123456789abcdef0123456789abcdef"] {
        assert_eq!(status(served.get(path)), 401, "{path}");
    }
    let entered = served.client.get(&served.opened).send().unwrap();
    // The token goes to the page alone, behind the `#`, and nothing that the cookie opens has it.
    let page = format!("/#token={}", served.token());
    assert_eq!((entered.status().as_u16(), entered.headers()["location"].to_str().unwrap()), (303, &*page));
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    for path in ["", "data"] {
        let read = served.get(path).header("Cookie", &cookie).send().unwrap();
        assert_eq!(read.status().as_u16(), 200, "{path}");
        assert!(!read.text().unwrap().contains(served.token()), "{path}");
    }
    let session = cookie.split_once('=').unwrap().1;
    assert_ne!(session, served.token());
    assert_eq!(status(post(&served).header("Cookie", &cookie)), 403);
    for path in ["data", "events"] {
        assert_eq!(status(served.get(path).header("X-Memories-Token", session)), 401, "{path}");
    }
    assert_eq!(status(post(&served).header("Cookie", &cookie).header("X-Memories-Token", session)), 401);
    let other = Served::start(folder, &["--edit"]);
    let port = |served: &Served| served.address.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    let elsewhere = cookie.replace(&port(&served), &port(&other));
    assert_eq!(
        status(other.get("data").header("Cookie", elsewhere)),
        401,
        "each server has a session of its own"
    );
    drop(other);
    assert_eq!(status(post(&served).header("X-Memories-Token", "0123456789abcdef")), 401);
    let plain = served.client.post(format!("{}edit", served.address)).body(add.to_string());
    assert_eq!(status(plain.header("X-Memories-Token", served.token())), 415);
    assert_eq!(text_of(folder), before);
    assert_eq!(status(post(&served).header("X-Memories-Token", served.token())), 200);
}

#[test]
fn a_person_changes_memories_on_the_page_and_takes_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, 1, "north", 2);
    let served = Served::start(folder, &["--edit"]);
    let undo = json!({"do": "undo"});
    assert!(served.refused(&undo).0.contains("no change of this page"));
    let add = json!({"do": "add", "scope": "1", "category": "NOTE", "title": "Lamp", "text": "The lamp is here.", "importance": 700});
    assert_eq!(served.edited(&add), "stored \"Lamp\"");
    assert!(
        text_of(folder).contains("**[NOTE] Lamp** *(2026-01-31, importance 700)*\nThe lamp is here.\n"),
        "{}",
        text_of(folder)
    );
    let other =
        json!({"do": "add", "scope": "1", "category": "NOTE", "title": "lamp", "text": "Another one."});
    let (error, hint) = served.refused(&other);
    assert_eq!(error, "a memory of location:1 is called `Lamp` already");
    assert_eq!(hint, "choose another title, or supersede that memory");
    let added = text_of(folder);
    let reword = json!({"do": "reword", "scope": "1", "title": "Lamp", "new_title": "Lamp on the table",
        "text": "The brass lamp stands on the table.", "category": "DISCOVERY"});
    assert_eq!(served.edited(&reword), "superseded \"Lamp\", stored \"Lamp on the table\"");
    assert!(
        text_of(folder).contains("**[DISCOVERY] Lamp on the table** *(2026-01-31, importance 700"),
        "{}",
        text_of(folder)
    );
    assert_eq!(served.edited(&undo), "undone");
    assert_eq!(text_of(folder), added);
    assert!(served.refused(&undo).0.contains("no change"));
    succeed(folder, &["mark", "1", "Lamp", "--status", "tentative", "-q"]);
    assert_eq!(served.edited(&json!({"do": "confirm", "scope": "1", "title": "Lamp"})), "marked \"Lamp\"");
    assert_eq!(text_of(folder), added);
    let strike = json!({"do": "strike", "scope": "1", "title": "Lamp", "reason": "It is in the cellar."});
    assert_eq!(served.edited(&strike), "invalidated \"Lamp\"");
    assert!(text_of(folder).contains("~~The lamp is here.~~"));
    // A state that the page never made does not come back, though the newest former state is one.
    assert_eq!(served.edited(&undo), "undone");
    assert_eq!(served.edited(&strike), "invalidated \"Lamp\"");
    succeed(folder, &["add", "1", "--title", "Rope", "--text", "A rope.", "-q"]);
    succeed(folder, &["restore", "-q"]);
    assert_eq!(served.edited(&undo), "undone");
    assert_eq!(text_of(folder), added);
    assert_eq!(served.edited(&strike), "invalidated \"Lamp\"");
    // What others wrote meanwhile is not taken back.
    record(folder, 2, "wait", 1);
    let after = text_of(folder);
    assert!(served.refused(&undo).0.contains("has changed since"));
    assert_eq!(text_of(folder), after);
    for (wrong, why) in [
        (json!({"do": "forget", "scope": "1", "title": "Lamp"}), "unknown variant"),
        (json!({"do": "confirm", "scope": "nowhere special", "title": "Lamp"}), "is no place"),
        (json!({"do": "strike", "scope": "1", "title": "No such", "reason": "x"}), "No such"),
        (
            json!({"do": "add", "scope": "1", "category": "]", "title": "a", "text": "b"}),
            "cannot be a category",
        ),
        (
            json!({"do": "add", "scope": "1", "category": "NOTE", "title": "a", "text": "b", "importance": 0}),
            "importance",
        ),
        (json!({"do": "confirm", "scope": "1", "title": "Lamp", "force": true}), "unknown field"),
    ] {
        let (error, hint) = served.refused(&wrong);
        assert!(error.contains(why) && !hint.is_empty(), "{wrong}: {error}; {hint}");
    }
    assert_eq!(text_of(folder), after);
}

#[test]
fn the_first_change_of_a_new_file_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = Served::start(folder, &["--edit"]);
    let add = json!({"do": "add", "scope": "world", "category": "NOTE", "title": "War", "text": "It began."});
    assert_eq!(served.edited(&add), "stored \"War\"");
    assert_eq!(served.edited(&json!({"do": "undo"})), "undone");
    assert_eq!(text_of(folder), "");
}

#[test]
fn any_token_that_is_valid_opens_the_page() {
    let folder = tempfile::tempdir().unwrap();
    for token in ["abcdefghij+klmnop/q==", "a%41;b=c&d#e\"f<g>hij"] {
        fs::write(folder.path().join("token"), token).unwrap();
        let served = Served::start(folder.path(), &["--token-file", "token"]);
        let entered = served.client.get(&served.opened).send().unwrap();
        assert_eq!(entered.status().as_u16(), 303, "{token}");
        let cookie = entered.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        assert_eq!(
            served.get("data").header("Cookie", cookie).send().unwrap().status().as_u16(),
            200,
            "{token}"
        );
    }
}

#[test]
fn a_page_that_comes_late_learns_that_it_missed_something() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, 1, "north", 2);
    let served = Served::start(folder, &[]);
    let mut events = Events::of(served.get("events"));
    events.next();
    succeed(folder, &["add", "1", "--title", "Rope", "--text", "A rope.", "-q"]);
    let (first, second) = (events.next_step(), events.next().1);
    assert_eq!((&first["revision"], &second["revision"]), (&json!(1), &json!(2)));
    let hello = Events::of(served.get("events")).next().1;
    assert!(hello["revision"].as_u64().unwrap() >= 2, "{hello}");
    // What changes no step is told, too: an ephemeral memory, which the figures count.
    let ephemeral = json!({"title": "Noise", "text": "It is loud here.", "persistence": "ephemeral"});
    let path = folder.join("ephemeral.json");
    fs::write(&path, ephemeral.to_string()).unwrap();
    let mut command = memories(folder, &["add", "1", "-q"]);
    assert!(command.stdin(fs::File::open(path).unwrap()).status().unwrap().success());
    let change = loop {
        let (_, change) = events.next();
        if change["stats"]["by_persistence"]["ephemeral"] == 1 {
            break change;
        }
    };
    assert_eq!(change["steps"], json!([]));
    let data = served.json("data");
    let stats: Value = serde_json::from_str(&succeed(folder, &["stats", "--json"])).unwrap();
    assert_eq!(&data["stats"]["total_memories"], &stats["total_memories"]);
}

#[test]
fn a_damaged_line_of_the_journal_costs_the_states_behind_it_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for number in 0..5 {
        succeed(
            folder,
            &[
                "add",
                "1",
                "--title",
                &format!("Thing {number}"),
                "--text",
                &format!("Number {number} is here."),
                "-q",
            ],
        );
    }
    let turn = |number: u64| {
        json!({"episode": 1, "turn": number, "action": format!("push {number}"), "response": "No.",
        "location_before": {"id": 1, "name": "House"}, "location_after": {"id": 1, "name": "House"}})
        .to_string()
    };
    fs::write(folder.join("turns.jsonl"), (0..20).map(turn).collect::<Vec<_>>().join("\n")).unwrap();
    succeed(folder, &["record", "--turns", "turns.jsonl", "--provider", "offline", "-q"]);
    let report = || -> Value { serde_json::from_str(&succeed(folder, &["report", "--json"])).unwrap() };
    assert_eq!((&report()["step_count"], &report()["has_gaps"]), (&json!(26), &json!(false)));
    let journal = folder.join(".memories/Memories.md/journal.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let damaged: Vec<&str> =
        lines.lines().enumerate().map(|(at, line)| if at == 12 { "{\"x" } else { line }).collect();
    fs::write(&journal, damaged.join("\n") + "\n").unwrap();
    let damaged = report();
    assert_eq!(damaged["has_gaps"], true);
    // The start and the five, a gap, and turns behind the damage; how many depends on the groups they were written in.
    let steps = damaged["step_count"].as_u64().unwrap();
    assert!((8..=26).contains(&steps), "{steps} steps");
}
