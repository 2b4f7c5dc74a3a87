"""The memories under test. Each is told the same turns, and prints what its reader sees before a turn.

Ours is told facts as fields, and the others have them in the line of text that `Turn.line` makes. What a peer answers
is put one observation a line, without its JSON: this is fewer tokens than a model would be shown.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from state import Turn

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "python")]

from peers import Server

from memories import Memories, Place
from memories import Turn as Recorded

#: Turns that the plain log keeps.
LAST = 50


class Nothing:
    """No memory, and what the others start from."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.episode = folder, 0

    def begin(self) -> None:
        """Another episode begins."""
        self.episode += 1

    def tell(self, turn: Turn) -> None:
        """Remembers a turn."""

    def text(self, place: str) -> str:
        """What is read before a turn at this place."""
        return ""

    def about(self, place: str, action: str) -> str:
        """What is read when it is asked whether to do this."""
        return ""

    def close(self) -> None:
        """Ends what was started."""


class Recall(Nothing):
    """Ours: `record` after each turn, and `recall` of the place before it."""

    program = ""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.file = folder / "Memories.md"
        self.memories = Memories(self.file, session=True, program=self.program)
        self.ids: dict[str, int] = {}

    def _place(self, name: str) -> Place:
        return Place(self.ids.setdefault(name, len(self.ids) + 1), name)

    def begin(self) -> None:
        super().begin()
        self.memories.start_episode(self.episode)

    def tell(self, turn: Turn) -> None:
        before, after = turn.before, turn.after
        self.memories.record(
            Recorded(
                turn.action,
                after.reply,
                self._place(before.place),
                location_after=self._place(after.place),
                score_before=before.score,
                score_after=after.score,
                inventory_before=list(before.inventory),
                inventory_after=list(after.inventory),
                world_changed=turn.has_changed,
                died=after.died,
                won=after.won,
            )
        )

    def text(self, place: str) -> str:
        return str(self.memories.recall(self._place(place).id))

    def close(self) -> None:
        self.memories.close()


class RecallWithoutNext(Recall):
    """Ours without the line `Next`: what the rest of the text is worth."""

    def text(self, place: str) -> str:
        return "".join(line for line in super().text(place).splitlines(True) if not line.startswith("Next"))


class Tried(Recall):
    """Ours, asked about an action before it is done, and nothing else."""

    def text(self, place: str) -> str:
        return ""

    def about(self, place: str, action: str) -> str:
        answer = self.memories.tried(self._place(place).id, action)
        return f"At {place}: in vain, `{action}` ({answer.reply or ''})" if answer else f"{answer.verdict}: {action}"


class File(Recall):
    """Ours, with the whole file in the prompt."""

    def text(self, place: str) -> str:
        return self.file.read_text(encoding="utf-8") if self.file.exists() else ""


class Log(Nothing):
    """A log of the last turns of all episodes, one a line."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lines: list[str] = []

    def tell(self, turn: Turn) -> None:
        self.lines = [*self.lines, turn.line()][-LAST:]

    def text(self, place: str) -> str:
        return "\n".join(self.lines)


class Replay(Nothing):
    """The actions of the best episode up to its last gain, as they were: what a few lines of script would do."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.best: tuple[int, list[str]] = (0, [])
        self.actions: list[str] = []

    def begin(self) -> None:
        super().begin()
        self.actions = []

    def tell(self, turn: Turn) -> None:
        self.actions.append(turn.action)
        if turn.after.score > self.best[0]:
            self.best = (turn.after.score, list(self.actions))

    def text(self, place: str) -> str:
        ahead = self.best[1][len(self.actions) :][:3]
        same = self.best[1][: len(self.actions)] == self.actions
        return f"Next (best episode, {self.best[0]} points): {', '.join(ahead)}" if ahead and same else ""


class ServerMemory(Nothing):
    """`@modelcontextprotocol/server-memory`: an entity for each place, an observation for each turn."""

    program = "mcp-server-memory"
    found: str | None = None

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        assert self.found
        home = str(folder)
        self.server = Server([self.found], HOME=home, MEMORY_FILE_PATH=f"{home}/m.json", LIBSQL_URL=f"file:{home}/m.db")
        self.places: set[str] = set()
        self.number = itertools.count(1)

    def tell(self, turn: Turn) -> None:
        place, line = turn.before.place, turn.line()
        if place not in self.places:
            self.places.add(place)
            self.create(place, "place", [])
        self.server.call("add_observations", {"observations": [{"entityName": place, "contents": [line]}]})

    def create(self, name: str, kind: str, lines: list[str]) -> None:
        entity = {"name": name, "entityType": kind, "observations": lines}
        self.server.call("create_entities", {"entities": [entity]})

    def text(self, place: str) -> str:
        return observations(self.server.call("open_nodes", {"names": [place]}))

    def close(self) -> None:
        self.server.process.kill()
        self.server.process.wait()


class Libsql(ServerMemory):
    """`mcp-memory-libsql`: an entity for each turn, found again by a search for the place."""

    program = "mcp-memory-libsql"

    def tell(self, turn: Turn) -> None:
        name = f"turn {next(self.number)} at {turn.before.place}"
        self.create(name, "turn", [turn.line()])

    def text(self, place: str) -> str:
        return observations(self.server.call("search_nodes", {"query": place, "limit": 50}))


def observations(answer: Any) -> str:
    """The observations of the entities that a server answers with, one a line."""
    found: dict[str, Any] = json.loads(answer["content"][0]["text"])
    return "\n".join(line for entity in found["entities"] for line in entity["observations"])


def available(program: str, npm: Path | None) -> tuple[dict[str, Callable[[Path], Nothing]], list[str]]:
    """The memories by name, and a sentence for each peer that is missing."""
    Recall.program = program
    memories: dict[str, Callable[[Path], Nothing]] = {
        "none": Nothing,
        "recall": Recall,
        "recall-without-next": RecallWithoutNext,
        "tried": Tried,
        "file": File,
        "log": Log,
        "replay": Replay,
    }
    missing: list[str] = []
    for name, kind in (("server-memory", ServerMemory), ("libsql", Libsql)):
        folders = [str(npm / "node_modules" / ".bin")] if npm else []
        kind.found = shutil.which(kind.program, path=os.pathsep.join([*folders, os.environ["PATH"]]))
        if kind.found:
            memories[name] = kind
        else:
            missing.append(f"{name}: skipped, `{kind.program}` is not on the path (npm install, then --npm FOLDER)")
    return memories, missing
