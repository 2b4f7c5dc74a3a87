//! The world as a page: the contents of a memory file, their history, and their benefit.
//!
//! A store enters; one HTML file leaves, or the same page with a server that keeps it current. It always holds that
//!
//! * at each step the page shows the file as it was after that step: [`memories_notebook::history`] rebuilds the texts;
//! * figures, recalls, lists and problems are the answers of the commands that print them, from their own code;
//! * a text of a memory is data: JSON in a block that no browser runs, and text nodes on the page;
//! * the page loads nothing: script and style are in it, and its policy allows no others.
//!
//! # Where to begin
//!
//! * [`report`] makes the page of a [`PageRequest`] as one file; [`StepRange`] says which steps it shows.
//! * [`serve()`] serves the same page and sends each change of the memory file to the browsers that show it.
//! * The module `read` makes a `World` of a store: `timeline` has the versions of each section, `parts` the texts of
//!   which they consist, `steps` the events between them, `present` the parts that show only the present.
//! * The module `html` writes the page around it. Its scripts and styles are in `src/page`.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_page::{PageRequest, StepRange, is_page, report};
//! use memories_recall::Limits;
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 23: Living Room\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n")?;
//! let request = PageRequest {
//!     title: "My world".to_owned(),
//!     file: "Memories.md".to_owned(),
//!     range: StepRange::default(),
//!     limits: Limits::default(),
//!     now: "2026-01-31T10:40:00Z".to_owned(),
//! };
//! let page = report(&Store::open(&path, Duration::from_secs(10))?, &request)?;
//! assert_eq!(page.memories, 1);
//! assert!(is_page(page.html.as_bytes()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod edits;
mod evidence;
mod html;
mod live;
mod parts;
mod present;
mod range;
mod read;
mod serve;
mod steps;
mod strings;
mod timeline;
mod world;

use std::panic::resume_unwind;
use std::thread;

use crate::present::Present;
use crate::read::Figures;
use crate::world::PageFacts;
use memories_notebook::Snapshot;
use memories_notebook::history::History;
use memories_recall::Limits;
use memories_store::{Store, StoreError};

pub use html::is_page;
pub use range::StepRange;
pub use serve::{ServeError, ServeSettings, serve};

/// The request for a page.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// The title.
    pub title: String,
    /// The name of the memory file on the page.
    pub file: String,
    /// The steps that are shown.
    pub range: StepRange,
    /// The limits of a recall.
    pub limits: Limits,
    /// The present time, RFC 3339.
    pub now: String,
}

/// A page as one file.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file.
    pub html: String,
    /// Places that were visited.
    pub places: u64,
    /// Live memories.
    pub memories: u64,
    /// Steps that it shows, with the start.
    pub steps: usize,
    /// True if the states after some recorded turns are not known.
    pub has_gaps: bool,
    /// Problems of reading.
    pub warnings: Vec<String>,
}

/// The page of a store as one file.
///
/// # Errors
///
/// When the memory file or the journal cannot be read.
pub fn report(store: &Store, request: &PageRequest) -> Result<Report, StoreError> {
    let PageRequest { title, file, range, limits, now } = request;
    // Both read the whole journal, and need nothing of each other.
    let (history, figures) = thread::scope(|scope| {
        let history = scope.spawn(|| History::read(store));
        let figures = read::figures(store, file, limits, now);
        (history.join().unwrap_or_else(|panic| resume_unwind(panic)), figures)
    });
    let ((history, _), Figures { read, effects, descriptions, .. }) = (history?, figures?);
    let (places, memories) = (read.stats.places.visited, read.stats.total_memories);
    let recorded = read.stats.turns.recorded;
    let snapshot = Snapshot::read(store)?;
    let (world, present) = thread::scope(|scope| {
        let world = scope.spawn(|| read::world(&history, &effects, range));
        let present = Present::of(store, &snapshot, read.stats, descriptions, limits);
        (world.join().unwrap_or_else(|panic| resume_unwind(panic)), present)
    });
    let present = present.with_map(&snapshot, &world.gone_places());
    let has_all_turns = *range != StepRange::default() || recorded <= world.turn_count();
    let page = PageFacts {
        title: title.clone(),
        file: file.clone(),
        made: now.clone(),
        mode: "report",
        ..PageFacts::default()
    };
    Ok(Report {
        html: html::report(&page, &world.data(&page, 0, &present)),
        places,
        memories,
        steps: world.step_count(),
        has_gaps: history.parts.len() > 1 || !has_all_turns,
        warnings: read.warnings.into_iter().chain(snapshot.warning()).collect(),
    })
}
