//! The facts about a command that other files of the command line need. Each command states its own.

/// The facts about a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// Where the overview lists it.
    pub(crate) group: Group,
    /// True if it changes nothing, so that it can read a remote text.
    pub(crate) reads: bool,
    /// True for a question, which without a memory file is answered as of an empty memory.
    pub(crate) asks: bool,
    /// True if people read its answer page by page.
    pub(crate) pages: bool,
    /// Words that other programs have for it.
    pub(crate) synonyms: &'static [&'static str],
    /// The candidates for its own values, by the name that help gives each value.
    pub(crate) completes: &'static [(&'static str, Candidates)],
}

/// The groups of the overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
pub(crate) enum Group {
    #[strum(serialize = "Every turn")]
    Turn,
    #[strum(serialize = "Look inside")]
    Look,
    #[strum(serialize = "Put right")]
    Correct,
    Characters,
    Talk,
    Exchange,
    #[strum(serialize = "Set up")]
    SetUp,
}

/// The candidates for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// Places of the memory file.
    Places,
    /// Scopes of the memory file.
    Scopes,
    /// Titles in the scope that the command line names; only for arguments without a flag.
    Titles,
    /// A fixed list.
    Values(&'static [&'static str]),
}

impl Facts {
    /// A command that changes something.
    pub(crate) const fn of(group: Group) -> Facts {
        Facts { group, reads: false, asks: false, pages: false, synonyms: &[], completes: &[] }
    }

    /// A question that reads the memory file alone.
    pub(crate) const fn of_question(group: Group) -> Facts {
        Facts { reads: true, asks: true, ..Facts::of(group) }
    }
}
