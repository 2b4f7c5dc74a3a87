//! Many writers at once, writers that are killed, and the system calls that they make.
//!
//! The other processes are this test program itself, started again with a role.

use std::io::{self, BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;

const ROLE: &str = "STORE_TEST_ROLE";
const FILE: &str = "STORE_TEST_FILE";

/// A command that runs this program in that role, perhaps by way of another program.
pub(super) fn in_role(role: &str, path: &Path, by_way_of: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = match by_way_of {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(["--exact", "store::processes::play_a_role", "--test-threads=1", "--nocapture"]);
    command.env(ROLE, role).env(FILE, path).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The roles of the other processes. Without a role, in the first process, it does nothing.
#[test]
fn play_a_role() {
    let (Ok(role), Some(path)) = (std::env::var(ROLE), std::env::var_os(FILE)) else {
        return;
    };
    let store = open(Path::new(&path));
    match role.as_str() {
        "count" => (0..25).for_each(|_| increment(&store)),
        "add lines" => loop {
            let line = add_line(&store);
            say(&format!("added {line}"));
        },
        "hold" => {
            // Once there is a folder for the lock, an edit is called only under it.
            let first = store.update(|_, _| Ok::<_, StoreError>(Change::unchanged(())));
            assert!(!first.unwrap().written);
            let held = store.update(|_, _| {
                say("held");
                io::stdin().read_line(&mut String::new()).unwrap();
                Ok::<_, StoreError>(Change::unchanged(()))
            });
            assert!(!held.unwrap().written);
        }
        "write" => say_how_it_went(try_write(&store, "new")),
        "append" => {
            say_how_it_went(store.update(|text, _| Ok(Change::to(text.unwrap_or_default() + "ours\n", ()))))
        }
        other => panic!("no such role: {other}"),
    }
}

fn say_how_it_went(result: Result<Update<()>, StoreError>) {
    match result {
        Ok(update) => say(&format!("written, {} warnings", update.warnings.len())),
        Err(error) => say(&format!("failed: {error}")),
    }
}

/// Prints a line for the first process, on a line of its own whatever the test harness has printed.
fn say(line: &str) {
    let mut output = io::stdout().lock();
    writeln!(output, "\n{line}").unwrap();
    output.flush().unwrap();
}

/// Reads output until a line has this beginning; returns the rest of that line.
fn hear(output: &mut impl BufRead, beginning: &str) -> Option<String> {
    output.lines().map_while(Result::ok).find_map(|line| line.strip_prefix(beginning).map(str::to_owned))
}

fn increment(store: &Store) {
    let update = store.update(|text, _| {
        let number: u32 = text.map_or(0, |text| text.parse().unwrap());
        Ok::<_, StoreError>(with_line(
            store,
            Change::to((number + 1).to_string(), ()),
            json!({"number": number + 1}),
        ))
    });
    assert!(update.unwrap().written);
}

/// Adds a line with its number behind a hundred kilobytes of others; returns the number.
fn add_line(store: &Store) -> usize {
    let update = store.update(|text, _| {
        let text = text.unwrap_or_else(|| "padding\n".repeat(12_500));
        let number = text.lines().count() - 12_500 + 1;
        Ok::<_, StoreError>(Change::to(format!("{text}{number}\n"), number))
    });
    update.unwrap().value
}

#[test]
fn no_increment_of_many_threads_and_processes_is_lost() {
    let (folder, path) = empty_folder();
    let mut children: Vec<Child> = (0..4).map(|_| in_role("count", &path, &[]).spawn().unwrap()).collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = open(&path);
                (0..50).for_each(|_| increment(&store));
            });
        }
    });
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let store = open(&path);
    assert_eq!(store.read().unwrap().as_deref(), Some("500"));
    assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "499");
    let numbers = journal_lines(&store).into_iter().map(|line| line["number"].as_u64().unwrap());
    assert!(numbers.eq(1..=500), "the journal is in the order of the writes");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    assert_eq!(names(store.folder()), ["backups", "journal.jsonl", "lock"]);
}

#[test]
fn a_held_lock_stops_writers_in_time_and_readers_not_at_all() {
    let (_folder, path) = empty_folder();
    fs::write(&path, "text").unwrap();
    let mut child = in_role("hold", &path, &[]).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    hear(&mut output, "held").unwrap();

    let limit = Duration::from_millis(200);
    let store = Store::open(&path, limit).unwrap();
    let start = Instant::now();
    let error = store_error(try_write(&store, "new"));
    let waited = start.elapsed();
    assert!(waited >= limit && waited < limit * 10, "{waited:?}");
    assert!(matches!(error, StoreError::Locked { holder: Some(pid), .. } if pid == child.id()), "{error:?}");
    assert!(error.to_string().ends_with(&format!("is held by process {} for more than 200ms", child.id())));
    assert_eq!(error.advice().remedy, Remedy::Retry);
    store_error(try_write(&Store::open(&path, Duration::ZERO).unwrap(), "new"));
    assert_eq!(store.read().unwrap().as_deref(), Some("text"));
    assert!(journal_lines(&store).is_empty());

    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| write(&open(&path), "new"));
        drop(child.stdin.take());
        waiting.join().unwrap();
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(store.read().unwrap().as_deref(), Some("new"));
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_whole_file() {
    let (folder, path) = empty_folder();
    let store = open(&path);
    for round in 0..30_usize {
        let mut child = in_role("add lines", &path, &[]).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut acknowledged = 0;
        for _ in 0..=round % 5 {
            acknowledged = hear(&mut output, "added ").unwrap().parse().unwrap();
        }
        (0..round * 1500).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        while let Some(line) = hear(&mut output, "added ") {
            acknowledged = line.parse().unwrap();
        }

        let text = store.read().unwrap().unwrap();
        let lines: Vec<_> = text.lines().skip(12_500).collect();
        assert!(text.ends_with('\n') && (lines.len() == acknowledged || lines.len() == acknowledged + 1));
        assert!(lines.iter().enumerate().all(|(index, line)| *line == (index + 1).to_string()));

        assert_eq!(add_line(&store), lines.len() + 1);
        assert_eq!(fs::read_to_string(newest(&store)).unwrap(), text);
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
        assert!(store.backups().unwrap().len() <= 10);
    }
}

/// The traced system calls; `?` for those that not every processor has.
const TRACED: &str =
    "trace=fsync,fdatasync,sync,syncfs,flock,clone,clone3,?link,linkat,?rename,?renameat,renameat2";

/// Lets another process write `new` over `old` under strace; returns its output and the system
/// calls. `None` where strace cannot be used.
fn traced(path: &Path, injection: Option<&str>) -> Option<(String, Vec<String>)> {
    fs::write(path, "old").unwrap();
    let injection = injection.map_or(vec![], |injection| vec!["-e", injection]);
    traced_by(path, &[&["-e", TRACED], injection.as_slice()].concat())
}

/// The same with other options of strace, over whatever is there.
pub(super) fn traced_by(path: &Path, options: &[&str]) -> Option<(String, Vec<String>)> {
    let trace = path.with_file_name("trace");
    let by_way_of = [&["strace", "-f", "-o", trace.to_str().unwrap()], options].concat();
    let output = in_role("write", path, &by_way_of).output().ok()?;
    let said = String::from_utf8(output.stdout).unwrap();
    let said =
        said.lines().find(|line| line.starts_with("written") || line.starts_with("failed"))?.to_owned();
    let calls = fs::read_to_string(&trace).unwrap();
    fs::remove_file(trace).unwrap();
    Some((said, calls.lines().filter(|line| line.contains('(')).map(str::to_owned).collect()))
}

fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| call.contains(name)).count()
}

#[test]
fn a_write_syncs_the_file_and_its_folder_and_nothing_else() {
    let (_folder, path) = empty_folder();
    let Some((said, calls)) = traced(&path, None) else {
        return skipped("strace cannot be used");
    };
    assert_eq!(said, "written, 0 warnings");
    assert_eq!(count(&calls, "sync("), 2, "{calls:#?}");
    assert_eq!(count(&calls, "flock("), 2, "locked and unlocked: {calls:#?}");
    assert_eq!(count(&calls, "clone"), 1, "no thread but the test's own: {calls:#?}");
}

#[test]
fn where_links_are_not_possible_backups_are_copies() {
    let (folder, path) = empty_folder();
    for error in ["EPERM", "EOPNOTSUPP", "EMLINK", "EXDEV"] {
        let inject = format!("inject=?link,linkat:error={error}");
        let Some((said, calls)) = traced(&path, Some(&inject)) else {
            return skipped("strace cannot be used");
        };
        assert_eq!(said, "written, 0 warnings", "{error}");
        assert_eq!(count(&calls, "fsync("), 3, "{calls:#?}");
        let store = open(&path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(newest(&store)).unwrap(), "old");
        assert_eq!(store.read_backup(store.backups().unwrap()[0].number).unwrap(), "old");
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
}

#[test]
fn a_sync_that_fails_is_final() {
    let (folder, path) = empty_folder();
    let Some((said, calls)) = traced(&path, Some("inject=fsync:error=EIO")) else {
        return skipped("strace cannot be used");
    };
    assert!(said.starts_with("failed: cannot write `"), "{said}");
    assert_eq!(count(&calls, "fsync("), 1, "{calls:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    let (said, _) = traced(&path, Some("inject=fsync:error=EIO:when=2")).unwrap();
    assert!(said.starts_with("failed: the disk did not confirm"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_rename_that_fails_leaves_the_old_file() {
    let (folder, path) = empty_folder();
    // Where files cannot be exchanged, the first rename is that of the memory file.
    let rename = "inject=?rename,?renameat:error=EIO:when=1";
    for injection in [vec!["inject=renameat2:error=EIO"], vec!["inject=renameat2:error=EINVAL", rename]] {
        fs::write(&path, "old").unwrap();
        let injection: Vec<&str> = injection.iter().flat_map(|injection| ["-e", injection]).collect();
        let options = [&["-e", TRACED], injection.as_slice()].concat();
        let Some((said, _)) = traced_by(&path, &options) else {
            return skipped("strace cannot be used");
        };
        assert!(said.starts_with("failed: cannot replace `"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
}

#[test]
fn where_files_cannot_be_exchanged_they_are_replaced() {
    let (folder, path) = empty_folder();
    for error in ["EINVAL", "ENOSYS", "EOPNOTSUPP", "EPERM"] {
        let Some((said, _)) = traced(&path, Some(&format!("inject=renameat2:error={error}"))) else {
            return skipped("strace cannot be used");
        };
        assert_eq!(said, "written, 0 warnings", "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(newest(&open(&path))).unwrap(), "old");
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
}

#[test]
fn a_disk_without_locks_is_a_clear_error() {
    let (folder, path) = empty_folder();
    for error in ["ENOLCK", "EOPNOTSUPP", "ENOSYS"] {
        let inject = format!("inject=flock:error={error}");
        let Some((said, _)) = traced(&path, Some(&inject)) else {
            return skipped("strace cannot be used");
        };
        assert!(
            said.starts_with("failed: cannot lock `") && said.ends_with("this file system has no locks"),
            "{said}"
        );
        assert_eq!(names(folder.path()), [".memories", "Memories.md"]);
    }
}
