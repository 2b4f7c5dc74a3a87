//! Authors of entries, as the program keeps them beside the memory file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// Notes who wrote an entry of a memory file; without a note nobody knows its author.
pub fn note_author(file: &Path, author: &str, (scope, title, text): (&str, &str, &str)) {
    let name = file.file_name().unwrap();
    let folder = file.with_file_name(".memories").join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut log = OpenOptions::new().append(true).create(true).open(folder.join("written")).unwrap();
    let hash = xxh3_64(format!("{scope}\0{title}\0{text}").as_bytes());
    writeln!(log, "{}", format!("{hash:016x} {author}").trim_end()).unwrap();
}
