//! Anchors: the files of a repository that an entry speaks of, each as it was when the entry was written.
//!
//! A tag enters, `file:src/x.rs@1f3a2b4c5d6e`; a path and the id of a blob leave. Nothing here reads a file.

/// Beginning of the tags that name files.
const MARK: &str = "file:";

/// Digits of the shortest id of a blob that git writes, and of the longest.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=64;

/// Longest path in bytes.
const MAX_PATH: usize = 512;

/// A file that an entry speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The path from the root of the repository, with `/` between its parts.
    pub path: String,
    /// The id of git's blob, whole or abbreviated, in lower case.
    pub blob: String,
}

impl Anchor {
    /// The file that a tag without `#` names.
    pub fn of_tag(tag: &str) -> Option<Anchor> {
        let (path, blob) = tag.strip_prefix(MARK)?.rsplit_once('@')?;
        let is_id = DIGITS.contains(&blob.len()) && blob.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_id && is_path_of_file(path))
            .then(|| Anchor { path: path.to_owned(), blob: blob.to_ascii_lowercase() })
    }

    /// The tag without `#`.
    pub fn tag(&self) -> String {
        format!("{MARK}{}@{}", self.path, self.blob)
    }

    /// True if an id, whole or abbreviated, may be that of the same blob.
    pub fn is_at(&self, id: &str) -> bool {
        id.starts_with(&self.blob) || DIGITS.contains(&id.len()) && self.blob.starts_with(id)
    }
}

/// True for a tag that names a file, or was meant to.
pub fn is_anchor_tag(tag: &str) -> bool {
    tag.starts_with(MARK)
}

/// True for a path of a file below the root of a repository: it climbs nowhere, and leads into no folder of git.
pub fn is_path_of_file(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.eq_ignore_ascii_case(".git");
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    path.len() <= MAX_PATH
        && !has_drive
        && !path.contains(|c: char| c == '\\' || c.is_control())
        && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_leads_out_of_the_repository_is_no_anchor() {
        for tag in [
            "file:@1f3a",
            "file:/etc/passwd@1f3a",
            "file:../x@1f3a",
            "file:a/../../x@1f3a",
            "file:a//x@1f3a",
            "file:C:x@1f3a",
            "file:a\\x@1f3a",
            "file:.git/config@1f3a",
            "file:a/.GIT/x@1f3a",
            "file:x",
            "file:x@",
            "file:x@12g4",
            "file:x@123",
            "x@1f3a",
        ] {
            assert_eq!(Anchor::of_tag(tag), None, "{tag}");
        }
        let whole = "0".repeat(65);
        assert_eq!(Anchor::of_tag(&format!("file:x@{whole}")), None);
        let at = Anchor::of_tag("file:a@b/x@1F3A").expect("the last `@` counts");
        assert_eq!((at.path.as_str(), at.blob.as_str()), ("a@b/x", "1f3a"));
    }

    proptest! {
        #[test]
        fn an_anchor_is_what_its_tag_says(path in "[a-zé@. #,)-]{1,9}(/[a-zA-Z@]{1,5}){0,3}", blob in "[0-9a-f]{4,64}") {
            prop_assume!(is_path_of_file(&path));
            let anchor = Anchor { path, blob };
            prop_assert_eq!(Anchor::of_tag(&anchor.tag()), Some(anchor.clone()));
            prop_assert!(anchor.is_at(&anchor.blob) && anchor.is_at(&anchor.blob[..4]));
        }
    }
}
