//! File systems that refuse what others can do: each refusal is a warning, and the write goes on.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use super::calls::strace_works;
use super::*;

/// A call, and what a warning says the file has lost where it is refused.
const REFUSED: [(&str, &str); 3] =
    [("fchmod", "has lost its mode"), ("fchown", "has lost its group"), ("fsetxattr", "has lost its")];

/// Errors of file systems that lack a notion.
const ERRORS: [&str; 5] = ["EPERM", "EACCES", "EINVAL", "EOPNOTSUPP", "ENOSYS"];

/// True if the warning is there, and the memory is in a file that gives nobody more rights than before.
fn stored(folder: &Path, output: &Output, lost: &str) -> Result<(), String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let text = fs::read_to_string(folder.join(FILE)).unwrap();
    hold!(output.status.success() && text.contains("] New**"), "{:?}: {said}", output.status);
    hold!(said.is_empty() || said.contains(lost), "{said}");
    let mode = fs::metadata(folder.join(FILE)).unwrap().mode() & 0o777;
    hold!(mode & !0o664 == 0, "{mode:o}");
    let next = run(folder, &add("Next", "Life goes on."));
    hold!(next.status.success() && next.stderr.is_empty(), "{}", String::from_utf8_lossy(&next.stderr));
    Ok(())
}

#[test]
#[ignore = "soak"]
fn a_refused_mode_owner_or_attribute_is_a_warning() {
    let name = "refused calls";
    if !strace_works() {
        return skip(name, "strace cannot be used here");
    }
    let tally = Tally::new(name);
    for (call, lost) in REFUSED {
        for error in ERRORS {
            let folder = prepared();
            let file = folder.path().join(FILE);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
            if is_root() {
                chown(&file, Some(65534), Some(65534)).unwrap();
            }
            let (trace, fault) = (format!("trace={call}"), format!("inject={call}:error={error}"));
            let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &fault];
            let output = by_way_of(&strace, folder.path(), &add("New", "A new one.")).output().unwrap();
            tally.note(&format!("{call}: {error}"), stored(folder.path(), &output, lost));
        }
    }
    tally.close();
}

#[test]
#[ignore = "soak"]
fn a_file_system_without_modes_or_owners_takes_every_write() {
    let name = "bindfs that refuses";
    let tally = Tally::new(name);
    for option in ["--chmod-deny", "--chown-deny", "--xattr-none", "--chmod-ignore"] {
        let (below, above) = (prepared(), tempfile::tempdir().unwrap());
        let mounted = Command::new("bindfs").arg(option).args([below.path(), above.path()]).status();
        if !mounted.is_ok_and(|status| status.success()) {
            return skip(name, "bindfs is not here, or cannot mount");
        }
        let output = run(above.path(), &add("New", "A new one."));
        tally.note(option, stored(above.path(), &output, "has lost its mode"));
        assert!(Command::new("umount").arg(above.path()).status().unwrap().success());
    }
    tally.close();
}
