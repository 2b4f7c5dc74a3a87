"""Time of a call from Python against the bare process, and over one session.

    python python/bench.py target/release/memories --number 400

In each round the same call is done in four ways, one after the other: by a bare process (`posix_spawn`, pipes,
`waitpid`), by the module with processes, by the module with a session, and by the bare process again, which tells how
much two measurements of the same thing differ. Each way has a memory file of its own with the same turns, and the
built-in rules take the memories. Then the session is measured alone, and at last what joins the memory to other
packages: a step of a game, a call of a tool, and items of LangGraph's store. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from memories import Memories, Turn
from memories.gym import Remembering
from memories.langgraph import MemoriesStore
from memories.tools import Tools

METHODS = ("record", "tried", "recall")

#: First rounds that are not counted: they read the program from disk, and start the session.
WARM_UP = 20


def turn(number: int) -> Turn:
    place = number % 10
    return Turn(f"push {number}", "Nothing happens.", f"{place}:Room {place}", world_changed=False)


class Bare:
    """The least that starts a process, writes its stdin, reads its stdout and waits for its end."""

    def __init__(self, path: Path, program: str) -> None:
        self.command = [program, "--json", "--quiet", "--file", str(path)]

    def record(self, number: int) -> dict[str, Any]:
        return self.run(["record"], json.dumps(turn(number).to_json()).encode())

    def tried(self, number: int) -> dict[str, Any]:
        return self.run(["tried", "--", str(number % 10), f"push {number}"])

    def recall(self, number: int) -> dict[str, Any]:
        return self.run(["recall", "--", str(number % 10)])

    def run(self, arguments: list[str], data: bytes = b"") -> dict[str, Any]:
        (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe(), os.pipe()
        pipes = [(os.POSIX_SPAWN_DUP2, theirs_in, 0), (os.POSIX_SPAWN_DUP2, theirs_out, 1)]
        pid = os.posix_spawn(self.command[0], self.command + arguments, os.environ, file_actions=pipes)
        os.close(theirs_in)
        os.close(theirs_out)
        os.write(ours_in, data)
        os.close(ours_in)
        parts: list[bytes] = []
        while part := os.read(ours_out, 1 << 16):
            parts.append(part)
        os.close(ours_out)
        os.waitpid(pid, 0)
        answer: dict[str, Any] = json.loads(b"".join(parts))
        return answer


class Module:
    """The same calls by the module."""

    def __init__(self, path: Path, program: str, *, session: bool) -> None:
        self.memories = Memories(path, session=session, program=program)

    def record(self, number: int) -> object:
        return self.memories.record(turn(number))

    def tried(self, number: int) -> object:
        return self.memories.tried(number % 10, f"push {number}")

    def recall(self, number: int) -> object:
        return self.memories.recall(number % 10)


def measure(ways: dict[str, Bare | Module], rounds: int) -> None:
    """Prints the median and the 95th percentile of each method in each way."""
    for method in METHODS:
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM_UP + rounds):
            for name, way in ways.items():
                begun = time.perf_counter()
                getattr(way, method)(number)
                times[name].append((time.perf_counter() - begun) * 1000)
        least = median(next(iter(times.values()))[WARM_UP:])
        for name, taken in times.items():
            p50, p95 = figures(taken)
            print(f"{method:8}{name:15}{p50:8.3f}{p95:8.3f}{p50 - least:12.3f}")


def figures(taken: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile without the first rounds."""
    return median(taken[WARM_UP:]), quantiles(taken[WARM_UP:], n=20)[18]


class Cottage:
    """A game whose every action scores."""

    def __init__(self) -> None:
        self.score = 0

    def told(self) -> dict[str, Any]:
        return {"location": "Kitchen", "score": self.score}

    def reset(self) -> tuple[str, dict[str, Any]]:
        return "A kitchen.", self.told()

    def step(self, action: str) -> tuple[str, int, bool, dict[str, Any]]:
        self.score += 1
        return f"You {action}.", 0, False, self.told()


def measure_adapters(folder: Path, program: str, rounds: int) -> None:
    """Prints the same of a step of a game, a call of a tool, and items of a store of 10, 1,000 and 10,000."""
    calls: dict[str, Callable[[int], object]] = {}
    for session in (False, True):
        game = Remembering(Cottage(), Memories(folder / f"game{session}.md", session=session, program=program))
        game.reset()
        way = "session" if session else "processes"
        calls[f"step of a game, {way}"] = partial(step, game)
    calls["call of a tool"] = partial(call_tool, Tools(Memories(folder / "tools.md", program=program)))
    for count in (10, 1_000, 10_000):
        path = folder / f"store{count}.md"
        memories = Memories(path, program=program)
        entries = (f"**[NOTE] fact {number}**\nNumber {number} is {number * 7919}.\n" for number in range(count))
        path.write_text("## Topic facts: facts\n\n### Memories\n\n" + "\n".join(entries), encoding="utf-8")
        store = MemoriesStore(memories)
        calls[f"get, {count:,} items"] = partial(get, store)
        calls[f"put, {count:,} items"] = partial(put, store)
    for name, call in calls.items():
        taken: list[float] = []
        for number in range(WARM_UP + rounds):
            begun = time.perf_counter()
            call(number)
            taken.append((time.perf_counter() - begun) * 1000)
        print("{:27}{:8.3f}{:8.3f}".format(name, *figures(taken)))


def step(game: Remembering, number: int) -> object:
    return game.step(f"push {number}")


def call_tool(tools: Tools, number: int) -> object:
    turn = {"location": "5:Kitchen", "action": f"push {number}", "response": "Nothing.", "world_changed": False}
    return tools.call("record", turn)


def get(store: MemoriesStore, number: int) -> object:
    return store.get(("topic", "facts"), "fact 7")


def put(store: MemoriesStore, number: int) -> None:
    store.put(("topic", "facts"), "fact 7", {"text": f"Number 7 was {number}."})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--number", type=int, default=400, help="number of rounds")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    for name in [name for name in os.environ if name.startswith("MEMORIES_") or name.endswith("_API_KEY")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as made:
        os.environ["HOME"] = made
        folder = Path(made)
        print(f"{'':23}{'p50':>8}{'p95':>8}{'above first':>12}")
        ways: dict[str, Bare | Module] = {
            "bare": Bare(folder / "a.md", program),
            "processes": Module(folder / "b.md", program, session=False),
            "session": Module(folder / "c.md", program, session=True),
            "bare again": Bare(folder / "d.md", program),
        }
        measure(ways, arguments.number)
        alone = Module(folder / "e.md", program, session=True)
        measure({"session alone": alone}, arguments.number)
        for way in (*ways.values(), alone):
            if isinstance(way, Module):
                way.memories.close()
        measure_adapters(folder, program, max(20, arguments.number // 10))


if __name__ == "__main__":
    main()
