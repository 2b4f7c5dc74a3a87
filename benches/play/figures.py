"""Means over games with their standard errors, as tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from play import Episode


@dataclass(frozen=True)
class Figure:
    value: float
    error: float

    def show(self, digits: int = 0) -> str:
        return f"{self.value:.{digits}f} ± {self.error:.{digits}f}"


def figure(values: Iterable[float]) -> Figure:
    """The mean and its standard error."""
    each = list(values)
    if not each:
        return Figure(0, 0)
    return Figure(mean(each), stdev(each) / sqrt(len(each)) if len(each) > 1 else 0)


def repeats(one: Episode) -> float:
    return 100 * one.repeats / max(1, one.turns)


def score(one: Episode) -> float:
    return 100 * one.score


def tokens(one: Episode) -> float:
    return one.tokens / max(1, one.turns)


def pick(results: list[Episode], memory: str, kind: str, episode: int | None = None) -> list[Episode]:
    return [one for one in results if one.memory == memory and one.kind == kind and episode in (None, one.episode)]


def last(results: list[Episode]) -> int:
    return max((one.episode for one in results if one.kind == "cold"), default=0)


def names(results: list[Episode], of: Callable[[Episode], str]) -> list[str]:
    return list(dict.fromkeys(of(one) for one in results))


def tables(results: list[Episode]) -> str:
    parts = [
        cold(results, "Repeats of failed actions, % of the turns", repeats),
        cold(results, "Best score, % of what can be had", score),
        milestones(results),
        by_world(results),
        inherited(results),
    ]
    return "\n\n".join(parts)


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return f"{title}:\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cold(results: list[Episode], title: str, of: Callable[[Episode], float]) -> str:
    episodes = range(1, last(results) + 1)
    rows = [
        [f"`{name}`", *(figure(map(of, pick(results, name, "cold", one))).show() for one in episodes)]
        for name in names(results, lambda one: one.memory)
    ]
    return table(title, ["memory", *(f"episode {one}" for one in episodes)], rows)


def milestones(results: list[Episode]) -> str:
    """How many games reach a point in the last episode, and the median turn at which the memory does."""
    rows: list[list[str]] = []
    for name in names(results, lambda one: one.memory):
        games = pick(results, name, "cold", last(results))
        row = [f"`{name}`"]
        for reached in ([one.first for one in games], [one.half for one in games], [one.whole for one in games]):
            row.append(when(reached))
        rows.append([*row, figure(map(tokens, pick(results, name, "cold"))).show()])
    title = "Points reached in the last episode: in how many games, and the mean turn in these"
    return table(title, ["memory", "first points", "half of all", "all", "tokens read a turn, all episodes"], rows)


def when(turns: list[int | None]) -> str:
    reached = [turn for turn in turns if turn is not None]
    return f"{len(reached)} of {len(turns)}" + (f", turn {mean(reached):.0f}" if reached else "")


def by_world(results: list[Episode]) -> str:
    worlds, rows = names(results, lambda one: one.world), list[list[str]]()
    for name in names(results, lambda one: one.memory):
        games = pick(results, name, "cold", last(results))
        row = [f"`{name}`"]
        for world in worlds:
            here = [one for one in games if one.world == world]
            row.append(f"{figure(map(repeats, here)).show()}; {figure(map(score, here)).show()}")
        rows.append(row)
    return table("Last episode by world: repeats; score", ["memory", *worlds], rows)


def inherited(results: list[Episode]) -> str:
    rows: list[list[str]] = []
    for name in names(results, lambda one: one.memory):
        games = pick(results, name, "inherited")
        steps, forbidden = sum(one.solution for one in games), sum(one.forbidden for one in games)
        figures = [figure(map(of, games)).show() for of in (repeats, score, tokens)]
        as_good = f"{sum(one.score >= one.recorded > 0 for one in games)} of {len(games)}"
        rows.append([f"`{name}`", *figures, as_good, when([one.half for one in games]), f"{forbidden} of {steps}"])
    title = "One episode with the memory of five recorded ones"
    head = ["memory", "repeats, %", "score, %", "tokens a turn", "as good as the best recorded", "half of all"]
    head.append("winning steps that it speaks against")
    return table(title, head, rows)
