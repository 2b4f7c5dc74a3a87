//! Operations within one process; `processes` measures whole processes.

#![allow(missing_docs, reason = "criterion's macros make functions without")]
#![allow(clippy::disallowed_methods, reason = "makes the file that is measured, in a folder of its own")]

#[path = "support/files.rs"]
mod files;

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

use memories::document::{Document, PlaceNames, Section};
use memories::notebook::Snapshot;
use memories::recall::budget::estimate_tokens;
use memories::recall::{Circumstances, Format, Known, Limits, choose, render};
use memories::store::Store;
use memories::types::{Memory, Scope};

use files::memories_file;

const MB: usize = 1_000_000;

fn documents(criterion: &mut Criterion) {
    let (text, ids) = memories_file(MB);
    let scopes: Vec<Scope> = ids.iter().map(|id| Scope::Location(*id)).collect();
    let mut group = criterion.benchmark_group("1 MB");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("scan for headings", |bencher| {
        bencher.iter_batched(|| text.clone(), Document::parse, BatchSize::LargeInput);
    });
    group.bench_function("scan and parse all sections", |bencher| {
        bencher.iter_batched(
            || text.clone(),
            |text| {
                let document = Document::parse(text);
                let sections: Vec<Option<Section>> =
                    scopes.iter().map(|scope| document.section(scope)).collect();
                (document, sections)
            },
            BatchSize::LargeInput,
        );
    });
    let memory = Memory::new("NOTE".parse().expect("a category"), "Way to the cellar", "Move the rug first.");
    let middle = &scopes[scopes.len() / 2];
    group.bench_function("add a memory and print", |bencher| {
        bencher.iter_batched(
            || text.clone(),
            |text| {
                let mut document = Document::parse(text);
                document.add(middle, "", &memory).expect("it can be added");
                document.into_text().expect("it can be printed")
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn recalls(criterion: &mut Criterion) {
    let (text, ids) = memories_file(1);
    let scope = Scope::Location(ids[0]);
    let document = Document::parse(text);
    let sections = document.section(&scope).expect("it is there");
    let sections = [(scope, sections)];
    let (names, circumstances) = (PlaceNames::default(), Circumstances::default());
    let known =
        Known { linked: &|_, _| None, names: &names, ends: &HashMap::new(), circumstances: &circumstances };
    criterion.bench_function("choose and render one place", |bencher| {
        bencher.iter(|| render(&choose(black_box(&sections), &known, &Limits::default(), Format::Text)));
    });
    let limits = Limits { max_tokens: None, ..Limits::default() };
    let answer = render(&choose(&sections, &known, &limits, Format::Text));
    criterion.bench_function("estimate the tokens of one place", |bencher| {
        bencher.iter(|| estimate_tokens(black_box(&answer)));
    });
}

fn snapshots(criterion: &mut Criterion) {
    let (text, ids) = memories_file(10 * MB);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made");
    let path = folder.path().join("Memories.md");
    std::fs::write(&path, &text).expect("a file can be written");
    let last = Scope::Location(ids[ids.len() - 1]);
    let store = Store::open(&path, Duration::ZERO).expect("the file is there");
    let mut group = criterion.benchmark_group("10 MB");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read a section", |bencher| {
        bencher.iter(|| {
            let snapshot = Snapshot::read(&store).expect("it can be read");
            assert_eq!(snapshot.section(&last).visits, 3);
            snapshot
        });
    });
    group.finish();
}

criterion_group!(benches, documents, recalls, snapshots);
criterion_main!(benches);
