//! Commands that worked in place of one that failed.
//!
//! Two commands enter; true leaves only if the one did the task of the other.

use crate::work::command::Command;

/// Words of a command that only says what it would do, or how it is used.
const PRETENDING: [&str; 9] =
    ["--collect-only", "--co", "--dry-run", "--help", "--list", "--no-run", "--version", "-h", "help"];

/// Starts of words that go around what stopped a command, or throw something away.
const AROUND: [&str; 13] = [
    "--allow-",
    "--break-",
    "--force",
    "--hard",
    "--ignore",
    "--insecure",
    "--no-check",
    "--no-gpg-sign",
    "--no-verify",
    "--skip",
    "--unsafe",
    "HUSKY=",
    "SKIP",
];

/// Flags that do the same, by their whole text.
const AROUND_SHORT: [&str; 2] = ["-D", "-f"];

/// Words by which a run of tests is known, as the program or one of its first arguments.
const TESTS: [&str; 6] = ["ctest", "jest", "pytest", "test", "tox", "vitest"];

/// Starts of flags that choose some of the tests.
const CHOOSING: [&str; 10] = [
    "--bins",
    "--deselect",
    "--doc",
    "--examples",
    "--exclude",
    "--last-failed",
    "--lf",
    "--lib",
    "--package",
    "--test",
];

impl Command {
    /// True if a command does what another one was to do: the other program does it to the same thing, or the same
    /// program does it with more or fewer arguments.
    pub(crate) fn stands_in_for(&self, failed: &Command) -> bool {
        if self.only_shows || self.hides_code || self.pretends() || self.goes_around(failed) {
            return false;
        }
        let (one, other) = (&self.words, &failed.words);
        let shared = one.iter().filter(|word| other.contains(word)).count();
        let object = |words: &[String]| words.iter().rev().find(|word| !word.starts_with('-')).cloned();
        if one.first() == other.first() {
            shared >= 2 && shared >= one.len().min(other.len()) && !self.tests_less_than(failed)
        } else {
            2 * shared >= one.len().max(other.len()) && object(one) == object(other)
        }
    }

    /// True if it does not do what it names.
    fn pretends(&self) -> bool {
        let knows_short = self.words.iter().any(|word| matches!(word.as_str(), "git" | "make"));
        let pretends = |word: &String| PRETENDING.contains(&word.as_str()) || knows_short && word == "-n";
        self.words.iter().any(pretends)
    }

    /// The words that the other command does not have.
    fn added<'a>(&'a self, failed: &'a Command) -> impl Iterator<Item = &'a str> {
        self.words.iter().filter(|word| !failed.words.contains(word)).map(String::as_str)
    }

    fn goes_around(&self, failed: &Command) -> bool {
        self.added(failed)
            .any(|word| AROUND_SHORT.contains(&word) || AROUND.iter().any(|start| word.starts_with(start)))
    }

    /// True for a run of tests that names or chooses some, where the other command had all.
    fn tests_less_than(&self, failed: &Command) -> bool {
        let tests = self.words.iter().take(3).any(|word| TESTS.contains(&word.as_str()));
        let chooses =
            |word: &str| !word.starts_with('-') || CHOOSING.iter().any(|start| word.starts_with(start));
        tests && self.added(failed).any(chooses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands_in(one: &str, failed: &str) -> bool {
        Command::read(one).stands_in_for(&Command::read(failed))
    }

    #[test]
    fn what_stands_in_for_another() {
        for (one, failed) in [
            ("pnpm test", "npm test"),
            ("npm test --legacy-peer-deps", "npm test"),
            ("cargo test --lib", "cargo test --lib -p missing"),
            ("cargo test --all-features", "cargo test"),
            ("python3 x.py", "python x.py"),
            ("python -m pytest tests", "pytest tests"),
            ("git push -u origin main", "git push"),
            ("git push --force origin main", "git push --force"),
        ] {
            assert!(stands_in(one, failed), "{one} | {failed}");
        }
    }

    #[test]
    fn what_does_something_else() {
        for (one, failed) in [
            ("npm run lint", "npm run test"),
            ("ls", "npm test"),
            ("git status", "git push"),
            ("cargo test", "npm test -s"),
            ("cat app.py", "python app.py"),
            ("ls -l app.py", "python -l app.py"),
        ] {
            assert!(!stands_in(one, failed), "{one} | {failed}");
        }
    }

    #[test]
    fn what_only_seems_to_do_it() {
        for (one, failed) in [
            ("cargo test one_that_passes", "cargo test"),
            ("cargo test --lib", "cargo test"),
            ("python -m pytest tests/a.py", "python -m pytest"),
            ("cargo test --no-run", "cargo test"),
            ("npm run build --help", "npm run build"),
            ("npm help test", "npm test"),
            ("make all -n", "make all"),
            ("git push --dry-run", "git push"),
            ("git commit --no-verify -m wip", "git commit -m wip"),
            ("HUSKY=0 git commit -m wip", "git commit -m wip"),
            ("git push --force", "git push"),
            ("git push --force-with-lease origin main", "git push origin main"),
            ("git push -f", "git push"),
            ("git branch -D x", "git branch -d x"),
            ("npm test --force", "npm test"),
            ("make all --ignore-errors", "make all"),
            ("make all || true", "make all"),
        ] {
            assert!(!stands_in(one, failed), "{one} | {failed}");
        }
    }
}
