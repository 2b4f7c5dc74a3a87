//! Counts what looks like a secret in folders of texts: the rate of false alarms, if the texts hold no secrets.
//!
//! ```sh
//! cargo run --release --example secrets -- ~/.cargo/registry/src /usr/share/doc
//! ```
//!
//! Each find is printed with its file, line and kind. `SECRETS_SHOWN=1` prints the line as well, so that a person can
//! judge it. Files that are not UTF-8 are left out. Links are not followed.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example prints its answer")]

use memories_llm::redact;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let shown = std::env::var_os("SECRETS_SHOWN").is_some();
    let mut open: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (mut files, mut bytes, mut found, mut time) = (0_usize, 0_usize, 0_usize, Duration::ZERO);
    while let Some(path) = open.pop() {
        let Ok(kind) = std::fs::symlink_metadata(&path) else { continue };
        if kind.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        } else if kind.is_file() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let start = Instant::now();
            let secrets = redact::find(&text);
            time += start.elapsed();
            files += 1;
            bytes += text.len();
            found += secrets.len();
            secrets.iter().for_each(|secret| print(&path, &text, secret, shown));
        }
    }
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{found} found in {files} files, {megabytes:.1} MB: {:.2} in 20 MB; {:.0} MB/s",
        found as f64 * 20.0 / megabytes,
        megabytes / time.as_secs_f64()
    );
}

fn print(path: &Path, text: &str, secret: &redact::Secret, shown: bool) {
    let start = text[..secret.range.start].rfind('\n').map_or(0, |at| at + 1);
    let number = text[..start].matches('\n').count() + 1;
    println!("{}:{number}: {}", path.display(), secret.kind);
    if shown {
        let end = text[secret.range.end..].find('\n').map_or(text.len(), |at| secret.range.end + at);
        let line: String = text[start..end].chars().take(300).collect();
        println!("    {line}\n    -> {}", &text[secret.range.clone()]);
    }
}
