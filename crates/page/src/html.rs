//! The page around the data: one HTML document with its script and its style.
//!
//! The data stands in a block of JSON, which no browser runs, with each `<` escaped, so that no text can end it. The
//! Content-Security-Policy allows the script and the style of the page by their hashes, and nothing else.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, PreEscaped, html};
use ring::digest::{SHA256, digest};
use serde::Serialize;

use crate::world::{Data, PageFacts};

/// The name by which a page is known as one of this program.
const GENERATOR: &str = concat!("memories ", env!("CARGO_PKG_VERSION"));

/// How a page begins; the version follows.
const BEGINNING: &[u8] = b"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" content=\"memories ";

/// The scripts, in the order in which they run.
const SCRIPTS: [&str; 23] = [
    include_str!("vendor/uPlot.iife.min.js"),
    include_str!("page/dom.js"),
    include_str!("page/icons.js"),
    include_str!("page/unpack.js"),
    include_str!("page/world.js"),
    include_str!("page/explored.js"),
    include_str!("page/shapes.js"),
    include_str!("page/labels.js"),
    include_str!("page/run.js"),
    include_str!("page/camera.js"),
    include_str!("page/map_keys.js"),
    include_str!("page/map.js"),
    include_str!("page/section.js"),
    include_str!("page/panel.js"),
    include_str!("page/lists.js"),
    include_str!("page/figures.js"),
    include_str!("page/charts.js"),
    include_str!("page/time.js"),
    include_str!("page/search.js"),
    include_str!("page/live.js"),
    include_str!("page/edit.js"),
    include_str!("page/paper.js"),
    include_str!("page/main.js"),
];

/// The licence of uPlot, which each copy has to hold.
const UPLOT_LICENCE: &str = include_str!("vendor/LICENSE");

/// The styles.
const STYLES: [&str; 6] = [
    include_str!("vendor/uPlot.min.css"),
    include_str!("page/base.css"),
    include_str!("page/time.css"),
    include_str!("page/map.css"),
    include_str!("page/lists.css"),
    include_str!("page/paper.css"),
];

/// The markup of the page; its script fills it.
const BODY: &str = include_str!("page/skeleton.html");

/// True if a file begins as a page of this program, of whatever version.
pub fn is_page(beginning: &[u8]) -> bool {
    beginning.starts_with(BEGINNING)
}

/// A page with its data.
pub(super) fn report(page: &PageFacts, data: &Data<'_>) -> String {
    document(page, "", Some(&json(data)))
}

/// The page of a server, which sends the data when it is asked.
pub(super) fn live(page: &PageFacts) -> String {
    document(page, "; connect-src 'self'", None)
}

/// The policy that a server sends with the page.
pub(super) fn live_policy() -> &'static str {
    static POLICY: LazyLock<String> =
        LazyLock::new(|| policy("; connect-src 'self'; frame-ancestors 'none'"));
    &POLICY
}

fn document(page: &PageFacts, more_policy: &str, data: Option<&str>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(policy(more_policy));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (page.title) }
                style { (PreEscaped(style())) }
            }
            body {
                (PreEscaped(body()))
                @if let Some(data) = data {
                    script type="application/json" id="data" { (PreEscaped(data)) }
                }
                script { (PreEscaped(script())) }
            }
        }
    };
    page.into_string()
}

/// A value as JSON that no HTML parser sees as markup.
pub(super) fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("the data of a page has only string keys");
    json.replace('<', "\\u003c")
}

/// The markup without the comment above it.
fn body() -> &'static str {
    BODY.split_once("-->").map_or(BODY, |(_, markup)| markup.trim())
}

fn script() -> String {
    format!("/*!\n{UPLOT_LICENCE}*/\n{}", SCRIPTS.map(without_comments).join("\n"))
}

fn style() -> String {
    STYLES.map(without_comments).join("\n")
}

/// A source without indentation and lines that are comments: a fifth of its size. No text of these sources goes over
/// several lines.
fn without_comments(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let kept = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    kept.collect::<Vec<_>>().join("\n")
}

fn policy(more: &str) -> String {
    let hash = |text: String| STANDARD.encode(digest(&SHA256, text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'{more}",
        hash(script()),
        hash(style()),
    )
}
