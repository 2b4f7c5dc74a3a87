//! Numbers that look random and are always the same (SplitMix64).

/// A sequence of numbers.
pub struct Dice(u64);

impl Dice {
    /// The sequence of a seed.
    pub fn of(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
