//! The steps that a report shows: the steps of one episode, or all steps from a moment on.

use std::str::FromStr;

use crate::steps::Step;
use memories_document::field::is_date;
use memories_document::types::instant::Instant;

/// The steps that are shown; the state before the first of them is shown as the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepRange {
    /// The one episode.
    pub episode: Option<u64>,
    /// The first moment.
    pub since: Option<Since>,
}

/// A moment: an episode, a turn of it, or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The first turn of that episode.
    Episode(u64),
    /// A turn of an episode.
    Turn(u64, u64),
    /// A time, or the beginning of a day in UTC, in seconds since 1970.
    Time(i64),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Since, String> {
        let number = |text: &str| text.parse::<u64>().ok();
        let turn = text.split_once('.').and_then(|(episode, turn)| number(episode).zip(number(turn)));
        let time = || {
            let instant = Some(text).filter(|text| is_date(text)).and_then(Instant::of)?;
            Some(Since::Time(instant.as_second()))
        };
        number(text)
            .map(Since::Episode)
            .or_else(|| turn.map(|(episode, turn)| Since::Turn(episode, turn)))
            .or_else(time)
            .ok_or_else(|| {
                format!("`{text}` is not an episode (`3`), a turn (`3.20`) or a day (`2026-01-31`)")
            })
    }
}

/// Where steps are in a range, as they come one after the other: a step that bears no episode is where the one before
/// it is.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    range: &'a StepRange,
    episode: Option<u64>,
    position: Position,
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Before,
    Within,
    After,
}

impl<'a> Filter<'a> {
    /// A filter before the first step.
    pub(super) fn new(range: &'a StepRange) -> Filter<'a> {
        let is_whole = *range == StepRange::default();
        Filter { range, episode: None, position: if is_whole { Position::Within } else { Position::Before } }
    }

    /// Where the next step is.
    pub(super) fn next(&mut self, step: &Step) -> Position {
        self.episode = step.episode.or(self.episode);
        let is_since = match self.range.since {
            None => true,
            Some(Since::Episode(episode)) => self.episode >= Some(episode),
            Some(Since::Turn(episode, turn)) => {
                self.episode > Some(episode)
                    || self.episode == Some(episode)
                        && (step.turn >= Some(turn)
                            || step.turn.is_none() && self.position == Position::Within)
            }
            Some(Since::Time(start)) => {
                step.time.map_or(self.position == Position::Within, |time| time >= start)
            }
        };
        let is_episode = self.range.episode.is_none_or(|episode| self.episode == Some(episode));
        self.position = match self.position {
            Position::Before if is_since && is_episode => Position::Within,
            Position::Within if !is_episode => Position::After,
            position => position,
        };
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::StepKind;

    fn shown(range: &StepRange) -> Vec<usize> {
        let step = |episode, turn, time| {
            let mut step = Step::without_line(StepKind::Turn);
            (step.episode, step.turn, step.time) = (episode, turn, Some(time));
            step
        };
        let steps = [
            step(Some(1), Some(1), 0),
            step(Some(1), Some(2), 10),
            step(None, None, 86_400),
            step(Some(2), Some(1), 86_410),
            step(Some(2), Some(2), 86_420),
            step(None, None, 86_430),
            step(Some(3), Some(1), 86_440),
        ];
        let mut filter = Filter::new(range);
        let within = steps.iter().enumerate().filter(|(_, step)| filter.next(step) == Position::Within);
        within.map(|(at, _)| at).collect()
    }

    #[test]
    fn steps_of_an_episode_and_from_a_moment_on() {
        let since = |text: &str| StepRange { since: Some(text.parse().unwrap()), ..StepRange::default() };
        assert_eq!(shown(&StepRange::default()), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(shown(&StepRange { episode: Some(2), ..StepRange::default() }), [3, 4, 5]);
        assert_eq!(shown(&since("2")), [3, 4, 5, 6]);
        assert_eq!(shown(&since("1.2")), [1, 2, 3, 4, 5, 6]);
        assert_eq!(shown(&since("2.2")), [4, 5, 6]);
        assert_eq!(shown(&since("1970-01-02")), [2, 3, 4, 5, 6]);
        assert_eq!(shown(&since("9")), [0; 0]);
        assert!("yesterday".parse::<Since>().unwrap_err().contains("a day"));
    }
}
