//! What coding agents share with `memories`.

pub mod memory_tool;
pub mod setup;
pub mod work;
