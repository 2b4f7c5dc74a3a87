//! Canonical questions: the questions that a memory of an agent or scene is known to answer.
//!
//! The questions that agents ask about themselves, about others and about the scene are known in advance, and
//! they share few words with their answers: "who am I?" and "You are Alex". The index therefore holds a vector
//! for each of these questions, all pointing to the same entry; the memory file does not contain the questions.
//! A memory enters; its questions leave, none for most memories.

use memories_document::types::{Memory, Scope, fold_title};

/// Questions of an agent's own memories: their category, then its questions, one a line. `{name}` stands for the agent's
/// name.
const OWN: &str = "\
IDENTITY
who am I?
what is my identity?
describe myself
tell me about myself
introduce myself
what is my name?
what do people call me?
what is my role?
what is my job?
what do I do for a living?
which character do I play?
who are you?
who is {name}?

BACKGROUND
what is my background?
what is my history?
what happened in my past?
where do I come from?
where did I grow up?
what is my life story?
what was my life like until now?
what was my childhood like?
which experiences made me who I am?

COMMUNICATION
how do I communicate?
what is my communication style?
how do I speak?
how should I talk to others?
how do I express myself?
what does my voice sound like?

DECISION_STYLE
how do I make decisions?
what is my decision style?
how do I decide?
how do I choose between options?
how do I make up my mind?
how do I settle a question?

TRAITS
what are my traits?
what is my personality?
what is my character like?
what kind of person am I?
what is my temperament?
what am I like?
what are my habits?
what are my quirks?
what are my strengths and weaknesses?

SKILLS
what are my skills?
what am I good at?
what can I do?
what are my abilities?
what are my talents?
what do I know how to do well?
what is my expertise?
how can I be useful?
what do I excel at?

VALUES
what are my values?
what do I believe in?
what matters to me?
what are my principles?
what are my ideals?
what are my convictions?
what is important to me?
what do I care about?
what do I hold dear?
";

/// The same of the scene's memories.
const SCENE: &str = "\
LOCATION
where am I?
where are we?
what is this place?
where does the scene take place?
what is the setting?
describe the room
describe the surroundings

ATMOSPHERE
what is the atmosphere?
what is the mood?
how does it feel here?
what is the ambiance?
are we tense or relaxed?

TIME
when is it?
when is this happening?
what time is it?
what time of day is it?
is it morning or night?
what day is it?

CONTEXT
what is happening?
what is going on?
what is the situation?
why are we here?
what are we doing here?
what is our goal?
what is this about?
what is the context of the scene?
";

/// Questions about somebody an agent knows.
const OTHERS: [&str; 5] = [
    "who is {name}?",
    "what do I know about {name}?",
    "describe {name}",
    "what kind of person is {name}?",
    "what is my relationship with {name}?",
];

/// The canonical questions that a memory answers. `name` is the name of its section.
pub(crate) fn canonical_questions(scope: &Scope, name: &str, memory: &Memory) -> Vec<String> {
    let about = memory.provenance.tags.iter().find_map(|tag| tag.strip_prefix("about:"));
    let of = |table: &'static str| {
        let mut categories = table.split("\n\n").filter_map(|category| category.split_once('\n'));
        let found = categories.find(|(category, _)| *category == memory.category.as_str());
        found.map_or("", |(_, questions)| questions).lines()
    };
    match (scope, about) {
        (Scope::Agent(id), None) => {
            let name = if name.is_empty() { id } else { name };
            of(OWN).map(|question| question.replace("{name}", name)).collect()
        }
        (Scope::Agent(_), Some(id)) if memory.category.as_str() == "KNOWLEDGE" => {
            let asked = |name: &str| OTHERS.map(|question| question.replace("{name}", name));
            let mut all = asked(&memory.title).to_vec();
            if !fold_title(&memory.title).contains(&fold_title(id)) {
                all.extend(asked(id));
            }
            all
        }
        (Scope::Scene, _) => of(SCENE).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
