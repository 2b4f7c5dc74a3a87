//! Levels on one picture: an upper level stands above a lower one.

use std::cmp::Reverse;

/// A level: its size in cells, and how far it is above the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub width: i32,
    pub height: i32,
    /// Steps up from the level with most places.
    pub up: i32,
}

/// A way between levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    /// Columns of both ends within their levels.
    pub columns: (i32, i32),
}

/// Free cells between levels.
const GAP: i32 = 1;

/// Where the first cell of each level stands. Levels of one height share a shelf, each as near below or above the
/// places to which it is joined as there is room; what does not fit into the width begins another shelf.
pub(super) fn pack(parts: &[Part], links: &[Link]) -> Vec<(i32, i32)> {
    let area: i32 = parts.iter().map(|part| (part.width + GAP) * (part.height + GAP)).sum();
    let widest = parts.iter().map(|part| part.width).max().unwrap_or(0);
    let width = widest.max((f64::from(area) * 1.2).sqrt() as i32);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (parts[*at].up.abs(), Reverse(parts[*at].width * parts[*at].height), *at));
    let mut left: Vec<Option<i32>> = vec![None; parts.len()];
    // Shelves by height; of one height, in the order of their number.
    let mut shelves: Vec<(i32, usize)> = vec![(0, 0); parts.len()];
    let mut heights: Vec<i32> = parts.iter().map(|part| part.up).collect();
    heights.sort_by_key(|up| (up.abs(), *up));
    heights.dedup();
    for up in heights {
        let here: Vec<usize> = order.iter().copied().filter(|at| parts[*at].up == up).collect();
        let mut wanted: Vec<(i32, usize)> = here.iter().map(|at| (wish(*at, links, &left), *at)).collect();
        wanted.sort_by_key(|(wish, at)| (*wish, *at));
        let (mut free, mut shelf) = (0, 0);
        for (wish, at) in wanted {
            let most = width - parts[at].width;
            if free > most.max(0) {
                (free, shelf) = (0, shelf + 1);
            }
            let x = wish.clamp(free, most.max(free));
            left[at] = Some(x);
            shelves[at] = (up, shelf);
            free = x + parts[at].width + GAP;
        }
    }
    let lefts: Vec<i32> = left.into_iter().map(|left| left.unwrap_or(0)).collect();
    lefts.iter().copied().zip(tops(parts, &lefts, &shelves)).collect()
}

/// The first row of each level: as near to the shelf of the first level as those between let it.
fn tops(parts: &[Part], lefts: &[i32], shelves: &[(i32, usize)]) -> Vec<i32> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    // Shelves above are filled upwards, the last of one height first; then those below downwards.
    order.sort_by_key(|at| match shelves[*at] {
        (up, shelf) if up > 0 => (1, up, Reverse(shelf), 0),
        (up, shelf) => (if up == 0 { 0 } else { 2 }, -up, Reverse(0), shelf),
    });
    let mut tops: Vec<Option<i32>> = vec![None; parts.len()];
    for at in order {
        let beside = |other: &usize| {
            lefts[*other] < lefts[at] + parts[at].width + GAP
                && lefts[at] < lefts[*other] + parts[*other].width + GAP
        };
        let placed = (0..parts.len()).filter(beside).filter_map(|other| Some((other, tops[other]?)));
        let top = if parts[at].up > 0 {
            placed.map(|(_, top)| top).min().unwrap_or(0) - GAP - parts[at].height
        } else {
            placed.map(|(other, top)| top + parts[other].height + GAP).max().unwrap_or(0)
        };
        tops[at] = Some(top);
    }
    let tops: Vec<i32> = tops.into_iter().map(|top| top.unwrap_or(0)).collect();
    let highest = tops.iter().copied().min().unwrap_or(0);
    tops.into_iter().map(|top| top - highest).collect()
}

/// The column at which a level would stand over the places to which it is joined.
fn wish(at: usize, links: &[Link], left: &[Option<i32>]) -> i32 {
    let mut columns: Vec<i32> = Vec::new();
    for link in links {
        let (own, other, there) = match () {
            () if link.from == at => (link.columns.0, link.columns.1, link.to),
            () if link.to == at => (link.columns.1, link.columns.0, link.from),
            () => continue,
        };
        columns.extend(left[there].map(|left| left + other - own));
    }
    columns.sort_unstable();
    columns.get(columns.len() / 2).copied().unwrap_or(0).max(0)
}
