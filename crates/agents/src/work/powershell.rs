//! Splits a line of PowerShell 7 into simple commands, and these into words.
//!
//! A text enters; words and operators leave, as for POSIX shells, or nothing where the text is more than a list of simple
//! commands (`if`, `foreach`, functions). Nothing is expanded. The grammar is that of the pages `about_Parsing`,
//! `about_Quoting_Rules`, `about_Pipeline_Chain_Operators` and `about_Redirection` of PowerShell.

use crate::work::shell::{Operator, Simple, Word};

/// Words that begin a statement that is no command.
const RESERVED: [&str; 20] = [
    "begin", "break", "class", "continue", "data", "do", "end", "exit", "filter", "for", "foreach",
    "function", "if", "param", "process", "return", "switch", "throw", "try", "while",
];

/// Most brackets in one another. A line with more is not understood: each level takes a part of the stack, and the
/// commands of a block are read once for each block around them.
const DEEPEST: usize = 32;

/// Splits a line; `None` where it is no list of simple commands.
pub(super) fn split(text: &str) -> Option<Vec<(Simple, Operator)>> {
    let text: Vec<char> = text.replace("\r\n", "\n").chars().collect();
    list(&text, 0)
}

/// The same for a part of a line, which stands in that many brackets.
fn list(text: &[char], depth: usize) -> Option<Vec<(Simple, Operator)>> {
    let mut lexer = Lexer { text, at: 0, depth };
    let mut commands: Vec<(Simple, Operator)> = Vec::new();
    let mut command = Simple::default();
    loop {
        lexer.skip();
        let rest = &lexer.text[lexer.at..];
        let is_first = command.words.is_empty();
        let (length, operator) = match rest {
            [] => break,
            ['&', '&', ..] => (2, Operator::And),
            ['|', '|', ..] => (2, Operator::Or),
            ['|', ..] => (1, Operator::Pipe),
            // The call operator: what is behind it is the command.
            ['&', ..] if is_first => {
                lexer.at += 1;
                lexer.skip();
                if lexer.peek() == Some('{') {
                    commands.extend(lexer.block()?);
                }
                continue;
            }
            ['&', ..] => {
                command.is_in_background = true;
                (1, Operator::End)
            }
            [';' | '\n', ..] => (1, Operator::End),
            _ => {
                lexer.argument(&mut command)?;
                continue;
            }
        };
        lexer.at += length;
        match (is_first, operator) {
            (true, Operator::End) => {}
            // Behind a block that was called.
            (true, _) => commands.last_mut().filter(|(_, before)| *before == Operator::End)?.1 = operator,
            _ => commands.push((std::mem::take(&mut command), operator)),
        }
        // A line may end behind an operator.
        while operator != Operator::End && lexer.next_if(|c| c.is_whitespace()) {}
    }
    if !command.words.is_empty() {
        commands.push((command, Operator::End));
    }
    matches!(commands.last(), Some((_, Operator::End))).then_some(commands)
}

/// The text that a command gives to another PowerShell: `pwsh -NoProfile -Command "…"`.
pub(super) fn inner(command: &Simple) -> Option<String> {
    let (program, arguments) = command.words.split_first()?;
    let name = program.plain.rsplit(['/', '\\']).next()?.to_lowercase();
    if !matches!(name.trim_end_matches(".exe"), "pwsh" | "powershell") || !command.files.is_empty() {
        return None;
    }
    let mut arguments = arguments.iter();
    loop {
        let flag = arguments.next()?.plain.to_lowercase();
        match flag.trim_start_matches(['-', '/']) {
            "c" | "command" => break,
            "noprofile" | "nop" | "nologo" | "noninteractive" | "noni" | "login" | "sta" | "mta" => {}
            "executionpolicy" | "ep" | "ex" | "workingdirectory" | "wd" | "outputformat" | "o"
            | "version" => {
                arguments.next()?;
            }
            _ => return None,
        }
    }
    let words: Vec<&str> = arguments.map(|word| word.plain.as_str()).collect();
    let text = words.join(" ");
    let block = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    Some(block.map_or_else(|| text.clone(), str::to_owned)).filter(|text| !text.trim().is_empty())
}

struct Lexer<'a> {
    text: &'a [char],
    at: usize,
    /// The number of brackets around it.
    depth: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> bool {
        let is_there = self.peek().is_some_and(is_wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn starts_with(&self, start: &str) -> bool {
        let rest = &self.text[self.at..];
        start.chars().enumerate().all(|(at, c)| rest.get(at) == Some(&c))
    }

    /// Skips blanks, continued lines and comments.
    fn skip(&mut self) {
        loop {
            if self.next_if(|c| c.is_whitespace() && c != '\n') {
            } else if self.starts_with("`\n") {
                self.at += 2;
            } else if self.starts_with("<#") {
                self.at += 2;
                while self.peek().is_some() && !self.starts_with("#>") {
                    self.at += 1;
                }
                self.at = (self.at + 2).min(self.text.len());
            } else if self.peek() == Some('#') {
                while self.next_if(|c| c != '\n') {}
            } else {
                return;
            }
        }
    }

    /// The commands of a block that is called.
    fn block(&mut self) -> Option<Vec<(Simple, Operator)>> {
        let start = self.at + 1;
        self.nested(&mut Word::default())?;
        list(&self.text[start..self.at - 1], self.depth + 1)
    }

    /// A word or a redirection of a command.
    fn argument(&mut self, command: &mut Simple) -> Option<()> {
        if let Some(operator) = self.redirection() {
            if operator.ends_with('&') {
                let target = self.next()?;
                command.copies.push(format!("{operator}{target}"));
                return Some(());
            }
            self.skip();
            let mut target = self.word()?;
            if ["$null", "nul"].contains(&target.plain.to_lowercase().as_str()) {
                target =
                    Word { raw: "/dev/null".to_owned(), plain: "/dev/null".to_owned(), is_expanded: false };
            }
            command.redirect(&operator, &target);
            return Some(());
        }
        if self.starts_with("--%") {
            return self.verbatim(command);
        }
        let mut word = self.word()?;
        if command.words.is_empty() {
            let name = word.plain.to_lowercase();
            if RESERVED.contains(&name.as_str()) || word.plain.starts_with(['{', '}', ')']) {
                return None;
            }
            // Names of commands have no case; those of programs are left as they are.
            let is_cmdlet = name.contains('-') && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if is_cmdlet {
                word = Word { raw: name.clone(), plain: name, is_expanded: false };
            }
        }
        command.words.push(word);
        Some(())
    }

    /// The operator of a redirection with the stream before it: `2>>`, `*>`, `2>&`.
    fn redirection(&mut self) -> Option<String> {
        let start = self.at;
        let mut operator = String::new();
        if let Some(stream) = self.peek().filter(|c| c.is_ascii_digit() || *c == '*') {
            operator.push(stream);
            self.at += 1;
        }
        if self.peek() != Some('>') {
            self.at = start;
            return None;
        }
        for wanted in ['>', '>', '&'] {
            if self.next_if(|c| c == wanted) {
                operator.push(wanted);
            }
        }
        Some(operator)
    }

    /// Takes the words behind `--%` as they are, up to a pipe or the end of the line.
    fn verbatim(&mut self, command: &mut Simple) -> Option<()> {
        let start = self.at;
        while self.next_if(|c| !matches!(c, '\n' | '|')) {}
        let text: String = self.text[start..self.at].iter().collect();
        let words = text.split_whitespace().map(|word| Word {
            raw: word.to_owned(),
            plain: word.to_owned(),
            is_expanded: true,
        });
        command.words.extend(words);
        Some(())
    }

    fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            match next {
                c if c.is_whitespace() => break,
                ';' | '&' | '|' | ')' | '}' => break,
                '>' => break,
                // A redirection of input is reserved.
                '<' => return None,
                '@' if matches!(self.text.get(self.at + 1), Some('\'' | '"')) && word.raw.is_empty() => {
                    self.here_string(&mut word)?;
                }
                c if is_single(c) => self.quoted(&mut word, is_single)?,
                c if is_double(c) => self.quoted(&mut word, is_double)?,
                '`' => {
                    self.escape(&mut word)?;
                }
                '(' | '{' => self.nested(&mut word)?,
                '$' | '@' => self.variable(&mut word)?,
                '*' | '?' | '[' | '~' => {
                    word.is_expanded = true;
                    self.take(&mut word);
                }
                _ => self.take(&mut word),
            }
        }
        (!word.raw.is_empty()).then_some(word)
    }

    /// The next character, which stands for itself.
    fn take(&mut self, word: &mut Word) {
        if let Some(c) = self.next() {
            word.raw.push(c);
            word.plain.push(c);
        }
    }

    /// A backtick with what is behind it.
    fn escape(&mut self, word: &mut Word) -> Option<()> {
        self.next();
        let escaped = self.next()?;
        word.raw.extend(['`', escaped]);
        match escaped {
            // The line goes on.
            '\n' => {}
            'n' => word.plain.push('\n'),
            'r' => word.plain.push('\r'),
            't' => word.plain.push('\t'),
            '0' => word.plain.push('\0'),
            other => word.plain.push(other),
        }
        Some(())
    }

    /// A quoted part, in which the quote is doubled.
    fn quoted(&mut self, word: &mut Word, is_quote: fn(char) -> bool) -> Option<()> {
        word.raw.extend(self.next());
        loop {
            let next = self.peek()?;
            if is_quote(next) {
                self.next();
                word.raw.push(next);
                if !self.peek().is_some_and(is_quote) {
                    return Some(());
                }
                self.take(word);
            } else if is_quote('"') && next == '`' {
                self.escape(word)?;
            } else if is_quote('"') && next == '$' {
                self.variable(word)?;
            } else {
                self.take(word);
            }
        }
    }

    /// `@'`, lines, and `'@` at the start of a line.
    fn here_string(&mut self, word: &mut Word) -> Option<()> {
        let quote = self.text[self.at + 1];
        let start = self.at + 2;
        let line = start + self.text[start..].iter().position(|c| *c == '\n')?;
        let has_only_blanks = self.text[start..line].iter().all(|c| c.is_whitespace());
        let end = line + self.text[line..].windows(3).position(|three| *three == ['\n', quote, '@'])?;
        if !has_only_blanks {
            return None;
        }
        word.plain.extend(self.text.get(line + 1..end).unwrap_or_default());
        word.raw.extend(&self.text[self.at..end + 3]);
        word.is_expanded = quote == '"' && word.plain.contains('$');
        self.at = end + 3;
        Some(())
    }

    /// A variable, a splat, or an expression in brackets behind `$` or `@`.
    fn variable(&mut self, word: &mut Word) -> Option<()> {
        word.is_expanded = true;
        self.take(word);
        match self.peek() {
            Some('(' | '{') => self.nested(word),
            _ => Some(()),
        }
    }

    /// Brackets with all that is in them. Quotes in them are read, so that no bracket in a text counts.
    fn nested(&mut self, word: &mut Word) -> Option<()> {
        word.is_expanded = true;
        self.depth += 1;
        let read = self.brackets(word);
        self.depth -= 1;
        read
    }

    fn brackets(&mut self, word: &mut Word) -> Option<()> {
        let mut open = Vec::new();
        loop {
            if self.depth + open.len() > DEEPEST {
                return None;
            }
            match self.peek()? {
                '(' => open.push(')'),
                '{' => open.push('}'),
                c @ (')' | '}') if open.pop() != Some(c) => return None,
                c if is_single(c) => {
                    self.quoted(word, is_single)?;
                    continue;
                }
                c if is_double(c) => {
                    self.quoted(word, is_double)?;
                    continue;
                }
                '`' => self.take(word),
                _ => {}
            }
            self.take(word);
            if open.is_empty() {
                return Some(());
            }
        }
    }
}

fn is_single(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}'..='\u{201b}')
}

fn is_double(c: char) -> bool {
    matches!(c, '"' | '\u{201c}'..='\u{201e}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_many_brackets_is_not_understood_and_costs_little() {
        for (open, close) in [("&{", "}"), ("& { ", " }"), ("x \"$(", ")\""), ("x (", ")"), ("x $(", ")")] {
            let nested = |depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
            assert!(split(&nested(8)).is_some(), "{open}");
            assert_eq!(split(&nested(10_000)), None, "{open}");
        }
    }

    fn shown(text: &str) -> Option<Vec<String>> {
        let commands = split(text)?;
        let write = |(command, operator): &(Simple, Operator)| {
            let words: Vec<&str> = command.words.iter().map(|word| word.plain.as_str()).collect();
            let writes = if command.writes { " >" } else { "" };
            let back = if command.is_in_background { " &" } else { "" };
            format!("{}{writes}{back} {operator:?}", words.join("¦"))
        };
        Some(commands.iter().map(write).collect())
    }

    #[test]
    fn lists_of_simple_commands() {
        for (text, commands) in [
            ("cargo test --all", &["cargo¦test¦--all End"][..]),
            ("a; b && c || d | e\nf &", &["a End", "b And", "c Or", "d Pipe", "e End", "f & End"]),
            ("a |\r\n  b &&\n c", &["a Pipe", "b And", "c End"]),
            (r"type C:\src\a.txt", &[r"type¦C:\src\a.txt End"]),
            (r"& 'C:\Program Files\x.exe' -v", &[r"C:\Program Files\x.exe¦-v End"]),
            ("& { make; cargo test } && b", &["make End", "cargo¦test And", "b End"]),
            ("echo 'it''s' \"a \"\"b\"\" `\"c`\" $(d 'e)')\"", &["echo¦it's¦a \"b\" \"c\" $(d e)) End"]),
            ("x `\r\n  --y a` b", &["x¦--y¦a b End"]),
            ("x @'\na \"b\" 'c'\n'@ | y", &["x¦a \"b\" 'c' Pipe", "y End"]),
            (
                "gci | Where-Object { $_.Name -eq 'a;b' }",
                &["gci Pipe", "where-object¦{ $_.Name -eq a;b } End"],
            ),
            ("a > x.log 2>&1; b *> $null; c 2>$null", &["a > End", "b End", "c End"]),
            ("a # b\n<# c; d #> e", &["a End", "e End"]),
            ("icacls --% x /grant a:(F) ; b | c", &["icacls¦--%¦x¦/grant¦a:(F)¦;¦b Pipe", "c End"]),
            ("$env:A = '1'; make", &["$env:A¦=¦1 End", "make End"]),
            ("(Get-Item x).Length", &["(Get-Item x).Length End"]),
            ("a @args ${b c} *.rs", &["a¦@args¦${b c}¦*.rs End"]),
            ("echo “a b” ‘c d’", &["echo¦a b¦c d End"]),
        ] {
            let commands: Vec<String> = commands.iter().map(|&c| c.to_owned()).collect();
            assert_eq!(shown(text).as_deref(), Some(&*commands), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_understood() {
        for text in [
            "if ($x) { a }",
            "foreach ($x in 1..3) { a }",
            "Function f { a }",
            "echo 'open",
            "echo \"open",
            "a &&",
            "| a",
            "a < b",
            "echo $(ls",
            "{ a }",
            "x @'\na",
            "",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_for_another_powershell() {
        let inner = |text: &str| inner(&split(text).expect("a list")[0].0);
        for (text, expected) in [
            ("pwsh -c 'cargo test'", Some("cargo test")),
            (
                "powershell.exe -NoProfile -ExecutionPolicy Bypass -Command \"cargo test; b\"",
                Some("cargo test; b"),
            ),
            (r"C:\pwsh\pwsh.exe -Command cargo test", Some("cargo test")),
            ("pwsh -Command { cargo test }", Some(" cargo test ")),
            ("pwsh -File x.ps1", None),
            ("pwsh -EncodedCommand YQ==", None),
            ("pwsh", None),
            ("make -c x", None),
        ] {
            assert_eq!(inner(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[a-z0-9 '\"\\\\$`(){}<>|&;#\\n*=@%“’-]{0,40}") {
            let _ = split(&text);
        }

        /// A text that is quoted for PowerShell is one word with that text.
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[a-z '\"\\\\$`|&;#é{(]{1,8}", 1..4)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "''"))).collect();
            let commands = split(&format!("x {}", quoted.join(" "))).expect("a command");
            let plain: Vec<&str> = commands[0].0.words[1..].iter().map(|word| word.plain.as_str()).collect();
            prop_assert_eq!(plain, words);
        }
    }
}
