//! Which file of the source uses which: read from its tokens, so comments and strings do not count.
//!
//! A path leads to the file of the deepest module that it names: `crate::document::scan::lines` to
//! `document/scan.rs`, `crate::document::Document` to `document/mod.rs`, even where that one only
//! re-exports what a third file defines. `mod scan;` alone uses nothing. Modules of tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{Source, crate_of};

/// For each pair of files, user first, the first line that names the other.
pub type Imports = BTreeMap<(String, String), usize>;

/// Files by the path of their module: `["document", "scan"]`.
type Modules = BTreeMap<Vec<String>, String>;

/// All imports between two files of the source.
pub fn imports(sources: &[Source]) -> Imports {
    let modules = sources.iter().map(|source| (module_of(&source.name), source.name.clone())).collect();
    let mut found = Imports::new();
    for source in sources {
        let tokens: TokenStream = source.text.parse().unwrap();
        let own_crate = crate_of(&source.name);
        let mut reader = Reader { file: &source.name, own_crate, modules: &modules, found: &mut found };
        reader.read(tokens, &module_of(&source.name));
    }
    found
}

/// Sets of files that use each other, directly or by way of others in the set.
pub fn circles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        users.entry(from).or_default().insert(to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        users.keys().map(|&file| (file, reached_from(file, &users))).collect();
    let circle_of = |file: &str| -> BTreeSet<&str> {
        let back = |&other: &&str| reach.get(other).is_some_and(|files| files.contains(file));
        reach[file].iter().copied().filter(back).collect()
    };
    reach.keys().map(|&file| circle_of(file)).filter(|circle| !circle.is_empty()).collect()
}

fn reached_from<'a>(start: &'a str, users: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        open.extend(users.get(file).into_iter().flatten().filter(|&&next| seen.insert(next)));
    }
    seen
}

/// The module of a file, below the name of its crate. The binary is a crate of its own: its module has a name that no
/// path can hold.
fn module_of(file: &str) -> Vec<String> {
    match file {
        "lib.rs" => Vec::new(),
        "main.rs" => vec!["(main)".to_owned()],
        _ => {
            let module = file.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/lib");
            module.split('/').map(str::to_owned).collect()
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    /// The folder of its crate; empty for the package `memories`.
    own_crate: &'a str,
    modules: &'a Modules,
    found: &'a mut Imports,
}

impl Reader<'_> {
    /// Notes what these tokens name, which stand in `module`.
    fn read(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += match &tokens[at..] {
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                    if word == "mod" =>
                {
                    if name != "tests" {
                        self.read(body.stream(), &[module, &[name.to_string()]].concat());
                    }
                    3
                }
                [TokenTree::Ident(word), rest @ ..] if continues(rest) => {
                    let base = self.base(&word.to_string(), module);
                    1 + self.follow(base, word.span().start().line, rest)
                }
                [TokenTree::Group(group), ..] => {
                    self.read(group.stream(), module);
                    1
                }
                _ => 1,
            };
        }
    }

    /// The module that the first word of a path means, if it is one of the source.
    fn base(&self, word: &str, module: &[String]) -> Option<Vec<String>> {
        match word {
            "crate" if !self.own_crate.is_empty() => Some(vec![self.own_crate.to_owned()]),
            "crate" | "memories" => Some(Vec::new()),
            "self" => Some(module.to_vec()),
            "super" => Some(module[..module.len() - 1].to_vec()),
            other if other.starts_with("memories_") => {
                other.strip_prefix("memories_").map(|name| vec![name.to_owned()])
            }
            child => {
                Some([module, &[child.to_owned()]].concat()).filter(|path| self.modules.contains_key(path))
            }
        }
    }

    /// Walks along the rest of a path, `::name` and `::{…}`, and notes where it leads: nowhere if
    /// `path` is none. Returns how many tokens that took.
    fn follow(&mut self, mut path: Option<Vec<String>>, line: usize, rest: &[TokenTree]) -> usize {
        let mut at = 0;
        while continues(&rest[at..]) {
            match (rest.get(at + 2), &mut path) {
                (Some(TokenTree::Ident(word)), Some(path)) if word == "super" => _ = path.pop(),
                (Some(TokenTree::Ident(word)), Some(path)) => path.push(word.to_string()),
                (Some(TokenTree::Ident(_)), None) => {}
                (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Brace => {
                    if let Some(path) = path {
                        self.follow_each(&path, group.stream());
                    }
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        if let Some(path) = path {
            self.note(&path, line);
        }
        at
    }

    /// The members of `{…}` at the end of a path.
    fn follow_each(&mut self, path: &[String], members: TokenStream) {
        let members: Vec<TokenTree> = members.into_iter().collect();
        for member in members.split(|token| is_punct(Some(token), ',')) {
            match member {
                [TokenTree::Ident(word), rest @ ..] if word != "self" => {
                    let path = [path, &[word.to_string()]].concat();
                    self.follow(Some(path), word.span().start().line, rest);
                }
                [token, ..] => self.note(path, token.span().start().line),
                [] => {}
            }
        }
    }

    fn note(&mut self, path: &[String], line: usize) {
        let deepest = (0..=path.len()).rev().find_map(|length| self.modules.get(&path[..length]));
        if let Some(to) = deepest.filter(|to| *to != self.file) {
            self.found.entry((self.file.to_owned(), to.clone())).or_insert(line);
        }
    }
}

/// True at a `::`, where a path continues.
fn continues(tokens: &[TokenTree]) -> bool {
    is_punct(tokens.first(), ':') && is_punct(tokens.get(1), ':')
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn graph(files: &[(&str, &str)]) -> Imports {
    let source = |(name, text): &(&str, &str)| Source { name: (*name).to_owned(), text: (*text).to_owned() };
    imports(&files.iter().map(source).collect::<Vec<_>>())
}

#[test]
fn a_path_leads_to_the_file_of_its_deepest_module() {
    let found = graph(&[
        ("a/mod.rs", "mod b; pub mod c;\npub use c::Thing;\nfn f() { std::b::g(); }"),
        ("a/b.rs", "//! crate::d\nuse std::{c, fs};\nuse super::{c::{Thing, other}, Own};"),
        (
            "a/c.rs",
            "mod tests { use crate::d::x; }\nfn f(x: Vec<crate::d::X>) { println!(\"{}\", super::b::f()) }",
        ),
        ("d.rs", "const TEXT: &str = \"crate::a\";"),
        ("lib.rs", "pub mod a; mod d;"),
        ("main.rs", "fn main() { memories::a::c::run() }"),
    ]);
    let told: Vec<String> = found.iter().map(|((from, to), line)| format!("{from}:{line} {to}")).collect();
    let edges = [
        "a/b.rs:3 a/c.rs",
        "a/b.rs:3 a/mod.rs",
        "a/c.rs:2 a/b.rs",
        "a/c.rs:2 d.rs",
        "a/mod.rs:2 a/c.rs",
        "main.rs:1 a/c.rs",
    ];
    assert_eq!(told, edges);
    let circle = BTreeSet::from(["a/b.rs", "a/c.rs", "a/mod.rs"]);
    assert_eq!(circles(&found), BTreeSet::from([circle]));
}
