//! Recognises actions and phrases of games that are played by typing.
//!
//! Short lists of the common vocabulary; nothing here is specific to a single game.

/// Fewest words that are new, besides those of the action or the place, in a sentence worth keeping.
pub(super) const MIN_NEW_WORDS: usize = 3;

/// True if the action only asks the parser or the game about itself, or lets time pass.
pub(super) fn is_meta(action: &str) -> bool {
    let folded = action.to_lowercase();
    let first = folded.split_whitespace().next().unwrap_or_default();
    let alone = folded.split_whitespace().nth(1).is_none();
    is_any(first, META_VERBS) && (alone || !matches!(first, "time" | "info" | "help" | "look" | "l" | "x"))
}

const META_VERBS: &str = "\
    inventory i inv score wait z again g diagnose save restore restart quit q undo version verbose brief \
    superbrief help info about credits hint hints script unscript notify time oops";

/// True if the action only looks around.
pub(super) fn is_look(action: &str) -> bool {
    let folded = action.to_lowercase();
    let mut words = folded.split_whitespace();
    let looks = matches!(words.next(), Some("look" | "l" | "examine" | "x" | "inspect" | "survey"));
    let rest: Vec<&str> = words.filter(|word| !matches!(*word, "the" | "at" | "this")).collect();
    looks
        && matches!(
            rest.as_slice(),
            [] | ["around" | "about" | "here" | "room" | "place" | "area" | "surroundings"]
        )
}

/// True if the action is about everything at once, so that its reply says little.
pub(super) fn is_for_all(action: &str) -> bool {
    action.to_lowercase().split(' ').any(|word| matches!(word, "all" | "everything"))
}

/// True if the action strikes a blow.
pub(super) fn is_blow(action: &str) -> bool {
    has_verb(action, BLOWS)
}

const BLOWS: &str = "\
    attack kill hit fight stab punch kick strike slay shoot swing murder slash cut stun thrust";

/// True if a sentence says that a fight is decided.
pub(super) fn is_decisive(text: &str) -> bool {
    let words = words_of(text);
    has_phrase(&words, DECISIVE) && !is_denied(&words) && !has_phrase(&words, "nearly, almost")
}

const DECISIVE: &str = "\
    dies, dead, died, killed, kills, slain, curtains, collapses, flees, head from, removes his head, \
    last breath, destroyed";

/// True if the use of the action is its answer: it reads, examines or asks.
pub(super) fn is_asking(action: &str) -> bool {
    has_verb(action, ASKING) && action.split_whitespace().nth(1).is_some()
}

const ASKING: &str = "\
    read examine x inspect study look l search consult ask tell talk listen watch smell feel taste";

/// True if the action holds several commands.
pub(super) fn is_several(action: &str) -> bool {
    action.trim_end_matches(['.', ' ']).contains(['.', ';', ',']) || action.to_lowercase().contains(" then ")
}

/// True if the action lets go of something on purpose.
pub(super) fn is_letting_go(action: &str) -> bool {
    has_verb(action, LETTING_GO)
}

const LETTING_GO: &str = "\
    put place give insert throw offer feed show hand tie pour drop leave eat drink burn light wear remove";

/// True if a sentence tells of a theft by somebody else than the player.
pub(super) fn is_theft(text: &str) -> bool {
    let words = words_of(text);
    let has = |list: &str| words.iter().any(|word| is_any(word, list));
    has(THEFTS) || (has(THEFTS_OF_ANYBODY) && !opens_with(&text.to_lowercase(), "you"))
}

/// Forms that tell what somebody else did.
const THEFTS: &str = "\
    robbed robs steals snatches swipes pickpockets";

/// Forms that also tell what the player did: `You steal away.`
const THEFTS_OF_ANYBODY: &str = "\
    rob steal stole stolen snatched swiped pickpocket";

/// The thief that a text names.
pub(super) fn thief(text: &str) -> Option<&'static str> {
    let folded = text.to_lowercase();
    THIEVES.split(' ').find(|word| folded.contains(word))
}

const THIEVES: &str = "\
    thief robber burglar bandit pirate pickpocket";

/// True if a sentence tells what does harm to the player.
pub(super) fn tells_harm(text: &str) -> bool {
    let words = words_of(text);
    let is_hit = |at: usize| {
        let before = |count: usize| at.checked_sub(count).map_or("", |at| words[at].as_str());
        is_any(&words[at], BODY) && (before(1) == "your" || (before(1) == "the" && before(3) == "you"))
    };
    let is_harm = words.iter().any(|word| is_any(word, HARMS)) || has_phrase(&words, FALLS);
    let folded = text.to_lowercase();
    (is_harm || (0..words.len()).any(is_hit))
        && !["would", "could", "should", "might"].iter().any(|word| folded.contains(word))
}

/// Words that tell of harm.
const HARMS: &str = "\
    kill kills killed killing slay slays slain slew murder murders murdered fatal fatally devour devours \
    devoured eaten eats swallows swallowed fang fangs jaws claw claws teeth bite bites bitten poison poisons \
    poisoned poisonous venom venomous drown drowns drowned burn burns burned burnt burning flame flames \
    explode explodes exploded explosion crush crushes crushed crushing crash crashes crashed impale impales \
    impaled stab stabs stabbed blade blades blood strangle strangles strangled choke chokes choked suffocate \
    suffocates suffocated starve starves starved starvation freeze freezes froze frozen electrocute \
    electrocutes electrocuted shot shoots bullet bullets plummet plummets plummeted plunge plunges plunged \
    hunger thirst dehydration exhaustion radiation";

/// Parts of the body, which tell of harm where they are the player's.
const BODY: &str = "\
    head neck heart throat skull ribs";

/// Falls that concern the player.
const FALLS: &str = "\
    you fall, you fell, fall to your, falls on you, fell on you";

/// True if a sentence tells what somebody or something did, and is no remark on it.
pub(super) fn is_narrated(text: &str) -> bool {
    let folded = text.to_lowercase();
    let is_told = opens_with(&folded, TOLD) && !folded.ends_with('?');
    let is_scene = phrases(SCENES).any(|opening| folded.starts_with(opening));
    is_told && !is_scene && !["would", "could", "should", "might"].iter().any(|word| folded.contains(word))
}

const TOLD: &str = "\
    the a an you something someone suddenly there one with in as after from at";

/// Openings of sentences that tell where the player is, not what happened.
const SCENES: &str = "you are in , you are at , you are on , you are standing ";

/// True if the subject of a sentence is a thing or a creature.
pub(super) fn is_of_a_thing(text: &str) -> bool {
    opens_with(&text.to_lowercase(), "the a an something")
}

/// True if a sentence of a description tells of the player, or of somebody who only passes.
pub(super) fn is_of_the_player(text: &str) -> bool {
    let folded = text.to_lowercase();
    opens_with(&folded, "your someone somebody")
        || ["you hear", "you have moved", "you dodge"].iter().any(|opening| folded.starts_with(opening))
}

/// True if a sentence of a description names what attacks or is about to. What only bars the way does not.
pub(super) fn is_threat(text: &str) -> bool {
    let words = words_of(text);
    has_phrase(&words, THREATS)
        && !opens_with(&text.to_lowercase(), "you it he she they this that")
        && !is_denied(&words)
}

const THREATS: &str = "\
    attacks, attacking, brandishes, brandishing, wielding, armed with, threatens you, threatening you, menaces you, \
    menacing you, growls, growling, snarls, snarling, poisonous, venomous, deadly, lunges, lunging, swoops, swooping, \
    charges at you";

/// True if a sentence is a stock answer or briefly says that something is not so: the action found or did nothing.
pub(super) fn is_fruitless(text: &str) -> bool {
    let words = words_of(text);
    let is_brief = words.len() <= MAX_DENIAL_WORDS && !text.contains(['"', '“']);
    has_phrase(&words, FRUITLESS) || (is_brief && is_denied(&words) && !has_phrase(&words, "no longer"))
}

/// Most words of a sentence that a denial makes fruitless; a longer one tells more.
const MAX_DENIAL_WORDS: usize = 14;

const FRUITLESS: &str = "\
    never, no effect, no use, no avail, no result, no sign, in vain, as ever, ordinary, unremarkable, \
    pointless, useless, futile, hardly, cannot, of interest, look much like, looks much like, time passes";

/// True if a sentence is about the game as a game: its score or the program's commands.
pub(super) fn is_about_the_game(text: &str) -> bool {
    let folded = text.to_lowercase();
    phrases(ABOUT_THE_GAME).any(|phrase| folded.contains(phrase))
}

const ABOUT_THE_GAME: &str =
    "your score, you scored, you have scored, type ', type \", please enter, restart, restore";

/// True if a sentence of a description names a way out.
pub(super) fn names_way(text: &str) -> bool {
    words_of(text).iter().any(|word| is_any(word, WAYS))
}

const WAYS: &str = "\
    north south east west northeast northwest southeast southwest north-south east-west upward upwards \
    downward downwards exit exits door doors doorway doorways path paths pathway passage passages passageway \
    passageways stair stairs staircase stairway steps ladder window gate hole tunnel tunnels corridor bridge \
    crawlway chimney opening trapdoor lead leads leading climb way barred button buttons lever switch";

/// The words of a text in lower case, without punctuation at their ends.
fn words_of(text: &str) -> Vec<String> {
    let folded = text.to_lowercase().replace('’', "'").replace("--", " ");
    let words = folded.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-'));
    let bare = words.map(|word| word.trim_matches(['\'', '-']));
    bare.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// True if one of the phrases of a list stands among the words.
fn has_phrase(words: &[String], list: &'static str) -> bool {
    let text = format!(" {} ", words.join(" "));
    phrases(list).any(|phrase| text.contains(&format!(" {phrase} ")))
}

/// The phrases between the commas of a list.
pub(super) fn phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(", ")
}

/// True if a sentence says that something is not so.
fn is_denied(words: &[String]) -> bool {
    has_phrase(words, DENIALS) || words.iter().any(|word| word.ends_with("n't"))
}

const DENIALS: &str = "\
    not, nobody, nothing, no one, no-one, no longer";

fn opens_with(folded: &str, words: &str) -> bool {
    is_any(folded.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default(), words)
}

/// True if a word is one of those between the spaces of a list.
pub(super) fn is_any(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Words of a sentence that carry meaning and do not stand in another text.
pub(super) fn count_new(text: &str, known: &str) -> usize {
    let known = known.to_lowercase();
    let stem = |word: &str| word.chars().take(5).collect::<String>();
    let known: Vec<String> = known.split(|c: char| !c.is_alphanumeric()).map(stem).collect();
    let folded = text.to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| word.len() > 2 && !is_any(word, EMPTY) && !known.contains(&stem(word))).count()
}

/// Words that carry no meaning of their own.
const EMPTY: &str = "\
    the and are you your this that there here now with from for its was were has have had into onto \
    which who can see some all one not but his her their room place very his her taken dropped done okay";

fn has_verb(action: &str, verbs: &str) -> bool {
    action.to_lowercase().split_whitespace().next().is_some_and(|verb| is_any(verb, verbs))
}
