//! Directions of movement in a game.

use strum::IntoStaticStr;

use crate::types::text::fold_spaces;

/// A compass point, up, down, in or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Direction {
    /// `n`
    North,
    /// `ne`
    Northeast,
    /// `e`
    East,
    /// `se`
    Southeast,
    /// `s`
    South,
    /// `sw`
    Southwest,
    /// `w`
    West,
    /// `nw`
    Northwest,
    /// `u`
    Up,
    /// `d`
    Down,
    /// Into something.
    In,
    /// Out of something.
    Out,
}

use Direction::{Down, East, In, North, Northeast, Northwest, Out, South, Southeast, Southwest, Up, West};

impl Direction {
    /// All directions, clockwise from north; then up, down, in and out.
    pub const ALL: [Direction; 12] =
        [North, Northeast, East, Southeast, South, Southwest, West, Northwest, Up, Down, In, Out];

    /// The direction that an action is: `n`, `North`, `north-west`, `go up`. `None` for any other action.
    pub fn of(action: &str) -> Option<Direction> {
        let action = action.trim();
        let simple = Direction::of_word(action);
        // Most actions are none: looking no further keeps large maps quick.
        let may_be_more =
            matches!(action.as_bytes().first(), Some(b'g' | b'w' | b'n' | b's' | b'G' | b'W' | b'N' | b'S'));
        if simple.is_some() || !may_be_more || action.len() > 24 {
            return simple;
        }
        let lower = fold_spaces(action).to_ascii_lowercase();
        let word = ["go ", "walk "].iter().find_map(|verb| lower.strip_prefix(verb)).unwrap_or(&lower);
        // `n e` is two directions, `north east` is one.
        let joined = word.replace(['-', ' '], "");
        Direction::of_word(word).or_else(|| Direction::of_word(&joined).filter(|_| joined.len() > 3))
    }

    /// The direction that one word names, whatever its case.
    fn of_word(word: &str) -> Option<Direction> {
        let mut folded = [0; "northeast".len()];
        let folded = folded.get_mut(..word.len())?;
        folded.copy_from_slice(word.as_bytes());
        folded.make_ascii_lowercase();
        Some(match &*folded {
            b"n" | b"north" => North,
            b"ne" | b"northeast" => Northeast,
            b"e" | b"east" => East,
            b"se" | b"southeast" => Southeast,
            b"s" | b"south" => South,
            b"sw" | b"southwest" => Southwest,
            b"w" | b"west" => West,
            b"nw" | b"northwest" => Northwest,
            b"u" | b"up" => Up,
            b"d" | b"down" => Down,
            b"in" => In,
            b"out" => Out,
            _ => return None,
        })
    }

    /// The word for it: `northeast`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The vector of a compass point on a map: x to the east, y to the south.
    pub fn vector(self) -> Option<(i32, i32)> {
        const COMPASS: [(i32, i32); 8] =
            [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)];
        COMPASS.get(self as usize).copied()
    }

    /// The direction back.
    pub fn opposite(self) -> Direction {
        match self {
            Up => Down,
            Down => Up,
            In => Out,
            Out => In,
            compass => Direction::ALL[(compass as usize + 4) % 8],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_known_in_their_long_and_short_forms() {
        let short = ["n", "ne", "e", "se", "s", "sw", "w", "nw", "u", "d", "in", "out"];
        for (direction, short) in Direction::ALL.into_iter().zip(short) {
            let name = direction.name();
            for action in [
                name.to_owned(),
                short.to_owned(),
                name.to_uppercase(),
                format!(" {short}  "),
                format!("go {name}"),
                format!("Walk  {short}"),
            ] {
                assert_eq!(Direction::of(&action), Some(direction), "{action:?}");
            }
            assert_eq!(direction.opposite().opposite(), direction);
            assert_ne!(direction.opposite(), direction);
        }
        assert_eq!(Direction::of("north-east"), Some(Northeast));
        assert_eq!(Direction::of("go South West"), Some(Southwest));
        assert_eq!((North.opposite(), Southeast.opposite(), In.opposite()), (South, Northwest, Out));
        for other in ["", "no", "north door", "enter", "in out", "n e", "go", "go to north", "éast", "upp"] {
            assert_eq!(Direction::of(other), None, "{other:?}");
        }
    }
}
