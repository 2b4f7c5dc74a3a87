//! Many servers and recorders on one file, killed at random, while an editor saves and git checks out branches.
//!
//! Editor and git act one after the other, because two programs without a lock undo each other whatever the
//! program under test does. `MEMORIES_CHAOS=whole` runs all of it, for about ten minutes.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

/// Number of processes and saves.
struct Scale {
    servers: usize,
    recorders: usize,
    checkouts: usize,
    /// Saves in each way of an editor.
    saves: usize,
}

impl Scale {
    fn of_environment() -> Scale {
        match std::env::var("MEMORIES_CHAOS").as_deref() {
            Ok("whole") => Scale { servers: 20, recorders: 10, checkouts: 2000, saves: 400 },
            _ => Scale { servers: 4, recorders: 2, checkouts: 24, saves: 8 },
        }
    }
}

/// The folder, and all that its threads share.
struct Chaos {
    folder: TempDir,
    done: AtomicBool,
    next: AtomicUsize,
    /// The words of memories that the program said were stored.
    acknowledged: Mutex<Vec<String>>,
    /// The running processes, which may be killed.
    running: Vec<Mutex<Option<Child>>>,
    tally: Tally,
}

impl Chaos {
    fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    /// A word that no other memory has, and its place.
    fn fresh(&self) -> (String, String, String) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (format!("token{number:06}"), (100 + number % 50).to_string(), unlike(number))
    }

    fn acknowledge(&self, token: String) {
        self.acknowledged.lock().unwrap().push(token);
    }

    /// Starts a process in its slot, where it may be killed.
    fn start(&self, slot: usize, mut command: Command) -> (Option<ChildStdin>, impl Read) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pipes = (child.stdin.take(), child.stdout.take().unwrap());
        *self.running[slot].lock().unwrap() = Some(child);
        pipes
    }

    /// Waits for the end of the process in a slot, whose output has ended.
    fn end(&self, slot: usize) -> Output {
        let child = self.running[slot].lock().unwrap().take();
        child.unwrap().wait_with_output().unwrap()
    }

    /// Serves one client until the server is killed.
    fn serve(&self, slot: usize) {
        let mut command = memories(self.folder.path(), &["mcp"]);
        command.stdin(Stdio::piped());
        let (stdin, stdout) = self.start(slot, command);
        let (mut stdin, mut lines) = (stdin.unwrap(), BufReader::new(stdout).lines());
        let mut ask = |message: Value| {
            writeln!(stdin, "{message}").ok()?;
            if message.get("id").is_none() {
                return Some(Value::Null);
            }
            let answer = lines.by_ref().map_while(Result::ok).find(|line| line.contains("\"id\""))?;
            serde_json::from_str(&answer).ok()
        };
        let client = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "chaos", "version": "1"}});
        let _ = ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
        let _ = ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}));
        while !self.is_done() {
            let (token, place, text) = self.fresh();
            let memory = json!({"title": token, "content": text, "scope": place, "type": "NOTE"});
            let call = json!({"name": "form_memory", "arguments": memory});
            let Some(answer) =
                ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}))
            else {
                break;
            };
            let said = &answer["result"];
            if said["isError"] == true {
                self.refused(&said["content"][0]["text"].to_string());
            } else {
                assert_eq!(said["structuredContent"]["outcome"], "stored", "{answer}");
                self.acknowledge(token);
            }
        }
        drop(stdin);
        drop(lines);
        self.end(slot);
    }

    /// Records one turn, unless it is killed.
    fn record(&self, slot: usize) {
        let (token, place, text) = self.fresh();
        let remember = format!("{token} {text}");
        let turn =
            ["--action", "look", "--response", "Nothing.", "--location", &place, "--remember", &remember];
        let (_, mut stdout) =
            self.start(slot, memories(self.folder.path(), &[&["record"], &turn[..]].concat()));
        let _ = stdout.read_to_end(&mut Vec::new());
        let output = self.end(slot);
        match output.status.code() {
            Some(0) => self.acknowledge(token),
            Some(_) => self.refused(&String::from_utf8_lossy(&output.stderr)),
            None => {}
        }
    }

    /// A writer may give way to another program; any other refusal is a fault.
    fn refused(&self, said: &str) {
        if said.contains("by another program during each") || said.contains("is held by") {
            self.tally.count("writes that gave way")
        } else {
            self.tally.note("a write", Err(said.to_owned()))
        }
    }

    fn kill_at_random(&self) {
        // Each process lives for two seconds on average.
        let pause = 2000 / self.running.len() as u64;
        let mut random = 1_u64;
        while !self.is_done() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_millis(pause / 2 + (random >> 33) % pause));
            let slot = (random >> 17) as usize % self.running.len();
            if let Some(child) = self.running[slot].lock().unwrap().as_mut() {
                child.kill().unwrap();
                self.tally.count("kills");
            }
        }
    }

    /// The whole lines of the journal from an offset, and their end. Each is written under the lock, behind its change
    /// of the file.
    fn journal_from(&self, offset: usize) -> (Vec<String>, usize) {
        let path = self.folder.path().join(".memories").join(FILE).join("journal.jsonl");
        let journal = fs::read_to_string(path).unwrap_or_default();
        let new = &journal[offset..];
        let whole = new.rfind('\n').map_or(0, |end| end + 1);
        (new[..whole].lines().map(str::to_owned).collect(), offset + whole)
    }

    /// Checks a text that another program has just saved, once so many writers more have written: its lines stay, as
    /// does what these writers added.
    fn check_saved(&self, text: &str, lacking: &str, writers: usize) -> Result<(), String> {
        let (start, offset) = (Instant::now(), self.journal_from(0).1);
        let written = loop {
            // The writer of the first line may have begun before the save.
            let (lines, _) = self.journal_from(offset);
            if lines.len() > writers {
                break lines;
            }
            hold!(start.elapsed() < Duration::from_secs(60), "nobody writes");
            std::thread::sleep(Duration::from_millis(1));
        };
        let now = self.read();
        let present: BTreeSet<&str> = now.lines().collect();
        // A recorder changes the visits and the evidence of its place.
        for line in text.lines().filter(|line| !line.starts_with("**Visits") && !line.starts_with("- `")) {
            hold!(present.contains(line), "a saved line is lost: {line}");
        }
        hold!(lacking.is_empty() || !now.contains(lacking), "another text came back");
        for token in written[1..].iter().filter_map(|line| token(line)) {
            hold!(now.contains(token), "a memory is lost: {token}");
        }
        Ok(())
    }

    fn read(&self) -> String {
        fs::read_to_string(self.path()).unwrap_or_default()
    }

    /// Counts memories that were written between the reading and the saving of an editor, and where they are.
    fn count_saved_over(&self, offset: usize) {
        let (lines, now) = (self.journal_from(offset).0, self.read());
        let lost: Vec<&str> =
            lines.iter().filter_map(|line| token(line)).filter(|token| !now.contains(token)).collect();
        if lost.is_empty() {
            return;
        }
        let kept = Kept::of(self.folder.path());
        for token in lost {
            self.tally.count("memories that the editor saved over, all in the journal");
            if kept.backups.iter().any(|state| state.contains(token)) {
                self.tally.count("of them also in a kept state");
            }
        }
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"];
        let output =
            Command::new("git").args(identity).args(arguments).current_dir(self.folder.path()).output();
        let output = output.map_err(|error| error.to_string())?;
        hold!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Saves what was read a moment ago, with one more line, and checks it.
    fn edit(&self, number: usize, save: fn(&Path, &str)) -> Result<(), String> {
        let (_, offset) = self.journal_from(0);
        let read = self.read();
        std::thread::sleep(Duration::from_millis(number as u64 % 4));
        let end = read.find("\n## ").unwrap_or(read.len());
        let text = format!("{}\nEdit {number} of the editor.\n{}", &read[..end], &read[end..]);
        save(&self.path(), &text);
        let checked = self.check_saved(&text, "", 1);
        self.count_saved_over(offset);
        checked
    }
}

/// The word of the memory that a line of the journal is about.
fn token(line: &str) -> Option<&str> {
    line.find("token").and_then(|at| line.get(at..at + "token000000".len()))
}

/// A branch's text: places of its own, in many lines.
fn branch_text(branch: &str) -> String {
    let place = |number: usize| {
        let memory = format!(
            "**[NOTE] Of branch {branch} {number}** *(Ep1)*\nWords of branch {branch}, {}.",
            unlike(number)
        );
        format!("## Location {number}: Place {number} of {branch}\n\n### Memories\n\n{memory}\n\n---\n\n")
    };
    "# Location Memories\n\n".to_owned() + &(1..60).map(place).collect::<String>()
}

/// Visual Studio Code's way: the file is opened, cut and written.
fn save_in_place(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(0).unwrap();
    for part in text.as_bytes().chunks(64 * 1024) {
        file.write_all(part).unwrap();
    }
}

/// Vim's way: the file is renamed, a new one is created and written, the old one is removed.
fn save_beside(path: &Path, text: &str) {
    let old = path.with_file_name("Memories.md~");
    fs::rename(path, &old).unwrap();
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.sync_all().unwrap();
    fs::remove_file(old).unwrap();
}

fn prepare(scale: &Scale) -> Chaos {
    let chaos = Chaos {
        folder: tempfile::tempdir().unwrap(),
        done: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        acknowledged: Mutex::default(),
        running: (0..scale.servers + scale.recorders).map(|_| Mutex::default()).collect(),
        tally: Tally::new("saves of an editor and checkouts under kills"),
    };
    chaos.git(&["init", "-q", "-b", "one"]).unwrap();
    for branch in ["one", "two"] {
        if branch == "two" {
            chaos.git(&["checkout", "-q", "-b", "two"]).unwrap();
        }
        fs::write(chaos.path(), branch_text(branch)).unwrap();
        chaos.git(&["add", FILE]).unwrap();
        chaos.git(&["commit", "-q", "-m", branch]).unwrap();
    }
    chaos
}

/// All that editor and git do, one after the other.
fn save_and_check_out(chaos: &Chaos, scale: &Scale) {
    let (mut edits, mut checkouts) = (0, 0);
    while checkouts < scale.checkouts {
        let (branch, other) = if checkouts % 2 == 0 { ("one", "two") } else { ("two", "one") };
        let checked_out = chaos.git(&["checkout", "-q", "-f", branch]);
        let other = format!("Words of branch {other}");
        checkouts += 1;
        // After the last one, many write.
        let writers = if checkouts == scale.checkouts { 50 } else { 1 };
        let case = format!("checkout {checkouts} of {branch}");
        chaos
            .tally
            .note(&case, checked_out.and_then(|()| chaos.check_saved(&branch_text(branch), &other, writers)));
        while edits < 2 * scale.saves * checkouts / scale.checkouts && checkouts < scale.checkouts {
            let (way, save): (_, fn(&Path, &str)) =
                if edits % 2 == 0 { ("in place", save_in_place) } else { ("beside", save_beside) };
            chaos.tally.note(&format!("save {edits} {way}"), chaos.edit(edits, save));
            edits += 1;
        }
    }
}

#[test]
#[ignore = "soak"]
fn an_editor_and_git_save_under_servers_and_recorders_that_are_killed() {
    let scale = Scale::of_environment();
    let chaos = prepare(&scale);
    std::thread::scope(|scope| {
        for slot in 0..chaos.running.len() {
            let chaos = &chaos;
            let is_server = slot < scale.servers;
            scope.spawn(move || {
                while !chaos.is_done() {
                    if is_server { chaos.serve(slot) } else { chaos.record(slot) }
                }
            });
        }
        scope.spawn(|| chaos.kill_at_random());
        save_and_check_out(&chaos, &scale);
        chaos.done.store(true, Ordering::Relaxed);
    });
    // The journal has each memory, also where an editor or git has undone it.
    let journal: BTreeSet<String> =
        chaos.journal_from(0).0.iter().filter_map(|line| token(line)).map(str::to_owned).collect();
    let acknowledged = chaos.acknowledged.lock().unwrap().clone();
    for memory in &acknowledged {
        chaos.tally.count("acknowledged memories");
        let found = journal.contains(memory);
        chaos.tally.note(memory, if found { Ok(()) } else { Err("not in the journal".to_owned()) });
    }
    succeed(chaos.folder.path(), &add("Last", "It comes last."));
    let left = fs::read_dir(chaos.folder.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    let is_strange = |name: &&std::ffi::OsString| name.to_string_lossy().starts_with(".Memories");
    let strange: Vec<_> = left.iter().filter(is_strange).collect();
    chaos.tally.note("leftovers", if strange.is_empty() { Ok(()) } else { Err(format!("{strange:?}")) });
    chaos.tally.close();
}
