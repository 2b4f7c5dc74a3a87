"""The player of PlaceBench: it explores by chance, and reads what a memory prints. It knows no game.

It never sees which memory it reads. Of a text it understands this, and nothing else:

* Lines that begin with `##`, or end with a colon, are headings. An entry counts where its heading names the place; an
  entry without one, where the entry names the place; and what the game does not understand, everywhere.
* The actions of an entry are those in backticks. Without any, an entry that begins with a category, such as
  `[SUCCESS] Take lamp: +5 points`, has its title up to the colon; in others they stand behind the first colon, between
  commas or semicolons, where what is in brackets is no action.
* An entry with a word of `DEADLY` speaks against its actions for good. One with a word of `VAIN` speaks against them
  unless another entry speaks for them, by a gain such as `+5` or a word of `GOOD`. One with `Blocked` says nothing.
* A line `Next …: a, b` says what to do next.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from state import LOOKS, State, Turn

DEADLY = re.compile(r"\b(deadly|danger|died|fatal)\b|-\d+ points", re.IGNORECASE)
VAIN = re.compile(r"in vain|nothing changed|not understand|^#+ tried", re.IGNORECASE | re.MULTILINE)
GAIN = re.compile(r"\+[1-9]")
GOOD = re.compile(r"worked|\bways?\b|→|now at|changed", re.IGNORECASE)
HEADING = re.compile(r"#{2,} .*|[^\s`].*:")
QUOTED = re.compile(r"`([^`]+)`")
TITLE = re.compile(r"\W*\[[^]]*\] ([^:]*):")

#: Verbs that it tries with each noun, in each world.
VERBS = ("take", "open", "unlock", "push", "light", "eat")
#: A noun is what stands between an article and one of these words, or a mark.
ENDS = r"is|are|was|has|on|of|for|with|that|which|and|in|to|at|from|by|here|leads|lies|runs|gone|you"
NOUN = re.compile(rf"\b(?:an?|the|some|called)((?:\s+(?!(?:{ENDS})\b)[a-z][a-z-]*){{1,3}})", re.IGNORECASE)


@dataclass
class Reading:
    """What a text says of a place."""

    deadly: set[str] = field(default_factory=set[str])
    vain: set[str] = field(default_factory=set[str])
    gains: list[str] = field(default_factory=list[str])
    good: list[str] = field(default_factory=list[str])
    next: list[str] = field(default_factory=list[str])

    @property
    def avoid(self) -> set[str]:
        return self.vain.difference(self.gains, self.good) | self.deadly

    def note(self, names: list[str], entry: str) -> None:
        if DEADLY.search(entry):
            self.deadly.update(names)
        elif VAIN.search(entry):
            self.vain.update(names)
        elif GAIN.search(entry):
            self.gains += names
        elif GOOD.search(entry):
            self.good += names


def read(text: str, place: str) -> Reading:
    reading = Reading()
    for heading, entry in entries(text):
        where = heading.partition("\n")[0] or entry
        is_here = re.search(rf"(?<!\w){re.escape(place)}(?!\w)", where, re.IGNORECASE)
        if entry.startswith("Next"):
            reading.next += actions(entry)
        elif (is_here or "not understand" in entry) and "blocked" not in entry.lower():
            reading.note(actions(entry), f"{heading}\n{entry}")
    return reading


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Each entry with its headings. An indented line, one that begins with an action, and one below `**` go on."""
    place, kind, entry = "", "", ""
    for line in [*text.splitlines(), ""]:
        if entry and line and (line[0] in " \t`" or entry.startswith("**")):
            entry += f" {line.strip()}"
            continue
        if entry:
            yield f"{place}\n{kind}", entry
        entry = ""
        if not HEADING.fullmatch(line):
            entry = line.strip()
        elif line.startswith("###"):
            kind = line
        else:
            place, kind = line, ""


def actions(entry: str) -> list[str]:
    quoted = QUOTED.findall(entry)
    if not quoted and (title := TITLE.match(entry)):
        return [plain(title[1])]
    behind = re.sub(r"\([^()]*\)| ×\d+|→[^,;]*", "", entry).partition(":")[2]
    found = quoted or re.split(r"[,;]", behind)
    return [name for name in (plain(one.strip().removeprefix("then ").strip('"')) for one in found) if name]


def plain(action: str) -> str:
    return " ".join(action.lower().split())


class Reader:
    """Plays one episode. What it did in this episode it knows without a memory."""

    def __init__(self, chance: random.Random, directions: tuple[str, ...], verbs: tuple[str, ...]) -> None:
        self.chance, self.directions, self.verbs = chance, directions, (*VERBS, *verbs)
        self.failed: set[tuple[str, str]] = set()
        self.done: Counter[tuple[str, str]] = Counter()
        self.nouns: dict[str, dict[str, None]] = {}

    def choose(self, state: State, reading: Reading, ask: Callable[[str], Reading]) -> str:
        """The next action. `ask` answers what the memory says of one action, where it is a memory that is asked."""
        place, avoid = state.place, reading.avoid
        self.nouns.setdefault(place, {}).update(dict.fromkeys(nouns(state.reply)))
        for action in (*reading.next[:1], *reading.gains):
            limit = 3 if action in reading.next[:1] else 1
            if self.done[place, action] < limit and (place, action) not in self.failed and action not in avoid:
                return action
        while True:
            action = self._explore(state, reading, avoid)
            if action == "look" or action not in ask(action).avoid:
                return action
            self.failed.add((place, action))

    def _explore(self, state: State, reading: Reading, avoid: set[str]) -> str:
        def fresh(names: list[str]) -> list[str]:
            free = [one for one in names if one not in avoid and (state.place, one) not in self.failed]
            return [one for one in free if not self.done[state.place, one]] or free

        good = [one for one in fresh(reading.good) if not self.done[state.place, one]]
        if good and self.chance.random() < 0.5:
            return self.chance.choice(good)
        things = [*self.nouns[state.place], *(item.split()[-1] for item in state.inventory if item)]
        guesses = [f"{verb} {noun}" for noun in things for verb in self.verbs]
        pools = [fresh(pool) for pool in (list(self.directions), guesses, list(state.commands))]
        pools = list(filter(None, pools))
        return self.chance.choice(self.chance.choice(pools)) if pools else "look"

    def learn(self, turn: Turn) -> None:
        if turn.before.inventory != turn.after.inventory:
            self.failed.clear()
        self.done[turn.before.place, turn.action] += 1
        if not turn.has_changed and not LOOKS.match(turn.action):
            self.failed.add((turn.before.place, turn.action))


def nouns(reply: str) -> list[str]:
    """The words behind each article, and the last of them alone."""
    found = [plain(phrase) for phrase in NOUN.findall(reply)]
    return [name for phrase in found for name in (phrase, phrase.split()[-1])]
