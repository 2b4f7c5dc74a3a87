//! x
pub mod duplicates;
pub mod triggers;
pub mod turn;
