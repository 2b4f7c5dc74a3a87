//! The world while others change it: updates, as the page appends them.
//!
//! A store enters; the whole data leaves, and then, whenever the file or its journal changed, what is new. A change is
//! told in two parts. The first has the steps, the sections and their recalls, and is there at once. The second has what
//! is counted over everything: figures, lists, problems.

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::html;
use crate::present::Present;
use crate::range::StepRange;
use crate::read::{self, Figures};
use crate::world::{PageFacts, World};
use memories_notebook::history::{History, HistoryFollower, HistoryStep};
use memories_notebook::{Clock, Snapshot};
use memories_recall::Limits;
use memories_record::stats::tally::Tally;
use memories_store::journal::Journal;
use memories_store::journal::aside::moves_lines;
use memories_store::{Follower, Store, StoreError};

/// The world of a server.
pub(super) struct Live {
    store: Store,
    page: PageFacts,
    limits: Limits,
    clock: Clock,
    follower: HistoryFollower,
    world: World,
    /// Counts over the steps.
    tally: Tally,
    /// The present that all pages have.
    present: Present,
    /// The data of the page, made once for all who ask for it.
    data: Option<Bytes>,
    /// How often something was told.
    revision: u64,
    /// The present is to be told again.
    is_stale: bool,
    /// The files as they were read last, and the lines that the journal got since.
    snapshot: Snapshot,
    lines: Follower,
    /// How often the files are still to be read, even if they look the same.
    looks: u32,
}

/// How often files are read again after a change: one within the same tick of the file system's clock changes neither
/// time nor, perhaps, size.
const LOOKS: u32 = 5;

/// News for all pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    /// New data, as JSON.
    Change(String),
    /// The former data is no longer right: the page must fetch all data again.
    Anew,
    /// The server ends.
    End,
}

impl Live {
    /// Reads everything.
    ///
    /// # Errors
    ///
    /// When the memory file or the journal cannot be read.
    pub(super) fn open(
        store: Store,
        page: PageFacts,
        limits: Limits,
        clock: Clock,
    ) -> Result<Live, StoreError> {
        let (history, follower) = History::read(&store)?;
        let now = clock.now();
        let Figures { read, tally, effects, descriptions } =
            read::figures(&store, &page.file, &limits, &now)?;
        let world = read::world(&history, &effects, &StepRange::default());
        let (_, lines) = Journal::of(&store).follow(0, |_| false)?;
        let snapshot = Snapshot::read(&store)?;
        let present = Present::of(&store, &snapshot, read.stats, descriptions, &limits.at(&now));
        let present = present.with_map(&snapshot, &world.gone_places());
        Ok(Live {
            store,
            page,
            limits,
            clock,
            follower,
            world,
            tally,
            present,
            data: None,
            revision: 0,
            is_stale: false,
            snapshot,
            lines,
            looks: LOOKS,
        })
    }

    /// The greeting to a page that connects now: the number of steps, the server that runs, and the revision of its
    /// data. A page that has others has missed something.
    pub(super) fn hello(&self) -> Value {
        json!({"steps": self.world.step_count(), "server": self.page.server, "revision": self.revision})
    }

    /// The data of the page, as JSON: one text for all who ask for it.
    pub(super) fn data(&mut self) -> Bytes {
        let Live { world, page, revision, present, data, .. } = self;
        data.get_or_insert_with(|| html::json(&world.data(page, *revision, present)).into()).clone()
    }

    /// Looks what has changed since the last call; none where nothing has.
    ///
    /// # Errors
    ///
    /// When the memory file or the journal cannot be read.
    pub(super) fn poll(&mut self) -> Result<Option<News>, StoreError> {
        if self.is_quiet()? {
            return Ok(None);
        }
        let moves = |step: &HistoryStep| step.line.as_deref().is_some_and(moves_lines);
        // Where turns are set aside, what was counted is no longer right.
        let steps = self.follower.poll()?.filter(|steps| !steps.iter().any(moves));
        let Some(steps) = steps else {
            let Live { store, page, limits, clock, revision, .. } = self;
            let revision = *revision + 1;
            *self = Live { revision, ..Live::open(store.clone(), page.clone(), *limits, clock.clone())? };
            return Ok(Some(News::Anew));
        };
        if steps.is_empty() {
            return if self.is_stale { self.poll_present() } else { Ok(None) };
        }
        self.data = None;
        let seen = self.world.seen();
        read::advance(&mut self.world, &mut self.tally, &steps);
        self.snapshot = Snapshot::read(&self.store)?;
        let changed = self.world.changed_since(seen.steps);
        let limits = self.limits.at(&self.clock.now());
        let new = Present::after(&self.snapshot, &self.world.gone_places(), &changed, &limits);
        let new = new.of_some_scopes_since(&self.present);
        self.revision += 1;
        let news = html::json(&self.world.news(seen, self.revision, &new));
        self.present.add(new);
        self.is_stale = true;
        Ok(Some(News::Change(news)))
    }

    /// True if nothing can have changed since the last look, as far as the files show without being read.
    fn is_quiet(&mut self) -> Result<bool, StoreError> {
        let has_changed = !self.lines.poll()?.is_empty() || !self.snapshot.is_current()?;
        self.looks = if has_changed { LOOKS } else { self.looks.saturating_sub(1) };
        // A session or a line that waits for a model changes figures, and no step.
        self.is_stale |= has_changed;
        Ok(self.looks == 0 && !self.is_stale)
    }

    /// The second part of a change.
    fn poll_present(&mut self) -> Result<Option<News>, StoreError> {
        (self.is_stale, self.data) = (false, None);
        let now = self.clock.now();
        let Figures { read, descriptions, .. } =
            read::figures(&self.store, &self.page.file, &self.limits, &now)?;
        self.snapshot = Snapshot::read(&self.store)?;
        let limits = self.limits.at(&now);
        let present = Present::of(&self.store, &self.snapshot, read.stats, descriptions, &limits);
        let present = present.with_map(&self.snapshot, &self.world.gone_places());
        self.revision += 1;
        let new = present.since(&self.present);
        let news = html::json(&self.world.news(self.world.seen(), self.revision, &new));
        self.present = present;
        Ok(Some(News::Change(news)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play the editor of the file")]
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn data_is_one_text_until_something_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        fs::write(&path, "## World\n\n**[NOTE] Bell**\nIt rings.\n").unwrap();
        let store = Store::open(path.clone(), Duration::from_secs(5)).unwrap();
        let clock = Clock::new(|| "2026-01-24T10:40:00Z".to_owned(), String::new);
        let mut live = Live::open(store, PageFacts::default(), Limits::default(), clock).unwrap();
        let first = live.data();
        assert_eq!(first.as_ptr(), live.data().as_ptr(), "the same bytes");
        fs::write(&path, "## World\n\n**[NOTE] Bell**\nIt rings loudly.\n").unwrap();
        live.poll().unwrap();
        assert!(data_of(&mut live).contains("loudly"));
    }

    fn data_of(live: &mut Live) -> String {
        String::from_utf8(live.data().to_vec()).unwrap()
    }

    #[test]
    fn a_memory_ages_while_the_server_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let text = "## Location 1: Hall\n\n**[NOTE] Bell** *(2026-01-24)*\nIt rings.\n";
        fs::write(&path, text).unwrap();
        let is_later = Arc::new(AtomicBool::new(false));
        let clock = {
            let is_later = is_later.clone();
            let now = move || if is_later.load(Ordering::Relaxed) { "2026-01-31" } else { "2026-01-24" };
            Clock::new(move || format!("{}T10:40:00Z", now()), String::new)
        };
        let store = Store::open(path.clone(), Duration::from_secs(5)).unwrap();
        let limits = Limits::default().at(&clock.now());
        let mut live = Live::open(store, PageFacts::default(), limits, clock).unwrap();
        assert!(data_of(&mut live).contains("today"), "{}", data_of(&mut live));

        is_later.store(true, Ordering::Relaxed);
        fs::write(&path, format!("{text}\n**[NOTE] Rope** *(Ep1, T2)*\nA rope hangs here.\n")).unwrap();
        let Some(News::Change(news)) = live.poll().unwrap() else { panic!("the file has changed") };
        assert!(news.contains("1 week ago"), "{news}");
    }

    #[test]
    fn a_run_that_is_as_before_is_not_told_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let run = "## Game\n\n**[PROCEDURE] Best run** *(Ep1, T2, score 5)*\nFrom [Hall](#location-1-hall)\n\
                   - +5 at [Hall](#location-1-hall) *(T2)*: take ring\n\n## Location 1: Hall\n\n**Visits:** 1\n";
        fs::write(&path, run).unwrap();
        let store = Store::open(path.clone(), Duration::from_secs(5)).unwrap();
        let clock = Clock::new(|| "2026-01-24T10:40:00Z".to_owned(), String::new);
        let mut live = Live::open(store, PageFacts::default(), Limits::default(), clock).unwrap();
        assert!(data_of(&mut live).contains("\"action\":\"take ring\""), "{}", data_of(&mut live));
        for (ring, is_told) in [("take ring", false), ("take crown", true)] {
            let text = run.replace("take ring", ring);
            fs::write(&path, format!("{text}\n**[NOTE] Bell**\nIt rings for {ring}.\n")).unwrap();
            let Some(News::Change(first)) = live.poll().unwrap() else { panic!("the file has changed") };
            let Some(News::Change(second)) = live.poll().unwrap() else { panic!("the figures follow") };
            assert!(!first.contains("\"run\":"), "{first}");
            assert_eq!(second.contains("\"run\":"), is_told, "{second}");
        }
    }
}
