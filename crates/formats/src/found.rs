//! The result of a reader: notes, their subjects, and a count of all that was left out.

/// The subject of a note, by its name. The caller makes a scope of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Subject {
    /// The source names none.
    #[default]
    Unsaid,
    /// The whole story.
    World,
    /// A person or another character.
    Person(String),
    /// An agent.
    Agent(String),
    /// A place.
    Place(String),
    /// Anything else that has a name.
    Topic(String),
    /// The repository at which agents work.
    Project,
}

/// A note of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Note {
    /// Its subject.
    pub subject: Subject,
    /// Its title, if the source gives one.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// Its kind in the words of the source.
    pub category: Option<String>,
    /// A date or RFC 3339 time.
    pub date: Option<String>,
    /// Tags without `#`.
    pub tags: Vec<String>,
    /// The words by which the source finds it, and other facts about it.
    pub context: Option<String>,
    /// True if the other program always shows it.
    pub is_core: bool,
    /// Subjects to which it leads.
    pub links: Vec<Subject>,
}

/// A part of a source of which no note is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of the part.
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// The reason.
    pub why: &'static str,
}

/// The content of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Notes, in order.
    pub notes: Vec<Note>,
    /// Subjects that are named, with notes or without.
    pub subjects: Vec<Subject>,
    /// The parts of which no note is made.
    pub left_out: Vec<LeftOut>,
}

impl Note {
    /// A note without anything else.
    pub(crate) fn of(subject: Subject, text: &str) -> Note {
        Note { subject, text: text.trim().to_owned(), ..Note::default() }
    }

    /// The note with a title; a blank one counts as none.
    pub(crate) fn titled(mut self, title: &str) -> Note {
        self.title = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        self
    }
}

impl Found {
    /// Counts parts of which no note is made.
    pub(crate) fn leave_out(&mut self, what: &str, count: usize, why: &'static str) {
        match self.left_out.iter_mut().find(|other| other.what == what && other.why == why) {
            Some(other) => other.count += count as u64,
            None if count > 0 => {
                self.left_out.push(LeftOut { what: what.to_owned(), count: count as u64, why })
            }
            None => {}
        }
    }

    /// Takes a note; one without a text is counted.
    pub(crate) fn take(&mut self, note: Note) {
        if note.text.is_empty() {
            return self.leave_out("notes", 1, "they have no text");
        }
        self.notes.push(note);
    }
}
