//! Pauses: between two warnings of a problem that many chats share, and between two questions to a model that cannot be
//! reached.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use memories_document::types::lock::lock;

/// Time between two warnings of the same problem.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(600);

/// Time for which a model that could not be reached is not asked.
const OF_MODEL: Duration = Duration::from_secs(60);

/// A problem that is told at once, and then after a pause at the earliest.
#[derive(Default)]
pub(super) struct Seldom {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Option<Instant>,
    untold: u64,
}

impl Seldom {
    /// Counts chats with the problem. The warning, if it is time for one.
    pub(super) fn warning(&self, chats: u64, problem: &str) -> Option<String> {
        self.count_at(chats, Instant::now()).map(|chats| told(problem, chats))
    }

    /// The number of chats since the last warning, if it is time for one.
    fn count_at(&self, chats: u64, now: Instant) -> Option<u64> {
        let mut state = lock(&self.state);
        state.untold += chats;
        let is_due = state.told.is_none_or(|told| now.duration_since(told) >= BETWEEN_WARNINGS);
        if !is_due || state.untold == 0 {
            return None;
        }
        state.told = Some(now);
        Some(std::mem::take(&mut state.untold))
    }
}

/// The pause of a model that could not be reached.
#[derive(Default)]
pub(super) struct ModelPause {
    end: Mutex<Option<Instant>>,
}

impl ModelPause {
    pub(super) fn begin(&self) {
        *lock(&self.end) = Some(Instant::now() + OF_MODEL);
    }

    pub(super) fn is_on(&self) -> bool {
        lock(&self.end).is_some_and(|end| Instant::now() < end)
    }

    #[cfg(test)]
    pub(super) fn end(&self) {
        *lock(&self.end) = None;
    }
}

/// The warning of a problem that a number of chats had.
fn told(problem: &str, chats: u64) -> String {
    match chats {
        1 => problem.to_owned(),
        _ => format!("{problem} ({chats} chats since the last warning)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_once_a_pause_with_the_number_of_chats() {
        let (seldom, begin) = (Seldom::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(seldom.count_at(0, at(0)), None);
        assert_eq!(seldom.count_at(1, at(0)), Some(1));
        assert_eq!((seldom.count_at(1, at(1)), seldom.count_at(2, at(599))), (None, None));
        assert_eq!(seldom.count_at(1, at(600)), Some(4));
        assert_eq!(seldom.count_at(1, at(601)), None);
    }

    #[test]
    fn a_warning_names_the_number_of_chats() {
        assert_eq!(told("it failed", 1), "it failed");
        assert_eq!(told("it failed", 20), "it failed (20 chats since the last warning)");
    }
}
