//! Other processes that hold the lock, save the file, or have left files behind.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::*;

pub(super) fn send(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

/// The child of a strace that stops it, once it is stopped: by the signal, as the trace says, and not only for a
/// moment by its tracer, which takes long on a busy machine.
pub(super) fn wait_until_stopped(strace: u32, trace: &Path) -> Option<u32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if fs::read_to_string(trace).unwrap_or_default().contains("--- stopped by SIGSTOP ---") {
            let children = fs::read_to_string(format!("/proc/{strace}/task/{strace}/children")).ok()?;
            return children.split_whitespace().next()?.parse().ok();
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    None
}

#[test]
#[ignore = "soak"]
fn a_stopped_process_holds_the_lock() {
    let name = "lock held by a stopped process";
    let tally = Tally::new(name);
    let folder = prepared();
    let lock = folder.path().join(".memories").join(FILE).join("lock");
    // The program itself, stopped by strace in the middle of its write: with the lock in its hands.
    let stop = "inject=fsync:signal=STOP:when=1";
    let trace = tempfile::NamedTempFile::new().unwrap();
    let path = trace.path().to_str().unwrap();
    let strace = ["strace", "-qq", "-o", path, "-e", "trace=fsync", "-e", stop];
    let Ok(mut writer) =
        by_way_of(&strace, folder.path(), &add("Slow", "It takes its time.")).stdout(Stdio::null()).spawn()
    else {
        return skip(name, "strace cannot be used here");
    };
    let Some(holder) = wait_until_stopped(writer.id(), trace.path()) else {
        let _ = writer.kill();
        return skip(name, "strace does not stop processes here");
    };
    assert!(
        temporary(folder.path(), holder).exists()
            && fs::read_to_string(&lock).unwrap().starts_with(&holder.to_string())
    );
    for (limit, least, most) in [("0s", 0, 1000), ("300ms", 300, 1500), ("1s", 1000, 2500)] {
        let start = Instant::now();
        let arguments = [add("New", "It has to wait."), vec!["--lock-timeout", limit]].concat();
        let output = run(folder.path(), &arguments);
        let waited = start.elapsed().as_millis();
        let said = String::from_utf8_lossy(&output.stderr);
        let check = || {
            hold!(output.status.code() == Some(3), "{:?}: {said}", output.status);
            hold!(
                said.contains(&format!("is held by process {holder}")) && said.contains("hint: "),
                "{said}"
            );
            hold!((least..most).contains(&waited), "after {waited} ms");
            Ok(())
        };
        tally.note(&format!("add --lock-timeout {limit}"), check());
    }
    for arguments in
        [vec!["recall", "23"], vec!["list"], vec!["tried", "23", "wait"], vec!["check"], vec!["show", "23"]]
    {
        let start = Instant::now();
        let output = run(folder.path(), &arguments);
        let check = || {
            hold!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
            hold!(start.elapsed() < Duration::from_secs(1), "after {:?}", start.elapsed());
            Ok(())
        };
        tally.note(&format!("{arguments:?} meanwhile"), check());
    }
    // The stopped one goes on, or is killed: either way the next command works.
    send(holder, "-CONT");
    let ended = writer.wait().unwrap();
    succeed(folder.path(), &add("New", "It had to wait."));
    let check = || {
        let kept = Kept::of(folder.path());
        hold!(kept.knows("New") && (kept.knows("Slow") || !ended.success()), "an entry is missing");
        hold!(leftovers(folder.path()).is_empty(), "{:?}", leftovers(folder.path()));
        Ok(())
    };
    tally.note("it goes on", check());
    tally.close();
}

fn temporary(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!(".{FILE}.{process}.new"))
}

/// An editor: reads the file, pauses, saves all of it with one more line.
pub(super) fn edit(path: &Path, line: &str, in_place: bool) {
    let text = fs::read_to_string(path).unwrap();
    let text = text.replacen("# Location Memories\n", &format!("# Location Memories\n\n{line}\n"), 1);
    if in_place {
        fs::write(path, text).unwrap();
    } else {
        let new = path.with_file_name("editor's");
        fs::write(&new, text).unwrap();
        fs::rename(&new, path).unwrap();
    }
}

/// When an add last looked at the file and when it had replaced it, in microseconds.
struct Replacing {
    looked: u128,
    replaced: u128,
}

const RENAMES: &str = "trace=?rename,?renameat,renameat2,?lstat,newfstatat,statx";

/// Runs an add under strace and reads from the trace when it replaced the file.
fn add_under_strace(folder: &Path, trace: &Path, number: usize) -> Result<Replacing, String> {
    // In many places: each new text is compared with the others of its place.
    let (scope, title, text) = ((100 + number % 50).to_string(), format!("Entry {number}"), unlike(number));
    let add = ["add", &scope, "--title", &title, "--text", &text];
    let strace =
        ["strace", "-qq", "--seccomp-bpf", "-f", "-ttt", "-o", trace.to_str().unwrap(), "-e", RENAMES];
    let mut output = by_way_of(&strace, folder, &add).output().unwrap();
    while output.status.code() == Some(3) {
        // Where an editor saved ten times within one add, it is given way to; a script tries again.
        output = by_way_of(&strace, folder, &add).output().unwrap();
    }
    hold!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = fs::read_to_string(trace).unwrap();
    let calls: Vec<&str> = trace.lines().filter(|line| line.contains("Memories.md\"")).collect();
    let at = calls.iter().rposition(|line| line.contains(".new\"")).ok_or("no rename in the trace")?;
    // The trace tells when a call began; a rename is over within some 100 microseconds.
    let micros = |line: &str| {
        let time: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        (time * 1e6) as u128
    };
    Ok(Replacing { looked: micros(calls[at - 1]), replaced: micros(calls[at]) + 300 })
}

fn now() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros()
}

/// An editor that saves again and again during 200 adds. Only an add that falls between the editor's reading and its
/// saving may get lost, for it saves what was on its screen.
#[test]
#[ignore = "soak"]
fn an_editor_saves_during_200_adds() {
    if !calls::strace_works() {
        return skip("an editor saves during 200 adds", "strace cannot be used here");
    }
    for in_place in [false, true] {
        let way = if in_place { "in place" } else { "by renaming" };
        let tally = Tally::new(format!("an editor saves {way} during 200 adds"));
        let folder = prepared();
        let trace = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let (done, added) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (saves, adds) = std::thread::scope(|scope| {
            let editor = scope.spawn(|| {
                let mut saves = Vec::new();
                while !done.load(Ordering::Relaxed) {
                    // One save an add at most: a slow machine shall not have a longer file.
                    if saves.len() > added.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    let read = now();
                    edit(&path, &format!("Line {} of the editor.", saves.len()), in_place);
                    saves.push((read, now()));
                    std::thread::sleep(Duration::from_millis(5));
                }
                saves
            });
            let adds: Vec<_> = (0..200)
                .map(|number| {
                    let trace = trace.path().join("trace");
                    added.fetch_add(1, Ordering::Relaxed);
                    add_under_strace(folder.path(), &trace, number)
                })
                .collect();
            done.store(true, Ordering::Relaxed);
            (editor.join().unwrap(), adds)
        });
        let text = fs::read_to_string(&path).unwrap();
        for (number, add) in adds.iter().enumerate() {
            let check = || {
                let add = add.as_ref().map_err(String::clone)?;
                if !text.contains(&format!("] Entry {number}**")) {
                    let stale =
                        saves.iter().any(|(read, saved)| *read <= add.replaced && *saved + 300 >= add.looked);
                    hold!(stale, "lost, and no editor saved over it");
                    tally.count("adds that an editor saved over");
                }
                Ok(())
            };
            tally.note(&format!("add {number}"), check());
        }
        for number in 0..saves.len() {
            let check = || {
                hold!(text.contains(&format!("Line {number} of the editor.")), "lost");
                Ok(())
            };
            tally.note(&format!("save {number}"), check());
        }
        tally.close();
    }
}

#[test]
#[ignore = "soak"]
fn what_others_left_does_no_harm() {
    let tally = Tally::new("stale temporary and lock files");
    let sidecar = |folder: &Path| folder.join(".memories").join(FILE);
    let gone = {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    };
    let locks: [(&str, Vec<u8>); 9] = [
        ("an empty lock", Vec::new()),
        ("a lock of a process that is gone", format!("{gone:<10}\n").into_bytes()),
        ("a lock of process 1", b"1         \n".to_vec()),
        ("a lock of another's id", b"4294967295\n".to_vec()),
        ("a lock of too large an id", b"99999999999999999999\n".to_vec()),
        ("a lock of words", b"held by emacs, do not touch\n".to_vec()),
        ("a lock that is no text", vec![0xff, 0, 0xfe, b'\n', 0x80]),
        ("a lock that would sweep elsewhere", b"../../x\n".to_vec()),
        ("a huge lock", vec![b'7'; 5_000_000]),
    ];
    for (case, lock) in &locks {
        let folder = prepared();
        fs::write(sidecar(folder.path()).join("lock"), lock).unwrap();
        // A file left by a writer that was killed; its id is known, or the lock was lost since.
        let left = temporary(folder.path(), gone);
        fs::write(&left, "half a te").unwrap();
        let theirs = [
            ".Memories.md.swp",
            ".Memories.md.x.new",
            "Memories.md~",
            ".Memories.md.12.new.md",
            ".Other.md.12.new",
        ];
        for name in theirs {
            fs::write(folder.path().join(name), "a person's").unwrap();
        }
        let output = run(folder.path(), &add("New", "Life goes on."));
        let check = || {
            let said = String::from_utf8_lossy(&output.stderr);
            hold!(output.status.success() && said.is_empty(), "{said}");
            hold!(Kept::of(folder.path()).knows("New"), "not stored");
            for name in theirs {
                hold!(folder.path().join(name).exists(), "{name} is another's, and gone");
            }
            let named = case.contains("process 1") || case.contains("another's");
            hold!(named || !left.exists(), "left over");
            let lock = fs::read(sidecar(folder.path()).join("lock")).unwrap();
            let holder =
                String::from_utf8_lossy(lock.split(|byte| *byte == b'\n').next().unwrap()).into_owned();
            hold!(holder.trim().parse::<u32>().is_ok(), "the lock does not name its holder: {holder}");
            Ok(())
        };
        tally.note(case, check());
    }
    for name in ["session.md.new", "state.json.new", "recorded.new"] {
        let folder = prepared();
        fs::write(sidecar(folder.path()).join(name), "{\"episode\": 9, half").unwrap();
        succeed(folder.path(), &add("New", "Life goes on."));
        let check = || {
            let kept = Kept::of(folder.path());
            hold!(kept.knows("New") && kept.knows("Fleeting") && kept.episode == Some(3), "{kept:?}");
            hold!(leftovers(folder.path()).is_empty(), "{:?}", leftovers(folder.path()));
            Ok(())
        };
        tally.note(name, check());
    }
    // A folder or a link where a file should be: an error or a warning that names it, and nothing lost.
    for (name, code) in [("lock", 4), ("journal.jsonl", 0), ("backups/2.md", 0)] {
        let folder = prepared();
        let path = sidecar(folder.path()).join(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(&path).unwrap();
        let output = run(folder.path(), &add("New", "Life goes on."));
        let said = String::from_utf8_lossy(&output.stderr);
        let check = || {
            hold!(output.status.code() == Some(code), "{:?}: {said}", output.status);
            let file = fs::read_to_string(folder.path().join(FILE)).unwrap();
            hold!(file.contains("] Other**") && file.contains("] New**") == (code == 0), "the file");
            Ok(())
        };
        tally.note(&format!("a folder in place of {name}"), check());
    }
    tally.close();
}

/// Vim asks whether to write where the file was changed since it read it, and here the answer is always yes.
#[test]
#[ignore = "soak"]
fn what_vim_says_it_has_written_is_in_the_file() {
    let name = "vim under writers without pause";
    if !Command::new("vim").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip(name, "vim is not here");
    }
    let tally = Tally::new(name);
    let folder = prepared();
    let folder = folder.path();
    let is_over = AtomicBool::new(false);
    let marks = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !is_over.load(Ordering::Relaxed) {
                number += 1;
                run(folder, &add(&format!("Number {number}"), &format!("It is {}.", number * 7919)));
            }
        });
        let mut marks = Vec::new();
        for number in 0..40 {
            let (mark, said) = (format!("mark{number:02}x"), folder.join("vim.said"));
            let _ = fs::remove_file(&said);
            let edit = format!("g/] Old\\*/normal! jA {mark}");
            let mut vim = Command::new("vim");
            vim.args(["-u", "NONE", "-es", "-N", "-c", "set verbosefile=vim.said", "-c", &edit]);
            vim.args(["-c", "w!", "-c", "q!", FILE]).current_dir(folder).stdin(Stdio::piped());
            let mut vim = vim.stdout(Stdio::null()).spawn().unwrap();
            let _ = std::io::Write::write_all(&mut vim.stdin.take().unwrap(), b"y\ny\n");
            let is_written = vim.wait().unwrap().success();
            if is_written && fs::read_to_string(&said).is_ok_and(|said| said.contains("written")) {
                marks.push(mark);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        marks
    });
    let text = fs::read_to_string(folder.join(FILE)).unwrap();
    for mark in &marks {
        let check = || {
            hold!(text.contains(mark), "vim wrote `{mark}`, and it is not there");
            Ok(())
        };
        tally.note(mark, check());
    }
    tally.close();
}
