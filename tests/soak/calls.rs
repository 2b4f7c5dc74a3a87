//! A fault at each system call of a write in turn: the process is killed there, or the call fails.

use std::os::unix::process::ExitStatusExt;

use super::*;

/// Calls that touch files. `?` for those that not every processor has.
const CALLS: &str = "?open,openat,?creat,read,pread64,readv,write,pwrite64,writev,fsync,fdatasync,\
    sync_file_range,fallocate,?link,linkat,?symlink,?rename,?renameat,renameat2,?unlink,unlinkat,?rmdir,\
    ftruncate,truncate,?chmod,fchmod,fchmodat,?chown,fchown,fchownat,?mkdir,mkdirat,flock,close,lseek,\
    ?stat,?lstat,fstat,newfstatat,statx,?readlink,readlinkat,?getdents,getdents64,copy_file_range,sendfile,\
    utimensat,?access,faccessat,getcwd";

/// A scenario: its name, whether the folder has a history, the command line.
const COMMANDS: [(&str, bool, &[&str]); 9] = [
    ("first add", false, &["add", "23", "--name", "Living Room", "--title", "New", "--text", "A new one."]),
    ("add", true, &["add", "23", "--title", "New", "--text", "A lantern stands on the case."]),
    ("add ephemeral", true, &["add", "23", "--title", "New", "--text", "The lamp is on.", "--ephemeral"]),
    ("supersede", true, &["supersede", "23", "Old", "--title", "New", "--text", "The trap door is open."]),
    ("promote", true, &["supersede", "23", "Fleeting", "--title", "New", "--text", "The thief steals here."]),
    ("invalidate", true, &["invalidate", "23", "Old", "--reason", "The rug is gone."]),
    (
        "record",
        true,
        &[
            "record",
            "--location",
            "23",
            "--action",
            "move rug",
            "--response",
            "The rug is moved.",
            "--turn",
            "9",
            "--score-before",
            "0",
            "--score-after",
            "5",
            "--remember",
            "New: move the rug.",
        ],
    ),
    ("episode start", true, &["episode", "start"]),
    ("episode rewind", true, &["episode", "rewind", "--turn", "0", "-q"]),
];

/// A system call of a run: its name, and which of that name it is, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    name: String,
    number: usize,
    /// The line of the trace, for messages.
    line: String,
    /// True if it closes a folder that was listed. Such a close never fails in practice, and the standard
    /// library panics if it does.
    closes_listing: bool,
}

struct Scenario {
    name: &'static str,
    arguments: &'static [&'static str],
    template: TempDir,
    before: Kept,
    after: Kept,
    calls: Vec<Call>,
}

pub(super) fn strace_works() -> bool {
    let arguments = ["-qq", "-f", "--seccomp-bpf", "-e", "trace=close", "-o", "/dev/null", "true"];
    Command::new("strace").args(arguments).status().is_ok_and(|status| status.success())
}

fn scenarios() -> Vec<Scenario> {
    COMMANDS
        .iter()
        .map(|(name, with_history, arguments)| {
            let template = if *with_history { prepared() } else { tempfile::tempdir().unwrap() };
            let folder = copy_of(&template);
            let trace = template.path().with_extension("trace");
            let filter = format!("trace={CALLS}");
            let strace = ["strace", "-f", "--seccomp-bpf", "-o", trace.to_str().unwrap(), "-e", &filter];
            let output = by_way_of(&strace, folder.path(), arguments).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let calls = read_trace(&fs::read_to_string(&trace).unwrap(), folder.path());
            fs::remove_file(trace).unwrap();
            let (before, after) = (Kept::of(template.path()), Kept::of(folder.path()));
            Scenario { name, arguments, template, before, after, calls }
        })
        .collect()
}

fn copy_of(template: &TempDir) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(template.path(), folder.path());
    folder
}

/// The calls from the first that names the folder on: what is before them is the start of the process.
fn read_trace(trace: &str, folder: &Path) -> Vec<Call> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    let mut begun = false;
    for line in trace.lines() {
        let text = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let Some((name, rest)) = text.split_once('(') else { continue };
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let number = counts.entry(name.to_owned()).or_default();
        *number += 1;
        // The program's own name stands in the folder's trace only as an argument of `execve`.
        begun |= rest.contains(folder.to_str().unwrap());
        if begun {
            let listed = calls.last().is_some_and(|call: &Call| call.name.starts_with("getdents"));
            let closes_listing = name == "close" && listed;
            calls.push(Call {
                name: name.to_owned(),
                number: *number,
                line: text.to_owned(),
                closes_listing,
            });
        }
    }
    assert!(calls.len() > 20, "{trace}");
    calls
}

fn inject(folder: &Path, arguments: &[&str], call: &Call, fault: &str) -> Output {
    let filter = format!("trace={}", call.name);
    let fault = format!("inject={}:{fault}:when={}", call.name, call.number);
    // Not with `--seccomp-bpf`: with it, strace 6.1 sends no signal.
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &filter, "-e", &fault];
    by_way_of(&strace, folder, arguments).output().unwrap()
}

/// Invariants after every fault.
fn check_kept(scenario: &Scenario, kept: &Kept) -> Result<(), String> {
    let Scenario { before, after, .. } = scenario;
    hold!(kept.file == before.file || kept.file == after.file, "neither old nor new file: {:?}", kept.file);
    hold!(
        kept.session == before.session || kept.session == after.session,
        "neither old nor new session: {:?}",
        kept.session
    );
    hold!(kept.episode == before.episode || kept.episode == after.episode, "episode {:?}", kept.episode);
    hold!(
        kept.backup() == before.backup() || kept.backup() == before.file.as_ref(),
        "torn backup: {:?}",
        kept.backup()
    );
    let known = |text: &String| before.backups.contains(text) || before.file.as_ref() == Some(text);
    hold!(kept.backups.iter().all(known), "torn backups: {:?}", kept.backups);
    if kept.file != before.file && before.file.is_some() {
        hold!(kept.backup() == before.file.as_ref(), "the file is new, its backup is not");
    }
    // Each memory acknowledged earlier: in the file, or in the session unless its episode has ended.
    for title in ["Old", "Other", "Fleeting"].into_iter().filter(|title| before.knows(title)) {
        let may_end = title == "Fleeting" && (kept.episode != before.episode || kept.file != before.file);
        hold!(kept.knows(title) || may_end, "`{title}` is lost");
    }
    Ok(())
}

/// The next command succeeds, and leaves no files behind.
fn check_next(scenario: &Scenario, folder: &Path, kept: &Kept) -> Result<(), String> {
    let output = run(folder, &["add", "24", "--title", "Next", "--text", "Life goes on."]);
    let said = String::from_utf8_lossy(&output.stderr);
    hold!(output.status.success() && said.is_empty(), "the next command says: {said}");
    let next = Kept::of(folder);
    for title in ["Old", "Other", "Fleeting", "New"] {
        hold!(next.knows(title) == kept.knows(title), "`{title}` came or went with the next command");
    }
    hold!(next.knows("Next"), "the next memory is missing");
    hold!(next.backups.first() == kept.file.as_ref(), "the newest state kept is not the file before");
    let left = leftovers(folder);
    hold!(left.is_empty(), "left over after {}: {left:?}", scenario.name);
    let ignored = fs::read_to_string(folder.join(".memories/.gitignore")).unwrap_or_default();
    hold!(ignored == "*\n", "git would see the sidecar: {ignored:?}");
    let recalled = run(folder, &["recall", "24"]);
    hold!(String::from_utf8_lossy(&recalled.stdout).contains("Life goes on."), "recall does not find it");
    let journal = fs::read_to_string(folder.join(".memories").join(FILE).join("journal.jsonl")).unwrap();
    let last = journal.lines().last().unwrap_or_default();
    hold!(last.contains("\"Next\"") && journal.ends_with('\n'), "the journal does not end with it: {last}");
    Ok(())
}

fn changed(scenario: &Scenario, kept: &Kept) -> bool {
    let Scenario { before, after, .. } = scenario;
    (after.file != before.file && kept.file != before.file)
        || (after.session != before.session && kept.session != before.session)
        || (after.episode != before.episode && kept.episode != before.episode)
}

fn check_complete(scenario: &Scenario, kept: &Kept) -> Result<(), String> {
    let after = &scenario.after;
    hold!(kept.file == after.file, "acknowledged, but the file is the old one");
    hold!(kept.session == after.session, "acknowledged, but the session is the old one");
    Ok(())
}

#[test]
#[ignore = "soak"]
fn a_kill_at_every_call() {
    let name = "kill -9 at every call";
    if !strace_works() {
        return skip(name, "strace cannot be used here");
    }
    let tally = Tally::new(name);
    for scenario in scenarios() {
        for_each(&scaled(scenario.calls.iter()), |call| {
            let folder = copy_of(&scenario.template);
            let output = inject(folder.path(), scenario.arguments, call, "signal=KILL");
            let check = || {
                // strace ends as its child did.
                hold!(output.status.signal() == Some(9), "not killed but {:?}", output.status);
                let kept = Kept::of(folder.path());
                tally.count(if changed(&scenario, &kept) { "after the write" } else { "before it" });
                check_kept(&scenario, &kept)?;
                if String::from_utf8_lossy(&output.stdout).contains("stored") {
                    check_complete(&scenario, &kept)?;
                }
                check_next(&scenario, folder.path(), &kept)
            };
            tally.note(&format!("{}: killed at {}", scenario.name, call.line), check());
        });
    }
    tally.close();
}

/// Each Nth case, where `MEMORIES_EACH_CALL` is N; all of them where it is not set.
fn scaled<T>(cases: impl Iterator<Item = T>) -> Vec<T> {
    let each = std::env::var("MEMORIES_EACH_CALL").map_or(1, |each| each.parse().expect("a number"));
    cases.step_by(each).collect()
}

/// The faults that a call can have in practice.
fn faults_of(call: &str) -> &'static [&'static str] {
    match call {
        "flock" => &["EIO", "EACCES", "ENOLCK", "EINTR"],
        "write" | "pwrite64" | "writev" | "copy_file_range" | "sendfile" => {
            &["EIO", "ENOSPC", "EACCES", "EINTR"]
        }
        "openat" | "open" | "creat" | "fsync" | "fdatasync" | "ftruncate" | "fallocate" => {
            &["EIO", "ENOSPC", "EACCES", "EINTR"]
        }
        "read" | "pread64" | "readv" => &["EIO", "EACCES", "EINTR"],
        "close" => &["EIO", "ENOSPC", "EINTR"],
        _ => &["EIO", "ENOSPC", "EACCES"],
    }
}

#[test]
#[ignore = "soak"]
fn a_failure_of_every_call() {
    let name = "each call failing once";
    if !strace_works() {
        return skip(name, "strace cannot be used here");
    }
    let tally = Tally::new(name);
    for scenario in scenarios() {
        let calls = scenario.calls.iter().filter(|call| !call.closes_listing);
        let cases = calls.flat_map(|call| faults_of(&call.name).iter().map(move |fault| (call, fault)));
        for_each(&scaled(cases), |(call, fault)| {
            let folder = copy_of(&scenario.template);
            let output = inject(folder.path(), scenario.arguments, call, &format!("error={fault}"));
            let kept = Kept::of(folder.path());
            let result = check_failed_call(&scenario, folder.path(), &output, &kept, fault, &tally);
            tally.note(&format!("{}: {fault} of {}", scenario.name, call.line), result);
        });
    }
    tally.close();
}

fn check_failed_call(
    scenario: &Scenario,
    folder: &Path,
    output: &Output,
    kept: &Kept,
    fault: &str,
    tally: &Tally,
) -> Result<(), String> {
    let said = String::from_utf8_lossy(&output.stderr);
    check_kept(scenario, kept)?;
    match output.status.code() {
        Some(0) => {
            tally.count(if said.contains("warning: ") { "done with a warning" } else { "done" });
            check_complete(scenario, kept)?;
            hold!(
                !scenario.arguments.contains(&"start") || kept.episode == scenario.after.episode,
                "no new episode"
            );
        }
        Some(code @ (3 | 4)) => {
            tally.count(if code == 3 { "try again" } else { "refused" });
            hold!(fault != "EINTR", "an interruption is no failure: {said}");
            hold!(said.contains("error: ") && said.contains("hint: "), "no error with a hint: {said}");
            let its_output = said.contains("cannot write the answer");
            let named = its_output || said.contains(folder.to_str().unwrap());
            hold!(named, "no file is named: {said}");
            // The documented exceptions: the file is in place, something after it failed and is named.
            let confirmed = said.contains("did not confirm") || said.contains("session.md`") || its_output;
            hold!(confirmed || !changed(scenario, kept), "said to have failed, but written: {said}");
        }
        code => return Err(format!("ended with {code:?}: {said}")),
    }
    check_next(scenario, folder, kept)
}

/// An editor saves while the program is stopped behind a call: at each call of an add once, by
/// renaming and in place. Only between the last look at the file and the rename can the save get lost.
#[test]
#[ignore = "soak"]
fn an_editor_saves_at_every_call() {
    let name = "an editor saves at every call";
    if !strace_works() {
        return skip(name, "strace cannot be used here");
    }
    let tally = Tally::new(name);
    let scenario = scenarios().into_iter().find(|scenario| scenario.name == "add").unwrap();
    let locked = scenario.calls.iter().position(|call| call.name == "flock").unwrap();
    let is_rename = |call: &Call| call.name.starts_with("rename") && call.line.contains(".new\"");
    let last_look = scenario.calls.iter().rposition(is_rename).unwrap() - 1;
    let ways = [false, true];
    let cases = (locked..scenario.calls.len() - 1).flat_map(|at| ways.map(|in_place| (at, in_place)));
    let cases: Vec<(usize, bool)> = scaled(cases);
    for_each(&cases, |&(at, in_place)| {
        let call = &scenario.calls[at];
        let folder = copy_of(&scenario.template);
        let way = if in_place { "in place" } else { "by renaming" };
        let result = editor_behind(&scenario, folder.path(), call, in_place).and_then(|kept| {
            match (kept.file.as_ref(), kept.backup()) {
                (Some(file), _) if file.contains(EDITED) => return Ok(()),
                (_, Some(backup)) if backup.contains(EDITED) => {
                    tally.count(&format!("{way}: only in the backup"))
                }
                _ => tally.count(&format!("{way}: lost")),
            }
            hold!(at == last_look, "the editor's save is lost");
            Ok(())
        });
        tally.note(&format!("{way} behind {}", call.line), result);
    });
    tally.close();
}

const EDITED: &str = "A line of the editor.";

fn editor_behind(scenario: &Scenario, folder: &Path, call: &Call, in_place: bool) -> Result<Kept, String> {
    let filter = format!("trace={}", call.name);
    let stop = format!("inject={}:signal=STOP:when={}", call.name, call.number);
    let trace = tempfile::NamedTempFile::new().unwrap();
    let path = trace.path().to_str().unwrap();
    let strace = ["strace", "-qq", "-o", path, "-e", &filter, "-e", &stop];
    let mut command = by_way_of(&strace, folder, scenario.arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let program = others::wait_until_stopped(child.id(), trace.path());
    others::edit(&folder.join(FILE), EDITED, in_place);
    if let Some(program) = program {
        others::send(program, "-CONT");
    }
    let output = child.wait_with_output().unwrap();
    hold!(program.is_some(), "it was not stopped");
    let said = String::from_utf8_lossy(&output.stderr);
    hold!(output.status.success(), "{said}");
    let kept = Kept::of(folder);
    hold!(kept.knows("New") && kept.knows("Old"), "the add is lost");
    hold!(leftovers(folder).is_empty(), "left over: {:?}", leftovers(folder));
    Ok(kept)
}
