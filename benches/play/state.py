"""What a world shows of itself before and after a turn, and the turn as a line of text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

#: Commands that only look. They are never counted as failed.
LOOKS = re.compile(r"(look|examine|x|read|inventory|task|wait\d?)\b")


@dataclass(frozen=True)
class State:
    """`reply` is what the world answered, `mark` is equal while nothing changes, `commands` are those it admits."""

    reply: str
    place: str
    score: int
    inventory: tuple[str, ...]
    mark: Hashable
    commands: tuple[str, ...] = ()
    died: bool = False
    won: bool = False

    @property
    def is_over(self) -> bool:
        return self.died or self.won


@dataclass(frozen=True)
class Turn:
    episode: int
    number: int
    before: State
    action: str
    after: State

    @property
    def has_changed(self) -> bool:
        return self.before.mark != self.after.mark

    @property
    def has_failed(self) -> bool:
        return not self.has_changed and not LOOKS.match(self.action)

    def line(self) -> str:
        """The turn for memories that keep text: they are told each fact that ours is told."""
        gain = self.after.score - self.before.score
        facts = [
            f"{gain:+} points." if gain else "",
            f"Now at {self.after.place}." if self.before.place != self.after.place else "",
            "You died." if self.after.died else "",
        ]
        facts = list(filter(None, facts)) or ["Changed." if self.has_changed else "Nothing changed."]
        reply = " ".join(self.after.reply.replace("`", "'").split())[:200]
        return f"At {self.before.place}, `{self.action}`: {reply} [{' '.join(facts)}]"


class World(Protocol):
    """A game that always begins in the same state. `solution` wins it, or makes `best` points of it."""

    name: str
    best: int
    directions: tuple[str, ...]
    verbs: tuple[str, ...]
    solution: Sequence[str]

    def start(self) -> State: ...

    def do(self, action: str) -> State: ...
