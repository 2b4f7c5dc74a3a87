//! Completion in a shell: the shell asks the program, which knows its commands, their values, and the memory file.
//!
//! A shell's script, printed by `completions`, runs the program with [`VARIABLE`] and the words of the command line.
//! Candidates leave on stdout, one a line. The protocol and the scripts are those of clap_complete, but for bash. That
//! puts a candidate on the command line as it is, though titles are texts of games and models (with `-o filenames` it
//! quotes, but no backticks), and splits words at `:`. So bash gets a script of its own, which passes the whole line, and
//! candidates that are quoted for where they will stand.

mod candidates;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap_complete::engine;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use crate::cli::facts::Facts;
use crate::cli::failure::Failure;
use crate::cli::settings::ProcessEnvironment;

/// The variable that holds the name of the shell that asks.
pub(crate) const VARIABLE: &str = "MEMORIES_COMPLETE";

const PROGRAM: &str = "memories";

/// Bash, as in the module's comment.
struct Bash;

/// The quote that is open at the end of a line of bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// The shells that can ask.
const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// The script that makes a shell ask the program; `None` for a shell that is not known.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shell = SHELLS.completer(shell)?;
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script).ok()?;
    Some(String::from_utf8_lossy(&script).into_owned())
}

/// The answer to a shell: `arguments` are those of the process, in which the words of the command line follow `--`;
/// `facts_of` has the facts about each command by its name.
pub(crate) fn answer(
    shell: &str,
    arguments: &[OsString],
    program: clap::Command,
    environment: ProcessEnvironment,
    facts_of: impl Fn(&str) -> Option<Facts>,
) -> Result<Vec<u8>, Failure> {
    let shell = SHELLS.completer(shell).ok_or_else(|| {
        let shells: Vec<&str> = SHELLS.names().collect();
        Failure::usage(format!("{VARIABLE} names no known shell"))
            .hint(format!("it is for the scripts of `memories completions`; known are {}", shells.join(", ")))
    })?;
    let words = arguments.iter().skip_while(|argument| *argument != "--").skip(1).cloned().collect();
    let folder = environment.folder.clone();
    let words: Vec<OsString> = if shell.name() == Bash.name() { Bash::words(words) } else { words };
    let mut program = candidates::attached(program, &words, environment, facts_of);
    let mut answer = Vec::new();
    shell.write_complete(&mut program, words, Some(&folder), &mut answer)?;
    Ok(answer)
}

impl Bash {
    /// The words of a command line up to the cursor, then the part of the last word that bash is about to replace, and the
    /// line.
    fn words(arguments: Vec<OsString>) -> Vec<OsString> {
        let text = |at: usize| arguments.get(at).map(|text| text.to_string_lossy()).unwrap_or_default();
        let (line, replaced) = (text(0), text(1));
        let mut words = split(&line);
        if line.ends_with([' ', '\t']) && !line.ends_with("\\ ") && shlex::split(&line).is_some() {
            words.push(String::new());
        }
        let opened = match open_quote(&line) {
            Quote::None => replaced.into_owned(),
            Quote::Single => format!("'{replaced}"),
            Quote::Double => format!("\"{replaced}"),
        };
        let replaced = split(&opened).pop().unwrap_or_default();
        words.into_iter().chain([replaced, line.into_owned()]).map(OsString::from).collect()
    }

    /// A text as bash reads it behind that quote, literally.
    fn quoted(text: &str, quote: Quote) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
        let each = text.chars().map(|c| match (quote, c) {
            (Quote::Single, '\'') => "'\\''".to_owned(),
            (Quote::Double, '"' | '$' | '`' | '\\') => format!("\\{c}"),
            // Within double quotes nothing else keeps an interactive shell from looking into its history.
            (Quote::Double, '!') => "\"'!'\"".to_owned(),
            (Quote::None, c) if !is_plain(c) => format!("\\{c}"),
            (_, c) => c.to_string(),
        });
        each.collect()
    }
}

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == self.name()
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        program: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write!(
            out,
            r#"_{name}() {{
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <({variable}=bash command {completer} -- "${{COMP_LINE:0:COMP_POINT}}" "$2" 2> /dev/null)
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[=:/] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}}
complete -F _{name} {program}
"#
        )
    }

    fn write_complete(
        &self,
        program: &mut clap::Command,
        mut words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let line = words.pop().unwrap_or_default();
        let quote = open_quote(&line.to_string_lossy());
        let replaced = words.pop().unwrap_or_default();
        let last = words.len().saturating_sub(1);
        let word = words.last().cloned().unwrap_or_default();
        let (word, replaced) = (word.to_string_lossy(), replaced.to_string_lossy());
        // The part of the word that stays, such as `npc:`.
        let stays = word.strip_suffix(&*replaced).unwrap_or_default();
        let candidates = engine::complete(program, words, last, folder)?;
        let candidates: Vec<_> =
            candidates.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect();
        // Bash shows no help beside them, so flags that nobody began to type would hide the values.
        let is_flag = |candidate: &str| candidate.starts_with('-');
        let has_values = candidates.iter().any(|candidate| !is_flag(candidate));
        for candidate in candidates.iter().filter(|candidate| !(has_values && is_flag(candidate))) {
            let candidate = candidate.strip_prefix(stays).unwrap_or(candidate);
            writeln!(out, "{}", Bash::quoted(candidate, quote))?;
        }
        Ok(())
    }
}

/// The words of a line as a shell reads them, also in the middle of a quoted one.
fn split(line: &str) -> Vec<String> {
    let ends = ["", "'", "\"", " "];
    ends.iter().find_map(|end| shlex::split(&format!("{line}{end}"))).unwrap_or_default()
}

/// The quote that is open at the end of a line.
fn open_quote(line: &str) -> Quote {
    let mut quote = Quote::None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        quote = match (quote, c) {
            (Quote::None | Quote::Double, '\\') => {
                chars.next();
                quote
            }
            (Quote::None, '\'') => Quote::Single,
            (Quote::None, '"') => Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => Quote::None,
            _ => quote,
        };
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str, replaced: &str) -> Vec<String> {
        let mut words = Bash::words(vec![line.into(), replaced.into()]);
        assert_eq!(words.pop(), Some(line.into()));
        words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    /// Whatever a title holds, a shell reads it as one word and runs nothing of it.
    #[test]
    fn a_candidate_is_one_word_behind_each_quote() {
        for text in ["Living Room", "a'b\"c`d`$(e)\\f!g", "#x ~ * ? [a] {b,c} <d> |;&", "Küche 部屋", "''"]
        {
            for (quote, open) in [(Quote::None, ""), (Quote::Single, "'"), (Quote::Double, "\"")] {
                let line = format!("x {open}{}{open}", Bash::quoted(text, quote));
                assert_eq!(shlex::split(&line).unwrap(), ["x", text], "{line}");
                assert_eq!(open_quote(&line), Quote::None, "{line}");
                assert_eq!(open_quote(&line[..2 + open.len()]), quote);
            }
        }
    }

    #[test]
    fn a_line_of_bash_is_read_as_bash_reads_it() {
        assert_eq!(words("memories show ", ""), ["memories", "show", "", ""]);
        assert_eq!(words("memories show npc:ma", "ma"), ["memories", "show", "npc:ma", "ma"]);
        assert_eq!(
            words("memories show 'Living R", "Living R"),
            ["memories", "show", "Living R", "Living R"]
        );
        assert_eq!(
            words("memories show Living\\ R", "Living\\ R"),
            ["memories", "show", "Living R", "Living R"]
        );
        assert_eq!(words("memories show \"Liv", "Liv"), ["memories", "show", "Liv", "Liv"]);
        assert_eq!(words("memories mark 23 'a' Tro", "Tro"), ["memories", "mark", "23", "a", "Tro", "Tro"]);
        assert_eq!(words("", ""), [""]);
    }

    #[test]
    fn every_shell_of_the_command_has_a_script() {
        for shell in <clap_complete::Shell as clap::ValueEnum>::value_variants() {
            let script = script(&shell.to_string()).unwrap();
            assert!(script.contains(VARIABLE), "{shell}");
        }
    }
}
