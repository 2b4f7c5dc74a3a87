"""The figures as a picture: a row for each memory, a column of bars for each figure. Light or dark as the system."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from figures import Figure, figure, last, names, pick, repeats, score, tokens
from play import Episode

LABELS = {
    "none": "no memory",
    "recall": "memories: recall",
    "recall-without-next": "memories: recall, no Next",
    "tried": "memories: tried",
    "file": "memories: the whole file",
    "log": "log of the last turns",
    "replay": "replay of the best",
    "server-memory": "server-memory",
    "libsql": "mcp-memory-libsql",
}
STYLE = """
svg { --back: #ffffff; --text: #1f2328; --soft: #59636e; --bar: #b6bec7; --ours: #0969da; }
@media (prefers-color-scheme: dark) {
  svg { --back: #0d1117; --text: #f0f6fc; --soft: #9198a1; --bar: #4a535e; --ours: #4493f8; }
}
rect.back { fill: var(--back); } rect.bar { fill: var(--bar); } rect.ours { fill: var(--ours); }
text { font: 13px system-ui, sans-serif; fill: var(--text); } text.soft { fill: var(--soft); font-size: 12px; }
text.title { font-weight: 600; } line { stroke: var(--text); stroke-width: 1; }
"""
LEFT, WIDTH, GAP, TOP, ROW = 185, 130, 70, 62, 26


def draw(results: list[Episode]) -> str:
    memories, final = names(results, lambda one: one.memory), last(results)
    games = len({(one.world, one.seed) for one in results})
    columns: list[tuple[str, str, str, int | None, Callable[[Episode], float]]] = [
        ("Failed actions repeated", f"% of turns, episode {final}", "cold", final, repeats),
        ("Best score", f"% of all, episode {final}", "cold", final, score),
        ("Score, inherited memory", "% of all, one episode", "inherited", None, score),
        ("Tokens read", "a turn, all episodes", "cold", None, tokens),
    ]
    shown = [column for column in columns if any(one.kind == column[2] for one in results)]
    width, height = LEFT + len(shown) * (WIDTH + GAP), TOP + ROW * len(memories) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">',
        f'<title id="title">PlaceBench: {len(memories)} memories in {games} games</title>',
        f'<style>{STYLE}</style><rect class="back" width="{width}" height="{height}"/>',
    ]
    for row, memory in enumerate(memories):
        parts.append(text(LEFT - 10, TOP + ROW * row + 16, LABELS.get(memory, memory), "", "end"))
    for number, (title, unit, kind, episode, of) in enumerate(shown):
        left = LEFT + number * (WIDTH + GAP)
        parts += [text(left, 24, title, "title"), text(left, 42, unit, "soft")]
        bars = [figure(map(of, pick(results, memory, kind, episode))) for memory in memories]
        parts += column(left, bars, [LABELS.get(memory, "").startswith("memories") for memory in memories])
    note = f"Means of {games} games with their standard errors. No language model plays: the player is a simple reader."
    return "\n".join([*parts, text(LEFT, height - 10, note, "soft"), "</svg>\n"])


def column(left: int, bars: list[Figure], ours: list[bool]) -> list[str]:
    scale = WIDTH / max(*(bar.value + bar.error for bar in bars), 1)
    parts: list[str] = []
    for row, (bar, is_ours) in enumerate(zip(bars, ours, strict=True)):
        top, length = TOP + ROW * row, bar.value * scale
        low, high = left + max(0, bar.value - bar.error) * scale, left + (bar.value + bar.error) * scale
        kind = "ours" if is_ours else "bar"
        parts.append(f'<rect class="{kind}" x="{left}" y="{top + 3}" width="{length:.1f}" height="{ROW - 8}" rx="2"/>')
        parts.append(f'<line x1="{low:.1f}" y1="{top + 12}" x2="{high:.1f}" y2="{top + 12}"/>')
        parts.append(text(high + 6, top + 16, f"{bar.value:,.0f}", ""))
    return parts


def text(left: float, top: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{left:.1f}" y="{top}" text-anchor="{anchor}">{escape(words)}</text>'
