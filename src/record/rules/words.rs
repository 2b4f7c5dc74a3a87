//! Recognises actions of games that are played by typing.
//!
//! Short lists of the common vocabulary; nothing here is specific to a single game.

/// The short name of a direction, if the action is nothing else: `n`, `go north`.
pub(crate) fn direction(action: &str) -> Option<&'static str> {
    let folded = action.to_lowercase();
    let mut words = folded.split_whitespace();
    let mut word = words.next()?;
    if matches!(word, "go" | "walk" | "run" | "head") {
        word = words.next()?;
    }
    if words.next().is_some() {
        return None;
    }
    let found = DIRECTIONS.iter().find(|(full, short)| word == *full || word == *short);
    found.map(|(_, short)| *short)
}

const DIRECTIONS: [(&str, &str); 18] = [
    ("north", "n"),
    ("south", "s"),
    ("east", "e"),
    ("west", "w"),
    ("northeast", "ne"),
    ("northwest", "nw"),
    ("southeast", "se"),
    ("southwest", "sw"),
    ("up", "u"),
    ("down", "d"),
    ("in", "inside"),
    ("out", "outside"),
    ("port", "p"),
    ("starboard", "sb"),
    ("fore", "f"),
    ("aft", "astern"),
    ("upstairs", "upstair"),
    ("downstairs", "downstair"),
];

/// True if the action only asks the parser or the game about itself, or lets time pass.
pub(super) fn is_meta(action: &str) -> bool {
    let folded = action.to_lowercase();
    let first = folded.split_whitespace().next().unwrap_or_default();
    let alone = folded.split_whitespace().nth(1).is_none();
    META_VERBS.contains(&first) && (alone || !matches!(first, "time" | "info" | "help" | "look" | "l" | "x"))
}

const META_VERBS: &[&str] = &[
    "inventory",
    "i",
    "inv",
    "score",
    "wait",
    "z",
    "again",
    "g",
    "diagnose",
    "save",
    "restore",
    "restart",
    "quit",
    "q",
    "undo",
    "version",
    "verbose",
    "brief",
    "superbrief",
    "help",
    "info",
    "about",
    "credits",
    "hint",
    "hints",
    "script",
    "unscript",
    "notify",
    "time",
    "oops",
];

/// True if the action only looks around.
pub(super) fn is_look(action: &str) -> bool {
    matches!(action.to_lowercase().as_str(), "look" | "l" | "look around" | "examine room" | "look about")
}

/// True if the action is about everything at once, so that its reply says little.
pub(super) fn is_for_all(action: &str) -> bool {
    action.to_lowercase().split(' ').any(|word| matches!(word, "all" | "everything"))
}

/// The target of a blow, if the action is one.
pub(super) fn opponent(action: &str) -> Option<String> {
    if !has_verb(action, BLOWS) {
        return None;
    }
    let folded = action.to_lowercase();
    let named = folded.split_whitespace().skip(1).filter(|word| !matches!(*word, "the" | "a" | "an" | "at"));
    let until_weapon: Vec<&str> = named.take_while(|word| !matches!(*word, "with" | "using")).collect();
    Some(until_weapon.join(" "))
}

const BLOWS: &[&str] = &[
    "attack", "kill", "hit", "fight", "stab", "punch", "kick", "strike", "slay", "shoot", "swing", "murder",
    "slash", "cut", "stun", "thrust",
];

/// True if a text says that a fight is decided.
pub(super) fn is_decisive(text: &str) -> bool {
    let folded = text.to_lowercase();
    DECISIVE.iter().any(|word| folded.contains(word))
}

const DECISIVE: &[&str] = &[
    "dies",
    "dead",
    "died",
    "killed",
    "kills",
    "slain",
    "curtains",
    "collapses",
    "flees",
    "head from",
    "removes his head",
    "last breath",
    "destroyed",
];

/// True if the action hands something over or puts it somewhere.
pub(super) fn is_placing(action: &str) -> bool {
    has_verb(
        action,
        &["put", "place", "give", "insert", "throw", "offer", "feed", "show", "hand", "tie", "pour"],
    )
}

/// True if the action tries to pick something up.
pub(super) fn is_taking(action: &str) -> bool {
    has_verb(action, &["take", "get", "pick", "grab", "carry"])
}

/// True if the action lets go of something on purpose.
pub(super) fn is_letting_go(action: &str) -> bool {
    is_placing(action)
        || has_verb(action, &["drop", "leave", "eat", "drink", "burn", "light", "wear", "remove"])
}

/// True if a text mentions a theft.
pub(super) fn is_theft(text: &str) -> bool {
    let folded = text.to_lowercase();
    THEFTS.iter().any(|word| folded.contains(word))
}

const THEFTS: &[&str] = &["robbed", "stole", "steal", "snatches", "snatched", "swipes", "pickpocket"];

/// True if a text names a thief.
pub(super) fn names_thief(text: &str) -> bool {
    let folded = text.to_lowercase();
    ["thief", "robber", "burglar", "bandit"].iter().any(|word| folded.contains(word))
}

fn has_verb(action: &str, verbs: &[&str]) -> bool {
    let folded = action.to_lowercase();
    verbs.contains(&folded.split_whitespace().next().unwrap_or_default())
}
