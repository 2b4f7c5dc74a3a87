//! `sync` against a bucket that fails in each way that stores fail, and `--watch`.

mod bucket;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::program::{memories, send};
use bucket::{Bucket, Manner};

const FILE: &str =
    "# Location Memories\n\n## Location 1: Hall\n\n### Memories\n\n**[NOTE] a** *(Ep1)*\none\n\n---\n";
const OTHER: &str =
    "# Location Memories\n\n## Location 1: Hall\n\n### Memories\n\n**[NOTE] b** *(Ep2)*\ntwo\n\n---\n";
const KEY: &str = "/games/zork/Memories.md";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// Longer than any step of these tests takes; only a failure waits so long.
const AMPLE: Duration = Duration::from_secs(60);

fn worker() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), FILE).unwrap();
    folder
}

fn command(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> Command {
    let mut command = memories(folder, arguments);
    command
        .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_ENDPOINT_URL", format!("http://{}", bucket.address))
        .env("STORAGE_EMULATOR_HOST", format!("http://{}", bucket.address));
    command
}

fn run(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command(folder, bucket, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn text(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("Memories.md")).unwrap()
}

#[test]
fn two_workers_meet_in_a_bucket() {
    for url in ["s3://games/zork/Memories.md", "gs://games/zork/"] {
        let bucket = Bucket::start(Manner::Right);
        let (a, b) = (worker(), worker());
        fs::write(b.path().join("Memories.md"), OTHER).unwrap();
        for (worker, said) in
            [(&a, "sent 1 memory"), (&b, "received 1 memory; sent 1 memory"), (&a, "received 1 memory")]
        {
            let (code, out, err) = run(worker.path(), &bucket, &["sync", url]);
            assert_eq!((code, err.as_str()), (0, ""), "{url}: {out}");
            assert_eq!(
                out,
                format!(
                    "synced with {}: {said}\n",
                    url.trim_end_matches('/').replace("gs://games/zork", "gs://games/zork/Memories.md")
                )
            );
        }
        assert_eq!(text(&a), text(&b));
        assert!(text(&a).contains("one") && text(&a).contains("two"));
        let keys = bucket.keys();
        let machines = keys.iter().filter(|key| key.starts_with(&format!("{KEY}.machines/")));
        let origins = machines.clone().filter(|key| key.contains("/origin-")).count();
        assert_eq!((keys[0].as_str(), machines.count() - origins, keys.len()), (KEY, 2, 3 + origins));
        let there = String::from_utf8(bucket.held.lock().unwrap().objects[KEY].0.clone()).unwrap();
        assert_eq!(there, text(&a));
        let (code, out, _) = run(b.path(), &bucket, &["recall", "1", "-f", url]);
        assert_eq!((code, out.contains("one") && out.contains("two")), (0, true), "{out}");
        let (code, out, err) = run(b.path(), &bucket, &["check", "-f", url, "-v"]);
        assert_eq!(code, 0, "{out}{err}");
    }
}

#[test]
fn a_store_that_fails_leaves_both_sides_as_they_are() {
    let denied = "<Error><Code>InvalidAccessKeyId</Code><Message>The AWS Access Key Id you provided does not exist in our \
                  records.</Message><AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE</AWSAccessKeyId></Error>";
    for (manner, code, said) in [
        (
            Manner::Always(404, "<Error><Code>NoSuchBucket</Code><Message>No.</Message></Error>"),
            4,
            "there is no bucket for",
        ),
        (Manner::Always(403, denied), 4, "refuses: InvalidAccessKeyId: The AWS Access Key Id you provided"),
        (Manner::Always(401, "who are you"), 4, "refuses: 401"),
        (
            Manner::Always(
                400,
                "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>",
            ),
            4,
            "refuses: ExpiredToken: The provided token has expired",
        ),
        (Manner::Always(503, "<Error><Code>SlowDown</Code></Error>"), 3, "does not answer: SlowDown"),
        (Manner::Always(418, "teapot"), 4, "answers wrongly: 418"),
        (Manner::ReadOnly(403, "<Error><Code>AccessDenied</Code></Error>"), 4, "refuses: AccessDenied"),
        (Manner::Torn, 3, "does not answer"),
        (Manner::Huge, 4, "has 100000000 bytes: more than 64 MiB"),
        (Manner::Restless, 4, "the version of its copy changes, though the text does not"),
        (Manner::Endless, 3, "does not answer"),
    ] {
        let bucket = Bucket::start(manner);
        bucket.set(KEY, OTHER.as_bytes());
        let a = worker();
        let (exit, out, err) = run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md"]);
        assert_eq!((exit, out.as_str()), (code, ""), "{manner:?}: {err}");
        assert!(err.contains(said) && err.contains("\nhint: "), "{manner:?}: {err}");
        assert!(!err.contains(SECRET) && !err.contains("AKIAIOSFODNN7EXAMPLE"), "{err}");
        assert_eq!((text(&a), bucket.keys()[0].as_str()), (FILE.to_owned(), KEY), "{manner:?}");
        assert_eq!(bucket.held.lock().unwrap().objects[KEY].0, OTHER.as_bytes(), "{manner:?}");
    }
}

#[test]
fn a_sync_that_is_killed_behind_its_push_counts_once_though_others_push_before_the_next() {
    let url = "s3://games/zork/Memories.md";
    let (bucket, a, b) = (Bucket::start(Manner::Right), worker(), worker());
    let visited = |folder: &TempDir, times: u32| {
        let new = format!("## Location 1: Hall\n**Visits:** {times} | **Episodes:** 1\n");
        let text = text(folder);
        let old = text.split_inclusive("\n\n").find(|part| part.starts_with("## ")).unwrap().trim_end();
        fs::write(folder.path().join("Memories.md"), text.replace(old, new.trim_end())).unwrap();
    };
    let sync = |folder: &TempDir| {
        let (code, out, err) = run(folder.path(), &bucket, &["sync", url]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    };
    for worker in [&a, &b, &a] {
        sync(worker);
    }
    visited(&a, 3);
    bucket.held.lock().unwrap().silent = Some(KEY);
    let mut cut_off = command(a.path(), &bucket, &["sync", url]).spawn().unwrap();
    let began = Instant::now();
    while bucket.held.lock().unwrap().silent.is_some() {
        assert!(began.elapsed() < AMPLE, "the push never came");
        std::thread::sleep(Duration::from_millis(5));
    }
    cut_off.kill().unwrap();
    cut_off.wait().unwrap();
    sync(&b);
    visited(&b, 5);
    sync(&b);
    sync(&a);
    assert!(text(&a).contains("**Visits:** 5 |"), "{}", text(&a));
    assert_eq!(text(&a), text(&b));
}

#[test]
fn a_copy_that_is_no_memory_file_is_left_alone() {
    let bucket = Bucket::start(Manner::Right);
    for (bytes, said) in [
        (&b"# ok\n\xff"[..], "is not UTF-8: byte 6"),
        (b"## World\n\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "has a conflict of a merge in line 3"),
        (
            b"# T\n<!-- memories: format 2 -->\n",
            "line 2: the file has format 2, and this program knows format 1",
        ),
    ] {
        bucket.set(KEY, bytes);
        let a = worker();
        let (code, _, err) = run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md"]);
        assert!(code == 4 && err.contains(said), "{err}");
        assert_eq!((text(&a).as_str(), bucket.held.lock().unwrap().objects[KEY].0.as_slice()), (FILE, bytes));
    }
    bucket.set(KEY, OTHER.as_bytes());
    let a = worker();
    assert_eq!(run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md"]).0, 0);
    bucket.held.lock().unwrap().objects.clear();
    let (before, (code, _, err)) =
        (text(&a), run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md"]));
    assert!(code == 4 && err.contains("was there at the last sync, and is gone"), "{err}");
    assert_eq!((text(&a), bucket.keys().len()), (before, 0));
    assert_eq!(run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md", "--create"]).0, 0);
    assert_eq!(bucket.keys()[0], KEY);
}

#[test]
fn nobody_answers() {
    let a = worker();
    let mut bucket = Bucket::start(Manner::Right);
    // The port that a listener has left may belong to another test at once.
    bucket.address.set_port(1);
    let (code, _, err) = run(a.path(), &bucket, &["sync", "s3://games/zork/Memories.md"]);
    assert!(code == 3 && err.contains("does not answer") && err.contains("hint: check the network"), "{err}");
    let (code, _, err) = run(a.path(), &bucket, &["recall", "1", "-f", "s3://games/zork/Memories.md"]);
    assert!(code == 3 && err.contains("does not answer"), "{err}");
    assert_eq!(text(&a), FILE);
}

/// Waits until a file holds a text.
fn wait_for(path: &Path, part: &str) {
    let began = Instant::now();
    while !fs::read_to_string(path).is_ok_and(|text| text.contains(part)) {
        assert!(began.elapsed() < AMPLE, "`{part}` never came to {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn a_watch_syncs_at_its_interval_after_an_episode_and_at_its_end() {
    let (a, shared) = (worker(), tempfile::tempdir().unwrap());
    let copy = shared.path().canonicalize().unwrap().join("Memories.md");
    let url = format!("file://{}", copy.display());
    let add = |title: &str| {
        let added = memories(a.path(), &["add", "1", &format!("text of {title}"), "--title", title])
            .output()
            .unwrap();
        assert!(added.status.success());
    };
    for interval in ["100ms", "1h"] {
        let mut watch =
            memories(a.path(), &["sync", &url, "--watch", interval]).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(watch.stdout.take().unwrap()).lines();
        wait_for(&copy, "one");
        if interval == "100ms" {
            assert!(said.next().unwrap().unwrap().ends_with("sent 1 memory"));
            add("soon");
            wait_for(&copy, "text of soon");
        } else {
            add("later");
            let started = memories(a.path(), &["episode", "start"]).output().unwrap();
            assert!(started.status.success());
            wait_for(&copy, "text of later");
        }
        add(&format!("last {interval}"));
        send("-INT", &watch);
        assert!(watch.wait().unwrap().success());
        assert!(fs::read_to_string(&copy).unwrap().contains(&format!("text of last {interval}")));
    }
}
