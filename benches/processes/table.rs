//! The table that is printed: one line a goal.

use std::fmt::Display;

/// Lines of a Markdown table.
#[derive(Default)]
pub struct Table {
    missed: usize,
    begun: bool,
}

impl Table {
    /// Prints a line: what was measured, the figure, the limit, whether it was kept, and details.
    #[allow(clippy::print_stdout, reason = "the table is what this program is for")]
    pub fn line(&mut self, what: &str, figure: impl Display, limit: impl Display, kept: bool, details: &str) {
        if !self.begun {
            println!("| what | measured | limit | kept | details |");
            println!("|---|---|---|---|---|");
            self.begun = true;
        }
        self.missed += usize::from(!kept);
        let kept = if kept { "yes" } else { "**no**" };
        println!("| {what} | {figure} | {limit} | {kept} | {details} |");
    }

    /// How many goals were missed.
    pub fn missed(&self) -> usize {
        self.missed
    }
}
