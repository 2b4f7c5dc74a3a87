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

/// Levels for which the best of all corners is looked for; the others stand in rows below these.
const SEARCHED: usize = 60;

/// Where the first cell of each level stands on a picture of about so many columns for a row: where the picture grows
/// least, and of such corners as near as can be to the levels to which it is joined. The first level stands first.
pub(super) fn pack_within(parts: &[Part], links: &[Link], shape: f64) -> Vec<(i32, i32)> {
    let joined = joined(parts.len(), links);
    let mut corners: Vec<(i32, i32)> = Vec::with_capacity(parts.len());
    // Columns and rows that are taken.
    let mut size = (0, 0);
    let grown = |size: (i32, i32), part: &Part, (x, y): (i32, i32)| {
        (size.0.max(x + part.width), size.1.max(y + part.height))
    };
    let extent = |(width, height): (i32, i32)| (f64::from(width) / shape).max(f64::from(height));
    for (at, part) in parts.iter().enumerate().take(SEARCHED) {
        let distance = |(x, y): (i32, i32)| -> i32 {
            let to = |there: usize| corners.get(there).map(|there| (there.0 - x).abs() + (there.1 - y).abs());
            joined[at].iter().filter_map(|(there, _)| to(*there)).sum()
        };
        let best = free_corners(&parts[..at], &corners, part).min_by(|one, other| {
            let cost = |corner| extent(grown(size, part, corner));
            cost(*one)
                .total_cmp(&cost(*other))
                .then(distance(*one).cmp(&distance(*other)))
                .then(one.cmp(other))
        });
        let corner = best.unwrap_or((0, 0));
        size = grown(size, part, corner);
        corners.push(corner);
    }
    let rest = parts.get(SEARCHED..).unwrap_or_default();
    let area: i32 = parts.iter().map(|part| (part.width + GAP) * (part.height + GAP)).sum();
    let width = size.0.max((f64::from(area) * shape).sqrt() as i32);
    let (mut x, mut y, mut height) = (0, size.1 + GAP, 0);
    for part in rest {
        if x > 0 && x + part.width > width {
            (x, y, height) = (0, y + height + GAP, 0);
        }
        corners.push((x, y));
        (x, height) = (x + part.width + GAP, height.max(part.height));
    }
    corners
}

/// The corners beside and below others at which a level meets none of them.
fn free_corners<'p>(
    others: &'p [Part],
    corners: &'p [(i32, i32)],
    part: &'p Part,
) -> impl Iterator<Item = (i32, i32)> + use<'p> {
    let ends = |of: fn(&Part) -> i32, start: fn(&(i32, i32)) -> i32| {
        let mut ends: Vec<i32> =
            others.iter().zip(corners).map(|(other, corner)| start(corner) + of(other) + GAP).collect();
        ends.push(0);
        ends.sort_unstable();
        ends.dedup();
        ends
    };
    let (columns, rows) =
        (ends(|part| part.width, |corner| corner.0), ends(|part| part.height, |corner| corner.1));
    let all = columns.into_iter().flat_map(move |x| rows.clone().into_iter().map(move |y| (x, y)));
    all.filter(move |(x, y)| {
        others.iter().zip(corners).all(|(other, (left, top))| {
            x + part.width + GAP <= *left
                || left + other.width + GAP <= *x
                || y + part.height + GAP <= *top
                || top + other.height + GAP <= *y
        })
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_within_a_shape_meet_nowhere() {
        for (count, shape) in [(1, 1.3), (9, 0.4), (9, 1.3), (150, 1.3), (400, 0.4)] {
            let parts: Vec<Part> = (0..count)
                .map(|at| Part { width: 1 + (at * 7) % 5, height: 1 + (at * 3) % 4, up: 0 })
                .collect();
            let link = |at: usize| Link { from: at, to: at / 2, columns: (0, 0) };
            let links: Vec<Link> = (1..parts.len()).map(link).collect();
            let corners = pack_within(&parts, &links, shape);
            assert_eq!(corners.len(), parts.len());
            let columns: i32 = corners.iter().zip(&parts).map(|((x, _), part)| x + part.width).max().unwrap();
            let rows: i32 = corners.iter().zip(&parts).map(|((_, y), part)| y + part.height).max().unwrap();
            let is_near = (0.4..2.5).contains(&(f64::from(columns) / f64::from(rows) / shape));
            assert!(count < 9 || is_near, "{columns} columns and {rows} rows for {shape}");
            let all = || parts.iter().zip(&corners);
            for (at, (part, (x, y))) in all().enumerate() {
                for (other, (left, top)) in all().take(at) {
                    let is_beside = x + part.width < *left || left + other.width < *x;
                    assert!(
                        is_beside || y + part.height < *top || top + other.height < *y,
                        "{at} of {count}"
                    );
                }
            }
        }
    }
}
