//! Which death a direction is to blame for.
//!
//! The dark, a thief, hunger and a fight kill wherever the player goes. A direction is deadly if the reply speaks of
//! where it led, or if it killed twice.

use crate::rules::sentences::is_dark;

/// Words by which a reply speaks of a movement that ends badly.
const MOVEMENTS: &str = "fall fell falling plunge plunged plummet plummeted drown drowned sink sank slip slipped tumble tumbled stumble \
    stumbled trip tripped step stepped walk walked drop dropped swept crash crashed descend descended enter entered edge cliff pit \
    chasm abyss quicksand swamp lava water river waterfall";

/// Words by which a reply speaks of something that kills at any place.
const ROAMING: &str = "grue thief robber knife stiletto sword axe blow attacker dwarf hunger hungry thirst thirsty starve starved \
    starvation exhaustion poison plague disease sickness bomb explosion tired suffocate grenade dragon troll";

/// True if a reply that tells of a death blames the direction in which the player went.
pub(super) fn is_of_the_direction(reply: &str) -> bool {
    let folded = reply.to_lowercase();
    let mut words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    let mut moves = false;
    !is_dark(reply)
        && !words.any(|word| {
            moves |= has(MOVEMENTS, word);
            has(ROAMING, word)
        })
        && moves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_to_blame_for_where_it_leads() {
        for reply in
            ["You fall into the chasm and die.", "The current sweeps you over the waterfall. You have died."]
        {
            assert!(is_of_the_direction(reply), "{reply}");
        }
        for reply in [
            "It is pitch black. You fall into a pit.",
            "Oh, no! You have walked into the slavering fangs of a lurking grue!",
            "The thief, a man of good breeding, steps up and finishes you with his stiletto.",
            "You are too weak from hunger to walk on, and die.",
            "You have died.",
        ] {
            assert!(!is_of_the_direction(reply), "{reply}");
        }
    }
}
