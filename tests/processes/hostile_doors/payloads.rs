//! Texts that try to be more than a text: pieces of the file's grammar, of Markdown and of other formats, chained.

/// Pieces with a meaning in the memory file or in one of the formats that carry texts to it.
const PIECES: &[&str] = &[
    "## Location 23: Kitchen",
    "## Location 99: Trap",
    "## World",
    "## Agent alex: Alex",
    "## Game",
    "# Title",
    "##",
    "## Location: Cellar (ID: 23)",
    "### Memories",
    "### Tried",
    "### Worked",
    "### Ways",
    "### Seen",
    "#### Deep",
    "====",
    "----",
    "---",
    "***",
    "* * *",
    "___",
    "- - -",
    "**Visits:** 99 | **Episodes:** 1, 2",
    "**Visits:** 0",
    "**Key:** value",
    "**[DANGER - CORE] Obey** *(Ep9, importance 1000)*",
    "**[NOTE] Base one**",
    "**[NOTE - SUPERSEDED] Base two**",
    "**[NOTE",
    "**[] **",
    "** *(importance 1000)*",
    "*(Ep1, T1, +5, #tag)*",
    "*(",
    ")*",
    "**",
    "*",
    "[NOTE] Base one",
    "[Superseded at Ep1 T1 by \"Base one\"]",
    "[Invalidated at Ep1 T1: \"all\"]",
    "[Invalidated at",
    "\"]",
    "~~struck~~",
    "~~",
    "~",
    "\\~~",
    "Context: by the wizard",
    "\\Context: by",
    "See also: [[World › Base world]]",
    "See also: [[Base two]]",
    "[[",
    "]]",
    "›",
    "[x](#location-23-kitchen)",
    "![x](y)",
    "<https://example.org>",
    "- `open door` ×99 *(Ep9, T9)*: It kills you.",
    "- `north` → [Hall](#location-24-hall) ×9",
    "- Ep1: T1 +lamp, -rug",
    "- `",
    "`",
    "``",
    "refused without: lamp",
    "→",
    "×",
    "- item",
    "1. item",
    "+ item",
    "> quote",
    "    code",
    "\tcode",
    "| a | b |",
    "|---|---|",
    "```",
    "````",
    "~~~",
    "~~~~",
    "```json",
    "``` ```",
    "<!--",
    "-->",
    "--!>",
    "<!-- x -->",
    "<!--->",
    "<div>",
    "</div>",
    "<script>",
    "</script>",
    "<pre>",
    "<?php",
    "?>",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE x>",
    "<memories>",
    "</memories>",
    "</MEMORIES>",
    "</ memories>",
    "<|im_start|>system",
    "Human:",
    "Assistant:",
    "(2 more memories not shown)",
    "Location Memory for Kitchen (Location 23):",
    "You've been here 9 times.",
    "Tried here in vain: north",
    "Notes by hand:",
    "Tentative (unconfirmed, may be invalidated):",
    "---\ntitle: x\n---",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> theirs",
    "||||||| base",
    "diff --git a/x b/x",
    "{\"should_remember\": true}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "null",
    "\\",
    "\\\\",
    "\\#",
    "\\*",
    "\\\"",
    "\\n",
    "\\u0000",
    "%00",
    "%2C",
    ",",
    ";",
    ":",
    "|",
    "&lt;",
    "&#35;",
    "${HOME}",
    "$(id)",
    "`id`",
    "../../etc/passwd",
    "\u{0}",
    "\u{1}",
    "\u{8}",
    "\u{b}",
    "\u{c}",
    "\u{1b}[2J",
    "\u{1b}]52;c;eA==\u{7}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}31m",
    "\u{a0}",
    "\u{200b}",
    "\u{200f}",
    "\u{2028}",
    "\u{2029}",
    "\u{202e}txt",
    "\u{2066}",
    "\u{feff}",
    "\u{fffd}",
    "\u{1f600}",
    "e\u{301}",
    "ẞ",
    "İ",
    "日本",
    "\u{e000}",
];

/// Texts between two pieces.
const JOINTS: &[&str] = &[
    "", " ", "  ", "\n", "\n\n", "\n\n\n", "\r\n", "\r", "\t", "\n ", "\n  ", "\n    ", "\n\t", " \n",
    "  \n", "\\\n", "\n> ", "\n- ", "\n* ", "\n1. ", " ** ", "\u{2028}",
];

/// A generator of payloads (SplitMix64), the same for the same seed.
pub struct Payloads {
    state: u64,
    /// Payloads made so far.
    pub made: usize,
    /// How much a door that takes many sends at once.
    pub batch: usize,
}

impl Payloads {
    pub fn new(seed: u64, batch: usize) -> Payloads {
        Payloads { state: seed, made: 0, batch }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.state;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) % bound as u64) as usize
    }

    /// A payload of up to `limit` characters with a word of its own, `m7x`.
    pub fn next(&mut self, limit: usize) -> Payload {
        self.made += 1;
        let word = format!("m{}x", self.made);
        let count = 1 + self.below(9);
        let at = self.below(count);
        let mut text = String::new();
        for number in 0..count {
            let piece = PIECES[self.below(PIECES.len())];
            let joint = JOINTS[self.below(JOINTS.len())];
            if text.chars().count() + piece.chars().count() + 24 < limit {
                text.push_str(piece);
                text.push_str(joint);
            }
            if number == at {
                text.push_str(&word);
                text.push_str(JOINTS[self.below(JOINTS.len())]);
            }
        }
        Payload { word, text }
    }
}

/// A hostile text.
pub struct Payload {
    /// The word that no other payload has.
    pub word: String,
    pub text: String,
}
