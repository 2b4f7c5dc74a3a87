//! The place of the block in a request, so that a new memory voids nothing that is cached.
//!
//! A description of the messages and the mode enter; a [`Place`] leaves. It is never before something that the client
//! marked for caching, whatever the mode says, unless there is no place behind that.

use crate::api_format::ApiFormat;
use crate::inject::block::InjectMode;

/// What a place depends on in one message.
pub(super) struct Turn {
    /// The role, in lower case; empty for an item without one.
    pub role: String,
    /// Its content is neither missing nor empty.
    pub has_content: bool,
    /// Its content is a list of parts.
    pub has_parts: bool,
    /// It holds results of tools, which must follow their calls.
    pub has_results: bool,
    /// The last thing in it that is marked for caching.
    pub mark: Option<Mark>,
}

/// Something that is marked for caching.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A part of a message.
    Part,
    /// The whole message.
    Whole,
}

/// The place of the block. The numbers are those of messages, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end of the field with the instructions.
    Instructions,
    /// In a message before this one.
    Before(usize),
    /// At the start of this message.
    Start(usize),
    /// At the end of this message.
    End(usize),
    /// In a message behind this one.
    Behind(usize),
}

impl Turn {
    fn is_instruction(&self) -> bool {
        matches!(self.role.as_str(), "system" | "developer")
    }
}

/// The place in a request. `keeps_turns` says that the server keeps by itself what it computed for the turns in it.
pub(super) fn place(turns: &[Turn], mode: InjectMode, format: ApiFormat, keeps_turns: bool) -> Place {
    let wanted = wanted(turns, mode, format, keeps_turns);
    let Some(marked) = turns.iter().rposition(|turn| turn.mark.is_some()) else { return wanted };
    let is_whole = turns[marked].mark == Some(Mark::Whole);
    let is_behind = match wanted {
        Place::Instructions => false,
        Place::Before(at) | Place::Start(at) => at > marked,
        Place::End(at) => at > marked || (at == marked && !is_whole),
        Place::Behind(at) => at >= marked,
    };
    if is_behind { wanted } else { behind(turns, marked).unwrap_or(wanted) }
}

/// The user's last message that is not the results of tools.
pub(super) fn last_of_user(turns: &[Turn]) -> Option<usize> {
    turns.iter().rposition(|turn| turn.role == "user" && !turn.has_results)
}

/// The place that a mode says.
fn wanted(turns: &[Turn], mode: InjectMode, format: ApiFormat, keeps_turns: bool) -> Place {
    let instructions = || match (format, turns.iter().position(Turn::is_instruction)) {
        (ApiFormat::Anthropic | ApiFormat::Responses, _) => Place::Instructions,
        (ApiFormat::OpenAi, Some(own)) if turns[own].has_content => Place::End(own),
        (ApiFormat::OpenAi, _) => Place::Before(0),
    };
    let Some(user) = last_of_user(turns) else { return instructions() };
    let has_history = turns[..user].iter().any(|turn| !turn.is_instruction());
    match mode {
        InjectMode::ContextMessage => Place::Before(user),
        InjectMode::UserPrefix if turns[user].has_content => Place::Start(user),
        InjectMode::Auto if turns[user].has_content && has_history && keeps_turns => Place::Start(user),
        InjectMode::Auto | InjectMode::UserPrefix | InjectMode::SystemAppend => instructions(),
    }
}

/// The first place behind a marked message that changes no turn of the talk: the start of the user's last message, the
/// end of a list of parts, or a message of its own. A reply that the client has begun must stay the last message.
fn behind(turns: &[Turn], marked: usize) -> Option<Place> {
    let last = turns.len() - 1;
    let is_open = |at: &usize| {
        let turn = &turns[*at];
        turn.role == "user" && turn.has_parts && (turn.mark != Some(Mark::Whole))
    };
    let is_begun = turns[last].role == "assistant";
    match last_of_user(turns) {
        Some(user) if user > marked && turns[user].has_content => Some(Place::Start(user)),
        _ => match (marked..=last).rev().find(is_open) {
            Some(open) => Some(Place::End(open)),
            None if !is_begun => Some(Place::Behind(last)),
            None => (turns[marked].role == "user").then_some(Place::Behind(marked)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages by their letters: `s`ystem, `u`ser, `a`ssistant, `r`esults of Anthropic, `t`ool of OpenAI. A capital one
    /// is marked in its last part, one before `!` as a whole.
    fn turns(letters: &str) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for letter in letters.chars() {
            let role = match letter.to_ascii_lowercase() {
                's' => "system",
                'u' | 'r' => "user",
                'a' => "assistant",
                't' => "tool",
                _ => {
                    turns.last_mut().unwrap().mark = Some(Mark::Whole);
                    continue;
                }
            };
            let is_marked = letter.is_ascii_uppercase();
            turns.push(Turn {
                role: role.to_owned(),
                has_content: true,
                has_parts: is_marked || letter == 'r',
                has_results: letter.eq_ignore_ascii_case(&'r'),
                mark: is_marked.then_some(Mark::Part),
            });
        }
        turns
    }

    #[test]
    fn nothing_that_is_cached_is_behind_the_block() {
        use ApiFormat::{Anthropic, OpenAi, Responses};
        use Place::{Before, Behind, End, Instructions, Start};
        for (format, letters, expected) in [
            // Nothing is marked: the first message of a talk has nothing before it that could be kept.
            (OpenAi, "u", Before(0)),
            (OpenAi, "su", End(0)),
            (Responses, "u", Instructions),
            (Anthropic, "u", Instructions),
            // Servers of OpenAI's APIs cache the beginning of a request.
            (OpenAi, "suau", Start(3)),
            (OpenAi, "suat", End(0)),
            (OpenAi, "suauat", Start(3)),
            (Responses, "suau", Start(3)),
            // Anthropic's caches what is marked.
            (Anthropic, "uau", Instructions),
            // Marks.
            (Anthropic, "UaU", End(2)),
            (Anthropic, "Uau", Start(2)),
            (Anthropic, "uAu", Start(2)),
            (Anthropic, "uaR", End(2)),
            (Anthropic, "UarAr", End(4)),
            (Anthropic, "uauaR", End(4)),
            (Anthropic, "Ua", End(0)),
            (Anthropic, "uA", Instructions),
            (OpenAi, "Su", End(0)),
            (OpenAi, "s!u", Start(1)),
            (OpenAi, "s!u!", Behind(1)),
            (OpenAi, "suaU", End(3)),
            (OpenAi, "suau!", Behind(3)),
            (OpenAi, "su!a", Behind(1)),
            (OpenAi, "suaT", Behind(3)),
            (OpenAi, "sUat", End(1)),
            (Responses, "SuAu", Start(3)),
            (Responses, "U", End(0)),
        ] {
            let keeps = format != Anthropic;
            assert_eq!(place(&turns(letters), InjectMode::Auto, format, keeps), expected, "{letters}");
        }
        assert_eq!(place(&turns("uau"), InjectMode::Auto, Anthropic, true), Start(2));
        assert_eq!(place(&turns("uau"), InjectMode::Auto, Responses, false), Instructions);
        let modes = [InjectMode::SystemAppend, InjectMode::ContextMessage, InjectMode::UserPrefix];
        assert_eq!(
            modes.map(|mode| place(&turns("suau"), mode, OpenAi, false)),
            [End(0), Before(3), Start(3)]
        );
        assert_eq!(modes.map(|mode| place(&turns("suaU"), mode, OpenAi, false)), [End(3); 3]);
    }
}
