//! Which command lines are the same, and what is said of them.

use super::*;

fn action(text: &str) -> u64 {
    Command::read(text).action
}

#[test]
fn nearly_equal_commands_are_one_action() {
    for (one, other) in [
        ("cargo test --lib -p a", "cargo  test -p a --lib"),
        ("pytest -x tests/a.py", "pytest tests/a.py -x"),
        ("cargo test 2>&1 | tail -5", "cargo test"),
        ("cd src && make all", "make all"),
        ("time make all", "make all >/dev/null"),
        ("timeout 60 make all", "make all # again"),
        ("git show 1a2b3c4", "git show ffe0912bcd"),
        ("cat /tmp/tmp.X7f9Qz/log.txt", "cat /tmp/tmp.aB12cd/log.txt"),
        ("vim src/lib.rs:12:5", "vim src/lib.rs:99"),
        ("echo 'a b'", "echo \"a b\""),
        ("x 123e4567-e89b-12d3-a456-426614174000", "x 00000000-e89b-12d3-a456-4266141740ff"),
        ("A=1 B=2 make", "A=1 B=2  make"),
    ] {
        assert_eq!(action(one), action(other), "{one} | {other}");
    }
}

#[test]
fn other_commands_are_other_actions() {
    for (one, other) in [
        ("git branch -d x", "git branch -D x"),
        ("cargo test a", "cargo test b"),
        ("cp a b", "cp b a"),
        ("npm test", "npm test -- --watch"),
        ("x -- -a -b", "x -- -b -a"),
        ("a && b", "a || b"),
        ("a | wc -l", "a"),
        ("python /tmp/first.py", "python /tmp/second.py"),
        ("curl http://localhost:8080", "curl http://localhost:8081"),
        ("echo $A", "echo '$A'"),
        ("A=1 make", "A=2 make"),
        ("kill 1234567", "kill 1234568"),
    ] {
        assert_ne!(action(one), action(other), "{one} | {other}");
    }
}

#[test]
fn lines_of_powershell() {
    let read = |text: &str| Command::read_as(text, Shell::PowerShell);
    for (one, other) in [
        ("cargo test 2>&1 | Select-Object -Last 5", "cargo  test"),
        ("pwsh -NoProfile -c 'cargo test'", "cargo test"),
        ("Set-Location src; cargo test", "cargo test"),
        ("& \"cargo\" 'test'", "cargo test"),
        ("cargo test *> $null", "cargo test"),
        ("cargo `\n  test", "cargo test"),
        ("GET-CHILDITEM x", "Get-ChildItem x"),
    ] {
        assert_eq!(read(one).action, read(other).action, "{one} | {other}");
    }
    assert_eq!(
        read("cargo test | Select-Object -Last 5 | Out-String").wording,
        read("cargo test *> $null").wording
    );
    assert_ne!(read("cargo test | Tee-Object x").wording, read("cargo test").wording);
    for (one, other) in [
        (r"type a\b", "type ab"),
        ("echo 'a''b'", "echo 'ab'"),
        ("a; b", "a && b"),
        ("echo $a", "echo '$a'"),
        ("pwsh -File a.ps1", "pwsh -File b.ps1"),
    ] {
        assert_ne!(read(one).action, read(other).action, "{one} | {other}");
    }
    // A line that both shells read alike is one action.
    for text in ["cargo test --all", "npm test && npm run 'a b'", "a | b; c"] {
        assert_eq!(read(text).action, action(text), "{text}");
    }
    assert_eq!(action("pwsh -Command \"cargo tset\""), action("cargo tset"));
    assert_eq!(read(r"Set-Location -Path 'C:\a b'; make").folder.as_deref(), Some(r"C:\a b"));
    assert_eq!(
        read(r"cd src\a; make").folder.as_deref(),
        Some(if cfg!(windows) { r"src\a" } else { "src/a" })
    );
    assert_eq!(read(r"& 'C:\Program Files\git.exe' push").words[1], "push");
    assert!(read(r"& 'C:\Program Files\Git\git.exe' push").asks_elsewhere);
    assert!(
        !read("Get-Content x | Select-String y").may_change
            && read("ls | ForEach-Object { rm $_ }").may_change
    );
    assert!(read("Invoke-WebRequest x").asks_elsewhere && read("a & ").hides_code);
    assert!(Command::is_action("cargo tset", read("cargo tset").action));
}

fn wording(text: &str) -> u64 {
    Command::read(text).wording
}

#[test]
fn nothing_that_makes_a_difference_is_the_same_wording() {
    for (one, other) in [
        ("psql app < 1.sql", "psql app < 2.sql"),
        ("psql app", "psql app </dev/null"),
        ("pg_dump app > /var/b/app.sql", "pg_dump app > app.sql"),
        ("make >> log", "make > log"),
        ("make > log", "make 2> log"),
        ("make", "make > 1"),
        ("apt-get install x", "sudo apt-get install x"),
        ("timeout 5 make", "timeout 300 make"),
        ("timeout 5 make", "make"),
        ("cargo --release build", "cargo build --release"),
        ("python app.py -v", "python -v app.py"),
        ("docker run app --rm", "docker run --rm app"),
        ("pytest -k slow -m unit", "pytest -m slow -k unit"),
        ("find . -not -empty -print", "find . -empty -not -print"),
        ("make | tee a", "make | tee b"),
        ("make | cat a", "make"),
        ("make | tee 1", "make"),
        ("make | sort -oa", "make"),
        ("make | sort > a", "make"),
        ("make | python x.py", "make 2>&1 | python x.py"),
        ("make | python x.py", "make |& python x.py"),
        ("make", "make &"),
        ("git show 1a2b3c4", "git show ffe0912"),
    ] {
        assert_ne!(wording(one), wording(other), "{one} | {other}");
    }
}

#[test]
fn what_makes_no_difference_is_the_same_wording() {
    for (one, other) in [
        ("cargo test 2>&1 | tail -5", "cargo  test"),
        ("cargo test | tail -n 5 | cat", "cargo 'test'"),
        ("cd src && time make", "make >/dev/null 2>&1"),
        ("set -o pipefail; make | tail", "make"),
        ("env A=1 make < x", "A=1 make <x"),
        ("make 2>&1 | python x.py", "make |& python x.py"),
    ] {
        assert_eq!(wording(one), wording(other), "{one} | {other}");
    }
}

#[test]
fn a_file_that_is_read_may_be_named() {
    assert_eq!(Command::read("psql app < 1.sql > out").arguments, ["psql", "app", "1.sql"]);
}

#[test]
fn what_the_exit_code_says() {
    let hides = |text: &str| Command::read(text).hides_code;
    for text in ["cargo test | tail -5", "make || true", "make; echo done", "make &"] {
        assert!(hides(text), "{text}");
    }
    for text in ["cargo test", "a && b", "cargo test | grep x", "set -o pipefail; make | tail", "cd x; make"]
    {
        assert!(!hides(text), "{text}");
    }
    assert!(Command::read("ls | grep x").answers && Command::read("git diff --exit-code").answers);
    assert!(!Command::read("grep x y && make").answers);
}

#[test]
fn a_list_has_parts() {
    let list = Command::read("cargo  build && cargo test");
    assert_eq!(list.parts, [action("cargo build"), action("cargo test")]);
    assert_eq!(Command::read("cd a && make").parts, [0; 0]);
    for text in
        ["source .venv/bin/activate && pytest", ". x && make", "A=1 && make", "export A=1 && make && ls"]
    {
        assert_eq!(Command::read(text).parts, [0; 0], "{text}");
    }
    assert_eq!(Command::read("make && cd web && npm test").parts, [action("make")]);
    assert_eq!(Command::read("cd a && make").folder.as_deref(), Some("a"));
}

#[test]
fn what_may_change_something() {
    let changes = |text: &str| Command::read(text).may_change;
    for text in [
        "rm x",
        "npm install",
        "echo a > b",
        "git commit -m x",
        "sed -i s/a/b/ x",
        "ls && touch a",
        "for a in b; do c; done",
        "make -n | tee list",
        "ls | tee list",
        "ls | sort > list",
        "sort -o x x",
        "sort -uo x x",
        "awk '{ print > \"x\" }' y",
        "echo $(touch x)",
        "git remote add origin x",
        "git diff --output=x",
        "cargo build",
        "cargo doc",
        "cargo clippy --fix",
        "go build ./...",
        "go env -w A=1",
        "npm test",
        "yarn test",
        "pnpm run build",
    ] {
        assert!(changes(text), "{text}");
    }
    for text in [
        "ls -la",
        "git status",
        "git remote -v",
        "cargo test --lib",
        "/bin/cat x 2>/dev/null",
        "set -o pipefail; A=1 cargo test 2>&1 | tail -5",
        "sort --reverse x | fmt",
        "go env",
    ] {
        assert!(!changes(text), "{text}");
    }
}

#[test]
fn what_others_decide() {
    let asks = |text: &str| Command::read(text).asks_elsewhere;
    for text in [
        "curl localhost:8080",
        "A=1 sudo docker ps",
        "timeout -k 1 5 curl x",
        "sudo -u postgres psql app < x.sql",
        "git -C web push",
        "git fetch --all",
        "echo a | /usr/bin/ssh host",
        "bash -c 'sleep 1; curl x'",
        "echo $(kubectl get pods)",
        "psql app <<END\nselect 1\nEND",
        "for x in a b; do git pull $x; done",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in ["cargo test", "git commit -m push", "cat curl", "ls docker", "for x in a; do make; done"] {
        assert!(!asks(text), "{text}");
    }
}

#[test]
fn white_space_of_a_here_document_makes_a_difference() {
    let [one, other] = ["python <<X\nif a:\n  b\nc\nX", "python <<X\nif a:\n  b\n  c\nX"].map(Command::read);
    assert_ne!(one.wording, other.wording);
    assert_eq!(one.action, other.action);
}
