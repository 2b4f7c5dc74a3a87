//! A note in Markdown: front matter, and parts below headings.

use serde_json::Value;
use serde_saphyr::options;
use serde_saphyr::options::NonFiniteFloatPolicy;

use crate::json::Object;
use memories_document::types::text::fold_spaces;

/// A note.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Page {
    /// The fields above the text.
    pub front: Object,
    /// True if there is front matter that is no table of YAML.
    pub has_broken_front: bool,
    pub parts: Vec<Part>,
}

/// What stands below one heading; the first part may stand below none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Part {
    pub heading: String,
    pub lines: Vec<Line>,
}

/// A line of a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub text: String,
    /// True within a block of code.
    pub is_code: bool,
}

impl Page {
    /// Reads a note.
    pub(crate) fn of(text: &str) -> Page {
        let (front, body) = split_front(text);
        let mut page = Page { parts: parts(body), ..Page::default() };
        if let Some(front) = front.filter(|front| !front.trim().is_empty()) {
            // A commit such as `123e456` reads as an infinite number, and is no reason to lose the other fields.
            let options = options! { non_finite_float_policy: NonFiniteFloatPolicy::PassThrough };
            match serde_saphyr::from_str_with_options::<Value>(front, options) {
                Ok(Value::Object(fields)) => page.front = fields,
                Ok(Value::Null) => {}
                _ => page.has_broken_front = true,
            }
        }
        page
    }

    /// The title: of the front matter, else the first heading of level 1 that stands before all text, which is then no
    /// part, else the file's name.
    pub(crate) fn take_title(&mut self, keys: &[&str], path: &str) -> String {
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.get(..stem.len().saturating_sub(3)).unwrap_or(stem);
        let title = crate::json::first_text(&self.front, keys);
        let is_first = self.parts.first().is_some_and(|part| part.heading.is_empty() && part.is_blank());
        let heading =
            self.parts.get(usize::from(is_first)).map(|part| part.heading.clone()).unwrap_or_default();
        let title = if title.is_empty() && is_first && !heading.is_empty() && self.parts.len() == 2 {
            heading.clone()
        } else if title.is_empty() {
            stem.to_owned()
        } else {
            title
        };
        if is_first && fold_spaces(&heading) == fold_spaces(&title) && !heading.is_empty() {
            self.parts[1].heading.clear();
        }
        title
    }
}

impl Part {
    fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.text.trim().is_empty())
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        lines.join("\n").trim().to_owned()
    }
}

/// The front matter and the text below it.
fn split_front(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text) };
    if let Some(body) = rest.strip_prefix("---\n") {
        return (None, body);
    }
    match rest.split_once("\n---\n") {
        Some((front, body)) => (Some(front), body),
        None => match rest.strip_suffix("\n---") {
            Some(front) => (Some(front), ""),
            None => (None, text),
        },
    }
}

fn parts(body: &str) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    let mut fence: Option<String> = None;
    for line in body.lines() {
        let start = line.trim_start();
        let marks: String = start.chars().take_while(|c| *c == '`' || *c == '~').collect();
        let is_fence = marks.starts_with("```") || marks.starts_with("~~~");
        let was_code = fence.is_some();
        match &fence {
            None if is_fence => fence = Some(marks),
            Some(open) if marks.starts_with(open.as_str()) && start.trim_end().len() == marks.len() => {
                fence = None
            }
            _ => {}
        }
        if !was_code
            && fence.is_none()
            && let Some(heading) = heading(line)
        {
            parts.push(Part { heading, lines: Vec::new() });
        } else if let Some(part) = parts.last_mut() {
            part.lines.push(Line { text: line.to_owned(), is_code: was_code || fence.is_some() });
        }
    }
    parts
}

/// The text of a heading.
fn heading(line: &str) -> Option<String> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let text = line.get(level..)?;
    let is_one = (1..=6).contains(&level) && text.starts_with(' ');
    let text = text.trim().trim_end_matches('#').trim();
    (is_one && !text.is_empty()).then(|| text.to_owned())
}

/// The targets of `[[links]]` in a text, without headings and other names.
pub(crate) fn wiki_links(text: &str) -> impl Iterator<Item = &str> {
    text.split("[[").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once("]]")?;
        let target = target.split(['|', '#', '^']).next().unwrap_or_default().trim();
        (!target.is_empty() && !target.contains('\n')).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_front_matter_and_parts() {
        let text = "---\ntitle: A\ntags: [x, y]\n---\n\n# A\n\none\n\n## B ##\n```\n# no heading\n```\ntwo [[C|d]] [[E#f]]\n";
        let mut page = Page::of(text);
        assert_eq!(page.take_title(&["title"], "z/q.md"), "A");
        let parts: Vec<_> = page.parts.iter().map(|part| (part.heading.as_str(), part.text())).collect();
        let code = "```\n# no heading\n```\ntwo [[C|d]] [[E#f]]".to_owned();
        assert_eq!(parts, [("", String::new()), ("", "one".to_owned()), ("B", code)]);
        assert_eq!(wiki_links(text).collect::<Vec<_>>(), ["C", "E"]);
    }

    #[test]
    fn front_matter_that_is_none_stays_text_or_is_said_to_be_broken() {
        assert!(Page::of("---\n: [\n---\ntext").has_broken_front);
        assert!(Page::of("---\n- a\n---\ntext").has_broken_front);
        assert_eq!(Page::of("---\nopen").parts[0].text(), "---\nopen");
        assert_eq!(Page::of("---\na: b\n---").front["a"], "b");
        assert_eq!(Page::of("text").take_title(&[], "a/b.md"), "b");
    }
}
