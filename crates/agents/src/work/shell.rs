//! Splits a command line as POSIX shells do: into simple commands, and these into words.
//!
//! A text enters; words and operators leave, or nothing where the text is more than a list of simple commands
//! (compound commands, here-documents, process substitutions). Nothing is expanded. The grammar is that of POSIX.1-2024,
//! Shell Command Language, sections 2.2 to 2.10.

use std::iter::Peekable;
use std::str::Chars;

/// The operator behind a simple command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`, `|&`
    Pipe,
    /// `;`, `&`, a line end, or the end of the text.
    End,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Assignments, program and arguments.
    pub words: Vec<Word>,
    /// Redirections from and to files, but for output to `/dev/null`, each as it is written in one way.
    pub files: Vec<String>,
    /// Copies of file descriptors: `2>&1`.
    pub copies: Vec<String>,
    /// Files from which it reads.
    pub inputs: Vec<String>,
    /// True if its output goes to a file.
    pub writes: bool,
    /// True if it runs in the background.
    pub is_in_background: bool,
}

/// A word of a simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// As it was written, with quotes.
    pub raw: String,
    /// Without its quotes and backslashes.
    pub plain: String,
    /// True if the shell replaces parts of it.
    pub is_expanded: bool,
}

impl Word {
    /// The one way to write the word: words that mean the same have the same.
    pub(super) fn canonical(&self) -> String {
        if self.is_expanded || self.raw == self.plain {
            return self.raw.clone();
        }
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+".contains(&byte);
        if !self.plain.is_empty() && self.plain.bytes().all(is_safe) {
            return self.plain.clone();
        }
        shlex::try_quote(&self.plain).map_or_else(|_| self.raw.clone(), std::borrow::Cow::into_owned)
    }
}

/// Words that begin or end a compound command.
const RESERVED: [&str; 17] = [
    "!", "{", "}", "[[", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "then", "while",
];

/// Splits a command line; `None` where it is no list of simple commands.
pub(super) fn split(text: &str) -> Option<Vec<(Simple, Operator)>> {
    // A line that goes on. Within single quotes it would not, which few command lines have.
    let joined = text.replace("\\\n", "");
    let mut lexer = Lexer { rest: joined.chars().peekable() };
    let mut commands = Vec::new();
    let mut command = Simple::default();
    while let Some(token) = lexer.token()? {
        match token {
            Token::Word(word) => {
                if command.words.is_empty() && RESERVED.contains(&word.raw.as_str()) {
                    return None;
                }
                command.words.push(word);
            }
            Token::Redirection(operator) => {
                let Some(Token::Word(target)) = lexer.token()? else { return None };
                command.redirect(&operator, &target);
            }
            Token::Operator(operator, is_marked) => {
                if command.words.is_empty() && operator != Operator::End {
                    return None;
                }
                match operator {
                    // `|&`
                    Operator::Pipe if is_marked => command.copies.push("2>&1".to_owned()),
                    _ => command.is_in_background = is_marked,
                }
                if !command.words.is_empty() {
                    commands.push((std::mem::take(&mut command), operator));
                }
            }
        }
    }
    if !command.words.is_empty() {
        commands.push((command, Operator::End));
    }
    matches!(commands.last(), Some((_, Operator::End))).then_some(commands)
}

impl Simple {
    pub(super) fn redirect(&mut self, operator: &str, target: &Word) {
        let text = format!("{operator}{}", target.canonical());
        let is_stream = target.plain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if operator.ends_with('&') && is_stream {
            return self.copies.push(text);
        }
        let is_output = operator.contains('>');
        if !is_output {
            self.inputs.push(target.plain.clone());
        }
        if !is_output || target.plain != "/dev/null" {
            self.writes |= is_output;
            self.files.push(text);
        }
    }
}

enum Token {
    Word(Word),
    /// A redirection with the file descriptor before it, whose target is the next word.
    Redirection(String),
    /// An operator; true for `&` and `|&`.
    Operator(Operator, bool),
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Lexer<'_> {
    /// The next token; `Some(None)` at the end, `None` where the text is not understood.
    fn token(&mut self) -> Option<Option<Token>> {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
        let Some(&first) = self.rest.peek() else { return Some(None) };
        let token = match first {
            '#' => {
                while self.rest.next_if(|&c| c != '\n').is_some() {}
                return self.token();
            }
            '\n' | ';' => {
                self.rest.next();
                (self.rest.peek() != Some(&';')).then_some(Token::Operator(Operator::End, false))
            }
            '&' => {
                self.rest.next();
                match self.rest.peek() {
                    Some('&') => self.operator(Operator::And),
                    Some('>') => self.redirection("&"),
                    _ => Some(Token::Operator(Operator::End, true)),
                }
            }
            '|' => {
                self.rest.next();
                match self.rest.peek() {
                    Some('|') => self.operator(Operator::Or),
                    Some('&') => {
                        self.rest.next();
                        Some(Token::Operator(Operator::Pipe, true))
                    }
                    _ => Some(Token::Operator(Operator::Pipe, false)),
                }
            }
            '>' | '<' => self.redirection(""),
            '(' | ')' => None,
            _ => return self.word(),
        };
        token.map(Some)
    }

    /// An operator whose second character is next.
    fn operator(&mut self, operator: Operator) -> Option<Token> {
        self.rest.next();
        Some(Token::Operator(operator, false))
    }

    /// A redirection behind a file descriptor.
    fn redirection(&mut self, descriptor: &str) -> Option<Token> {
        let mut operator = format!("{descriptor}{}", self.rest.next()?);
        match self.rest.peek() {
            // A here-document, or a process.
            Some('<' | '(') => return None,
            Some('>' | '|' | '&') => operator.extend(self.rest.next()),
            _ => {}
        }
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        (self.rest.peek() != Some(&'(')).then_some(Token::Redirection(operator))
    }

    /// A word; digits right before a redirection belong to it.
    fn word(&mut self) -> Option<Option<Token>> {
        let mut word = Word::default();
        while let Some(&next) = self.rest.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' if word.raw.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return self.redirection(&word.raw).map(Some);
                }
                '<' | '>' => break,
                '\'' => self.quoted(&mut word, false)?,
                '"' => self.quoted(&mut word, true)?,
                '\\' => self.escape(&mut word),
                '$' | '`' => self.expansion(&mut word)?,
                '*' | '?' | '[' | '{' | '~' => {
                    word.is_expanded = true;
                    self.take(&mut word);
                }
                _ => self.take(&mut word),
            }
        }
        // A function, or the start of a subshell within a word.
        if self.rest.peek() == Some(&'(') {
            return None;
        }
        Some(Some(Token::Word(word)))
    }

    /// The next character, which stands for itself.
    fn take(&mut self, word: &mut Word) {
        if let Some(c) = self.rest.next() {
            word.raw.push(c);
            word.plain.push(c);
        }
    }

    /// A backslash with what is behind it.
    fn escape(&mut self, word: &mut Word) {
        self.rest.next();
        match self.rest.next() {
            None => word.raw.push('\\'),
            Some(escaped) => {
                word.raw.extend(['\\', escaped]);
                word.plain.push(escaped);
            }
        }
    }

    /// A quoted part.
    fn quoted(&mut self, word: &mut Word, is_double: bool) -> Option<()> {
        let quote = self.rest.next()?;
        word.raw.push(quote);
        loop {
            match *self.rest.peek()? {
                c if c == quote => break,
                '$' | '`' if is_double => self.expansion(word)?,
                '\\' if is_double => self.escape(word),
                _ => self.take(word),
            }
        }
        self.rest.next();
        word.raw.push(quote);
        Some(())
    }

    /// A parameter, a command or an expression that the shell replaces.
    fn expansion(&mut self, word: &mut Word) -> Option<()> {
        word.is_expanded = true;
        let first = *self.rest.peek()?;
        self.take(word);
        let end = match (first, self.rest.peek()) {
            ('`', _) => '`',
            (_, Some('(')) => ')',
            (_, Some('{')) => '}',
            _ => return Some(()),
        };
        let mut depth = 0_usize;
        while let Some(&c) = self.rest.peek() {
            self.take(word);
            match c {
                '(' | '{' if end != '`' => depth += 1,
                _ if c == end && depth <= 1 => return Some(()),
                ')' | '}' if end != '`' => depth = depth.saturating_sub(1),
                '\\' => self.take(word),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let commands = split(text)?;
        let write = |(command, operator): &(Simple, Operator)| {
            let words: Vec<String> = command.words.iter().map(Word::canonical).collect();
            let writes = if command.writes { " >" } else { "" };
            let back = if command.is_in_background { " &" } else { "" };
            format!("{}{writes}{back} {operator:?}", words.join("|"))
        };
        Some(commands.iter().map(write).collect())
    }

    #[test]
    fn lists_of_simple_commands() {
        for (text, commands) in [
            ("cargo test --all", &["cargo|test|--all End"][..]),
            ("a && b || c; d | e\nf &", &["a And", "b Or", "c End", "d Pipe", "e End", "f & End"]),
            ("cargo test 2>&1 | tail -5", &["cargo|test Pipe", "tail|-5 End"]),
            ("a > x 2>/dev/null", &["a > End"]),
            ("a &> x; b >&2", &["a > End", "b End"]),
            ("a > 1; b >& x; c < d", &["a > End", "b > End", "c End"]),
            ("echo 'a b' \"c d\" e\\ f", &["echo|'a b'|'c d'|'e f' End"]),
            (
                "echo \"$HOME/x\" $(ls | wc -l) `date` ${A:-b} *.rs",
                &["echo|\"$HOME/x\"|$(ls | wc -l)|`date`|${A:-b}|*.rs End"],
            ),
            ("A=1 B='2' make # all", &["A=1|B=2|make End"]),
            ("x \\\n  --y", &["x|--y End"]),
            ("make test2>log", &["make|test2 > End"]),
        ] {
            assert_eq!(
                shown(text).as_deref(),
                Some(&*commands.iter().map(|&c| c.to_owned()).collect::<Vec<_>>()),
                "{text}"
            );
        }
    }

    #[test]
    fn redirections_are_kept_apart() {
        let commands = split("a < 'b' 2>>c >/dev/null 3<&- 2>&1 |& d < /dev/null").expect("a list");
        let (first, second) = (&commands[0].0, &commands[1].0);
        assert_eq!(first.files, ["<b", "2>>c"]);
        assert_eq!(first.copies, ["3<&-", "2>&1", "2>&1"]);
        assert_eq!(first.inputs, ["b"]);
        assert_eq!(second.files, ["</dev/null"]);
    }

    #[test]
    fn other_texts_are_not_understood() {
        for text in [
            "for x in a b; do echo $x; done",
            "if true; then a; fi",
            "(cd x && make)",
            "cat <<EOF\nx\nEOF",
            "f() { a; }",
            "echo 'open",
            "echo \"open",
            "a &&",
            "| a",
            "a ;; b",
            "diff <(a) <(b)",
            "echo $(ls",
            "{ a; }",
            "",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[a-z0-9 '\"\\\\$`(){}<>|&;#\\n*=-]{0,40}") {
            let _ = split(&text);
        }

        /// A text that is quoted for a shell is one word with that text.
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[a-z '\"\\\\$`|&;#é]{1,8}", 1..4)) {
            let text = shlex::try_join(words.iter().map(String::as_str)).expect("no NUL");
            let commands = split(&format!("x {text}")).expect("a command");
            let plain: Vec<&str> = commands[0].0.words[1..].iter().map(|word| word.plain.as_str()).collect();
            prop_assert_eq!(plain, words);
        }
    }
}
