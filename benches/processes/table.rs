//! Prints the table of results, one line for each goal.

use std::fmt::Display;

/// A Markdown table.
#[derive(Default)]
pub struct Table {
    missed: usize,
    begun: bool,
}

impl Table {
    /// Prints a line: measurement, figure, limit, whether it was met, and details.
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

    /// Number of missed goals.
    pub fn missed(&self) -> usize {
        self.missed
    }
}
