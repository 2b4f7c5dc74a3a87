//! Who knows what an entry says: its tags `#witness:` and `#told-by:`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::types::scope::is_id;
use crate::types::text::fold_case;

/// Beginning of the tags that name witnesses.
const WITNESS: &str = "witness:";

/// Beginning of the tags that name who told an entry.
const TOLD_BY: &str = "told-by:";

/// The id in the tag of what nobody but a person knows. It is nobody's id.
const NOBODY: &str = "nobody";

/// Those who know what an entry or a line of evidence says. `None` stands for everybody.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Option<Vec<String>>")]
pub struct Witnesses(Option<BTreeSet<String>>);

impl Witnesses {
    /// Those whom the tags of an entry name. A tag, another field or a goal that looks as if it named a witness, and does
    /// not, leaves an entry without others to nobody.
    pub(super) fn of<'a>(fields: impl Iterator<Item = &'a String>, goal: Option<&String>) -> Witnesses {
        let mut witnesses = goal.filter(|goal| fold_case(goal).contains(WITNESS)).map(|_| BTreeSet::new());
        for field in fields.filter(|field| is_mark(field, WITNESS)) {
            let named = named(field, WITNESS).filter(|id| id != NOBODY);
            witnesses.get_or_insert_default().extend(named);
        }
        Witnesses(witnesses)
    }

    /// The characters with these ids; everybody, where there are none.
    pub fn named(ids: &[String]) -> Witnesses {
        Witnesses::from((!ids.is_empty()).then(|| ids.to_vec()))
    }

    /// Their ids; `None` for everybody.
    pub fn ids(&self) -> Option<Vec<&str>> {
        self.0.as_ref().map(|ids| ids.iter().map(String::as_str).collect())
    }

    /// The tags that name them, without `#`; where nobody knows it, `witness:nobody`.
    pub fn tags(&self) -> Vec<String> {
        match self.ids() {
            Some(ids) if ids.is_empty() => vec![witness_tag(NOBODY)],
            ids => ids.into_iter().flatten().map(witness_tag).collect(),
        }
    }

    /// Those who are among these and among others.
    #[must_use]
    pub fn and(self, other: Witnesses) -> Witnesses {
        match (self.0, other.0) {
            (Some(ids), Some(others)) => Witnesses(Some(ids.intersection(&others).cloned().collect())),
            (ids, others) => Witnesses(ids.or(others)),
        }
    }

    /// The key of what one line of evidence says: that of other witnesses has another key.
    pub fn keyed(&self, key: String) -> String {
        if self.0.is_none() { key } else { format!("{key}\n#{}", self.tags().join(" #")) }
    }

    /// True if nobody is named, and so everybody knows it.
    pub fn is_everybody(&self) -> bool {
        self.0.is_none()
    }

    /// True if the character of an id is among them.
    pub fn has(&self, id: &str) -> bool {
        self.0.as_ref().is_none_or(|ids| ids.contains(id))
    }

    /// True if all others are among them.
    pub fn cover(&self, others: &Witnesses) -> bool {
        match (&self.0, &others.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ids), Some(others)) => others.is_subset(ids),
        }
    }
}

impl From<Option<Vec<String>>> for Witnesses {
    fn from(ids: Option<Vec<String>>) -> Witnesses {
        Witnesses(
            ids.map(|ids| {
                ids.iter().filter_map(|id| character_id(id).ok()).filter(|id| id != NOBODY).collect()
            }),
        )
    }
}

/// The id of a character as a tag, a flag or a field names it: `marta`, `agent:marta`, `npc:marta`.
///
/// # Errors
///
/// What is wrong with it.
pub fn character_id(text: &str) -> Result<String, String> {
    let folded = fold_case(text.trim());
    let id = folded.strip_prefix("agent:").or(folded.strip_prefix("npc:")).unwrap_or(&folded);
    if is_id(id) {
        return Ok(id.to_owned());
    }
    Err(format!("`{text}` is not the id of a character: use letters, digits, `_` and `-`, as in `marta`"))
}

/// The tag of a witness, without `#`.
pub fn witness_tag(id: &str) -> String {
    format!("{WITNESS}{id}")
}

/// The tag of who told an entry, without `#`.
pub fn told_by_tag(id: &str) -> String {
    format!("{TOLD_BY}{id}")
}

/// The id of who told an entry, where a tag without `#` names one.
pub fn teller_of(tag: &str) -> Option<String> {
    named(tag, TOLD_BY)
}

/// True for a tag without `#` that names a witness, or who told.
pub fn is_witness_tag(tag: &str) -> bool {
    is_mark(tag, WITNESS) || is_mark(tag, TOLD_BY)
}

/// True for a tag or another field that looks as if it named a witness or who told, and does not.
pub fn is_misnamed(field: &str) -> bool {
    [WITNESS, TOLD_BY].into_iter().any(|mark| is_mark(field, mark) && named(field, mark).is_none())
}

/// False for a text whose entries name no witnesses, by a look at its bytes: a tag begins with `#w`, may hold any letter
/// in percent, and a field may lack its `#`.
pub fn may_name_witnesses(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_tag = |at: usize| matches!(bytes.get(at + 1), Some(b'w' | b'W' | b'%'));
    memchr::memmem::find(bytes, WITNESS.as_bytes()).is_some() || memchr::memchr_iter(b'#', bytes).any(is_tag)
}

fn is_mark(field: &str, mark: &str) -> bool {
    let field = field.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    let may_be =
        field.chars().zip(mark.chars()).next().is_some_and(|(one, two)| one.eq_ignore_ascii_case(&two));
    may_be && fold_case(field).starts_with(mark)
}

fn named(field: &str, mark: &str) -> Option<String> {
    let folded = fold_case(field.trim_start_matches('#'));
    character_id(folded.strip_prefix(mark)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tags: &[&str]) -> Witnesses {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Witnesses::of(tags.iter(), None)
    }

    #[test]
    fn whoever_is_named_knows_and_a_slip_leaves_nobody() {
        let marta = of(&["witness:Marta", "troll", "told-by:jordan", "witness:npc:alex"]);
        assert_eq!(marta, Witnesses::named(&["alex".to_owned(), "marta".to_owned()]));
        assert!(marta.has("marta") && marta.has("alex") && !marta.has("jordan"));
        for slip in ["witness:", "witness:two words", "WITNESS:é", "#witness:?"] {
            assert!(!of(&[slip]).is_everybody() && !of(&[slip]).has("marta"), "{slip}");
            assert!(is_misnamed(slip));
            assert!(of(&[slip, "witness:marta"]).has("marta"));
        }
        assert!(!of(&["witness:nobody"]).has("nobody") && !is_misnamed("witness:nobody"));
        assert!(of(&["witness", "eyewitness:marta"]).is_everybody());
        let goal = "find #witness:marta".to_owned();
        assert!(!Witnesses::of([].into_iter(), Some(&goal)).has("marta"));
    }

    #[test]
    fn witnesses_cover_those_among_them() {
        let (everybody, marta, both) =
            (of(&[]), of(&["witness:marta"]), of(&["witness:marta", "witness:jo"]));
        for (one, other, covers) in [
            (&everybody, &both, true),
            (&both, &marta, true),
            (&marta, &both, false),
            (&both, &everybody, false),
            (&marta, &marta, true),
            (&everybody, &everybody, true),
        ] {
            assert_eq!(one.cover(other), covers, "{one:?} {other:?}");
        }
    }

    #[test]
    fn no_tag_of_a_witness_is_overlooked() {
        for text in ["x *(#witness:a)*", "#Witness:a", "(#%77itness:a)", "(witness:a)", "#WITNESS:"] {
            assert!(may_name_witnesses(text), "{text}");
        }
        let (jo, nobody) = (of(&["witness:jo"]), of(&["witness:jo"]).and(of(&["witness:al"])));
        assert_eq!((jo.clone().and(of(&[])), of(&[]).and(jo.clone())), (jo.clone(), jo));
        assert_eq!(of(&nobody.tags().iter().map(|tag| &**tag).collect::<Vec<_>>()), nobody);
        assert!(!may_name_witnesses("## World\n\n**[NOTE] a** *(Ep1, #troll, #by:w)*\ntext\n### Ways\n"));
    }
}
