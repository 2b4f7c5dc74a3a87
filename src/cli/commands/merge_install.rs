//! `merge --install`: lets git merge and show memory files by the meaning of their lines.
//!
//! Git's configuration is written by git. The attributes are a line of text, added behind those of a person. A
//! repository may have come from anybody: nothing is written through a link of it, and nothing in it becomes part of
//! a command line but the name of the memory file, as a pattern.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::context::Cli;
use crate::cli::failure::{Failure, unreadable};
use crate::cli::git::{GitError, failed, git, line, run as run_git, work_tree};
use crate::cli::own_program::{own_program, search_path};
use memories_document::types::json::text_without_mark;
use memories_store::{Existing, create_folder, read_bounded, write_file, write_script};

/// The name of the program, which the shell looks up where that leads to this very program.
const PROGRAM: &str = "memories";

/// The merge strategy that git finds by this name.
const STRATEGY: &str = "git-merge-memories";

/// The strategies that git tries for more than two heads, in this order.
const STRATEGIES: &str = "memories octopus";

/// The attributes of a memory file.
const ATTRIBUTES: &str = "merge=memories diff=memories";

/// Longest file of attributes that is read, in bytes.
const MAX_ATTRIBUTES: u64 = 16 << 20;

/// Where the driver is installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Install {
    /// For all repositories of the user.
    pub global: bool,
    /// Write nothing.
    pub dry_run: bool,
}

/// One thing that is written, or is there already.
struct Step {
    /// A file, or the command that writes.
    place: String,
    line: String,
    is_there: bool,
}

/// Installs the driver and says what was written.
pub(crate) fn run(cli: &mut Cli<'_>, install: Install) -> Result<u8, Failure> {
    let file =
        std::path::absolute(&cli.settings.file).map_err(|error| unreadable(&cli.settings.file, error))?;
    let folder = file.parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let attributes = if install.global {
        global_attributes(folder, cli.settings.user_folder.as_deref())?
    } else {
        repository_attributes(folder)?
    };
    let name = file.file_name().unwrap_or_default();
    let program = program_word()?;
    let mut notices = Vec::new();
    let mut steps = vec![write_attributes(&attributes, &pattern(name)?, install)?];
    for (key, value) in configuration(&program) {
        steps.push(write_value(folder, key, &value, install)?);
    }
    steps.extend(octopus(folder, &program, install, &mut notices)?);
    if !install.global && !install.dry_run && !is_effective(folder, name) {
        let name = name.to_string_lossy();
        notices.push(format!(
            "another line still decides about `{name}`: `git check-attr merge diff {name}` shows what holds"
        ));
    }
    report(cli, install, &steps, &notices)
}

/// A notice for a repository in which the driver is not installed.
pub(crate) fn offer(folder: &Path) -> Option<&'static str> {
    let answers = |arguments: &[&str]| line(folder, arguments).unwrap_or_default();
    (answers(&["rev-parse", "--is-inside-work-tree"]) == "true"
        && answers(&["config", "--get", "merge.memories.driver"]).is_empty())
    .then_some("`memories merge --install` lets git merge this file by what it means")
}

fn report(cli: &mut Cli<'_>, install: Install, steps: &[Step], notices: &[String]) -> Result<u8, Failure> {
    if cli.ui.json {
        let list = |is_there: bool| -> Value {
            let steps = steps.iter().filter(|step| step.is_there == is_there);
            steps.map(|step| json!({"where": step.place, "line": step.line})).collect()
        };
        return cli.ui.json_answer(&json!({
            "dry_run": install.dry_run, "written": list(false), "kept": list(true), "notices": notices,
        }));
    }
    for Step { place, line, is_there } in steps {
        let verb = match (is_there, install.dry_run) {
            (true, _) => "kept",
            (false, true) => "would write",
            (false, false) => "wrote",
        };
        cli.ui.data(&format!("{verb} {place}: {line}\n"))?;
    }
    cli.ui.notices(notices);
    if !install.global && !install.dry_run && steps.first().is_some_and(|step| !step.is_there) {
        cli.ui.notice("commit `.gitattributes`; every clone runs `memories merge --install` once");
    }
    Ok(0)
}

/// The keys of git's configuration with their values.
fn configuration(program: &str) -> [(&'static str, String); 4] {
    // In the driver, git replaces what follows a `%`.
    let driver = program.replace('%', "%%");
    // Git takes each exit code up to 128 for a file that was merged, with conflicts or without. It would go on with ours
    // alone where the program is missing (127) or refuses.
    let driver = format!(
        "{driver} merge -L %X -L %S -L %Y --path=%P -- %O %A %B; code=$?; test $code -le 1 && exit $code; exit 129"
    );
    // Without the program, `git diff` still shows the file. A name such as `-x.md` or `-` is no option and no stdin.
    let textconv = format!(
        "show() {{ case $1 in -*) set -- \"./$1\";; esac; {program} diff --textconv=\"$1\" 2>/dev/null || cat \"$1\"; }}; show"
    );
    [
        ("merge.memories.name", "memories, merged by what they mean".to_owned()),
        ("merge.memories.driver", driver),
        ("diff.memories.textconv", textconv),
        ("diff.memories.xfuncname", "^##? .*$".to_owned()),
    ]
}

fn scope(install: Install) -> &'static str {
    if install.global { "--global" } else { "--local" }
}

/// Lets git write a value, unless it is there.
fn write_value(folder: &Path, key: &str, value: &str, install: Install) -> Result<Step, Failure> {
    let scope = scope(install);
    let present = match run_git(git(folder, &["config", scope, "--null", "--get-all", key])) {
        Ok(values) => values,
        Err(GitError::Refused { .. }) => Vec::new(),
        Err(error) => return Err(failed("read its configuration", &error)),
    };
    let is_there = present.strip_suffix(b"\0") == Some(value.as_bytes());
    if !is_there && !install.dry_run {
        run_git(git(folder, &["config", scope, "--replace-all", key, value]))
            .map_err(|error| failed("write its configuration", &error))?;
    }
    Ok(Step { place: format!("git config {scope}"), line: format!("{key} = {value}"), is_there })
}

/// The file of attributes at the root of the work tree.
fn repository_attributes(folder: &Path) -> Result<PathBuf, Failure> {
    let elsewhere =
        "run `git init` first, or install for all repositories: `memories merge --install --global`";
    let path = work_tree(folder, elsewhere)?.join(".gitattributes");
    // A repository can ship a link to any file of its user. Git itself reads none there.
    if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(Failure::user(format!("`{}` is a link, which git does not read", path.display()))
            .hint("make it a file, and run this again"));
    }
    Ok(path)
}

/// The user's own file of attributes, behind links.
fn global_attributes(folder: &Path, user_folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let named = line(folder, &["config", "--global", "--type=path", "--get", "core.attributesFile"]);
    if let Err(error @ GitError::Missing(_)) = &named {
        return Err(failed("read its configuration", error));
    }
    let own = || Some(user_folder?.parent()?.join("git").join("attributes"));
    let path =
        named.ok().filter(|path| !path.is_empty()).map(PathBuf::from).or_else(own).ok_or_else(|| {
            Failure::user("there is no folder for git's attributes: HOME is not set")
                .hint("set HOME or XDG_CONFIG_HOME")
        })?;
    Ok(fs::canonicalize(&path).unwrap_or(path))
}

/// Adds the line with the attributes of a pattern, unless the file has them.
fn write_attributes(path: &Path, pattern: &str, install: Install) -> Result<Step, Failure> {
    let old = match read_bounded(path, MAX_ATTRIBUTES) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| unreadable(path, error).hint("make it a file that you can read"))?,
    };
    let line = format!("{pattern} {ATTRIBUTES}");
    let is_there = has_attributes(&old, pattern);
    if !is_there && !install.dry_run {
        if let Some(folder) = path.parent().filter(|_| install.global) {
            create_folder(folder)?;
        }
        write_file(path, &with_line(old, &line), Existing::Replace)?;
    }
    Ok(Step { place: path.display().to_string(), line, is_there })
}

/// True if the last lines for that pattern set both attributes.
fn has_attributes(text: &[u8], pattern: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    let (mut merge, mut diff) = (false, false);
    for line in text_without_mark(&text).lines() {
        let Some(words) = line.trim_start().strip_prefix(pattern) else { continue };
        if !words.starts_with([' ', '\t']) {
            continue;
        }
        for word in words.split_whitespace() {
            let name = word.trim_start_matches(['-', '!']).split('=').next().unwrap_or_default();
            if matches!(name, "merge" | "binary") {
                merge = word == "merge=memories";
            }
            if matches!(name, "diff" | "binary") {
                diff = word == "diff=memories";
            }
        }
    }
    merge && diff
}

/// The text with one more line, in its own line ending.
fn with_line(mut text: Vec<u8>, line: &str) -> Vec<u8> {
    let first = text.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let ending: &[u8] = if first.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.extend_from_slice(ending);
    }
    text.extend_from_slice(line.as_bytes());
    text.extend_from_slice(ending);
    text
}

/// The pattern that matches files of exactly this name.
fn pattern(name: &OsStr) -> Result<String, Failure> {
    let name = name.to_str().ok_or_else(|| {
        Failure::user("the name of the memory file is not UTF-8").hint("rename it, as `Memories.md`")
    })?;
    let mut pattern = String::new();
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') || pattern.is_empty() && matches!(c, '#' | '!') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    if !pattern.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"') {
        return Ok(pattern);
    }
    let mut quoted = String::from("\"");
    for c in pattern.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

/// True if git takes the memory file for one.
fn is_effective(folder: &Path, name: &OsStr) -> bool {
    let mut command = git(folder, &["check-attr", "-z", "merge", "diff", "--"]);
    command.arg(name);
    let answer = run_git(command).unwrap_or_default();
    let words: Vec<&[u8]> = answer.split(|&byte| byte == 0).collect();
    words.chunks(3).filter(|words| words.get(2) == Some(&PROGRAM.as_bytes())).count() == 2
}

/// The program as a word of the shell's language.
fn program_word() -> Result<String, Failure> {
    let program = own_program()?;
    let word = shlex::try_quote(&program).map(|word| word.into_owned());
    word.map_err(|error| Failure::caused("the path of this program is no word of a shell", error))
}

/// Writes the strategy for merges of more than two heads, and lets git try it before its own, which merges by lines.
/// Where it cannot be written, a notice says what to do.
fn octopus(
    folder: &Path,
    program: &str,
    install: Install,
    notices: &mut Vec<String>,
) -> Result<Vec<Step>, Failure> {
    let script = format!("#!/bin/sh\nexec {program} merge --octopus \"$*\"\n");
    let mut steps = Vec::new();
    match write_strategy(&script, install) {
        Ok(step) => steps.push(step),
        Err(why) => {
            notices.push(format!(
                "merges of more than two branches at once stay git's own, for {why}; to have them merged as well, put \
                 an executable file `{STRATEGY}` into a folder of your PATH with these lines, and run this again: \
                 `#!/bin/sh` and `exec {program} merge --octopus \"$*\"`"
            ));
            return Ok(steps);
        }
    }
    let present = line(folder, &["config", "--get", "pull.octopus"]).unwrap_or_default();
    if present.is_empty() {
        steps.push(write_value(folder, "pull.octopus", STRATEGIES, install)?);
    } else if present == STRATEGIES {
        // In whichever of git's files it stands.
        let line = format!("pull.octopus = {present}");
        steps.push(Step { place: "git config".to_owned(), line, is_there: true });
    } else if !present.split_whitespace().any(|name| name == PROGRAM) {
        notices.push(format!(
            "`pull.octopus` is `{present}`: add `memories` to it for merges of more than two branches"
        ));
    }
    Ok(steps)
}

/// Writes the strategy beside this program, unless the PATH has it.
///
/// # Errors
///
/// The reason why it cannot, in words.
fn write_strategy(script: &str, install: Install) -> Result<Step, String> {
    let step = |path: &Path, is_there| Step {
        place: path.display().to_string(),
        line: "a merge strategy for more than two branches".to_owned(),
        is_there,
    };
    let holds = |path: &Path| read_bounded(path, MAX_ATTRIBUTES).is_ok_and(|text| text == script.as_bytes());
    if let Some(found) =
        search_path().into_iter().map(|folder| folder.join(STRATEGY)).find(|path| path.is_file())
        && holds(&found)
    {
        return Ok(step(&found, true));
    }
    let own = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let own = own.ok_or("the folder of this program is not known")?;
    let is_own = |folder: &PathBuf| fs::canonicalize(folder).ok() == fs::canonicalize(&own).ok();
    if !search_path().iter().any(|folder| folder.is_absolute() && is_own(folder)) {
        return Err(format!("`{}` is not on your PATH", own.display()));
    }
    let path = own.join(STRATEGY);
    let is_strange = read_bounded(&path, MAX_ATTRIBUTES)
        .is_ok_and(|text| !String::from_utf8_lossy(&text).contains(" merge --octopus \"$*\""));
    if is_strange {
        return Err(format!("`{}` is another program", path.display()));
    }
    if !install.dry_run {
        write_script(&path, script.as_bytes()).map_err(|error| Failure::from(error).message())?;
    }
    Ok(step(&path, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_one_name_alone() {
        let of = |name: &str| pattern(OsStr::new(name)).unwrap();
        assert_eq!(of("Memories.md"), "Memories.md");
        assert_eq!(of("My \"own\".md"), r#""My \"own\".md""#);
        assert_eq!(of("a*[b]?.md"), r"a\*\[b]\?.md");
        assert_eq!(of("#a.md"), r"\#a.md");
        assert_eq!(of("!a b.md"), r#""\\!a b.md""#);
        assert_eq!(of("a\nb.md"), "\"a\\012b.md\"");
        assert_eq!(of("北.md"), "北.md");
    }

    #[test]
    fn the_last_line_of_a_pattern_decides() {
        let has = |text: &str| has_attributes(text.as_bytes(), "M.md");
        assert!(has("M.md merge=memories diff=memories\n"));
        assert!(has("\u{FEFF}M.md\tmerge=memories\r\n*.md text\r\nM.md diff=memories eol=lf\r\n"));
        for text in [
            "",
            "M.mdx merge=memories diff=memories\n",
            "# M.md merge=memories diff=memories\n",
            "M.md merge=memories\n",
            "M.md merge=memories diff=memories\nM.md -merge\n",
            "M.md merge=memories diff=memories\nM.md binary\n",
            "M.md merge=memories diff=memories diff=other\n",
        ] {
            assert!(!has(text), "{text}");
        }
    }

    #[test]
    fn a_line_is_added_in_the_ending_of_the_file() {
        let with = |text: &str| String::from_utf8(with_line(text.into(), "x")).unwrap();
        assert_eq!(with(""), "x\n");
        assert_eq!(with("a"), "a\nx\n");
        assert_eq!(with("a\r\nb"), "a\r\nb\r\nx\r\n");
        assert_eq!(with("a\nb\r\n"), "a\nb\r\nx\n");
    }
}
