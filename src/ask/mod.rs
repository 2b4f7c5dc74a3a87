//! Asks a model about stored memories: for an answer, a summary, or a plan to consolidate.
//!
//! It always holds that
//!
//! * memories reach a prompt as fenced data, with secrets redacted;
//! * an answer that cites none of the memories shown is rejected;
//! * nothing here locks or writes: [`consolidate::apply_plan`] edits documents in memory. The caller, which
//!   asked the model before, writes them in one step.

pub(crate) mod answer;
pub mod consolidate;
mod grounded;
pub(crate) mod grown;
mod guard;
pub mod plan;
mod prompt;
pub(crate) mod remembering;
pub(crate) mod summary;
