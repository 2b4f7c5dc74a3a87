//! Reads the lines about actions in the text of `recall` as their form says.
//!
//! Items are separated by `, ` and `; `; what holds such marks stands in quotation marks; a reply stands in parentheses
//! and holds none. The text of a recall enters; the actions of each line leave.

/// The headings of lines that name actions to leave out.
pub const IN_VAIN: [&str; 3] = ["Deadly here: ", "Tried here in vain: ", "The game does not understand: "];

/// A line about actions: its items, each with what stands in parentheses behind it.
pub type Items = Vec<(String, Option<String>)>;

/// The actions of all lines with one of these headings, each with the reply that stands behind it.
pub fn actions(text: &str, headings: &[&str]) -> Items {
    let lines =
        text.lines().filter_map(|line| headings.iter().find_map(|heading| line.strip_prefix(heading)));
    lines.flat_map(items).collect()
}

/// The items of a line behind its heading.
fn items(line: &str) -> Items {
    let mut items = Items::new();
    let mut rest = line;
    while !rest.is_empty() {
        let name;
        (name, rest) = name_at(rest);
        if let Some(count) = rest.strip_prefix(" ×") {
            rest = count.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let behind = rest.strip_prefix(" (").and_then(|reply| reply.split_once(')'));
        let reply = behind.map(|(reply, behind)| {
            rest = behind;
            reply.to_owned()
        });
        items.push((name, reply));
        rest = rest.strip_prefix(", ").or_else(|| rest.strip_prefix("; ")).unwrap_or_default();
    }
    items
}

/// A name, in quotation marks or up to the next mark of the line, and the rest.
fn name_at(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = [", ", "; ", " (", " ×"].iter().filter_map(|mark| text.find(mark)).min();
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        return (name.to_owned(), rest);
    };
    let (mut name, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            '"' if !escaped => return (name, &quoted[at + 1..]),
            '\\' if !escaped => escaped = true,
            c => {
                name.push(c);
                escaped = false;
            }
        }
    }
    (name, "")
}
