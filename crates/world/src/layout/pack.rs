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
    let joined = joined(parts.len(), links);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| {
        let Part { width, height, up } = parts[*at];
        (up.abs(), up, Reverse(width * height), *at)
    });
    let mut left: Vec<Option<i32>> = vec![None; parts.len()];
    // Shelves by height; of one height, in the order of their number.
    let mut shelves: Vec<(i32, usize)> = vec![(0, 0); parts.len()];
    for here in order.chunk_by(|one, other| parts[*one].up == parts[*other].up) {
        let mut wanted: Vec<(i32, usize)> = here.iter().map(|at| (wish(&joined[*at], &left), *at)).collect();
        wanted.sort_unstable();
        let (mut free, mut shelf) = (0, 0);
        for (wish, at) in wanted {
            let most = width - parts[at].width;
            if free > most.max(0) {
                (free, shelf) = (0, shelf + 1);
            }
            let x = wish.clamp(free, most.max(free));
            left[at] = Some(x);
            shelves[at] = (parts[at].up, shelf);
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
    let columns = |at: usize| lefts[at] as usize..(lefts[at] + parts[at].width + GAP) as usize;
    let count = (0..parts.len()).map(|at| columns(at).end).max().unwrap_or(0);
    // For each column, the first row that a level takes and the first row below all levels.
    let mut taken: Vec<Option<(i32, i32)>> = vec![None; count];
    let mut tops = vec![0; parts.len()];
    for at in order {
        let beside = taken[columns(at)].iter().flatten();
        let Part { height, up, .. } = parts[at];
        let top = if up > 0 {
            beside.map(|(top, _)| *top).min().unwrap_or(0) - GAP - height
        } else {
            beside.map(|(_, end)| *end).max().unwrap_or(0)
        };
        let end = top + height + GAP;
        for column in &mut taken[columns(at)] {
            let (first, last) = column.unwrap_or((top, end));
            *column = Some((first.min(top), last.max(end)));
        }
        tops[at] = top;
    }
    let highest = tops.iter().copied().min().unwrap_or(0);
    tops.into_iter().map(|top| top - highest).collect()
}

/// For each level those to which it is joined, and how far the end of the way there is to the right of the own one.
fn joined(levels: usize, links: &[Link]) -> Vec<Vec<(usize, i32)>> {
    let mut joined = vec![Vec::new(); levels];
    for Link { from, to, columns } in links {
        joined[*from].push((*to, columns.1 - columns.0));
        joined[*to].push((*from, columns.0 - columns.1));
    }
    joined
}

/// The column at which a level would stand over the places to which it is joined.
fn wish(joined: &[(usize, i32)], left: &[Option<i32>]) -> i32 {
    let columns = joined.iter().filter_map(|(there, right)| Some(left[*there]? + right));
    let mut columns: Vec<i32> = columns.collect();
    columns.sort_unstable();
    columns.get(columns.len() / 2).copied().unwrap_or(0).max(0)
}
