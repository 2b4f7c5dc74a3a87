//! Conversations: no message is summarised twice, none of a place is left out, none is lost on its way.

mod digest;
mod extract;
mod inject;
mod threshold;
