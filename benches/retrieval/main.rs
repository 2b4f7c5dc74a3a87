//! Measures retrieval quality on data given by path.
//!
//! `cargo bench --bench retrieval -- --docs F --queries F` prints Recall@5, Recall@10, MRR and nDCG@10
//! for keywords, vectors, and the combined similarity before and after its second round; without arguments, for the
//! data in `fixtures/search`. `benches/README.md` describes the data. Nothing is written.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table is what it makes")]

mod data;
mod figures;
mod rank;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use data::{Docs, Query, read_docs, read_queries};
use figures::Figures;
use rank::{Method, Ranker};

/// Measure retrieval on data given by path
#[derive(Parser)]
struct Arguments {
    /// Texts, one JSON object a line; repeatable
    #[arg(long, requires = "queries")]
    docs: Vec<PathBuf>,
    /// Queries with their relevant texts, one JSON object a line
    #[arg(long, requires = "docs")]
    queries: Option<PathBuf>,
    /// Show each query without a relevant text among the first five
    #[arg(long)]
    misses: bool,
    /// Passed by `cargo bench`, but not by `cargo test`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !arguments.bench && arguments.docs.is_empty() {
        // `cargo test --all-targets` starts benches, too.
        return ExitCode::SUCCESS;
    }
    let sets: Vec<(Vec<PathBuf>, PathBuf)> = match &arguments.queries {
        Some(queries) => vec![(arguments.docs.clone(), queries.clone())],
        None => {
            let fixture = |name: &str| {
                Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("fixtures/search")
                    .join(name)
                    .with_extension("jsonl")
            };
            let docs = ["documents", "instruction-documents"].map(fixture);
            let of_one = |queries: &str| (vec![docs[0].clone()], fixture(queries));
            vec![of_one("paraphrases"), of_one("questions"), (docs.to_vec(), fixture("instructions"))]
        }
    };
    println!("| questions | method | n | Recall@5 | Recall@10 | MRR | nDCG@10 |");
    println!("|---|---|---|---|---|---|---|");
    for (docs, queries) in sets {
        if let Err(problem) = measure(&docs, &queries, arguments.misses) {
            eprintln!("error: {problem}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(docs_paths: &[PathBuf], queries_path: &Path, show_misses: bool) -> Result<(), String> {
    let mut docs = Docs::default();
    for path in docs_paths {
        docs.append(read_docs(path)?);
    }
    let queries = read_queries(queries_path)?;
    let start = Instant::now();
    let mut ranker = Ranker::new(&docs);
    let mut figures = [Figures::default(); Method::ALL.len()];
    let mut misses = Vec::new();
    for query in &queries {
        let relevant = docs.numbers(query)?;
        let rankings = ranker.rank(query);
        for (figures, ranking) in figures.iter_mut().zip(&rankings) {
            figures.add(ranking, &relevant);
        }
        let fused = &rankings[Method::ALL.len() - 1];
        if !fused.iter().take(5).any(|text| relevant.contains(text)) {
            misses.push(miss(&docs, query, fused, &relevant));
        }
    }
    let name = queries_path.file_stem().unwrap_or_default().to_string_lossy();
    for (method, figures) in Method::ALL.iter().zip(&figures) {
        println!("| {name} | {} | {figures} |", method.name());
    }
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{} texts, {} questions, {seconds:.1} s", docs.texts.len(), queries.len());
    if show_misses {
        misses.iter().for_each(|miss| eprintln!("{miss}"));
    }
    Ok(())
}

fn miss(docs: &Docs, query: &Query, ranking: &[usize], relevant: &[usize]) -> String {
    let place = ranking.iter().position(|text| relevant.contains(text)).map_or(0, |place| place + 1);
    let first = ranking.first().map_or("nothing", |text| docs.texts[*text].id.as_str());
    format!("{} ({}): first found {first}, answered at {place}", query.id, query.question)
}
